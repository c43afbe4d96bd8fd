"""Score how much the subject changes at each boundary between units, relative to the rest of the document.

Each boundary is scored by the depth of the valley in cosine similarity between the windows on its
two sides, as in TextTiling (Hearst, 1997). Absolute cosines do not serve: with the default model, a
change from coral reefs to central banks is a distance of only 0.33, and 90 % of unrelated pairs
have a cosine above 0.5. The threshold is therefore a number of standard deviations above the mean
of the document's own depths.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from clew.types import Vectors

# units on each side; F1 of boundaries in chats: 0.57 with one, 0.72 with two, 0.69 with three
# (docs/evaluation.md)
WINDOW = 2

Floats = npt.NDArray[np.float64]


def topic_shifts(vectors: Vectors, *, threshold: float) -> list[float]:
    """Return for each unit how far the boundary before it lies above (> 0) or below the threshold.

    The first has 0.

    `threshold` counts standard deviations above the mean depth of all boundaries of the document.

    >>> two_subjects = np.array([[1, 0]] * 4 + [[0, 1]] * 4, np.float32)
    >>> shifts = topic_shifts(two_subjects, threshold=1.0)
    >>> [at for at, shift in enumerate(shifts) if shift > 0]
    [4]
    """
    if len(vectors) < 2:
        return [0.0] * len(vectors)
    depths = _depths(_similarities(vectors))
    limit = float(depths.mean()) + threshold * float(depths.std())
    return [0.0, *(round(float(depth) - limit, 6) for depth in depths)]


def _similarities(vectors: Vectors) -> Floats:
    """Return the cosine between the mean of the units before each boundary and the mean of those behind it."""
    rows = vectors.astype(np.float64)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    sums = np.vstack([np.zeros((1, rows.shape[1])), np.cumsum(rows, axis=0)])
    at = np.arange(1, len(rows))
    before = sums[at] - sums[np.maximum(0, at - WINDOW)]
    behind = sums[np.minimum(len(rows), at + WINDOW)] - sums[at]
    lengths = np.linalg.norm(before, axis=1) * np.linalg.norm(behind, axis=1)
    found: Floats = (before * behind).sum(axis=1) / np.maximum(lengths, 1e-12)
    return found


def _depths(similarities: Floats) -> Floats:
    """Return how far each similarity lies below the nearest peak on either side, both added up."""
    return _peaks(similarities) + _peaks(similarities[::-1])[::-1] - 2 * similarities


def _peaks(similarities: Floats) -> Floats:
    """Return for each place the similarity to which values rise from there without a fall, going left."""
    found = similarities.copy()
    for at in range(1, len(found)):
        if similarities[at - 1] >= similarities[at]:
            found[at] = found[at - 1]
    return found
