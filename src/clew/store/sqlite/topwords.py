"""The best rows for some words by BM25, exactly, without looking at every row of a frequent word.

Words are taken rarest first. Once the best rows found are further ahead of all others than the words
left could bring, those words are looked up for the rows still in the running alone (MaxScore: Turtle
and Flood, Query evaluation: strategies and optimizations, 1995).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from clew.store.bm25 import K1, idf, saturation
from clew.store.sqlite.postings import Array
from clew.store.sqlite.scan import Passes, leading
from clew.store.sqlite.wordindex import Holding, View

Scores = npt.NDArray[np.float64]

MAX_TERMS = 64  # a pasted page is searched by its 64 rarest words
WORTH_ASKING = 8  # asking who is in the running costs as much as the postings of an eighth of the rows
FOUND = 5e-324  # the smallest score there is: a row without it holds none of the words
MARGIN = 1 + 1e-9  # sums in another order may differ by this much


class Term(NamedTuple):
    """A term of the question: where it stands, and its IDF times what it counts in the question."""

    holding: Holding
    weight: float


def best(view: View, weights: Sequence[float], *, count: int, passes: Passes) -> tuple[Array, Scores]:
    """Return the `count` best rows that pass and all that tie with the last of them; fewer only when there are no more.

    `weights` tells what each of the view's terms counts in the question.
    """
    terms = _terms(view, weights)
    scores = np.zeros(view.size)
    ceilings = _ceilings(terms)
    for number, term in enumerate(terms):
        left = sum(len(each.holding.rows) for each in terms[number:])
        if ceilings[0] > 2 * ceilings[number] and left > view.size // WORTH_ASKING:
            ahead = leading(scores, count, passes, least=FOUND)
            cut = _cut(scores[ahead], count) - ceilings[number] * MARGIN
            if cut > 0:
                rows = np.flatnonzero(scores >= cut)
                return _finished(view, terms[number:], rows[passes(rows)], scores, count)
        scores[term.holding.rows] += _gain(view, term, term.holding.rows, term.holding.counts)
    rows = leading(scores, count, passes, least=FOUND)
    return _head(rows, scores[rows], count)


def _terms(view: View, weights: Sequence[float]) -> list[Term]:
    """Return the terms that stand anywhere, rarest first."""
    there = [(holding, weight) for holding, weight in zip(view.holdings, weights, strict=False) if len(holding.rows)]
    there.sort(key=lambda pair: len(pair[0].rows))
    return [Term(holding, weight * idf(view.live, len(holding.rows))) for holding, weight in there[:MAX_TERMS]]


def _ceilings(terms: Sequence[Term]) -> list[float]:
    """Return, for each word, the most that it and those behind it can add to a row: saturation stays below k1 + 1."""
    return list(accumulate(term.weight * (K1 + 1) for term in reversed(terms)))[::-1]


def _gain(view: View, term: Term, rows: Array, counts: Array) -> Scores:
    lengths = view.columns["length"].take(rows).astype(np.float64)
    gain = saturation(counts.astype(np.float64), lengths, view.tokens / view.live)
    gain *= term.weight
    return gain


def _finished(view: View, terms: Sequence[Term], rows: Array, scores: Scores, count: int) -> tuple[Array, Scores]:
    """Add what the remaining words bring to the rows still in the running."""
    sums = scores[rows]
    for term in terms:
        held = term.holding
        places = held.rows.searchsorted(rows)
        places[places == len(held.rows)] = 0
        there = np.flatnonzero(held.rows[places] == rows)
        sums[there] += _gain(view, term, rows[there], held.counts[places[there]])
    return _head(rows, sums, count)


def _cut(scores: Scores, count: int) -> float:
    """Return the score of the last of the `count` best; none when there are fewer."""
    return float(np.partition(scores, -count)[-count]) if len(scores) >= count else 0.0


def _head(rows: Array, scores: Scores, count: int) -> tuple[Array, Scores]:
    kept = scores >= _cut(scores, count)
    return rows[kept], scores[kept]
