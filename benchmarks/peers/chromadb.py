"""Chroma's embedded client."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.data import Floats, Item
from benchmarks.peers import Batches, Facts, Hit, library


class Chroma:
    """`PersistentClient`, one collection, cosine; dense only."""

    facts = Facts(
        environment="chromadb",
        install=(("chromadb~=1.5",),),
        packages=("chromadb",),
        about="PersistentClient, HNSW with its defaults (ef_search 100), cosine, batches of 5,000; filter: `where` on metadata",
        commit="row in Chroma's SQLite log; the HNSW file follows every 1,000 writes",
        no_hybrid="embedded Chroma has none: `Collection.search` raises NotImplementedError, `where_document` is a filter",
    )

    def load(self) -> None:
        self._chromadb = library("chromadb")

    def open(self, path: Path) -> None:
        settings = self._chromadb.config.Settings(anonymized_telemetry=False)
        self._client: Any = self._chromadb.PersistentClient(path=str(path), settings=settings)
        self._collection: Any = self._client.get_or_create_collection(
            "bench", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )

    def ingest(self, batches: Batches) -> None:
        for batch in batches(min(5_000, self._client.get_max_batch_size())):
            self._collection.add(
                ids=[str(id) for id in batch.ids],
                embeddings=batch.vectors,
                documents=batch.texts,
                metadatas=[{"bucket": bucket} for bucket in batch.buckets],
            )

    def add(self, item: Item) -> None:
        self._collection.add(
            ids=[str(item.id)],
            embeddings=item.vector[None, :],
            documents=[item.text],
            metadatas=[{"bucket": item.bucket}],
        )

    def dense(self, vector: Floats, k: int, bucket: str | None) -> list[Hit]:
        where = {"bucket": bucket} if bucket else None
        found = self._collection.query(
            query_embeddings=vector[None, :], n_results=k, where=where, include=["documents"]
        )
        return [
            (int(id), text) for id, text in zip(found["ids"][0], found["documents"][0], strict=True)
        ]

    def hybrid(self, vector: Floats, text: str, k: int, bucket: str | None) -> list[Hit]:
        raise NotImplementedError(self.facts.no_hybrid)

    def close(self) -> None:
        self._client.close()
