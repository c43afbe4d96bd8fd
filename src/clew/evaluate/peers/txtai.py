"""txtai: hybrid of its BM25 and our vectors, with its own fusion.

An index for each space, as it filters after the search.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from clew.evaluate.peers.port import Corpus, library
from clew.types import Vectors


class Txtai:
    """Hybrid: `Embeddings(method="external", hybrid=True)`, its default index, scoring and fusion."""

    name = "txtai"
    # torch first: by itself pip would take a build with gigabytes of CUDA.
    packages = ("torch==2.13.0", "txtai", "faiss-cpu")
    needs_vectors = True
    about = "Embeddings(method=external, hybrid) with its defaults"

    # It works in memory until it is saved
    def open(self, corpus: Corpus, folder: Path) -> None:  # noqa: ARG002
        """Build an index for each space."""
        txtai = library("txtai", self.packages)
        self._asked: dict[str, Vectors] = {}
        self._spaces: dict[str, Any] = {}
        vectors, asked = corpus.vectors, self._asked

        # no method: it looks at the signature to see how to call it
        def transform(texts: list[str]) -> Any:
            return np.stack([asked[text] for text in texts])

        for space, places in corpus.by_space().items():
            index = txtai.Embeddings(method="external", transform=transform, hybrid=True)
            if vectors is not None:
                asked.update({corpus.texts[place]: vectors[place] for place in places})
            index.index((place, corpus.texts[place], None) for place in places)
            self._spaces[space] = index
            asked.clear()

    def search(self, text: str, vector: Vectors | None, space: str, k: int) -> list[int]:
        """Return the best of a space by words and vector together."""
        if space not in self._spaces or vector is None:
            return []
        self._asked[text] = vector
        return [int(place) for place, _ in self._spaces[space].search(text, k)]

    def close(self) -> None:
        """Close the indexes."""
        for index in self._spaces.values():
            index.close()
