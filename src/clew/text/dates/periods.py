"""Rules that read a time, calendar arithmetic, and the rules for years and parts of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TypeAlias

from clew.text.dates.values import RESOLUTION, Clock, Period
from clew.text.dates.vocabulary import (
    CENTURIES,
    DECADES,
    ORDINALS,
    SUFFIX,
    YEAR,
    YEARLY,
    Pattern,
    alternatives,
    pattern,
)

Reading: TypeAlias = Callable[[re.Match[str], Clock], Period]
Acceptance: TypeAlias = Callable[[re.Match[str], str], bool]

DIGITS = "0"
"""The head of what begins with a number."""

PART_LEAD = "part of"
"""What leads to the time in "the end of May"."""

TIME_LEADS = frozenset(
    "in during since until till before after throughout through to and between early mid late "
    "around".split()
) | {PART_LEAD}
"""Words that lead to a time more often than to anything else."""


def accept_always(match: re.Match[str], lead: str) -> bool:
    """Accept every match, whatever leads to it."""
    del match, lead
    return True


@dataclass(frozen=True, slots=True)
class Rule:
    """One way of naming a time: where it may begin, how it is written, what it means.

    `accepts` is told the word that leads there ("in", "since", "" for none). A rule that is not
    `anchored` may leave its year or week open, and then takes it from the other end of a range.
    """

    name: str
    heads: frozenset[str]
    pattern: Pattern
    resolve: Reading
    accepts: Acceptance = accept_always
    anchored: bool = True


@dataclass(frozen=True, slots=True)
class Prefix:
    """Words before a time that make another of it, such as "early" or "the week before"."""

    name: str
    heads: frozenset[str]
    pattern: Pattern
    change: Callable[[re.Match[str], Period, Clock], Period]


def rule(
    name: str,
    heads: str | Iterable[str],
    source: str,
    resolve: Reading,
    *,
    accepts: Acceptance = accept_always,
    anchored: bool = True,
) -> Rule:
    """Return a rule from its pattern's source."""
    return Rule(name, _heads(heads), pattern(source), resolve, accepts, anchored)


def prefix(
    name: str,
    heads: str | Iterable[str],
    source: str,
    change: Callable[[re.Match[str], Period, Clock], Period],
) -> Prefix:
    """Return a prefix from its pattern's source, up to where the time begins that must follow."""
    return Prefix(name, _heads(heads), pattern(source, ends=False), change)


def _heads(heads: str | Iterable[str]) -> frozenset[str]:
    return frozenset(heads.split() if isinstance(heads, str) else heads)


def word_before(match: re.Match[str]) -> str:
    """Return the lower-case word before a match, or "" at the start and after a full stop."""
    found = _WORD_BEFORE.search(match.string, max(0, match.start() - _REACH), match.start())
    return found.group(1).lower() if found else ""


def word_after(match: re.Match[str]) -> str:
    """Return the word after a match as written, or nothing at the end and before a stop."""
    found = _WORD_AFTER.match(match.string, match.end())
    return found.group(1) if found else ""


_REACH = 32
_WORD_BEFORE = re.compile(r"([^\W\d_]{1,24})(?:['’]s)?\s{1,3}$")
_WORD_AFTER = re.compile(r"\s{1,3}([^\W\d_]{1,24})")


Yearly: TypeAlias = Callable[[int], Period]
"""What comes once a year, by the year it begins in; ValueError where a year has none."""

DAY = timedelta(days=1)
UNIT_LENGTHS = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": DAY,
    "week": 7 * DAY,
    "fortnight": 14 * DAY,
}
UNIT_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}
# days
HALF_DAYS = {
    "week": 3,
    "fortnight": 7,
    "month": 15,
    "quarter": 45,
    "year": 182,
    "decade": 1826,
    "century": 18262,
}
_LEAP_GAP = 8  # years from one 29 February to the next, at most


def whole_days(first: date, last: date) -> Period:
    """Return whole days, the last included."""
    return Period(
        datetime.combine(first, time.min, UTC), datetime.combine(last + DAY, time.min, UTC)
    )


def whole_day(of: date) -> Period:
    """Return one whole day."""
    return whole_days(of, of)


def whole_months(year: int, month: int, *, count: int = 1) -> Period:
    """Return whole months; the first may lie beyond December.

    >>> whole_months(2023, 12, count=3).end.isoformat()
    '2024-03-01T00:00:00+00:00'
    """
    first, beyond = year * 12 + month - 1, year * 12 + month - 1 + count
    return Period(
        datetime(first // 12, first % 12 + 1, 1, tzinfo=UTC),
        datetime(beyond // 12, beyond % 12 + 1, 1, tzinfo=UTC),
    )


def whole_years(first: int, *, count: int = 1) -> Period:
    """Return whole years."""
    return whole_months(first, 1, count=12 * count)


def shift(moment: datetime, unit: str, count: int) -> datetime:
    """Return a moment so many units later; a day that the month lacks becomes its last.

    >>> shift(datetime(2024, 3, 31), "month", -1).date().isoformat()
    '2024-02-29'
    """
    if unit in UNIT_LENGTHS:
        return moment + count * UNIT_LENGTHS[unit]
    month = moment.year * 12 + moment.month - 1 + count * UNIT_MONTHS[unit]
    last = (whole_months(month // 12, month % 12 + 1).end - DAY).day
    return moment.replace(year=month // 12, month=month % 12 + 1, day=min(moment.day, last))


def enclosing_unit(unit: str, moment: datetime, clock: Clock) -> Period:
    """Return the calendar unit that a moment lies in."""
    if unit in ("week", "fortnight"):
        monday = moment.date() - ((moment.weekday() - clock.week_start) % 7) * DAY
        return whole_days(monday, monday + UNIT_LENGTHS[unit] - DAY)
    if unit in UNIT_LENGTHS:
        start = moment.replace(
            minute=moment.minute if unit == "minute" else 0, second=0, microsecond=0
        )
        return (
            whole_day(moment.date()) if unit == "day" else Period(start, start + UNIT_LENGTHS[unit])
        )
    span = UNIT_MONTHS[unit]
    first = (moment.year * 12 + moment.month - 1) // span * span
    return whole_months(first // 12, first % 12 + 1, count=span)


def weekend_of(moment: datetime, *, weeks: int = 0) -> Period:
    """Return the weekend of the week that a moment lies in, shifted by `weeks`."""
    saturday = moment.date() + (5 - moment.weekday() + 7 * weeks) * DAY
    return whole_days(saturday, saturday + DAY)


def nearest_weekday(number: int, clock: Clock, *, ahead: bool) -> Period:
    """Return the latest such day before today, or the next after it."""
    today = clock.now.date()
    gap = (number - today.weekday()) % 7 or 7 if ahead else -((today.weekday() - number) % 7 or 7)
    return whole_day(today + gap * DAY)


def nearest_occurrence(yearly: Yearly, clock: Clock, which: str = "") -> Period:
    """Return the `last`, `this` or `next` of what comes every year.

    Without a word the latest that has begun.

    "last" has ended; without a word and in a question about what will be, it is the first that has
    not ended.
    """
    year, now = clock.now.year, clock.now
    if which == "this":
        return yearly(year)
    forward = which == "next" or (not which and clock.ahead)
    for offset in range(-1, _LEAP_GAP + 1):
        period = _period_in(yearly, year + (offset if forward else -offset))
        if period and _fits(period, now, which, forward=forward):
            return period
    raise ValueError(f"no such day in {_LEAP_GAP} years")


def _fits(period: Period, now: datetime, which: str, *, forward: bool) -> bool:
    if which:
        return period.start > now if forward else period.end <= now
    return period.end > now if forward else period.start <= now


def _period_in(yearly: Yearly, year: int) -> Period | None:
    try:
        return yearly(year)
    except ValueError:
        return None


def up_to_now(start: datetime, clock: Clock) -> Period:
    """Return what lies between a moment and now, now included."""
    return Period(start, clock.now + RESOLUTION)


def day_start(moment: datetime) -> datetime:
    """Return the first moment of a day."""
    return datetime.combine(moment.date(), time.min, UTC)


def cut_third(period: Period, number: int) -> Period:
    """Return one third of a period, in whole days where it has at least three.

    >>> cut_third(whole_months(2024, 3), 2).start.day
    21
    """
    whole = period.end - period.start
    step = DAY if whole >= 3 * DAY else RESOLUTION
    cut = [period.start + (whole * part // 3) // step * step for part in range(3)] + [period.end]
    return Period(cut[number], cut[number + 1])


IN_YEAR = rf"(?:,? (?:of )?(?:{YEARLY}))"
"""A year behind something that comes every year."""

_YEAR_LEADS = TIME_LEADS | {"of", "for", "from", "by", "about", "circa", "over", "the"}
_DETERMINERS = frozenset("the my our his her their your this that its".split())
_UNIT_AFTER = re.compile(
    r"(?u:\s){0,3}(?:%|(?:words?|rows?|requests?|users?|characters?|tokens?|people|dollars?|"
    r"euros?|pounds?|items?|steps?|files?|lines?|calories"
    r"|kcal|km|miles?|met(?:er|re)s?|ms|seconds?|minutes?|hours?|days?|weeks?|years?|bytes?|"
    r"[kmg]b|rpm|mah|times|points?|votes?|psi|watts?|hz"
    r"|pieces|pages?|records?|nodes?|documents?|messages?|entries|units?|degrees|iterations?|"
    r"epochs?|connections?|attempts?)\b)",
    re.IGNORECASE,
)
_NUMBERED_THINGS = frozenset(
    "port rfc room version error code issue ticket bug number no id page model line windows "
    "server office studio route channel "
    "building street apt pr runner step item row chapter iso".split()
)


def year_of(match: re.Match[str], clock: Clock) -> int | None:
    """Return the year that a match names by number or from now, if it does."""
    if match["year"]:
        return int(match["year"])
    away = {"last": -1, "the previous": -1, "this": 0, "next": 1}
    return clock.now.year + away[" ".join(match["of"].lower().split())] if match["of"] else None


def in_year(yearly: Yearly, match: re.Match[str], clock: Clock) -> Period:
    """Return what comes every year in the year named, or the one that a bare mention means."""
    year = year_of(match, clock)
    return nearest_occurrence(yearly, clock) if year is None else yearly(year)


def _year(match: re.Match[str], clock: Clock) -> Period:
    del clock
    return whole_years(int(match["year"]))


def _is_year(match: re.Match[str], lead: str) -> bool:
    """Doubt figures that count or number something.

    A year stands after a word of time, "the", or at an end.
    """
    if _UNIT_AFTER.match(match.string, match.end()):
        return False
    if lead in _YEAR_LEADS or match["word"]:
        return True
    word = word_before(match)
    return word in _DETERMINERS or (
        bool(word) and not word_after(match) and word not in _NUMBERED_THINGS
    )


def _decade(match: re.Match[str], clock: Clock) -> Period:
    if match["year"]:
        return whole_years(int(match["year"]), count=10)
    tens = int(match["tens"]) if match["tens"] else DECADES[match["word"].lower()]
    year = clock.now.year // 100 * 100 + tens
    return whole_years(year if year <= clock.now.year else year - 100, count=10)


def _is_decade(match: re.Match[str], lead: str) -> bool:
    """Doubt "90s": without its century it follows "the", "early", "late" or an apostrophe."""
    signed = match.string[max(0, match.start() - 1) : match.start()] in ("'", "’")
    return (
        bool(match["year"])
        or signed
        or lead in ("early", "mid", "late")
        or match.group()[:1] in "tT"
    )


def _century(match: re.Match[str], clock: Clock) -> Period:
    del clock
    number = int(match["number"]) if match["number"] else CENTURIES[match["word"].lower()]
    return whole_years(number * 100 - 99, count=100)


def _quarter(match: re.Match[str], clock: Clock) -> Period:
    number = ORDINALS.get(match["quarter"].lower()) or int(match["quarter"])
    return in_year(lambda year: whole_months(year, 3 * number - 2, count=3), match, clock)


def _half(match: re.Match[str], clock: Clock) -> Period:
    number = int(match["half"])
    return in_year(lambda year: whole_months(year, 6 * number - 5, count=6), match, clock)


def _is_capitalised(match: re.Match[str], lead: str) -> bool:
    """Doubt "q3" and "h1" in small letters without a year: they are keys and headings."""
    del lead
    return bool(match["year"] or match["of"]) or match.group()[0].isupper()


RULES = (
    rule(
        "year",
        (DIGITS, "the", "year"),
        rf"(?P<word>(?:the )?year )?(?P<year>{YEAR})",
        _year,
        accepts=_is_year,
    ),
    rule(
        "decade",
        (DIGITS, "the", *DECADES),
        rf"(?:the )?(?:(?P<year>(?:1[5-9]|20)\d0)['’]?s|['’]?(?P<tens>\d0)['’]?s|"
        rf"(?P<word>{alternatives(DECADES)}))",
        _decade,
        accepts=_is_decade,
    ),
    rule(
        "century",
        (DIGITS, "the", *CENTURIES),
        rf"(?:the )?(?:(?P<number>1[0-9]|2[01]){SUFFIX}|(?P<word>{alternatives(CENTURIES)})) "
        rf"century",
        _century,
    ),
    rule(
        "quarter",
        "q",
        rf"Q(?P<quarter>[1-4])(?:,? ?(?:of )?(?:{YEARLY}))?",
        _quarter,
        accepts=_is_capitalised,
        anchored=False,
    ),
    rule("quarter", DIGITS, rf"(?P<year>{YEAR})[ -]?(?P<of>)Q(?P<quarter>[1-4])", _quarter),
    rule(
        "quarter",
        ("the", *ORDINALS, DIGITS),
        rf"(?:the )?(?P<quarter>{alternatives(ORDINALS)}) quarter{IN_YEAR}",
        _quarter,
    ),
    rule(
        "half",
        "h",
        rf"H(?P<half>[12])(?:,? ?(?:of )?(?:{YEARLY}))",
        _half,
        accepts=_is_capitalised,
        anchored=False,
    ),
)
