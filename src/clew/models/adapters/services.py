"""An embedder on the other side of a network connection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from clew.models.text import sendable
from clew.models.vectors import from_service
from clew.ports import EmbedRole
from clew.types import Vectors

BATCH = 32  # with the longest texts still below the 300,000 tokens that OpenAI takes in one request


class ServiceEmbedder:
    """Embeds by asking a server, in batches; every answer is checked before it is believed."""

    def __init__(self, id: str, *, host: str, ask: Callable[[list[str]], Sequence[Any]], max_tokens: int) -> None:
        """Take the function that sends texts and returns rows of numbers in the same order."""
        self._id, self._host, self._ask, self._max_tokens = id, host, ask, max_tokens
        self._dimension: int | None = None

    @property
    def id(self) -> str:
        """The name under which vectors are stored."""
        return self._id

    @property
    def dimension(self) -> int:
        """The length of every vector; asks the server once."""
        if self._dimension is None:
            self._batch(["dimension"])
        return self._dimension or 0

    @property
    def max_tokens(self) -> int:
        """Longer texts are cut, by their bytes, to about this many tokens."""
        return self._max_tokens

    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> Vectors:  # noqa: ARG002 - these protocols know no sides
        """Return one unit vector per text, in order."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        ready = [sendable(text, max_tokens=self._max_tokens) for text in texts]
        return np.concatenate([self._batch(ready[start : start + BATCH]) for start in range(0, len(ready), BATCH)])

    def _batch(self, texts: list[str]) -> Vectors:
        vectors = from_service(self._ask(texts), count=len(texts), dimension=self._dimension, who=self._host)
        self._dimension = vectors.shape[1]  # the first answer sets it; from_service holds every later one to it
        return vectors
