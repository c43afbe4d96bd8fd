"""Days and months in words: 5 May 2023, May 5th, March 2024, in March."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone

from clew.text.dates.periods import (
    DIGITS,
    IN_YEAR,
    TIME_LEADS,
    UNIT_LENGTHS,
    in_year,
    nearest_occurrence,
    rule,
    shift,
    whole_day,
    whole_days,
    whole_months,
    whole_years,
    word_after,
)
from clew.text.dates.values import Clock, Period, UnclearError
from clew.text.dates.vocabulary import (
    AMBIGUOUS_MONTHS,
    MONTH,
    MONTHS,
    SHORT_MONTHS,
    SUFFIX,
    WEEKDAY,
    WEEKDAYS,
    WHICH,
    YEAR,
    direction,
    month_number,
    pattern,
)

_VERB_AFTER = re.compile(
    r"\w+ed|is|was|has|had|left|came|went|got|said|told|met|will|would|and|i", re.IGNORECASE
)
_TO_MONTH = pattern(f" (?:to|until|till|through) {MONTH}")


def _day(match: re.Match[str], clock: Clock) -> Period:
    month, number = month_number(match["month"]), int(match["day"])
    return in_year(lambda year: whole_day(date(year, month, number)), match, clock)


def _days(match: re.Match[str], clock: Clock) -> Period:
    month, first, last = month_number(match["month"]), int(match["day"]), int(match["other"])
    return in_year(
        lambda year: whole_days(date(year, month, first), date(year, month, last)), match, clock
    )


def _is_day(match: re.Match[str], lead: str) -> bool:
    """Doubt "give me 5 may be more".

    A word of other meanings must be written as a month where there is no year.
    """
    del lead
    month = match["month"].rstrip(".")
    return (
        bool(match["year"] or match["of"])
        or month[0].isupper()
        or month.lower() not in AMBIGUOUS_MONTHS
    )


def _day_of_month(match: re.Match[str], clock: Clock) -> Period:
    number = int(match["day"])
    for back in range(3):
        month = shift(clock.now.replace(day=1), "month", back if clock.ahead else -back)
        try:
            found = whole_day(date(month.year, month.month, number))
        except ValueError:
            continue
        if (found.end > clock.now) if clock.ahead else (found.start <= clock.now):
            return found
    raise ValueError(match.group())


def _ends_the_phrase(match: re.Match[str], lead: str) -> bool:
    return lead in ("on", "since", "until", "before", "after", "by") and not word_after(match)


def _month(match: re.Match[str], clock: Clock) -> Period:
    number = month_number(match["month"])
    return in_year(lambda year: whole_months(year, number), match, clock)


def _months(match: re.Match[str], clock: Clock) -> Period:
    """Read "November-February 2022": the year belongs to the last month."""
    first, last = month_number(match["first"]), month_number(match["month"])
    count = (last - first) % 12 + 1
    return in_year(lambda year: whole_months(year, last - count + 1, count=count), match, clock)


def _is_month(match: re.Match[str], lead: str) -> bool:
    """Doubt bare months that are names or verbs as well.

    They need a word of time before and no verb after.
    """
    month = match["month"].rstrip(".")
    if match["year"] or match["of"] or month.lower() not in AMBIGUOUS_MONTHS:
        return True
    if month.lower() in SHORT_MONTHS and not month[0].isupper():
        return False
    if lead == "from":
        return _TO_MONTH.match(match.string, match.end()) is not None
    return lead in TIME_LEADS and not (
        lead in ("before", "after", "to", "and") and _VERB_AFTER.fullmatch(word_after(match))
    )


def _chosen_month(match: re.Match[str], clock: Clock) -> Period:
    number = month_number(match["month"])
    return nearest_occurrence(
        lambda year: whole_months(year, number), clock, direction(match["which"])
    )


_MONTH_HEADS = (*MONTHS, *SHORT_MONTHS)
_NAMED_DAY = rf"(?:(?:{WEEKDAY}),? )?(?:the )?"
_NUMBER = r"(?P<day>[0-3]?\d)"
_TO = r"(?: ?[-–—] ?| to | and | until | through )"

RULES = (
    rule(
        "day",
        (DIGITS, "the", *WEEKDAYS),
        rf"{_NAMED_DAY}{_NUMBER}{SUFFIX}?(?: of)? (?P<month>{MONTH}){IN_YEAR}?",
        _day,
        accepts=_is_day,
        anchored=False,
    ),
    rule(
        "day",
        (*_MONTH_HEADS, *WEEKDAYS),
        rf"{_NAMED_DAY}(?P<month>{MONTH}) (?:the )?{_NUMBER}{SUFFIX}?{IN_YEAR}?",
        _day,
        accepts=_is_day,
        anchored=False,
    ),
    rule(
        "days",
        (DIGITS, "the"),
        rf"(?:the )?{_NUMBER}{SUFFIX}?{_TO}(?:the )?(?P<other>[0-3]?\d){SUFFIX}?(?: of)? "
        rf"(?P<month>{MONTH}){IN_YEAR}?",
        _days,
        accepts=_is_day,
    ),
    rule(
        "days",
        _MONTH_HEADS,
        rf"(?P<month>{MONTH}) {_NUMBER}{SUFFIX}?{_TO}(?P<other>[0-3]?\d){SUFFIX}?{IN_YEAR}?",
        _days,
        accepts=_is_day,
    ),
    rule(
        "day",
        "the",
        rf"the {_NUMBER}{SUFFIX}",
        _day_of_month,
        accepts=_ends_the_phrase,
        anchored=False,
    ),
    rule(
        "month",
        _MONTH_HEADS,
        rf"(?P<month>{MONTH}){IN_YEAR}?",
        _month,
        accepts=_is_month,
        anchored=False,
    ),
    rule(
        "months",
        _MONTH_HEADS,
        rf"(?P<first>{MONTH}) ?[-–—/] ?(?P<month>{MONTH}){IN_YEAR}?",
        _months,
        accepts=_is_day,
    ),
    rule(
        "month",
        "last past previous this next coming upcoming following current",
        rf"{WHICH} (?P<month>{MONTH})",
        _chosen_month,
    ),
)


_PIVOT = 20  # years ahead that a year of two figures may lie; later ones are of the century before


def _moment(match: re.Match[str], clock: Clock) -> Period:
    del clock
    year, month, number, hour, minute = map(
        int, match.group("year", "month", "day", "hour", "minute")
    )
    start = datetime(
        year, month, number, hour, minute, tzinfo=_zone(match["zone"] or "")
    ).astimezone(UTC)
    return Period(start, start + UNIT_LENGTHS["minute"])


def _zone(written: str) -> timezone:
    if not written or written in "zZ":
        return UTC
    offset = timedelta(hours=int(written[1:3]), minutes=int(written[-2:]))
    return timezone(-offset if written[0] == "-" else offset)


def _numeric_day(match: re.Match[str], clock: Clock) -> Period:
    del clock
    return whole_day(date(int(match["year"]), int(match["month"]), int(match["day"])))


def _numeric_month(match: re.Match[str], clock: Clock) -> Period:
    del clock
    return whole_months(int(match["year"]), int(match["month"]))


def _week(match: re.Match[str], clock: Clock) -> Period:
    del clock
    monday = date.fromisocalendar(int(match["year"]), int(match["week"]), 1)
    return whole_days(monday, monday + timedelta(days=6))


def _years(match: re.Match[str], clock: Clock) -> Period:
    del clock
    first, last = int(match["year"]), int(match["other"])
    if last < first:
        raise UnclearError("ends before it begins")
    return whole_years(first, count=last - first + 1)


def _day_in_figures(match: re.Match[str], clock: Clock) -> Period:
    """Read two figures and a year in the one order that is possible, or that the caller chose.

    Dots put the day first.
    """
    first, second, year = (
        int(match["first"]),
        int(match["second"]),
        _full_year(match["year"], clock),
    )
    readings = {True: _calendar_day(year, second, first), False: _calendar_day(year, first, second)}
    order = True if match["sign"] == "." else clock.day_first
    possible = {reading for reading in readings.values() if reading}
    if order is not None and readings[order]:
        possible = {reading for key, reading in readings.items() if key is order and reading}
    if len(possible) != 1:
        raise UnclearError(
            " or ".join(sorted(reading.isoformat() for reading in possible))
            or "not in the calendar"
        )
    return whole_day(possible.pop())


def _calendar_day(year: int, month: int, number: int) -> date | None:
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

NUMERIC_RULES = (
    rule(
        "moment",
        DIGITS,
        rf"(?P<year>{YEAR})-(?P<month>\d\d)-(?P<day>\d\d)(?:T| )"
        r"(?P<hour>\d\d):(?P<minute>\d\d)(?::\d\d(?:\.\d{1,6})?)?(?P<zone>Z|[+-]\d\d:?\d\d)?",
        _moment,
    ),
    rule(
        "day",
        DIGITS,
        rf"(?P<year>{YEAR})(?P<sign>[-/.])(?P<month>\d\d?)(?P=sign)(?P<day>\d\d?)",
        _numeric_day,
    ),
    rule("month", DIGITS, rf"(?P<year>{YEAR})[-/](?P<month>0[1-9]|1[0-2])", _numeric_month),
    rule("week", DIGITS, rf"(?P<year>{YEAR})-?W(?P<week>\d\d)", _week),
    rule("week", "week calendar", _CALENDAR_WEEK, _week),
    rule("years", DIGITS, rf"(?P<year>{YEAR}) ?[-–—] ?(?P<other>{YEAR})", _years),
    rule(
        "day",
        DIGITS,
        r"(?P<first>\d\d?)(?P<sign>[-/.])(?P<second>\d\d?)(?P=sign)(?P<year>\d{4})",
        _day_in_figures,
    ),
    rule(
        "day",
        DIGITS,
        r"(?P<first>\d\d?)(?P<sign>/)(?P<second>\d\d?)/(?P<year>\d\d)",
        _day_in_figures,
    ),
)
