"""txtai with vectors given from outside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import Floats, Item
from benchmarks.peers import Batches, Facts, Hit, library

_CANDIDATES = 2_000  # txtai filters what the index returns: 1 % of this leaves 20 for a top 10


class Txtai:
    """`Embeddings` with content, hybrid, the default faiss index."""

    facts = Facts(
        environment="txtai",
        # This torch first: without it pip takes a build with gigabytes of CUDA.
        install=(("torch==2.13.0",), ("txtai~=9.14", "faiss-cpu", "numpy")),
        packages=("txtai", "faiss-cpu"),
        about="`Embeddings(method=external, content, hybrid)`, faiss with txtai's defaults (IVF above 5,000), its BM25 and its fusion; "
        f"filter: SQL `similar()` with {_CANDIDATES:,} candidates, applied after the search; dense: the same index with scoring detached",
        commit="upsert and `save`, its only way to keep data: the whole index is written again",
    )

    def load(self) -> None:
        self._txtai = library("txtai")
        self._vectors: dict[str, Floats] = {}

    def open(self, path: Path) -> None:
        vectors = self._vectors

        def transform(texts: list[str]) -> Floats:
            return np.stack([vectors.pop(text) for text in texts])

        self._path = path
        self._embeddings: Any = self._txtai.Embeddings(
            method="external", transform=transform, content=True, hybrid=True
        )
        if self._embeddings.exists(str(path)):
            self._embeddings.load(str(path), config={"transform": transform})
        self._scoring: Any = self._embeddings.scoring

    def ingest(self, batches: Batches) -> None:
        self._embeddings.index(self._documents(batches))
        self._embeddings.save(str(self._path))

    def _documents(self, batches: Batches) -> Iterator[tuple[int, dict[str, str], None]]:
        for batch in batches(1_000):
            self._vectors.update(zip(batch.texts, batch.vectors, strict=True))
            for item in batch.items():
                yield item.id, {"text": item.text, "bucket": item.bucket}, None

    def add(self, item: Item) -> None:
        self._vectors[item.text] = item.vector
        self._embeddings.upsert([(item.id, {"text": item.text, "bucket": item.bucket}, None)])
        self._embeddings.save(str(self._path))

    def dense(self, vector: Floats, k: int, bucket: str | None) -> list[Hit]:
        self._embeddings.scoring = None
        try:
            return self._search(vector, "asked", k, bucket)
        finally:
            self._embeddings.scoring = self._scoring

    def hybrid(self, vector: Floats, text: str, k: int, bucket: str | None) -> list[Hit]:
        return self._search(vector, text, k, bucket)

    def _search(self, vector: Floats, text: str, k: int, bucket: str | None) -> list[Hit]:
        self._vectors[text] = vector
        if bucket is None:
            found = self._embeddings.search(text, k)
        else:
            sql = f"SELECT id, text FROM txtai WHERE similar(:text, {_CANDIDATES}) AND bucket = :bucket LIMIT {k}"
            found = self._embeddings.search(sql, k, parameters={"text": text, "bucket": bucket})
        return [(int(hit["id"]), hit["text"]) for hit in found]

    def close(self) -> None:
        self._embeddings.close()
