"""LanceDB, embedded: hybrid of its full-text index and our vectors, fused by its RRF."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clew.evaluate.peers.port import Corpus, library
from clew.types import Vectors


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
