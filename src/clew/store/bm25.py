"""The BM25 that every store computes: Lucene's IDF, and a saturated frequency on both sides.

score = Σ idf · qf·(k3 + 1)/(qf + k3) · f·(k1 + 1)/(f + k1·(1 − b + b·D/avgD)), as Robertson and
Zaragoza give it ("The Probabilistic Relevance Framework: BM25 and Beyond", 2009). The rows are
those of one space: text of another is not to be told from a score. The columns are title, text and
context key; a row counts as one token longer than they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

K1 = 1.2  # how soon further occurrences in a row stop counting
B = 0.75  # how much long rows are held back
TITLE_WEIGHT = 1.0
TEXT_WEIGHT = 1.0
# On LoCoMo's dev part .2 gave 81.2, .3 82.4 and .5 82.5 recall@10 (docs/evaluation.md); quarters
# add up exactly in floats.
CONTEXT_WEIGHT = 0.5
# a row without a word has a length too; older stores held a token that named the row's space
FACET_TOKENS = 1


Numbers = TypeVar("Numbers", float, npt.NDArray[np.float64])


def frequency(in_title: int, in_text: int, in_context: int = 0) -> float:
    """Return the weighted number of occurrences of a term in a row.

    >>> frequency(1, 2), frequency(0, 1, 2)
    (3.0, 2.0)
    """
    return TITLE_WEIGHT * in_title + TEXT_WEIGHT * in_text + CONTEXT_WEIGHT * in_context


def length(title_terms: int, text_terms: int, context_terms: int = 0) -> int:
    """Return the length of a row in tokens of all columns, and one more.

    >>> length(2, 7)
    10
    """
    return title_terms + text_terms + context_terms + FACET_TOKENS


def saturation(frequency: Numbers, length: Numbers, mean_length: float) -> Numbers:
    """Return what an occurrence counts in a row of this length.

    F·(k1+1) / (f + k1·(1 − b + b·D/avgD)).

    >>> saturation(1.0, 10, 10), saturation(0.0, 10, 10)
    (1.0, 0.0)
    """
    return frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length / mean_length))


def bm25(parts: Iterable[tuple[float, float]], *, length: float, mean_length: float) -> float:
    """Return the score of a row from the (idf × query weight, frequency) of each query term.

    >>> bm25([(2.0, 1.0), (3.0, 0.0)], length=10, mean_length=10)
    2.0
    """
    return sum(
        telling * saturation(occurrences, length, mean_length) for telling, occurrences in parts
    )
