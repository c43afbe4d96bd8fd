"""The promise of the Embedder port about its numbers, kept in one place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clew.errors import ModelServiceError
from clew.types import Vectors

SMALLEST_NORM = 1e-12  # below this a vector has no direction worth keeping


def unit(rows: Any) -> Vectors:
    """Scale each row to length one in float32; a row without direction becomes the first axis.

    A static table gives the zero vector for a text without a known word. The port promises unit
    vectors, and any fixed direction is as good as another for a text that says nothing.
    """
    matrix = np.array(rows, dtype=np.float32, ndmin=2)
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    nothing = norms[:, 0] < SMALLEST_NORM
    if nothing.any():
        matrix[nothing], norms[nothing] = 0.0, 1.0
        matrix[nothing, 0] = 1.0
    return np.ascontiguousarray(matrix / norms, dtype=np.float32)


def from_service(rows: Sequence[Any], *, count: int, dimension: int | None, who: str) -> Vectors:
    """Return a server's answer as unit vectors, or say what is wrong with it; nothing is repaired."""
    if len(rows) != count:
        raise ModelServiceError(f"{who} answered with {len(rows)} vectors for {count} texts.", expected=count, got=len(rows))
    try:
        matrix = np.asarray(rows, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise ModelServiceError(f"{who} answered with vectors that are not rows of numbers of one length.") from error
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise ModelServiceError(f"{who} answered with vectors that are not rows of numbers of one length.")
    if dimension is not None and matrix.shape[1] != dimension:
        raise ModelServiceError(
            f"{who} answered with vectors of {matrix.shape[1]} dimensions where {dimension} were expected; it may serve another model now.",
            expected=dimension,
            got=matrix.shape[1],
        )
    if not np.isfinite(matrix).all() or (np.linalg.norm(matrix, axis=1) < SMALLEST_NORM).any():
        raise ModelServiceError(f"{who} answered with a vector that is zero or not finite.")
    return unit(matrix)
