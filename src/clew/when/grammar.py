"""From an offset to the time named there: the rule that reads most wins, prefixes and parts of a day included."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from clew.when import dates, named, numeric, relative, years
from clew.when.periods import DAY
from clew.when.prefixes import PREFIXES
from clew.when.rule import DIGITS, PART_LEAD, Prefix, Rule
from clew.when.values import Clock, Period
from clew.when.vocabulary import PART, UNITS, pattern

_MAX_DEPTH = 2  # "the end of the week before Christmas"; deeper is a riddle
_HEAD = re.compile(r"[^\W\d_]+|\d+")
_GAP = re.compile(r"\s{1,3}['’]?")
_PART_OF_DAY = pattern(rf" (?:in the |at )?(?P<part>{PART})")


@dataclass(frozen=True, slots=True)
class Found:
    """A time named in a text, not yet resolved."""

    first: int
    last: int
    rule: str
    resolve: Callable[[Clock], Period]
    anchored: bool


class _Headed(Protocol):
    @property
    def heads(self) -> frozenset[str]: ...


_T = TypeVar("_T", bound=_Headed)


def by_head(rules: Iterable[_T]) -> dict[str, tuple[_T, ...]]:
    """Return the rules by the words that can begin them."""
    table: dict[str, tuple[_T, ...]] = {}
    for rule in rules:
        for head in sorted(rule.heads):
            table[head] = (*table.get(head, ()), rule)
    return table


_RULES: dict[str, tuple[Rule, ...]] = by_head((*numeric.RULES, *dates.RULES, *years.RULES, *named.RULES, *relative.RULES))
_PREFIXES: dict[str, tuple[Prefix, ...]] = by_head(PREFIXES)
HEADS = frozenset(_RULES) | frozenset(_PREFIXES)
_ARTICLES = frozenset(("the", "a", "an"))
_AFTER_ARTICLE = (HEADS | frozenset(UNITS) | {"weekend"}) - _ARTICLES


def head_at(text: str, at: int) -> str:
    """Return the word at an offset in lower case, a sign for any number, nothing for anything else."""
    match = _HEAD.match(text, at)
    return "" if match is None else DIGITS if match.group()[0].isdigit() else match.group().lower()


def expression(text: str, at: int, *, lead: str = "", depth: int = 0) -> Found | None:
    """Return the longest time named at an offset, if any; `lead` is the word that leads there."""
    at = at + 1 if text[at : at + 1] in ("'", "’") and text[at + 1 : at + 2].isdigit() else at
    head = head_at(text, at)
    if head in _ARTICLES and _second_word(text, at + len(head)) not in _AFTER_ARTICLE:
        return None  # every fifth word is an article, and the rules that begin with one are many
    found = [one for one in (_read(rule, text, at, lead) for rule in _RULES.get(head, ())) if one]
    if depth < _MAX_DEPTH:
        found += [one for one in (_prefixed(prefix, text, at, depth) for prefix in _PREFIXES.get(head, ())) if one]
    return _with_part(text, max(found, key=lambda one: one.last)) if found else None


def _second_word(text: str, at: int) -> str:
    match = _GAP.match(text, at)
    return head_at(text, match.end()) if match else ""


def _read(rule: Rule, text: str, at: int, lead: str) -> Found | None:
    match = rule.pattern.match(text, at)
    if match is None or not rule.accepts(match, lead):
        return None
    anchored = rule.anchored or any(match.groupdict().get(group) for group in ("year", "of"))
    return Found(at, match.end(), rule.name, lambda clock: rule.resolve(match, clock), anchored)


def _prefixed(prefix: Prefix, text: str, at: int, depth: int) -> Found | None:
    match = prefix.pattern.match(text, at)
    if match is None:
        return None
    inner = expression(text, match.end(), lead=_lead_of(match), depth=depth + 1)
    if inner is None:
        return None
    return Found(at, inner.last, prefix.name, lambda clock: prefix.change(match, inner.resolve(clock), clock), inner.anchored)


def _lead_of(match: re.Match[str]) -> str:
    word = _HEAD.findall(match.group().lower())[-1]
    return PART_LEAD if word in ("of", "in") else word


def _with_part(text: str, found: Found) -> Found:
    """Narrow a day to the part of it that is named after it."""
    match = _PART_OF_DAY.match(text, found.last)
    if match is None:
        return found
    part = match["part"]

    def resolve(clock: Clock) -> Period:
        whole = found.resolve(clock)
        return relative.part_of(whole, part) if whole.end - whole.start == DAY else whole

    return Found(found.first, match.end(), found.rule, resolve, found.anchored)
