"""A rule reads one way of naming a time; it knows the words that can begin it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from clew.when.values import Clock, Period
from clew.when.vocabulary import Pattern, pattern

Reading: TypeAlias = Callable[[re.Match[str], Clock], Period]
Acceptance: TypeAlias = Callable[[re.Match[str], str], bool]

DIGITS = "0"
"""The head of what begins with a number."""

PART_LEAD = "part of"
"""What leads to the time in "the end of May"."""

TIME_LEADS = frozenset("in during since until till before after throughout through to and between early mid late around".split()) | {
    PART_LEAD
}
"""Words that lead to a time more often than to anything else."""


def always(match: re.Match[str], lead: str) -> bool:
    """Accept every match, whatever leads to it."""
    del match, lead
    return True


@dataclass(frozen=True, slots=True)
class Rule:
    """One way of naming a time: where it may begin, how it is written, what it means.

    `accepts` is told the word that leads there ("in", "since", "" for none). A rule that is not `anchored` may leave
    its year or week open, and then takes it from the other end of a range.
    """

    name: str
    heads: frozenset[str]
    pattern: Pattern
    resolve: Reading
    accepts: Acceptance = always
    anchored: bool = True


@dataclass(frozen=True, slots=True)
class Prefix:
    """Words before a time that make another of it, such as "early" or "the week before"."""

    name: str
    heads: frozenset[str]
    pattern: Pattern
    change: Callable[[re.Match[str], Period, Clock], Period]


def rule(
    name: str, heads: str | Iterable[str], source: str, resolve: Reading, *, accepts: Acceptance = always, anchored: bool = True
) -> Rule:
    """Return a rule from its pattern's source."""
    return Rule(name, _heads(heads), pattern(source), resolve, accepts, anchored)


def prefix(name: str, heads: str | Iterable[str], source: str, change: Callable[[re.Match[str], Period, Clock], Period]) -> Prefix:
    """Return a prefix from its pattern's source, up to where the time begins that must follow."""
    return Prefix(name, _heads(heads), pattern(source, ends=False), change)


def _heads(heads: str | Iterable[str]) -> frozenset[str]:
    return frozenset(heads.split() if isinstance(heads, str) else heads)


def before(match: re.Match[str]) -> str:
    """Return the word before a match in lower case, or nothing at the beginning and after a stop."""
    found = _WORD_BEFORE.search(match.string, max(0, match.start() - _REACH), match.start())
    return found.group(1).lower() if found else ""


def after(match: re.Match[str]) -> str:
    """Return the word after a match as written, or nothing at the end and before a stop."""
    found = _WORD_AFTER.match(match.string, match.end())
    return found.group(1) if found else ""


_REACH = 32
_WORD_BEFORE = re.compile(r"([^\W\d_]{1,24})(?:['’]s)?\s{1,3}$")
_WORD_AFTER = re.compile(r"\s{1,3}([^\W\d_]{1,24})")
