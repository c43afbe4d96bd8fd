"""Words that make another time of the one they stand before: early May, the end of 2023, the week before Christmas."""

from __future__ import annotations

import re
from datetime import timedelta

from clew.when.periods import DAY, day, day_start, days, enclosing, months, moved, third, weekend
from clew.when.rule import DIGITS, prefix
from clew.when.values import Clock, Period
from clew.when.vocabulary import COUNT, NUMBERS, UNIT, VAGUE, counted

_THIRDS = {"early": 0, "beginning": 0, "start": 0, "mid": 1, "middle": 1, "late": 2, "end": 2}


def _third(match: re.Match[str], inner: Period, clock: Clock) -> Period:
    del clock
    return third(inner, _THIRDS[match["part"].lower()])


def _half(match: re.Match[str], inner: Period, clock: Clock) -> Period:
    """Cut a year after June, and what is not made of an even number of months at midnight."""
    del clock
    count = 12 * (inner.end.year - inner.start.year) + inner.end.month - inner.start.month
    whole = inner == months(inner.start.year, inner.start.month, count=count) and count % 2 == 0
    middle = moved(inner.start, "month", count // 2) if whole else day_start(inner.start + (inner.end - inner.start) / 2)
    return Period(inner.start, middle) if match["part"].lower() == "first" else Period(middle, inner.end)


def _edge(match: re.Match[str], inner: Period, clock: Clock) -> Period:
    """Read "the last two weeks of May": so many units at one of its ends, no more than there is."""
    del clock
    count, unit = counted(match["count"] or "")[1], match["unit"].lower()
    if match["part"].lower() == "first":
        return Period(inner.start, min(inner.end, moved(inner.start, unit, count)))
    return Period(max(inner.start, moved(inner.end, unit, -count)), inner.end)


def _around(match: re.Match[str], inner: Period, clock: Clock) -> Period:
    del match, clock
    slack = max(DAY, (inner.end - inner.start) / 2 // DAY * DAY)
    return Period(inner.start - slack, inner.end + slack)


def _week_of(match: re.Match[str], inner: Period, clock: Clock) -> Period:
    return weekend(inner.start) if match["unit"].lower() == "weekend" else enclosing("week", inner.start, clock)


def _beside(match: re.Match[str], inner: Period, clock: Clock) -> Period:
    """Read "the day before Christmas" and "the week after 5 May" as the whole unit that adjoins."""
    del clock
    unit, earlier = match["unit"].lower(), match["side"].lower() == "before"
    if unit == "weekend":
        return weekend(inner.start - DAY, weeks=-1 if (inner.start - DAY).weekday() < 6 else 0) if earlier else _weekend_after(inner)
    return Period(moved(inner.start, unit, -1), inner.start) if earlier else Period(inner.end, moved(inner.end, unit, 1))


def _weekend_after(inner: Period) -> Period:
    saturday = inner.end.date() + timedelta(days=(5 - inner.end.weekday()) % 7)
    return days(saturday, saturday + DAY)


def _offset(match: re.Match[str], inner: Period, clock: Clock) -> Period:
    """Read "two weeks before Christmas" as a day, "a few days after" as the days it may mean."""
    del clock
    unit, (low, high) = match["unit"].lower(), counted(match["count"])
    last_day = inner.end - DAY
    if match["side"].lower() == "before":
        return Period(moved(inner.start, unit, -high), day(moved(inner.start, unit, -low).date()).end)
    return Period(day_start(moved(last_day, unit, low)), day(moved(last_day, unit, high).date()).end)


_SIDE = "(?P<side>before|after)"

PREFIXES = (
    prefix("part", "the early mid late", r"(?:the )?(?P<part>early|mid|late)(?: in)?(?: |-)", _third),
    prefix("part", "the beginning start middle", r"(?:the )?(?P<part>beginning|start|middle) of ", _third),
    prefix("end", "the end", r"(?:the )?(?P<part>end) of ", _third),
    prefix("half", "the first second", r"(?:the )?(?P<part>first|second) half of ", _half),
    prefix("edge", "the first last", rf"(?:the )?(?P<part>first|last) (?:{COUNT} )?{UNIT} (?:of|in) ", _edge),
    prefix("around", "around circa approximately", r"(?:around|circa|approximately) ", _around),
    prefix("week of", "the week weekend", r"(?:the )?(?P<unit>week|weekend) of ", _week_of),
    prefix("beside", "the", rf"the (?P<unit>day|week|weekend|month|year) {_SIDE} ", _beside),
    prefix("offset", (DIGITS, "a", "an", *NUMBERS, *VAGUE), rf"{COUNT} {UNIT} {_SIDE} ", _offset),
)
