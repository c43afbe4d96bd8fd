"""Days and seasons that have names: Monday, spring, Christmas, Thanksgiving, Easter."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from clew.when.periods import DAY, Yearly, day, enclosing, months, recurring, weekday
from clew.when.rule import TIME_LEADS, after, before, rule
from clew.when.values import Clock, Period
from clew.when.vocabulary import SEASON, SEASONS, WEEKDAY, WEEKDAYS, WHICH, YEARLY, which_way
from clew.when.years import in_year

_WHICH_HEADS = "last past previous this next coming upcoming following current"
_LEADS = TIME_LEADS | {"over", "by", "on", "at", "from"}
_GOES_ON = frozenset(
    "a an and at did do for i in is of on or our the to was we were what when where who why with you my about how did".split()
)
_NO_DAY_OF = frozenset(
    "the a an my our his her their your every each any some black good ash cyber freaky ruby spell call called word".split()
)


def easter(year: int) -> date:
    """Return Easter Sunday of the western churches, by the anonymous Gregorian reckoning.

    >>> easter(2024).isoformat(), easter(2025).isoformat()
    ('2024-03-31', '2025-04-20')
    """
    century, rest = divmod(year, 100)
    golden = year % 19
    epact = (19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    sunday = (32 + 2 * (century % 4) + 2 * (rest // 4) - epact - rest % 4) % 7
    shift = (golden + 11 * epact + 22 * sunday) // 451
    month, number = divmod(epact + sunday - 7 * shift + 114, 31)
    return date(year, month, number + 1)


def nth_weekday(year: int, month: int, number: int, count: int) -> date:
    """Return the so-manyeth such weekday of a month.

    >>> nth_weekday(2024, 11, WEEKDAYS["thursday"], 4).isoformat()
    '2024-11-28'
    """
    first = date(year, month, 1)
    return first + timedelta(days=(number - first.weekday()) % 7 + 7 * (count - 1))


def _on(month: int, number: int) -> Callable[[int], date]:
    return lambda year: date(year, month, number)


def _thanksgiving(year: int) -> date:
    return nth_weekday(year, 11, WEEKDAYS["thursday"], 4)


_HOLIDAYS: dict[str, Callable[[int], date]] = {
    "new year['’]?s eve": _on(12, 31),
    "new year['’]?s day": _on(1, 1),
    "new year(?:['’]?s)?": _on(1, 1),
    "valentine['’]?s(?: day)?": _on(2, 14),
    "st\\.? patrick['’]?s day": _on(3, 17),
    "good friday": lambda year: easter(year) - 2 * DAY,
    "easter monday": lambda year: easter(year) + DAY,
    "easter(?: sunday)?": easter,
    "independence day": _on(7, 4),
    "labou?r day": lambda year: nth_weekday(year, 9, WEEKDAYS["monday"], 1),
    "hallowe['’]?en": _on(10, 31),
    "thanksgiving(?: day)?": _thanksgiving,
    "black friday": lambda year: _thanksgiving(year) + DAY,
    "christmas eve": _on(12, 24),
    "(?:christmas(?: day)?|xmas)": _on(12, 25),
    "boxing day": _on(12, 26),
}
"""Patterns and days, longer names first; those that differ by country are the American ones."""
_HOLIDAY = "(?:" + "|".join(_HOLIDAYS) + ")"
_HOLIDAY_HEADS = (
    "new valentine valentines st good easter independence labor labour halloween hallowe thanksgiving black christmas xmas boxing"
)
_READ_HOLIDAY = [(re.compile(source.replace(" ", r"\s+"), re.IGNORECASE), make) for source, make in _HOLIDAYS.items()]


def _holiday_of(written: str) -> Yearly:
    make = next(make for source, make in _READ_HOLIDAY if source.fullmatch(written))
    return lambda year: day(make(year))


def _holiday(match: re.Match[str], clock: Clock) -> Period:
    return in_year(_holiday_of(match["name"]), match, clock)


def _chosen_holiday(match: re.Match[str], clock: Clock) -> Period:
    return recurring(_holiday_of(match["name"]), clock, which_way(match["which"]))


def _dated(match: re.Match[str], lead: str) -> bool:
    """Doubt "Christmas presents": a holiday is a time after a word of time or with a year."""
    return bool(match["year"] or match["of"]) or (lead in _LEADS and not after(match)[:1].isupper())


def season_of(name: str) -> Yearly:
    """Return three whole months; a winter begins in the year it is called by."""
    first = SEASONS[name.lower()]
    return lambda year: months(year, first, count=3)


def _season(match: re.Match[str], clock: Clock) -> Period:
    return in_year(season_of(match["season"]), match, clock)


def _chosen_season(match: re.Match[str], clock: Clock) -> Period:
    """Read "this winter" before July as the one that began last year."""
    name, which = match["season"].lower(), which_way(match["which"])
    if name == "winter" and which == "this":
        return season_of(name)(clock.now.year - (clock.now.month < 7))
    return recurring(season_of(name), clock, which)


def _plainly_a_season(match: re.Match[str], lead: str) -> bool:
    """Doubt "in Spring Boot" and "in fall protection": the phrase must end there or go on with a small word."""
    if match["year"] or match["of"]:
        return True
    return lead in _LEADS - {"by", "on", "at"} and after(match) in _GOES_ON | {""}


def _weekday(match: re.Match[str], clock: Clock) -> Period:
    return weekday(WEEKDAYS[match["day"].lower()], clock, ahead=clock.ahead)


def _plainly_a_weekday(match: re.Match[str], lead: str) -> bool:
    """Doubt "the Monday meeting" and "Black Friday": a bare weekday follows a small word and ends its phrase."""
    if lead:
        return True
    word = before(match)
    return bool(word) and word not in _NO_DAY_OF and (not after(match) or after(match) in ("morning", "afternoon", "evening", "night"))


def _chosen_weekday(match: re.Match[str], clock: Clock) -> Period:
    number, which = WEEKDAYS[match["day"].lower()], which_way(match["which"])
    if which == "this":
        return _of_week(number, 0, clock)
    return weekday(number, clock, ahead=which == "next")


def _weekday_of_week(match: re.Match[str], clock: Clock) -> Period:
    away = {"last": -1, "this": 0, "next": 1}[which_way(match["which"])]
    return _of_week(WEEKDAYS[match["day"].lower()], away, clock)


def _of_week(number: int, weeks: int, clock: Clock) -> Period:
    start = enclosing("week", clock.now, clock).start.date() + 7 * weeks * DAY
    return day(start + timedelta(days=(number - clock.week_start) % 7))


_IN_YEAR = rf"(?:,? (?:of |in )?(?:{YEARLY}))"

RULES = (
    rule("weekday", WEEKDAYS, rf"(?P<day>{WEEKDAY})", _weekday, accepts=_plainly_a_weekday, anchored=False),
    rule("weekday", _WHICH_HEADS, rf"{WHICH} (?P<day>{WEEKDAY})", _chosen_weekday),
    rule("weekday", WEEKDAYS, rf"(?P<day>{WEEKDAY}) (?:of )?{WHICH} week", _weekday_of_week),
    rule("season", [*SEASONS, "the"], rf"(?:the )?(?P<season>{SEASON}){_IN_YEAR}?", _season, accepts=_plainly_a_season, anchored=False),
    rule("season", _WHICH_HEADS, rf"{WHICH} (?P<season>{SEASON})", _chosen_season),
    rule("holiday", _HOLIDAY_HEADS, rf"(?P<name>{_HOLIDAY}){_IN_YEAR}?", _holiday, accepts=_dated, anchored=False),
    rule("holiday", _WHICH_HEADS, rf"{WHICH} (?P<name>{_HOLIDAY})", _chosen_holiday),
)
