"""Dates in figures: 2024-03-01, 2024-03, 03/01/2024, 2024-W12, 2019-2021."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone

from clew.when.periods import LENGTHS, day, days, months, years
from clew.when.rule import DIGITS, rule
from clew.when.values import Clock, Period, UnclearError
from clew.when.vocabulary import YEAR

_PIVOT = 20  # years ahead that a year of two figures may lie; later ones are of the century before


def _moment(match: re.Match[str], clock: Clock) -> Period:
    del clock
    year, month, number, hour, minute = map(int, match.group("year", "month", "day", "hour", "minute"))
    start = datetime(year, month, number, hour, minute, tzinfo=_zone(match["zone"] or "")).astimezone(UTC)
    return Period(start, start + LENGTHS["minute"])


def _zone(written: str) -> timezone:
    if not written or written in "zZ":
        return UTC
    offset = timedelta(hours=int(written[1:3]), minutes=int(written[-2:]))
    return timezone(-offset if written[0] == "-" else offset)


def _day(match: re.Match[str], clock: Clock) -> Period:
    del clock
    return day(date(int(match["year"]), int(match["month"]), int(match["day"])))


def _month(match: re.Match[str], clock: Clock) -> Period:
    del clock
    return months(int(match["year"]), int(match["month"]))


def _week(match: re.Match[str], clock: Clock) -> Period:
    del clock
    monday = date.fromisocalendar(int(match["year"]), int(match["week"]), 1)
    return days(monday, monday + timedelta(days=6))


def _years(match: re.Match[str], clock: Clock) -> Period:
    del clock
    first, last = int(match["year"]), int(match["other"])
    if last < first:
        raise UnclearError("ends before it begins")
    return years(first, count=last - first + 1)


def _figures(match: re.Match[str], clock: Clock) -> Period:
    """Read two figures and a year in the one order that is possible, or that the caller chose; dots put the day first."""
    first, second, year = int(match["first"]), int(match["second"]), _full_year(match["year"], clock)
    readings = {True: _made(year, second, first), False: _made(year, first, second)}
    order = True if match["sign"] == "." else clock.day_first
    possible = {reading for reading in readings.values() if reading}
    if order is not None and readings[order]:
        possible = {reading for key, reading in readings.items() if key is order and reading}
    if len(possible) != 1:
        raise UnclearError(" or ".join(sorted(reading.isoformat() for reading in possible)) or "not in the calendar")
    return day(possible.pop())


def _made(year: int, month: int, number: int) -> date | None:
    try:
        return date(year, month, number)
    except ValueError:
        return None


def _full_year(written: str, clock: Clock) -> int:
    if len(written) > 2:
        return int(written)
    year = clock.now.year // 100 * 100 + int(written)
    return year if year <= clock.now.year + _PIVOT else year - 100


_CALENDAR_WEEK = rf"(?:calendar )?week (?P<week>\d\d?)(?:,| of| in)? (?P<year>{YEAR})"

RULES = (
    rule(
        "moment",
        DIGITS,
        rf"(?P<year>{YEAR})-(?P<month>\d\d)-(?P<day>\d\d)(?:T| )"
        r"(?P<hour>\d\d):(?P<minute>\d\d)(?::\d\d(?:\.\d{1,6})?)?(?P<zone>Z|[+-]\d\d:?\d\d)?",
        _moment,
    ),
    rule("day", DIGITS, rf"(?P<year>{YEAR})(?P<sign>[-/.])(?P<month>\d\d?)(?P=sign)(?P<day>\d\d?)", _day),
    rule("month", DIGITS, rf"(?P<year>{YEAR})[-/](?P<month>0[1-9]|1[0-2])", _month),
    rule("week", DIGITS, rf"(?P<year>{YEAR})-?W(?P<week>\d\d)", _week),
    rule("week", "week calendar", _CALENDAR_WEEK, _week),
    rule("years", DIGITS, rf"(?P<year>{YEAR}) ?[-–—] ?(?P<other>{YEAR})", _years),
    rule("day", DIGITS, r"(?P<first>\d\d?)(?P<sign>[-/.])(?P<second>\d\d?)(?P=sign)(?P<year>\d{4})", _figures),
    rule("day", DIGITS, r"(?P<first>\d\d?)(?P<sign>/)(?P<second>\d\d?)/(?P<year>\d\d)", _figures),
)
