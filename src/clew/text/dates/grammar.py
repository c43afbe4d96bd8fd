"""Find the longest time expression at an offset, with its prefix, lead word and range."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol, TypeVar

from clew.text.dates import absolute as dates
from clew.text.dates import absolute as numeric
from clew.text.dates import periods as years
from clew.text.dates import relative
from clew.text.dates import relative as named
from clew.text.dates.periods import DAY, DIGITS, PART_LEAD, Prefix, Rule
from clew.text.dates.relative import PREFIXES
from clew.text.dates.values import RESOLUTION, Clock, Period, Relation, UnclearError
from clew.text.dates.vocabulary import PART, UNITS, Pattern, pattern

_MAX_DEPTH = 2  # "the end of the week before Christmas"; deeper is a riddle
_HEAD = re.compile(r"[^\W\d_]+|\d+")
_GAP = re.compile(r"\s{1,3}['’]?")
_PART_OF_DAY = pattern(rf" (?:in the |at )?(?P<part>{PART})")


@dataclass(frozen=True, slots=True)
class TimeExpression:
    """A time named in a text, not yet resolved."""

    first: int
    last: int
    rule: str
    resolve: Callable[[Clock], Period]
    anchored: bool


class _HasHeads(Protocol):
    @property
    def heads(self) -> frozenset[str]: ...


_T = TypeVar("_T", bound=_HasHeads)


def by_head(rules: Iterable[_T]) -> dict[str, tuple[_T, ...]]:
    """Return the rules by the words that can begin them."""
    table: dict[str, tuple[_T, ...]] = {}
    for rule in rules:
        for head in sorted(rule.heads):
            table[head] = (*table.get(head, ()), rule)
    return table


_RULES: dict[str, tuple[Rule, ...]] = by_head(
    (*numeric.NUMERIC_RULES, *dates.RULES, *years.RULES, *named.RULES, *relative.RELATIVE_RULES)
)
_PREFIXES: dict[str, tuple[Prefix, ...]] = by_head(PREFIXES)
HEADS = frozenset(_RULES) | frozenset(_PREFIXES)
_ARTICLES = frozenset(("the", "a", "an"))
_AFTER_ARTICLE = (HEADS | frozenset(UNITS) | {"weekend"}) - _ARTICLES


def head_at(text: str, at: int) -> str:
    """Return the lower-case word at an offset, DIGITS for a number, else the empty string."""
    match = _HEAD.match(text, at)
    return "" if match is None else DIGITS if match.group()[0].isdigit() else match.group().lower()


def find_expression(text: str, at: int, *, lead: str = "", depth: int = 0) -> TimeExpression | None:
    """Return the longest time named at an offset, if any; `lead` is the word that leads there."""
    at = at + 1 if text[at : at + 1] in ("'", "’") and text[at + 1 : at + 2].isdigit() else at
    head = head_at(text, at)
    if head in _ARTICLES and _second_word(text, at + len(head)) not in _AFTER_ARTICLE:
        return None  # every fifth word is an article, and the rules that begin with one are many
    found = [
        one for one in (_match_rule(rule, text, at, lead) for rule in _RULES.get(head, ())) if one
    ]
    if depth < _MAX_DEPTH:
        found += [
            one
            for one in (
                _match_prefix(prefix, text, at, depth) for prefix in _PREFIXES.get(head, ())
            )
            if one
        ]
    return _narrow_to_part(text, max(found, key=lambda one: one.last)) if found else None


def _second_word(text: str, at: int) -> str:
    match = _GAP.match(text, at)
    return head_at(text, match.end()) if match else ""


def _match_rule(rule: Rule, text: str, at: int, lead: str) -> TimeExpression | None:
    match = rule.pattern.match(text, at)
    if match is None or not rule.accepts(match, lead):
        return None
    anchored = rule.anchored or any(match.groupdict().get(group) for group in ("year", "of"))
    return TimeExpression(
        at, match.end(), rule.name, lambda clock: rule.resolve(match, clock), anchored
    )


def _match_prefix(prefix: Prefix, text: str, at: int, depth: int) -> TimeExpression | None:
    match = prefix.pattern.match(text, at)
    if match is None:
        return None
    inner = find_expression(text, match.end(), lead=_lead_of(match), depth=depth + 1)
    if inner is None:
        return None
    return TimeExpression(
        at,
        inner.last,
        prefix.name,
        lambda clock: prefix.change(match, inner.resolve(clock), clock),
        inner.anchored,
    )


def _lead_of(match: re.Match[str]) -> str:
    word = _HEAD.findall(match.group().lower())[-1]
    return PART_LEAD if word in ("of", "in") else word


def _narrow_to_part(text: str, found: TimeExpression) -> TimeExpression:
    """Narrow a day to the part of it that is named after it."""
    match = _PART_OF_DAY.match(text, found.last)
    if match is None:
        return found
    part = match["part"]

    def resolve(clock: Clock) -> Period:
        whole = found.resolve(clock)
        return relative.part_of(whole, part) if whole.end - whole.start == DAY else whole

    return TimeExpression(found.first, match.end(), found.rule, resolve, found.anchored)


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
        *(
            _lead(word, "in", word)
            for word in "in on during at over within throughout for from of between".split()
        ),
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
class NamedTime:
    """A time as a question names it, with the word that leads to it."""

    first: int
    last: int
    found: TimeExpression
    relation: Relation
    until: TimeExpression | None = None  # the other end of a range

    @property
    def rule(self) -> str:
        """Return what read it."""
        return "between" if self.until else self.found.rule


def find_named_time(text: str, at: int, head: str) -> NamedTime | None:
    """Return the time that a query names at an offset, with its lead word if there is one."""
    tries = [_after_lead(text, at, lead) for lead in LEADS.get(head, ())]
    found = find_expression(text, at)
    if found:
        tries.append(_extend_to_range(text, NamedTime(at, found.last, found, "in"), _TO))
    return max((one for one in tries if one), key=lambda one: one.last, default=None)


def _after_lead(text: str, at: int, lead: Lead) -> NamedTime | None:
    match = lead.pattern.match(text, at)
    found = find_expression(text, match.end(), lead=lead.word) if match else None
    if found is None or (lead.only and found.rule != lead.only):
        return None
    one = _extend_to_range(
        text,
        NamedTime(at, found.last, found, lead.relation),
        _AND if lead.word == "between" else _TO,
    )
    if lead.word == "between" and one.until is None:
        return None
    onwards = _ONWARDS.match(text, one.last) if lead.word == "from" and one.until is None else None
    return replace(one, last=onwards.end(), relation="since") if onwards else one


def _extend_to_range(text: str, one: NamedTime, joint: Pattern) -> NamedTime:
    match = joint.match(text, one.last)
    other = (
        find_expression(text, match.end(), lead="and" if joint is _AND else "to") if match else None
    )
    return replace(one, last=other.last, until=other, relation="in") if other else one


def bounds(one: NamedTime, clock: Clock) -> tuple[datetime | None, datetime | None]:
    """Return first and last moment of a named time, both included; None is open."""
    period = _range(one.found, one.until, clock) if one.until else one.found.resolve(clock)
    start, end = period.start, period.end - RESOLUTION
    if one.relation == "before":  # "before the end of March" is in March still
        return None, end if one.rule == "end" else start - RESOLUTION
    if one.relation == "after":
        return period.end, None
    return (None if one.relation == "until" else start), (None if one.relation == "since" else end)


def _range(left: TimeExpression, right: TimeExpression, clock: Clock) -> Period:
    """Let the end that has a year lend it to the other.

    "between November and February 2022" begins in 2021.
    """
    forward = not right.anchored and (left.anchored or clock.ahead)
    if forward:
        begin = left.resolve(clock)
        finish = right.resolve(replace(clock, now=begin.start, ahead=True))
    else:
        finish = right.resolve(clock)
        begin = left.resolve(
            clock if left.anchored else replace(clock, now=finish.start, ahead=False)
        )
    if begin.start >= finish.end:
        raise UnclearError("ends before it begins")
    return Period(begin.start, finish.end)
