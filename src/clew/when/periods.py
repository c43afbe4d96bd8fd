"""Calendar arithmetic: the day, week, month or season that a moment lies in, and others from there."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from typing import TypeAlias

from clew.when.values import TICK, Clock, Period

Yearly: TypeAlias = Callable[[int], Period]
"""What comes once a year, by the year it begins in; ValueError where a year has none."""

DAY = timedelta(days=1)
LENGTHS = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": DAY, "week": 7 * DAY, "fortnight": 14 * DAY}
MONTHS_IN = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}
HALVES = {"week": 3, "fortnight": 7, "month": 15, "quarter": 45, "year": 182, "decade": 1826, "century": 18262}  # days
_LEAP_GAP = 8  # years from one 29 February to the next, at most


def days(first: date, last: date) -> Period:
    """Return whole days, the last included."""
    return Period(datetime.combine(first, time.min, UTC), datetime.combine(last + DAY, time.min, UTC))


def day(of: date) -> Period:
    """Return one whole day."""
    return days(of, of)


def months(year: int, month: int, *, count: int = 1) -> Period:
    """Return whole months; the first may lie beyond December.

    >>> months(2023, 12, count=3).end.isoformat()
    '2024-03-01T00:00:00+00:00'
    """
    first, beyond = year * 12 + month - 1, year * 12 + month - 1 + count
    return Period(datetime(first // 12, first % 12 + 1, 1, tzinfo=UTC), datetime(beyond // 12, beyond % 12 + 1, 1, tzinfo=UTC))


def years(first: int, *, count: int = 1) -> Period:
    """Return whole years."""
    return months(first, 1, count=12 * count)


def moved(moment: datetime, unit: str, count: int) -> datetime:
    """Return a moment so many units later; a day that the month lacks becomes its last.

    >>> moved(datetime(2024, 3, 31), "month", -1).date().isoformat()
    '2024-02-29'
    """
    if unit in LENGTHS:
        return moment + count * LENGTHS[unit]
    month = moment.year * 12 + moment.month - 1 + count * MONTHS_IN[unit]
    last = (months(month // 12, month % 12 + 1).end - DAY).day
    return moment.replace(year=month // 12, month=month % 12 + 1, day=min(moment.day, last))


def enclosing(unit: str, moment: datetime, clock: Clock) -> Period:
    """Return the calendar unit that a moment lies in."""
    if unit in ("week", "fortnight"):
        monday = moment.date() - ((moment.weekday() - clock.week_start) % 7) * DAY
        return days(monday, monday + LENGTHS[unit] - DAY)
    if unit in LENGTHS:
        start = moment.replace(minute=moment.minute if unit == "minute" else 0, second=0, microsecond=0)
        return day(moment.date()) if unit == "day" else Period(start, start + LENGTHS[unit])
    span = MONTHS_IN[unit]
    first = (moment.year * 12 + moment.month - 1) // span * span
    return months(first // 12, first % 12 + 1, count=span)


def weekend(moment: datetime, *, weeks: int = 0) -> Period:
    """Return Saturday and Sunday of the week from Monday that a moment lies in, or of one so many weeks later."""
    saturday = moment.date() + (5 - moment.weekday() + 7 * weeks) * DAY
    return days(saturday, saturday + DAY)


def weekday(number: int, clock: Clock, *, ahead: bool) -> Period:
    """Return the latest such day before today, or the next after it."""
    today = clock.now.date()
    gap = (number - today.weekday()) % 7 or 7 if ahead else -((today.weekday() - number) % 7 or 7)
    return day(today + gap * DAY)


def recurring(yearly: Yearly, clock: Clock, which: str = "") -> Period:
    """Return the `last`, `this` or `next` of what comes every year; without a word the latest that has begun.

    "last" has ended; without a word and in a question about what will be, it is the first that has not ended.
    """
    year, now = clock.now.year, clock.now
    if which == "this":
        return yearly(year)
    forward = which == "next" or (not which and clock.ahead)
    for offset in range(-1, _LEAP_GAP + 1):
        period = _made(yearly, year + (offset if forward else -offset))
        if period and _fits(period, now, which, forward=forward):
            return period
    raise ValueError(f"no such day in {_LEAP_GAP} years")


def _fits(period: Period, now: datetime, which: str, *, forward: bool) -> bool:
    if which:
        return period.start > now if forward else period.end <= now
    return period.end > now if forward else period.start <= now


def _made(yearly: Yearly, year: int) -> Period | None:
    try:
        return yearly(year)
    except ValueError:
        return None


def up_to_now(start: datetime, clock: Clock) -> Period:
    """Return what lies between a moment and now, now included."""
    return Period(start, clock.now + TICK)


def day_start(moment: datetime) -> datetime:
    """Return the first moment of a day."""
    return datetime.combine(moment.date(), time.min, UTC)


def third(period: Period, number: int) -> Period:
    """Return one third of a period, in whole days where it has at least three.

    >>> third(months(2024, 3), 2).start.day
    21
    """
    whole = period.end - period.start
    step = DAY if whole >= 3 * DAY else TICK
    cut = [period.start + (whole * part // 3) // step * step for part in range(3)] + [period.end]
    return Period(cut[number], cut[number + 1])
