"""Times reckoned from now: yesterday, last week, the past 3 days, two weeks ago, recently."""

from __future__ import annotations

import re
from datetime import timedelta

from clew.when.periods import (
    DAY,
    HALVES,
    LENGTHS,
    day,
    day_start,
    enclosing,
    moved,
    up_to_now,
    weekend,
)
from clew.when.rule import DIGITS, PART_LEAD, before, rule
from clew.when.values import TICK, Clock, Period
from clew.when.vocabulary import COUNT, LAST, NEXT, NUMBERS, PART, PARTS, UNIT, VAGUE, WHICH, counted, which_way

RECENT_DAYS = 30  # "recently" has no edge; a month keeps what a person would still call recent
_AWAY = {"last": -1, "this": 0, "": 0, "next": 1}
_NAMED = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1}
_WHICH_HEADS = "last past previous this next coming upcoming following current"


def part_of(whole: Period, part: str) -> Period:
    """Return the morning, afternoon, evening or night of a day."""
    first, last = PARTS[part.lower()]
    return Period(whole.start + timedelta(hours=first), whole.start + timedelta(hours=last))


def _named_day(match: re.Match[str], clock: Clock) -> Period:
    word = match["word"].lower()
    found = day(clock.now.date() + _NAMED[word] * DAY)
    return part_of(found, "night") if word == "tonight" else found


def _two_days(match: re.Match[str], clock: Clock) -> Period:
    return day(clock.now.date() + (-2 if match["word"].lower() == "before" else 2) * DAY)


def _this_part(match: re.Match[str], clock: Clock) -> Period:
    return part_of(day(clock.now.date()), match["part"])


def _last_night(match: re.Match[str], clock: Clock) -> Period:
    del match
    return part_of(day(clock.now.date() - DAY), "night")


def _calendar(match: re.Match[str], clock: Clock) -> Period:
    unit, away = match["unit"].lower(), _AWAY[which_way(match["which"])]
    return enclosing(unit, moved(enclosing(unit, clock.now, clock).start, unit, away), clock)


def _weekend(match: re.Match[str], clock: Clock) -> Period:
    """Read "last weekend" on a Sunday as the one before."""
    return weekend(clock.now, weeks=_AWAY[which_way(match["which"])])


def _the_weekend(match: re.Match[str], clock: Clock) -> Period:
    del match
    this = weekend(clock.now)
    return this if this.start <= clock.now or clock.ahead else weekend(clock.now, weeks=-1)


def rolling(unit: str, count: int, clock: Clock) -> Period:
    """Return so many units up to now; from days on it begins with a day."""
    start = moved(clock.now, unit, -count)
    return up_to_now(start if unit in ("minute", "hour") else day_start(start), clock)


def _past(match: re.Match[str], clock: Clock) -> Period:
    return rolling(match["unit"].lower(), counted(match["count"] or "")[1], clock)


def _coming(match: re.Match[str], clock: Clock) -> Period:
    unit = match["unit"].lower()
    end = moved(clock.now, unit, counted(match["count"])[1])
    return Period(clock.now, end if unit in ("minute", "hour") else day_start(end) + DAY)


def _so_far(match: re.Match[str], clock: Clock) -> Period:
    whole = enclosing((match["unit"] or "day").lower(), clock.now, clock)
    return Period(clock.now, whole.end) if match["word"].lower() == "later" else up_to_now(whole.start, clock)


def _away(match: re.Match[str], clock: Clock) -> Period:
    """Read "two weeks ago" as that day give or take half a unit; days are exact, hours and minutes to the unit."""
    unit, (low, high) = match["unit"].lower(), counted(match["count"])
    sign = -1 if match["ago"] else 1
    near, far = moved(clock.now, unit, sign * low), moved(clock.now, unit, sign * high)
    first, last = min(near, far), max(near, far)
    if unit in ("minute", "hour"):
        return Period(first - LENGTHS[unit] / 2, last + LENGTHS[unit] / 2)
    half = HALVES.get(unit, 0) * DAY
    return Period(day_start(first - half), day_start(last + half) + DAY)


def _undoubted(match: re.Match[str], lead: str) -> bool:
    """Doubt "most recently", which compares."""
    return not lead and before(match) != "most"


def _recently(match: re.Match[str], clock: Clock) -> Period:
    unit = match.groupdict().get("unit")
    return rolling(unit.lower(), VAGUE["few"][1], clock) if unit else rolling("day", RECENT_DAYS, clock)


def _present(match: re.Match[str], clock: Clock) -> Period:
    del match
    return Period(clock.now, clock.now + TICK)


def _ends_a_range(match: re.Match[str], lead: str) -> bool:
    del match
    return lead in ("to", "until", "till", "and", "through")


def _year_before_last(match: re.Match[str], clock: Clock) -> Period:
    unit, back = match["unit"].lower(), -2 if match["word"].lower() == "before" else 2
    return enclosing(unit, moved(enclosing(unit, clock.now, clock).start, unit, back), clock)


_CALENDAR = r"(?P<unit>week|month|quarter|year|decade|century)"

RULES = (
    rule("named day", _NAMED, r"(?P<word>today|tonight|yesterday|tomorrow)", _named_day),
    rule("named day", "the day", r"(?:the )?day (?P<word>before|after) (?:yesterday|tomorrow)", _two_days),
    rule("part of day", "this", rf"this (?P<part>{PART})", _this_part),
    rule("part of day", "last", r"last night", _last_night),
    rule("calendar", _WHICH_HEADS, rf"{WHICH} {_CALENDAR}", _calendar),
    rule("calendar", "the", rf"the (?P<which>previous|next|following|coming|current) {_CALENDAR}", _calendar),
    rule("calendar", "the", rf"the (?P<which>){_CALENDAR}", _calendar, accepts=lambda _, lead: lead == PART_LEAD),
    rule("calendar", "the", rf"the {_CALENDAR} (?P<word>before|after) (?:last|next)", _year_before_last),
    rule("weekend", _WHICH_HEADS, rf"{WHICH} weekend", _weekend),
    rule("weekend", "the", "the weekend", _the_weekend, accepts=lambda _, lead: lead in ("over", "on", "at", "during", "since", "before")),
    rule("rolling", "the past", rf"(?:the )?past (?P<count>){UNIT}", _past),
    rule("rolling", "the", rf"the last (?P<count>){UNIT}(?! of\b)", _past),
    rule("rolling", "the last past previous", rf"(?:the )?{LAST} {COUNT} {UNIT}", _past),
    rule("coming", "the next coming following", rf"(?:the )?{NEXT} {COUNT} {UNIT}", _coming),
    rule("so far", "earlier later so", r"(?P<word>earlier|later|so far) (?:today|this (?P<unit>week|month|quarter|year))", _so_far),
    rule(
        "ago",
        (DIGITS, "a", "an", *NUMBERS, *VAGUE),
        rf"{COUNT} {UNIT} (?:(?P<ago>ago|back|earlier)|from now|from today)",
        _away,
        accepts=lambda match, _: before(match) != "half",
    ),
    rule("recently", "recently lately recent", r"recently|lately|recent", _recently, accepts=_undoubted),
    rule("recently", "recent", r"recent (?P<unit>day|week|month|year)s", _recently),
    rule("now", "now present", r"now|present", _present, accepts=_ends_a_range),
    rule("now", "the", r"the present(?: day)?", _present, accepts=_ends_a_range),
)
