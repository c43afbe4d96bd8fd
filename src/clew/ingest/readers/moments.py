"""When something was said, out of the many ways in which exports write it."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from clew.errors import InputError
from clew.times import parse_time

EARLIEST_SECONDS = 1e8  # March 1973: a smaller number counts messages or seconds of a recording, not years
# A number beyond these is in milliseconds, microseconds, nanoseconds: in seconds it would be after the year 5138.
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
LONGEST_CHARACTERS = 40


def moment(value: object) -> datetime | None:
    """Return a moment in UTC from ISO 8601, or from seconds, milliseconds … since 1970 as number or text; nothing if it is none.

    >>> moment("2024-03-01T10:00:00Z") == moment(1709287200) == moment("1709287200.000") == moment(1709287200000)
    True
    >>> moment("soon"), moment(17), moment(None)
    (None, None, None)
    """
    if isinstance(value, str):
        text = value.strip()
        return _written(text) if len(text) <= LONGEST_CHARACTERS else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return _counted(value)


def _written(text: str) -> datetime | None:
    try:
        return _counted(float(text))
    except ValueError:
        pass
    try:
        return parse_time(text, "time")
    except InputError:
        return None


def _counted(value: float) -> datetime | None:
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond all floats
        return None
    if not math.isfinite(number) or number < EARLIEST_SECONDS:
        return None
    divisor = next((divisor for bound, divisor in _UNITS if number > bound), 1.0)
    try:
        return datetime.fromtimestamp(number / divisor, UTC)
    except (ValueError, OverflowError, OSError):  # beyond the year 9999
        return None
