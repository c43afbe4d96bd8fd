"""Days and months in words: 5 May 2023, May 5th, March 2024, in March."""

from __future__ import annotations

import re
from datetime import date

from clew.when.periods import day, days, months, moved, recurring
from clew.when.rule import DIGITS, TIME_LEADS, after, rule
from clew.when.values import Clock, Period
from clew.when.vocabulary import (
    ALSO_WORDS,
    MONTH,
    MONTHS,
    SHORT_MONTHS,
    SUFFIX,
    WEEKDAY,
    WEEKDAYS,
    WHICH,
    month_number,
    pattern,
    which_way,
)
from clew.when.years import IN_YEAR, in_year

_VERB_AFTER = re.compile(r"\w+ed|is|was|has|had|left|came|went|got|said|told|met|will|would|and|i", re.IGNORECASE)
_TO_MONTH = pattern(f" (?:to|until|till|through) {MONTH}")


def _day(match: re.Match[str], clock: Clock) -> Period:
    month, number = month_number(match["month"]), int(match["day"])
    return in_year(lambda year: day(date(year, month, number)), match, clock)


def _days(match: re.Match[str], clock: Clock) -> Period:
    month, first, last = month_number(match["month"]), int(match["day"]), int(match["other"])
    return in_year(lambda year: days(date(year, month, first), date(year, month, last)), match, clock)


def _plainly_a_day(match: re.Match[str], lead: str) -> bool:
    """Doubt "give me 5 may be more": a word of other meanings must be written as a month where there is no year."""
    del lead
    month = match["month"].rstrip(".")
    return bool(match["year"] or match["of"]) or month[0].isupper() or month.lower() not in ALSO_WORDS


def _day_of_month(match: re.Match[str], clock: Clock) -> Period:
    number = int(match["day"])
    for back in range(3):
        month = moved(clock.now.replace(day=1), "month", back if clock.ahead else -back)
        try:
            found = day(date(month.year, month.month, number))
        except ValueError:
            continue
        if (found.end > clock.now) if clock.ahead else (found.start <= clock.now):
            return found
    raise ValueError(match.group())


def _ends_the_phrase(match: re.Match[str], lead: str) -> bool:
    return lead in ("on", "since", "until", "before", "after", "by") and not after(match)


def _month(match: re.Match[str], clock: Clock) -> Period:
    number = month_number(match["month"])
    return in_year(lambda year: months(year, number), match, clock)


def _months(match: re.Match[str], clock: Clock) -> Period:
    """Read "November-February 2022": the year belongs to the last month."""
    first, last = month_number(match["first"]), month_number(match["month"])
    count = (last - first) % 12 + 1
    return in_year(lambda year: months(year, last - count + 1, count=count), match, clock)


def _plainly_a_month(match: re.Match[str], lead: str) -> bool:
    """Doubt bare months that are names or verbs as well: they need a word of time before and no verb after."""
    month = match["month"].rstrip(".")
    if match["year"] or match["of"] or month.lower() not in ALSO_WORDS:
        return True
    if month.lower() in SHORT_MONTHS and not month[0].isupper():
        return False
    if lead == "from":
        return _TO_MONTH.match(match.string, match.end()) is not None
    return lead in TIME_LEADS and not (lead in ("before", "after", "to", "and") and _VERB_AFTER.fullmatch(after(match)))


def _chosen_month(match: re.Match[str], clock: Clock) -> Period:
    number = month_number(match["month"])
    return recurring(lambda year: months(year, number), clock, which_way(match["which"]))


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
        accepts=_plainly_a_day,
        anchored=False,
    ),
    rule(
        "day",
        (*_MONTH_HEADS, *WEEKDAYS),
        rf"{_NAMED_DAY}(?P<month>{MONTH}) (?:the )?{_NUMBER}{SUFFIX}?{IN_YEAR}?",
        _day,
        accepts=_plainly_a_day,
        anchored=False,
    ),
    rule(
        "days",
        (DIGITS, "the"),
        rf"(?:the )?{_NUMBER}{SUFFIX}?{_TO}(?:the )?(?P<other>[0-3]?\d){SUFFIX}?(?: of)? (?P<month>{MONTH}){IN_YEAR}?",
        _days,
        accepts=_plainly_a_day,
    ),
    rule(
        "days",
        _MONTH_HEADS,
        rf"(?P<month>{MONTH}) {_NUMBER}{SUFFIX}?{_TO}(?P<other>[0-3]?\d){SUFFIX}?{IN_YEAR}?",
        _days,
        accepts=_plainly_a_day,
    ),
    rule("day", "the", rf"the {_NUMBER}{SUFFIX}", _day_of_month, accepts=_ends_the_phrase, anchored=False),
    rule("month", _MONTH_HEADS, rf"(?P<month>{MONTH}){IN_YEAR}?", _month, accepts=_plainly_a_month, anchored=False),
    rule("months", _MONTH_HEADS, rf"(?P<first>{MONTH}) ?[-–—/] ?(?P<month>{MONTH}){IN_YEAR}?", _months, accepts=_plainly_a_day),
    rule("month", "last past previous this next coming upcoming following current", rf"{WHICH} (?P<month>{MONTH})", _chosen_month),
)
