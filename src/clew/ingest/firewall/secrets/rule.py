"""A rule finds one kind of secret, in time linear in the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

WORD = "A-Za-z0-9_-"  # what tokens are made of: none begins or ends in the midst of these
_START = f"(?<![{WORD}])"
_END = f"(?![{WORD}])"


class Secret(NamedTuple):
    """Where a text holds a secret, and by which rule."""

    rule: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern, and the literals without any of which it finds nothing; the group `secret`, if there is one, is what is taken out."""

    name: str
    anchors: tuple[str, ...]
    pattern: str = field(repr=False)
    holds: Callable[[str], bool] = lambda value: True  # noqa: ARG005 - most patterns say all there is to say

    def __call__(self, text: str) -> Iterator[Secret]:
        """Yield what it finds."""
        group: int | str = "secret" if "(?P<secret>" in self.pattern else 0
        return (Secret(self.name, *found.span(group)) for found in compiled(self.pattern).finditer(text) if self.holds(found[group]))


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern ready to be used; most never are."""
    return re.compile(pattern)


def token(name: str, pattern: str, *anchors: str) -> Rule:
    """Return the rule for a token of its own shape, which stands by itself.

    A repetition in it must be possessive (`{20,}+`), so that nothing is tried twice.

    >>> rule = token("demo_key", "demo_[a-z]{4,}+", "demo_")
    >>> [tuple(found) for found in rule("key demo_abcd, not xdemo_abcd")]
    [('demo_key', 4, 13)]
    """
    return Rule(name, anchors, f"{_START}(?:{pattern}){_END}")
