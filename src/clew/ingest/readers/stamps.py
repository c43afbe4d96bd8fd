"""Times at the beginning of a transcript's lines, in the forms that chat programs write."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

_DATE = r"(?P<a>\d{1,4})(?P<sign>[./-])(?P<b>\d{1,2})(?P=sign)(?P<c>\d{1,4})"
_CLOCK = r"(?P<h>\d{1,2})[:.](?P<m>\d{2})(?:[:.](?P<s>\d{2})(?:[.,]\d{1,6})?)?(?:[ \u00a0\u202f]?(?P<half>[AaPp])\.?[Mm]\.?)?"
_WHEN = rf"(?:{_DATE}(?:,[ \u00a0]?|[ \u00a0T]))?{_CLOCK}(?P<zone>Z|[+-]\d\d:?\d\d)?"
# In brackets or before a dash the rest up to the colon is a name, whatever it looks like: "+44 7700 900123", "🐙 Ada".
_ANY_NAME = re.compile(r"[\u200e\u202a]?([^:\n]{1,60}):(?:[ \t]+|$)")
# After a bare time only what looks like a name is one: logs begin with a bare time too.
_PLAIN_NAME = re.compile(r"([^\W\d_][\w.'’\-]{0,29}(?: [\w.'’\-]{1,30}){0,3}):(?:[ \t]+|$)")
_FORMS = (
    (re.compile(rf"[\u200e\u202a]?\[{_WHEN}\][ \t]*"), _ANY_NAME),
    (re.compile(rf"\({_WHEN}\)[ \t]*"), _ANY_NAME),
    (re.compile(rf"[\u200e\u202a]?{_WHEN}[ \u00a0][-–][ ]"), _ANY_NAME),
    (re.compile(rf"{_WHEN}[ \t]+"), _PLAIN_NAME),
)


@dataclass(frozen=True, slots=True)
class Stamp:
    """A time as it was written, and the form of a name that follows such a time."""

    numbers: tuple[int, int, int] | None  # of the date, as they stand
    day_first: bool | None  # what the writing itself settles: dots mean day first, a year in front its own order
    clock: tuple[int, int, int]
    halves: bool  # written with a.m. and p.m., as where the month comes first
    zone: timezone
    name: re.Pattern[str]


def stamped(line: str) -> tuple[Stamp, int] | None:
    """Return the time a line begins with and where it ends, or nothing.

    >>> stamp, end = stamped("[2024-03-01 10:00] Ada: Hello")
    >>> stamp.numbers, stamp.clock, end
    ((2024, 3, 1), (10, 0, 0), 19)
    """
    if not line or line[0] not in "[(\u200e\u202a0123456789":
        return None
    for form, name in _FORMS:
        if found := form.match(line):
            return _stamp(found, name), found.end()
    return None


def moments(stamps: Sequence[Stamp | None]) -> tuple[list[datetime | None], tuple[str, ...]]:
    """Return each stamp in UTC, and how dates such as 01/03/2024 were read if nothing in the file settles it.

    Day first or month first is decided for the whole file: by numbers above twelve, else by the order in which time never
    runs backwards, else month first where a.m. and p.m. are written and day first elsewhere.
    """
    orders = {day_first: [_moment(stamp, day_first=day_first) for stamp in stamps] for day_first in (True, False)}
    open_ones = [stamp for stamp in stamps if stamp and stamp.numbers and stamp.day_first is None]
    if not open_ones:
        return orders[True], ()
    halves = any(stamp.halves for stamp in open_ones)
    cost = {day_first: (_impossible(open_ones, day_first), _backwards(times), day_first is halves) for day_first, times in orders.items()}
    best = min(cost, key=lambda day_first: cost[day_first])
    settled = cost[True][:2] != cost[False][:2]
    return orders[best], () if settled else (f"dates read as {'day/month' if best else 'month/day'}",)


def _stamp(found: re.Match[str], name: re.Pattern[str]) -> Stamp:
    hour, half = int(found["h"]), (found["half"] or "").lower()
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    numbers = (int(found["a"]), int(found["b"]), int(found["c"])) if found["a"] else None
    year_first = len(found["a"] or "") == 4
    day_first = True if year_first or found["sign"] == "." else None
    return Stamp(numbers, day_first, (hour, int(found["m"]), int(found["s"] or 0)), bool(half), _zone(found["zone"]), name)


def _zone(written: str | None) -> timezone:
    if not written or written == "Z":
        return UTC
    hours, minutes = int(written[1:3]), int(written[-2:])
    offset = timedelta(hours=min(hours, 23), minutes=min(minutes, 59))
    return timezone(-offset if written[0] == "-" else offset)


def _moment(stamp: Stamp | None, *, day_first: bool) -> datetime | None:
    if stamp is None or stamp.numbers is None:
        return None
    year, month, day = _ordered(stamp, day_first=day_first)
    try:
        return datetime(year, month, day, *stamp.clock, tzinfo=stamp.zone).astimezone(UTC)
    except (ValueError, OverflowError):  # the 31st of February, or 25 o'clock
        return None


def _ordered(stamp: Stamp, *, day_first: bool) -> tuple[int, int, int]:
    first, second, third = stamp.numbers or (0, 0, 0)
    if first > 999:
        return first, second, third
    year = third if third > 99 else 2000 + third
    return (year, second, first) if day_first or stamp.day_first else (year, first, second)


def _impossible(stamps: Sequence[Stamp], day_first: bool) -> int:
    return sum(1 for stamp in stamps if _moment(stamp, day_first=day_first) is None)


def _backwards(times: Sequence[datetime | None]) -> int:
    known = [time for time in times if time]
    return sum(1 for before, after in pairwise(known) if after < before)
