"""Chroma's embedded client: dense, with our vectors; it has no hybrid search of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clew.evaluate.peers.port import Corpus, library
from clew.types import Vectors

BATCH = 5_000  # its own limit is a little higher


class Chroma:
    """Dense: `PersistentClient`, one collection, HNSW with its defaults, cosine.

    Spaces by its metadata filter.
    """

    name = "chromadb"
    packages = ("chromadb",)
    needs_vectors = True
    about = "PersistentClient, HNSW with its defaults, cosine; dense only"

    def open(self, corpus: Corpus, folder: Path) -> None:
        """Make a collection of the corpus."""
        chromadb = library("chromadb", self.packages)
        settings = chromadb.config.Settings(anonymized_telemetry=False)
        self._client: Any = chromadb.PersistentClient(path=str(folder), settings=settings)
        self._collection: Any = self._client.create_collection(
            "eval", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )
        for at in range(0, len(corpus.texts), BATCH):
            part = slice(at, at + BATCH)
            self._collection.add(
                ids=[str(place) for place in range(at, at + len(corpus.texts[part]))],
                embeddings=corpus.vectors[part] if corpus.vectors is not None else None,
                metadatas=[{"space": space} for space in corpus.spaces[part]],
            )

    def search(self, text: str, vector: Vectors | None, space: str, k: int) -> list[int]:  # noqa: ARG002 - vectors only
        """Return the nearest of a space."""
        if vector is None:
            return []
        found = self._collection.query(
            query_embeddings=vector[None, :], n_results=k, where={"space": space}, include=[]
        )
        return [int(id) for id in found["ids"][0]]

    def close(self) -> None:
        """Close the client."""
        self._client.close()
