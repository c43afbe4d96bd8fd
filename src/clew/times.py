"""Moments in and out: ISO 8601 text and Python's values become UTC, and UTC becomes text."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time
from typing import TypeAlias

from clew.errors import InputError

Moment: TypeAlias = datetime | date | str
"""How a caller may name a moment."""

_DATE_ONLY = re.compile(r"\d{4}-?\d{2}-?\d{2}|\d{4}-?W\d{2}(-?\d)?")
_WAY_OUT = "Use a date or time of ISO 8601, such as 2026-03-01 or 2026-03-01T12:30:00+01:00; without a zone it is UTC."


def parse_time(value: Moment, field: str, *, end_of_day: bool = False) -> datetime:
    """Return a moment in UTC; a date alone is its first moment, or its last with `end_of_day`.

    >>> iso(parse_time("2026-03-01T12:30:00+01:00", "since")), iso(parse_time("2026-03-01", "until", end_of_day=True))
    ('2026-03-01T11:30:00Z', '2026-03-01T23:59:59.999999Z')
    """
    try:
        moment, whole_day = _read(value)
        if whole_day and end_of_day:
            moment = datetime.combine(moment.date(), time.max)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (
        ValueError,
        TypeError,
        OverflowError,
    ) as error:  # overflow: the year 1 east of Greenwich
        raise InputError(field, value, "is not a moment that exists", _WAY_OUT) from error


def _read(value: object) -> tuple[datetime, bool]:
    """Return the moment as written, and whether it names a whole day."""
    if isinstance(value, datetime):
        return value, False
    if isinstance(value, date):
        return datetime.combine(value, time.min), True
    if not isinstance(value, str):
        raise TypeError(value)
    text = value.strip()
    return datetime.fromisoformat(text), _DATE_ONLY.fullmatch(text) is not None


def iso(moment: datetime) -> str:
    """Return a moment as ISO 8601 in UTC with Z; one without a zone is UTC.

    >>> iso(datetime(2026, 3, 1, 12, 30))
    '2026-03-01T12:30:00Z'
    """
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat().replace("+00:00", "Z")
