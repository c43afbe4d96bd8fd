"""LanceDB, embedded: exhaustive search as its manual advises for small tables, and its default vector index."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks.data import DIMENSION, Batch, Floats, Item
from benchmarks.peers import Batches, Facts, Hit, library

_INSTALL = (("lancedb~=0.40", "pyarrow", "numpy"),)
_HYBRID = (
    "FTS index (its defaults), hybrid by its RRF reranker; scalar index on the filtered column"
)
_COMMIT = "new data file and table version, as the library writes them"


class Flat:
    """No vector index."""

    facts = Facts(
        environment="lancedb",
        install=_INSTALL,
        packages=("lancedb",),
        about=f"no vector index (exhaustive, which its manual advises up to about 100k rows); {_HYBRID}",
        commit=_COMMIT,
    )
    _refine: int | None = None

    def load(self) -> None:
        self._lancedb = library("lancedb")
        self._index = library("lancedb.index")
        self._pa = library("pyarrow")
        self._reranker: Any = library("lancedb.rerankers").RRFReranker()

    def open(self, path: Path) -> None:
        self._db: Any = self._lancedb.connect(str(path))
        pa = self._pa
        self._schema: Any = pa.schema(
            [
                ("id", pa.int64()),
                ("text", pa.string()),
                ("bucket", pa.string()),
                ("vector", pa.list_(pa.float32(), DIMENSION)),
            ],
        )
        self._table: Any = self._db.create_table("bench", schema=self._schema, exist_ok=True)

    def ingest(self, batches: Batches) -> None:
        self._table = self._db.create_table(
            "bench", data=self._records(batches), schema=self._schema, mode="overwrite"
        )
        self._table.create_index("text", config=self._index.FTS())
        self._table.create_index("bucket", config=self._index.Bitmap())
        self._index_vectors()
        self._table.optimize(cleanup_older_than=timedelta(0))

    def _index_vectors(self) -> None:
        """Leave the vectors without an index."""

    def _records(self, batches: Batches) -> Iterator[Any]:
        return (self._record(batch) for batch in batches(10_000))

    def _record(self, batch: Batch) -> Any:
        pa = self._pa
        vectors = pa.FixedSizeListArray.from_arrays(pa.array(batch.vectors.ravel()), DIMENSION)
        return pa.record_batch(
            [pa.array(batch.ids), pa.array(batch.texts), pa.array(batch.buckets), vectors],
            schema=self._schema,
        )

    def add(self, item: Item) -> None:
        self._table.add(
            [{"id": item.id, "text": item.text, "bucket": item.bucket, "vector": item.vector}]
        )

    def dense(self, vector: Floats, k: int, bucket: str | None) -> list[Hit]:
        return self._answer(self._table.search(vector).distance_type("cosine"), k, bucket)

    def hybrid(self, vector: Floats, text: str, k: int, bucket: str | None) -> list[Hit]:
        query = (
            self._table.search(query_type="hybrid")
            .vector(vector)
            .text(text)
            .distance_type("cosine")
            .rerank(self._reranker)
        )
        return self._answer(query, k, bucket)

    def _answer(self, query: Any, k: int, bucket: str | None) -> list[Hit]:
        query = query.where(f"bucket = '{bucket}'", prefilter=True) if bucket else query
        query = query.refine_factor(self._refine) if self._refine else query
        found = query.select(["id", "text"]).limit(k).to_arrow()
        return list(zip(found["id"].to_pylist(), found["text"].to_pylist(), strict=True))

    def close(self) -> None:
        """Nothing is held open between calls."""


class Inverted(Flat):
    """The default vector index."""

    facts = Facts(
        environment="lancedb",
        install=_INSTALL,
        packages=("lancedb",),
        about=f"IVF_PQ (its default index and probes, cosine) with refine_factor 10 (re-ranks, for recall); {_HYBRID}",
        commit=_COMMIT + "; the new row is searched beside the index until `optimize`",
    )
    _refine = 10

    def _index_vectors(self) -> None:
        self._table.create_index("vector", config=self._index.IvfPq(distance_type="cosine"))
