"""An embedding function of another framework as the embedder of a Clew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]
# frameworks do not tell how much their models read; they cut longer texts themselves
MAX_TOKENS = 8192

UNBOUNDED = {"dense_floor": -1.0, "min_similarity": -1.0}
"""Settings of `recall` for such a model: nothing is known about its cosines, so none is too low."""


class FunctionEmbedder:
    """Embeds by functions for texts and for questions; `id` must change whenever the vectors do."""

    def __init__(self, id: str, dimension: int, *, passages: Embed, queries: Embed) -> None:
        self.id = id
        self.dimension = dimension
        self.max_tokens = MAX_TOKENS
        self._passages = passages
        self._queries = queries

    def embed(self, texts: Sequence[str], *, role: Any) -> npt.NDArray[np.float32]:
        """Return one unit vector per text."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        function = self._queries if str(role) == "query" else self._passages
        vectors = np.array(function(list(texts)), np.float32).reshape(len(texts), self.dimension)
        # an empty text has no direction; a store wants one all the same
        vectors[~vectors.any(axis=1)] = 1.0
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)
