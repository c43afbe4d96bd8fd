"""Other libraries behind one small protocol, each as its manual says to use it.

A library is imported when it is opened, so that none is needed to run Clew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from clew.errors import RefusedError
from clew.types import Vectors


@dataclass(frozen=True, slots=True)
class Corpus:
    """What a peer gets.

    The same texts, in the same spaces, with the same vectors (None without a model).
    """

    texts: Sequence[str]
    spaces: Sequence[str]
    vectors: Vectors | None

    def by_space(self) -> dict[str, list[int]]:
        """Return the places of the texts of each space."""
        places: dict[str, list[int]] = {}
        for place, space in enumerate(self.spaces):
            places.setdefault(space, []).append(place)
        return places


class Peer(Protocol):
    """Another library, as its manual says to use it."""

    name: str
    packages: tuple[str, ...]
    """What pip is asked for; the first is the one whose version is told."""
    needs_vectors: bool
    about: str
    """Which of its configurations is measured."""

    def open(self, corpus: Corpus, folder: Path) -> None:
        """Import the library and index the corpus in an empty folder."""

    def search(self, text: str, vector: Vectors | None, space: str, k: int) -> list[int]:
        """Return the places of the best k texts of a space, best first."""

    def close(self) -> None:
        """Release what was opened."""


def library(name: str, packages: Sequence[str]) -> Any:
    """Import a peer's library, or raise a RefusedError that says how to install it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise RefusedError(
            f"not installed: pip install {' '.join(packages)}", library=name
        ) from error


class Bm25s:
    """Lexical: `BM25()` (Lucene's variant), stop words of English, Snowball stemmer."""

    name = "bm25s"
    packages = ("bm25s", "PyStemmer")
    needs_vectors = False
    about = "BM25() with its defaults, English stop words and stemmer"

    def open(self, corpus: Corpus, folder: Path) -> None:  # noqa: ARG002 - it works in memory
        """Build an index for each space."""
        self._bm25s = library("bm25s", self.packages)
        self._stemmer: Any = library("Stemmer", self.packages).Stemmer("english")
        self._spaces: dict[str, tuple[Any, list[int]]] = {}
        for space, places in corpus.by_space().items():
            index = self._bm25s.BM25()
            index.index(
                self._tokens([corpus.texts[place] for place in places]), show_progress=False
            )
            self._spaces[space] = index, places

    def _tokens(self, texts: list[str]) -> Any:
        return self._bm25s.tokenize(
            texts, stopwords="en", stemmer=self._stemmer, show_progress=False
        )

    def search(self, text: str, vector: Vectors | None, space: str, k: int) -> list[int]:  # noqa: ARG002 - words only
        """Return what shares a word with the question."""
        tokens = self._tokens([text])
        if (
            space not in self._spaces or not tokens.vocab
        ):  # it fails on a question without a known word
            return []
        index, places = self._spaces[space]
        found, scores = index.retrieve(tokens, k=min(k, len(places)), show_progress=False)
        return [places[int(at)] for at, score in zip(found[0], scores[0], strict=True) if score > 0]

    def close(self) -> None:
        """Nothing is held open."""


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


class Lance:
    """Hybrid: no vector index (exhaustive, as its manual advises up to about 100k rows), FTS with its defaults, `RRFReranker`."""

    name = "lancedb"
    packages = ("lancedb", "pyarrow")
    needs_vectors = True
    about = "exhaustive cosine and its FTS index, fused by its RRFReranker"

    def open(self, corpus: Corpus, folder: Path) -> None:
        """Make a table of the corpus with a full-text index and one on the space."""
        lancedb, index = library("lancedb", self.packages), library("lancedb.index", self.packages)
        self._reranker: Any = library("lancedb.rerankers", self.packages).RRFReranker()
        self._table: Any = lancedb.connect(str(folder)).create_table(
            "eval", data=self._data(corpus)
        )
        self._table.create_index("text", config=index.FTS())
        self._table.create_index("space", config=index.Bitmap())

    def _data(self, corpus: Corpus) -> Any:
        pa, vectors = library("pyarrow", self.packages), corpus.vectors
        if vectors is None:
            raise ValueError("vectors are needed")
        rows = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
        columns = {
            "place": list(range(len(corpus.texts))),
            "text": list(corpus.texts),
            "space": list(corpus.spaces),
            "vector": rows,
        }
        return pa.table(columns)

    def search(self, text: str, vector: Vectors | None, space: str, k: int) -> list[int]:
        """Return the best of a space by words and vector together."""
        query = (
            self._table.search(query_type="hybrid")
            .vector(vector)
            .text(text)
            .distance_type("cosine")
            .rerank(self._reranker)
        )
        quoted = space.replace("'", "''")
        found = query.where(f"space = '{quoted}'", prefilter=True).limit(k).to_arrow()
        return [int(place) for place in found["place"].to_pylist()]

    def close(self) -> None:
        """Nothing is held open between calls."""


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

        def transform(
            texts: list[str],
        ) -> Any:  # no method: it looks at the signature to see how to call it
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
