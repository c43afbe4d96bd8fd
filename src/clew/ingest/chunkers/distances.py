"""Where does the subject change? Distances between neighbours in meaning, and the best way to cut at the large ones (U2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clew.types import Vectors

SIZE_WEIGHT = 0.02  # a chunk of half the target costs a quarter of it; tuned on the dev part of the Chroma chunking set
_TOO_SMALL = 4.0  # what a chunk below the least size costs: more than two boundaries can ever bring


def distances(vectors: Vectors) -> list[float]:
    """Return 1 − cosine between each unit and the one before it; the first has none before it: 0.

    Means over several units on either side were tried on the dev part of the Chroma chunking set: no better.

    >>> distances(np.array([[1, 0], [1, 0], [0, 1]], np.float32))
    [0.0, 0.0, 1.0]
    """
    rows = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return [0.0, *(float(each) for each in np.round(1 - (rows[1:] * rows[:-1]).sum(axis=1), 6))]


def _cost(size: int, least: int, target: int) -> float:
    return (_TOO_SMALL if size < least else 0.0) + SIZE_WEIGHT * (size / target - 1) ** 2


def best_cuts(gains: Sequence[float], sums: Sequence[int], *, least: int, target: int, most: int) -> list[int]:
    """Return where to cut so that the gains of the cuts add up to the most, every chunk being at most `most`.

    `gains[n]` is what a cut before unit n brings: its distance less the threshold. So a significant boundary is cut
    wherever sizes allow, and where size forces a cut it falls on the strongest boundaries in reach. A unit larger than
    `most` is a chunk of its own.

    >>> best_cuts([0, -0.3, 0.2, -0.1, -0.2], [0, 10, 20, 30, 40, 50], least=10, target=30, most=30)
    [2, 5]
    """
    total = len(gains)
    best, before = [0.0] * (total + 1), [0] * (total + 1)
    low = 0
    for end in range(1, total + 1):
        while low < end - 1 and sums[end] - sums[low] > most:
            low += 1
        gain = gains[end] if end < total else 0.0
        scores = [best[start] - _cost(sums[end] - sums[start], least, target) for start in range(low, end)]
        top = max(scores)
        best[end], before[end] = top + gain, low + scores.index(top)
    cuts = [total]
    while before[cuts[-1]]:
        cuts.append(before[cuts[-1]])
    return cuts[::-1]
