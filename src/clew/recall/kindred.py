"""What of a question do the best hits say, also in other words?

A memory may answer without the question's own words: "boiler" for "heating". And it may hold them in another sense: "raised" and
"bond" are in an abstract on proteins. A model that reads a text gives each of its words a vector of what it means there; a word of
the question that comes near none of them was not taken up (late interaction, as ColBERT ranks by: Khattab and Zaharia, 2020).
A name is taken up by its letters alone, for any other name is near it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from clew.types import Vectors
from clew.words import query_terms, terms, words

WordVectors: TypeAlias = Callable[[Sequence[str], Sequence[Sequence[str]]], tuple[Vectors, Sequence[Vectors]] | None]
"""Returns the vectors of a question's words and of the words of each text; None where the model cannot tell."""
# Chosen when left-out sets were judged: bounds from 0.35 to 0.8, five hits, and 384 tokens of each did alike or worse.
STRANGER, SAME = 0.4, 0.7  # cosines of two words that have nothing in common, and of two that mean the same
READ = 3  # hits read closely
MOST_WORDS = 50  # of each: about 15 ms of one core
BEFORE = 10  # of these, before a word that the question has too
ASKED_WORDS = 100  # of a question


def wordless(question: Sequence[str], texts: Sequence[Sequence[str]]) -> None:
    """Tell nothing, as a model does that knows whole texts only."""


class Told(NamedTuple):
    """What a hit says, and which of the question's terms it or what stands around it holds."""

    text: str
    held: Collection[str]


def kinship(cosine: float) -> float:
    """Return how much of one word another says, from 0 to 1.

    >>> kinship(0.3), round(kinship(0.55), 2), kinship(0.9)
    (0.0, 0.5, 1.0)
    """
    return min(1.0, max(0.0, (cosine - STRANGER) / (SAME - STRANGER)))


def taken_up(question: str, weights: Mapping[str, float], told: Sequence[Told], *, vectors: WordVectors) -> list[dict[str, float]] | None:
    """Return how much of each of the question's terms each hit says; None where the model cannot tell.

    What a hit holds beyond the passage that is read counts as said.
    """
    asked = words(question)[:ASKED_WORDS]
    passages = [passage(each.text, weights) for each in told]
    found = vectors(asked, passages)
    if found is None:
        return None
    mine, theirs = found
    meant = [(term, row) for word, row in zip(asked, mine, strict=False) for term in query_terms(word) if term in weights]
    return [
        dict.fromkeys(set(each.held).difference(*map(terms, read)), 1.0) | _nearest(meant, rows)
        for each, read, rows in zip(told, passages, theirs, strict=True)
    ]


def passage(text: str, weights: Mapping[str, float]) -> tuple[str, ...]:
    """Return the part of a text that holds most of the question's terms, the first of several.

    >>> passage("ham " * 60 + "The boiler shows E9. " + "spam " * 60, {"boiler": 1.0})[BEFORE - 1 : BEFORE + 2]
    ('The', 'boiler', 'shows')
    """
    said = words(text)
    if len(said) <= MOST_WORDS:
        return said
    held = [frozenset(terms(word)) & weights.keys() for word in said]
    starts = sorted({max(0, min(at - BEFORE, len(said) - MOST_WORDS)) for at, found in enumerate(held) if found})
    weighed = {start: sum(weights[term] for term in frozenset().union(*held[start : start + MOST_WORDS])) for start in starts}
    start = max(weighed, key=lambda start: (weighed[start], -start), default=0)
    return said[start : start + MOST_WORDS]


def _nearest(meant: Sequence[tuple[str, Vectors]], rows: Vectors) -> dict[str, float]:
    nearest: dict[str, float] = {}
    for term, vector in meant:
        nearest[term] = max(nearest.get(term, 0.0), kinship(float(np.max(rows @ vector))) if len(rows) else 0.0)
    return nearest
