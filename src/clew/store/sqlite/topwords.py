"""The best rows for some words by BM25, exactly, without looking at every row of a frequent word.

Words are taken rarest first. Once the best rows found are further ahead of all others than the words
left could bring, those words are looked up for the rows still in the running alone (MaxScore: Turtle
and Flood, Query evaluation: strategies and optimizations, 1995).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

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


def best(view: View, *, count: int, passes: Passes) -> tuple[Array, Scores]:
    """Return the `count` best rows that pass and all that tie with the last of them; fewer only when there are no more."""
    holdings = sorted((each for each in view.holdings if len(each.rows)), key=lambda each: len(each.rows))[:MAX_TERMS]
    scores = np.zeros(view.size)
    ceilings = _ceilings(view, holdings)
    for number, holding in enumerate(holdings):
        left = sum(len(each.rows) for each in holdings[number:])
        if ceilings[0] > 2 * ceilings[number] and left > view.size // WORTH_ASKING:
            ahead = leading(scores, count, passes, least=FOUND)
            cut = _cut(scores[ahead], count) - ceilings[number] * MARGIN
            if cut > 0:
                rows = np.flatnonzero(scores >= cut)
                return _finished(view, holdings[number:], rows[passes(rows)], scores, count)
        scores[holding.rows] += _gain(view, holding, holding.rows, holding.counts)
    rows = leading(scores, count, passes, least=FOUND)
    return _head(rows, scores[rows], count)


def _ceilings(view: View, holdings: Sequence[Holding]) -> list[float]:
    """Return, for each word, the most that it and those behind it can add to a row: saturation stays below k1 + 1."""
    most = [idf(view.live, len(each.rows)) * (K1 + 1) for each in holdings]
    return list(accumulate(reversed(most)))[::-1]


def _gain(view: View, holding: Holding, rows: Array, counts: Array) -> Scores:
    lengths = view.columns["length"].take(rows).astype(np.float64)
    gain = saturation(counts.astype(np.float64), lengths, view.tokens / view.live)
    gain *= idf(view.live, len(holding.rows))
    return gain


def _finished(view: View, holdings: Sequence[Holding], rows: Array, scores: Scores, count: int) -> tuple[Array, Scores]:
    """Add what the remaining words bring to the rows still in the running."""
    sums = scores[rows]
    for holding in holdings:
        places = holding.rows.searchsorted(rows)
        places[places == len(holding.rows)] = 0
        there = np.flatnonzero(holding.rows[places] == rows)
        sums[there] += _gain(view, holding, rows[there], holding.counts[places[there]])
    return _head(rows, sums, count)


def _cut(scores: Scores, count: int) -> float:
    """Return the score of the last of the `count` best; none when there are fewer."""
    return float(np.partition(scores, -count)[-count]) if len(scores) >= count else 0.0


def _head(rows: Array, scores: Scores, count: int) -> tuple[Array, Scores]:
    kept = scores >= _cut(scores, count)
    return rows[kept], scores[kept]
