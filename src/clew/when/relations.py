"""Words that lead to a time, and what they make of it: in, before, since, between … and …"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime

from clew.when.grammar import Found, by_head, expression
from clew.when.values import TICK, Clock, Period, Relation, UnclearError
from clew.when.vocabulary import Pattern, pattern


@dataclass(frozen=True, slots=True)
class Lead:
    """A word that leads to a time; `only` names the one rule that may follow it."""

    word: str
    heads: frozenset[str]
    pattern: Pattern
    relation: Relation
    only: str = ""


def _lead(word: str, relation: Relation, source: str, *, only: str = "") -> Lead:
    heads = frozenset(re.findall(r"(?:^|\|)(\w+)", source))
    return Lead(word, heads, pattern(f"(?:{source})(?: |-)", ends=False), relation, only)


LEADS = by_head(
    (
        _lead("ago", "before", "over|more than", only="ago"),
        *(_lead(word, "in", word) for word in "in on during at over within throughout for from of between".split()),
        _lead("in", "in", "back in|as early as|as late as|dating from|dated"),
        _lead("before", "before", "before|prior to|earlier than|pre"),
        _lead("after", "after", "after|later than|following|post"),
        _lead("since", "since", "since|ever since|starting|starting in|starting on|beginning in"),
        _lead("until", "until", "until|till|up to|up until|through|no later than|as of"),
        _lead("by", "until", "by"),
    )
)

_AND = pattern(" and ", ends=False)
_TO = pattern(" ?[–—] ?| - | to | until | till | through ", ends=False)
_ONWARDS = pattern(" on| onwards?| forward")


@dataclass(frozen=True, slots=True)
class Named:
    """A time as a question names it, with the word that leads to it."""

    first: int
    last: int
    found: Found
    relation: Relation
    until: Found | None = None  # the other end of a range

    @property
    def rule(self) -> str:
        """Return what read it."""
        return "between" if self.until else self.found.rule


def named(text: str, at: int, head: str) -> Named | None:
    """Return the time that a question names at an offset, with or without a word that leads to it."""
    tries = [_led(text, at, lead) for lead in LEADS.get(head, ())]
    found = expression(text, at)
    if found:
        tries.append(_ranged(text, Named(at, found.last, found, "in"), _TO))
    return max((one for one in tries if one), key=lambda one: one.last, default=None)


def _led(text: str, at: int, lead: Lead) -> Named | None:
    match = lead.pattern.match(text, at)
    found = expression(text, match.end(), lead=lead.word) if match else None
    if found is None or (lead.only and found.rule != lead.only):
        return None
    one = _ranged(text, Named(at, found.last, found, lead.relation), _AND if lead.word == "between" else _TO)
    if lead.word == "between" and one.until is None:
        return None
    onwards = _ONWARDS.match(text, one.last) if lead.word == "from" and one.until is None else None
    return replace(one, last=onwards.end(), relation="since") if onwards else one


def _ranged(text: str, one: Named, joint: Pattern) -> Named:
    match = joint.match(text, one.last)
    other = expression(text, match.end(), lead="and" if joint is _AND else "to") if match else None
    return replace(one, last=other.last, until=other, relation="in") if other else one


def ends(one: Named, clock: Clock) -> tuple[datetime | None, datetime | None]:
    """Return first and last moment of a named time, both included; None is open."""
    period = _range(one.found, one.until, clock) if one.until else one.found.resolve(clock)
    start, end = period.start, period.end - TICK
    if one.relation == "before":  # "before the end of March" is in March still
        return None, end if one.rule == "end" else start - TICK
    if one.relation == "after":
        return period.end, None
    return (None if one.relation == "until" else start), (None if one.relation == "since" else end)


def _range(left: Found, right: Found, clock: Clock) -> Period:
    """Let the end that has a year lend it to the other: "between November and February 2022" begins in 2021."""
    forward = not right.anchored and (left.anchored or clock.ahead)
    if forward:
        begin = left.resolve(clock)
        finish = right.resolve(replace(clock, now=begin.start, ahead=True))
    else:
        finish = right.resolve(clock)
        begin = left.resolve(clock if left.anchored else replace(clock, now=finish.start, ahead=False))
    if begin.start >= finish.end:
        raise UnclearError("ends before it begins")
    return Period(begin.start, finish.end)
