"""Days and seasons that have names: Monday, spring, Christmas, Thanksgiving, Easter."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from clew.text.dates.periods import (
    DAY,
    DIGITS,
    HALF_DAYS,
    PART_LEAD,
    TIME_LEADS,
    UNIT_LENGTHS,
    Yearly,
    cut_third,
    day_start,
    enclosing_unit,
    in_year,
    nearest_occurrence,
    nearest_weekday,
    prefix,
    rule,
    shift,
    up_to_now,
    weekend_of,
    whole_day,
    whole_days,
    whole_months,
    word_after,
    word_before,
)
from clew.text.dates.values import RESOLUTION, Clock, Period
from clew.text.dates.vocabulary import (
    COUNT,
    LAST,
    NEXT,
    NUMBERS,
    PART,
    PARTS_OF_DAY,
    SEASON,
    SEASONS,
    UNIT,
    VAGUE,
    WEEKDAY,
    WEEKDAYS,
    WHICH,
    YEARLY,
    direction,
    parse_count,
)

_WHICH_HEADS = "last past previous this next coming upcoming following current"
_HOLIDAY_LEADS = TIME_LEADS | {"over", "by", "on", "at", "from"}
_WORDS_AFTER_SEASON = frozenset(
    "a an and at did do for i in is of on or our the to was we were what when where who why "
    "with you my about how did".split()
)
_NOT_BEFORE_WEEKDAY = frozenset(
    "the a an my our his her their your every each any some black good ash cyber freaky ruby "
    "spell call called word".split()
)


def easter(year: int) -> date:
    """Return Easter Sunday of the western churches, by the anonymous Gregorian reckoning.

    >>> easter(2024).isoformat(), easter(2025).isoformat()
    ('2024-03-31', '2025-04-20')
    """
    century, rest = divmod(year, 100)
    golden = year % 19
    epact = (
        19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15
    ) % 30
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


def _fixed_day(month: int, number: int) -> Callable[[int], date]:
    return lambda year: date(year, month, number)


def _thanksgiving(year: int) -> date:
    return nth_weekday(year, 11, WEEKDAYS["thursday"], 4)


_HOLIDAYS: dict[str, Callable[[int], date]] = {
    "new year['’]?s eve": _fixed_day(12, 31),
    "new year['’]?s day": _fixed_day(1, 1),
    "new year(?:['’]?s)?": _fixed_day(1, 1),
    "valentine['’]?s(?: day)?": _fixed_day(2, 14),
    "st\\.? patrick['’]?s day": _fixed_day(3, 17),
    "good friday": lambda year: easter(year) - 2 * DAY,
    "easter monday": lambda year: easter(year) + DAY,
    "easter(?: sunday)?": easter,
    "independence day": _fixed_day(7, 4),
    "labou?r day": lambda year: nth_weekday(year, 9, WEEKDAYS["monday"], 1),
    "hallowe['’]?en": _fixed_day(10, 31),
    "thanksgiving(?: day)?": _thanksgiving,
    "black friday": lambda year: _thanksgiving(year) + DAY,
    "christmas eve": _fixed_day(12, 24),
    "(?:christmas(?: day)?|xmas)": _fixed_day(12, 25),
    "boxing day": _fixed_day(12, 26),
}
"""Patterns and days, longer names first; those that differ by country are the American ones."""
_HOLIDAY = "(?:" + "|".join(_HOLIDAYS) + ")"
_HOLIDAY_HEADS = (
    "new valentine valentines st good easter independence labor labour halloween hallowe "
    "thanksgiving black christmas xmas boxing"
)
_HOLIDAY_PATTERNS = [
    (re.compile(source.replace(" ", r"\s+"), re.IGNORECASE), make)
    for source, make in _HOLIDAYS.items()
]


def _holiday_of(written: str) -> Yearly:
    make = next(make for source, make in _HOLIDAY_PATTERNS if source.fullmatch(written))
    return lambda year: whole_day(make(year))


def _holiday(match: re.Match[str], clock: Clock) -> Period:
    return in_year(_holiday_of(match["name"]), match, clock)


def _chosen_holiday(match: re.Match[str], clock: Clock) -> Period:
    return nearest_occurrence(_holiday_of(match["name"]), clock, direction(match["which"]))


def _is_dated(match: re.Match[str], lead: str) -> bool:
    """Doubt "Christmas presents": a holiday is a time after a word of time or with a year."""
    return bool(match["year"] or match["of"]) or (
        lead in _HOLIDAY_LEADS and not word_after(match)[:1].isupper()
    )


def season_of(name: str) -> Yearly:
    """Return three whole months; a winter begins in the year it is called by."""
    first = SEASONS[name.lower()]
    return lambda year: whole_months(year, first, count=3)


def _season(match: re.Match[str], clock: Clock) -> Period:
    return in_year(season_of(match["season"]), match, clock)


def _chosen_season(match: re.Match[str], clock: Clock) -> Period:
    """Read "this winter" before July as the one that began last year."""
    name, which = match["season"].lower(), direction(match["which"])
    if name == "winter" and which == "this":
        return season_of(name)(clock.now.year - (clock.now.month < 7))
    return nearest_occurrence(season_of(name), clock, which)


def _is_season(match: re.Match[str], lead: str) -> bool:
    """Doubt "in Spring Boot" and "in fall protection".

    The phrase must end there or go on with a small word.
    """
    if match["year"] or match["of"]:
        return True
    return lead in _HOLIDAY_LEADS - {"by", "on", "at"} and word_after(
        match
    ) in _WORDS_AFTER_SEASON | {""}


def _weekday(match: re.Match[str], clock: Clock) -> Period:
    return nearest_weekday(WEEKDAYS[match["day"].lower()], clock, ahead=clock.ahead)


def _is_weekday(match: re.Match[str], lead: str) -> bool:
    """Doubt "the Monday meeting" and "Black Friday".

    A bare weekday follows a small word and ends its phrase.
    """
    if lead:
        return True
    word = word_before(match)
    return (
        bool(word)
        and word not in _NOT_BEFORE_WEEKDAY
        and (
            not word_after(match)
            or word_after(match) in ("morning", "afternoon", "evening", "night")
        )
    )


def _chosen_weekday(match: re.Match[str], clock: Clock) -> Period:
    number, which = WEEKDAYS[match["day"].lower()], direction(match["which"])
    if which == "this":
        return _of_week(number, 0, clock)
    return nearest_weekday(number, clock, ahead=which == "next")


def _weekday_of_week(match: re.Match[str], clock: Clock) -> Period:
    away = {"last": -1, "this": 0, "next": 1}[direction(match["which"])]
    return _of_week(WEEKDAYS[match["day"].lower()], away, clock)


def _of_week(number: int, weeks: int, clock: Clock) -> Period:
    start = enclosing_unit("week", clock.now, clock).start.date() + 7 * weeks * DAY
    return whole_day(start + timedelta(days=(number - clock.week_start) % 7))


_IN_YEAR = rf"(?:,? (?:of |in )?(?:{YEARLY}))"

RULES = (
    rule(
        "weekday", WEEKDAYS, rf"(?P<day>{WEEKDAY})", _weekday, accepts=_is_weekday, anchored=False
    ),
    rule("weekday", _WHICH_HEADS, rf"{WHICH} (?P<day>{WEEKDAY})", _chosen_weekday),
    rule("weekday", WEEKDAYS, rf"(?P<day>{WEEKDAY}) (?:of )?{WHICH} week", _weekday_of_week),
    rule(
        "season",
        [*SEASONS, "the"],
        rf"(?:the )?(?P<season>{SEASON}){_IN_YEAR}?",
        _season,
        accepts=_is_season,
        anchored=False,
    ),
    rule("season", _WHICH_HEADS, rf"{WHICH} (?P<season>{SEASON})", _chosen_season),
    rule(
        "holiday",
        _HOLIDAY_HEADS,
        rf"(?P<name>{_HOLIDAY}){_IN_YEAR}?",
        _holiday,
        accepts=_is_dated,
        anchored=False,
    ),
    rule("holiday", _WHICH_HEADS, rf"{WHICH} (?P<name>{_HOLIDAY})", _chosen_holiday),
)


RECENT_DAYS = 30  # "recently" has no edge; a month keeps what a person would still call recent
_OFFSETS = {"last": -1, "this": 0, "": 0, "next": 1}
_NAMED_DAYS = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1}


def part_of(whole: Period, part: str) -> Period:
    """Return the morning, afternoon, evening or night of a day."""
    first, last = PARTS_OF_DAY[part.lower()]
    return Period(whole.start + timedelta(hours=first), whole.start + timedelta(hours=last))


def _named_day(match: re.Match[str], clock: Clock) -> Period:
    word = match["word"].lower()
    found = whole_day(clock.now.date() + _NAMED_DAYS[word] * DAY)
    return part_of(found, "night") if word == "tonight" else found


def _two_days(match: re.Match[str], clock: Clock) -> Period:
    return whole_day(clock.now.date() + (-2 if match["word"].lower() == "before" else 2) * DAY)


def _this_part(match: re.Match[str], clock: Clock) -> Period:
    return part_of(whole_day(clock.now.date()), match["part"])


def _last_night(match: re.Match[str], clock: Clock) -> Period:
    del match
    return part_of(whole_day(clock.now.date() - DAY), "night")


def _calendar(match: re.Match[str], clock: Clock) -> Period:
    unit, away = match["unit"].lower(), _OFFSETS[direction(match["which"])]
    return enclosing_unit(
        unit, shift(enclosing_unit(unit, clock.now, clock).start, unit, away), clock
    )


def _weekend(match: re.Match[str], clock: Clock) -> Period:
    """Read "last weekend" on a Sunday as the one before."""
    return weekend_of(clock.now, weeks=_OFFSETS[direction(match["which"])])


def _the_weekend(match: re.Match[str], clock: Clock) -> Period:
    del match
    this = weekend_of(clock.now)
    return this if this.start <= clock.now or clock.ahead else weekend_of(clock.now, weeks=-1)


def rolling(unit: str, count: int, clock: Clock) -> Period:
    """Return so many units up to now; from days on it begins with a day."""
    start = shift(clock.now, unit, -count)
    return up_to_now(start if unit in ("minute", "hour") else day_start(start), clock)


def _past_units(match: re.Match[str], clock: Clock) -> Period:
    return rolling(match["unit"].lower(), parse_count(match["count"] or "")[1], clock)


def _coming_units(match: re.Match[str], clock: Clock) -> Period:
    unit = match["unit"].lower()
    end = shift(clock.now, unit, parse_count(match["count"])[1])
    return Period(clock.now, end if unit in ("minute", "hour") else day_start(end) + DAY)


def _so_far(match: re.Match[str], clock: Clock) -> Period:
    whole = enclosing_unit((match["unit"] or "day").lower(), clock.now, clock)
    return (
        Period(clock.now, whole.end)
        if match["word"].lower() == "later"
        else up_to_now(whole.start, clock)
    )


def _distance(match: re.Match[str], clock: Clock) -> Period:
    """Read "two weeks ago" as that day give or take half a unit.

    Days are exact, hours and minutes to the unit.
    """
    unit, (low, high) = match["unit"].lower(), parse_count(match["count"])
    sign = -1 if match["ago"] else 1
    near, far = shift(clock.now, unit, sign * low), shift(clock.now, unit, sign * high)
    first, last = min(near, far), max(near, far)
    if unit in ("minute", "hour"):
        return Period(first - UNIT_LENGTHS[unit] / 2, last + UNIT_LENGTHS[unit] / 2)
    half = HALF_DAYS.get(unit, 0) * DAY
    return Period(day_start(first - half), day_start(last + half) + DAY)


def _is_recent(match: re.Match[str], lead: str) -> bool:
    """Doubt "most recently", which compares."""
    return not lead and word_before(match) != "most"


def _recently(match: re.Match[str], clock: Clock) -> Period:
    unit = match.groupdict().get("unit")
    return (
        rolling(unit.lower(), VAGUE["few"][1], clock)
        if unit
        else rolling("day", RECENT_DAYS, clock)
    )


def _present(match: re.Match[str], clock: Clock) -> Period:
    del match
    return Period(clock.now, clock.now + RESOLUTION)


def _ends_a_range(match: re.Match[str], lead: str) -> bool:
    del match
    return lead in ("to", "until", "till", "and", "through")


def _unit_after_next(match: re.Match[str], clock: Clock) -> Period:
    unit, back = match["unit"].lower(), -2 if match["word"].lower() == "before" else 2
    return enclosing_unit(
        unit, shift(enclosing_unit(unit, clock.now, clock).start, unit, back), clock
    )


_CALENDAR = r"(?P<unit>week|month|quarter|year|decade|century)"

RELATIVE_RULES = (
    rule("named day", _NAMED_DAYS, r"(?P<word>today|tonight|yesterday|tomorrow)", _named_day),
    rule(
        "named day",
        "the day",
        r"(?:the )?day (?P<word>before|after) (?:yesterday|tomorrow)",
        _two_days,
    ),
    rule("part of day", "this", rf"this (?P<part>{PART})", _this_part),
    rule("part of day", "last", r"last night", _last_night),
    rule("calendar", _WHICH_HEADS, rf"{WHICH} {_CALENDAR}", _calendar),
    rule(
        "calendar",
        "the",
        rf"the (?P<which>previous|next|following|coming|current) {_CALENDAR}",
        _calendar,
    ),
    rule(
        "calendar",
        "the",
        rf"the (?P<which>){_CALENDAR}",
        _calendar,
        accepts=lambda _, lead: lead == PART_LEAD,
    ),
    rule(
        "calendar",
        "the",
        rf"the {_CALENDAR} (?P<word>before|after) (?:last|next)",
        _unit_after_next,
    ),
    rule("weekend", _WHICH_HEADS, rf"{WHICH} weekend", _weekend),
    rule(
        "weekend",
        "the",
        "the weekend",
        _the_weekend,
        accepts=lambda _, lead: lead in ("over", "on", "at", "during", "since", "before"),
    ),
    rule("rolling", "the past", rf"(?:the )?past (?P<count>){UNIT}", _past_units),
    rule("rolling", "the", rf"the last (?P<count>){UNIT}(?! of\b)", _past_units),
    rule("rolling", "the last past previous", rf"(?:the )?{LAST} {COUNT} {UNIT}", _past_units),
    rule("coming", "the next coming following", rf"(?:the )?{NEXT} {COUNT} {UNIT}", _coming_units),
    rule(
        "so far",
        "earlier later so",
        r"(?P<word>earlier|later|so far) (?:today|this (?P<unit>week|month|quarter|year))",
        _so_far,
    ),
    rule(
        "ago",
        (DIGITS, "a", "an", *NUMBERS, *VAGUE),
        rf"{COUNT} {UNIT} (?:(?P<ago>ago|back|earlier)|from now|from today)",
        _distance,
        accepts=lambda match, _: word_before(match) != "half",
    ),
    rule(
        "recently",
        "recently lately recent",
        r"recently|lately|recent",
        _recently,
        accepts=_is_recent,
    ),
    rule("recently", "recent", r"recent (?P<unit>day|week|month|year)s", _recently),
    rule("now", "now present", r"now|present", _present, accepts=_ends_a_range),
    rule("now", "the", r"the present(?: day)?", _present, accepts=_ends_a_range),
)


_THIRDS = {"early": 0, "beginning": 0, "start": 0, "mid": 1, "middle": 1, "late": 2, "end": 2}


def _third(match: re.Match[str], inner: Period, clock: Clock) -> Period:
    del clock
    return cut_third(inner, _THIRDS[match["part"].lower()])


def _half(match: re.Match[str], inner: Period, clock: Clock) -> Period:
    """Cut a year after June, and what is not made of an even number of months at midnight."""
    del clock
    count = 12 * (inner.end.year - inner.start.year) + inner.end.month - inner.start.month
    whole = (
        inner == whole_months(inner.start.year, inner.start.month, count=count) and count % 2 == 0
    )
    middle = (
        shift(inner.start, "month", count // 2)
        if whole
        else day_start(inner.start + (inner.end - inner.start) / 2)
    )
    return (
        Period(inner.start, middle)
        if match["part"].lower() == "first"
        else Period(middle, inner.end)
    )


def _edge(match: re.Match[str], inner: Period, clock: Clock) -> Period:
    """Read "the last two weeks of May": so many units at one of its ends, no more than there is."""
    del clock
    count, unit = parse_count(match["count"] or "")[1], match["unit"].lower()
    if match["part"].lower() == "first":
        return Period(inner.start, min(inner.end, shift(inner.start, unit, count)))
    return Period(max(inner.start, shift(inner.end, unit, -count)), inner.end)


def _around(match: re.Match[str], inner: Period, clock: Clock) -> Period:
    del match, clock
    slack = max(DAY, (inner.end - inner.start) / 2 // DAY * DAY)
    return Period(inner.start - slack, inner.end + slack)


def _week_of(match: re.Match[str], inner: Period, clock: Clock) -> Period:
    return (
        weekend_of(inner.start)
        if match["unit"].lower() == "weekend"
        else enclosing_unit("week", inner.start, clock)
    )


def _adjoining(match: re.Match[str], inner: Period, clock: Clock) -> Period:
    """Read "the day before Christmas" and "the week after 5 May" as the whole unit that adjoins."""
    del clock
    unit, earlier = match["unit"].lower(), match["side"].lower() == "before"
    if unit == "weekend":
        return (
            weekend_of(inner.start - DAY, weeks=-1 if (inner.start - DAY).weekday() < 6 else 0)
            if earlier
            else _weekend_after(inner)
        )
    return (
        Period(shift(inner.start, unit, -1), inner.start)
        if earlier
        else Period(inner.end, shift(inner.end, unit, 1))
    )


def _weekend_after(inner: Period) -> Period:
    saturday = inner.end.date() + timedelta(days=(5 - inner.end.weekday()) % 7)
    return whole_days(saturday, saturday + DAY)


def _offset(match: re.Match[str], inner: Period, clock: Clock) -> Period:
    """Read "two weeks before Christmas" as a day, "a few days after" as the days it may mean."""
    del clock
    unit, (low, high) = match["unit"].lower(), parse_count(match["count"])
    last_day = inner.end - DAY
    if match["side"].lower() == "before":
        return Period(
            shift(inner.start, unit, -high), whole_day(shift(inner.start, unit, -low).date()).end
        )
    return Period(
        day_start(shift(last_day, unit, low)), whole_day(shift(last_day, unit, high).date()).end
    )


_SIDE = "(?P<side>before|after)"

PREFIXES = (
    prefix(
        "part", "the early mid late", r"(?:the )?(?P<part>early|mid|late)(?: in)?(?: |-)", _third
    ),
    prefix(
        "part",
        "the beginning start middle",
        r"(?:the )?(?P<part>beginning|start|middle) of ",
        _third,
    ),
    prefix("end", "the end", r"(?:the )?(?P<part>end) of ", _third),
    prefix("half", "the first second", r"(?:the )?(?P<part>first|second) half of ", _half),
    prefix(
        "edge",
        "the first last",
        rf"(?:the )?(?P<part>first|last) (?:{COUNT} )?{UNIT} (?:of|in) ",
        _edge,
    ),
    prefix("around", "around circa approximately", r"(?:around|circa|approximately) ", _around),
    prefix("week of", "the week weekend", r"(?:the )?(?P<unit>week|weekend) of ", _week_of),
    prefix("beside", "the", rf"the (?P<unit>day|week|weekend|month|year) {_SIDE} ", _adjoining),
    prefix("offset", (DIGITS, "a", "an", *NUMBERS, *VAGUE), rf"{COUNT} {UNIT} {_SIDE} ", _offset),
)
