"""qdrant-client's local mode: the client library without a server."""

from __future__ import annotations

import zlib
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.data import DIMENSION, Batch, Floats, Item
from benchmarks.peers import FUSION_DEPTH, Batches, Facts, Hit, library

_AVERAGE_WORDS = 26.0  # of the generated texts; the server's own BM25 model takes a constant too
_K1, _B = 1.2, 0.75


class Qdrant:
    """Dense and sparse named vectors, fused by `query_points` with RRF."""

    facts = Facts(
        environment="qdrant",
        install=(("qdrant-client~=1.20", "numpy"),),
        packages=("qdrant-client",),
        about="`QdrantClient(path=…)`: exhaustive in numpy, cosine; words as sparse vectors (BM25 weights, IDF modifier), "
        "50 of each fused by its RRF; filter: payload condition. Its authors advise a server above 20,000 points",
        commit="row in its SQLite file, rollback journal, synchronous FULL; in bulk too, point by point",
    )

    def load(self) -> None:
        self._qdrant = library("qdrant_client")
        self._models: Any = library("qdrant_client.models")

    def open(self, path: Path) -> None:
        m = self._models
        self._client: Any = self._qdrant.QdrantClient(path=str(path))
        if not self._client.collection_exists("bench"):
            self._client.create_collection(
                "bench",
                vectors_config={
                    "dense": m.VectorParams(size=DIMENSION, distance=m.Distance.COSINE)
                },
                sparse_vectors_config={"words": m.SparseVectorParams(modifier=m.Modifier.IDF)},
            )

    def ingest(self, batches: Batches) -> None:
        for batch in batches(1_000):
            self._client.upsert("bench", self._points(batch))

    def hurry(self) -> None:
        """Stop waiting for the disk.

        Local mode commits every point of a batch by itself, which takes minutes for 100k.
        """
        self._client._client.collections["bench"].storage.storage.execute(
            "PRAGMA synchronous = OFF"
        )

    def add(self, item: Item) -> None:
        self._client.upsert(
            "bench",
            self._points(Batch([item.id], [item.text], [item.bucket], item.vector[None, :])),
        )

    def _points(self, batch: Batch) -> list[Any]:
        return [
            self._models.PointStruct(
                id=item.id,
                vector={"dense": item.vector.tolist(), "words": self._words(item.text)},
                payload={"text": item.text, "bucket": item.bucket},
            )
            for item in batch.items()
        ]

    def _words(self, text: str) -> Any:
        counts = Counter(text.lower().rstrip(".").split())
        length = counts.total()
        weights = {
            zlib.crc32(word.encode()): n
            * (_K1 + 1)
            / (n + _K1 * (1 - _B + _B * length / _AVERAGE_WORDS))
            for word, n in counts.items()
        }
        return self._models.SparseVector(indices=list(weights), values=list(weights.values()))

    def dense(self, vector: Floats, k: int, bucket: str | None) -> list[Hit]:
        found = self._client.query_points(
            "bench",
            query=vector.tolist(),
            using="dense",
            limit=k,
            query_filter=self._filter(bucket),
        )
        return [(point.id, point.payload["text"]) for point in found.points]

    def hybrid(self, vector: Floats, text: str, k: int, bucket: str | None) -> list[Hit]:
        m, only = self._models, self._filter(bucket)
        asked = m.SparseVector(
            indices=list({zlib.crc32(word.encode()): None for word in text.split()}),
            values=[1.0] * len(set(text.split())),
        )
        channels = [
            m.Prefetch(query=vector.tolist(), using="dense", limit=FUSION_DEPTH, filter=only),
            m.Prefetch(query=asked, using="words", limit=FUSION_DEPTH, filter=only),
        ]
        found = self._client.query_points(
            "bench", prefetch=channels, query=m.FusionQuery(fusion=m.Fusion.RRF), limit=k
        )
        return [(point.id, point.payload["text"]) for point in found.points]

    def _filter(self, bucket: str | None) -> Any:
        m = self._models
        return (
            m.Filter(must=[m.FieldCondition(key="bucket", match=m.MatchValue(value=bucket))])
            if bucket
            else None
        )

    def close(self) -> None:
        self._client.close()
