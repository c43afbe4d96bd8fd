"""Decide whether two memories contradict each other.

By their words, their titles, who says them, and when they are true.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from clew.memories.conflicts.comparing import Difference, DifferenceKind, contradiction
from clew.memories.conflicts.statement import first_person, statements
from clew.memories.duplicates import CODE, speaker_of
from clew.text.words import plain_words, query_terms
from clew.types import Node, NodeId

LEAST_SHARE = 0.45  # of the way from the mean cosine of unrelated texts to 1
FULL_SHARE = 0.75  # from here on the cosine takes nothing from the score
JOINT = "."


class Overlap(NamedTuple):
    """The time for which both memories of a pair are said to be true; without an end it goes on."""

    start: datetime
    end: datetime | None


def pair_id(first: NodeId, second: NodeId) -> str:
    """Return the id of a pair of memories, whichever is named first.

    >>> pair_id("b", "a")
    'a.b'
    """
    return JOINT.join(sorted((first, second)))


def judged(
    one: Node, other: Node, *, share: float | None = None, least_score: float = 0.0
) -> Difference | None:
    """Return how two memories contradict each other, with a score.

    None where they do not, or the score is too low.

    `share` is how near they lie in meaning, between the model's mean of unrelated texts (0) and
    equal (1); None without vectors.
    """
    if share is not None and share < LEAST_SHARE:
        return None
    if (
        overlap(one, other) is None
        or CODE in (one.category, other.category)
        or _other_speakers(one, other)
    ):
        return None
    found = _by_words(one, other)
    if found is None:
        return None
    nearness = 1.0 if share is None else min(1.0, 0.7 + 0.3 * share / FULL_SHARE)
    score = round(found.score * nearness, 3)
    return found._replace(score=score) if score >= least_score else None


def overlap(one: Node, other: Node) -> Overlap | None:
    """Return when both are true, or None if never."""
    start = max(one.t_valid, other.t_valid)
    end = min((each.t_invalid for each in (one, other) if each.t_invalid is not None), default=None)
    return None if end is not None and end <= start else Overlap(start, end)


def explanation(found: Difference) -> str:
    """Say in one sentence how two texts differ, the first one first."""
    about = f" about {_quoted(found.about)}" if found.about else ""
    first, second = _quoted(found.first), _quoted(found.second)
    if found.kind is DifferenceKind.NEGATION:
        denied = (
            "The second denies what the first says"
            if found.second.startswith("not ")
            else "The first denies what the second says"
        )
        return f"{denied}{about}: {first}, {second}."
    what = {
        DifferenceKind.VALUE: "values",
        DifferenceKind.NUMBER: "numbers",
        DifferenceKind.STATE: "states",
    }[found.kind]
    return f"They tell different {what}{about}: {first} and {second}."


def _quoted(piece: str) -> str:
    return f'"{piece}"'


def _by_words(one: Node, other: Node) -> Difference | None:
    titles = plain_words(one.title), plain_words(other.title)
    if one.title and titles[0] == titles[1]:
        # Under one title a text need not repeat what it is about: "15 minutes" below "Redis TTL".
        return contradiction(one.text, other.text) or contradiction(_under(one), _under(other))
    mine, theirs = (
        frozenset(query_terms(each.title)) if each.title else frozenset() for each in (one, other)
    )
    if mine - theirs and theirs - mine and not _names(one.text) & _names(other.text):
        return None
    return contradiction(one.text, other.text)


def _under(node: Node) -> str:
    return f"{' '.join(plain_words(node.title))} is {node.text}"


def _names(text: str) -> frozenset[str]:
    """Return the stems of what a text names, the names it begins with too."""
    return frozenset(
        stem
        for each in statements(text)
        for stem, word in each.written.items()
        if word[:1].isupper()
    )


def _other_speakers(one: Node, other: Node) -> bool:
    """Tell whether two people speak of themselves."""
    return speaker_of(one.metadata) != speaker_of(other.metadata) and (
        first_person(one.text) or first_person(other.text)
    )
