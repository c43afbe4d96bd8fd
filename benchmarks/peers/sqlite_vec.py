"""sqlite-vec with FTS5 in one SQLite file, through apsw, whose SQLite loads extensions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.data import DIMENSION, Floats, Item
from benchmarks.peers import FUSION_DEPTH, Batches, Facts, Hit, fuse, library

_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS docs (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(text, content='docs', content_rowid='id', tokenize='porter unicode61');
CREATE VIRTUAL TABLE IF NOT EXISTS vectors USING vec0(
    id INTEGER PRIMARY KEY, embedding float[{DIMENSION}] distance_metric=cosine, bucket TEXT
);
"""


class SqliteVec:
    """`vec0` and `fts5` tables, fused by reciprocal rank in Python as the author's guide shows in SQL."""

    facts = Facts(
        environment="sqlite_vec",
        install=(("sqlite-vec~=0.1", "apsw", "numpy"),),
        packages=("sqlite-vec", "apsw"),
        about="`vec0` (exhaustive, cosine) and FTS5 (porter, all words ORed), 50 of each fused by RRF; filter: a `vec0` metadata column; "
        "WAL, synchronous FULL, 1,000 items a transaction in bulk",
        commit="SQLite commit, WAL, synchronous FULL",
    )

    def load(self) -> None:
        self._apsw = library("apsw")
        self._sqlite_vec = library("sqlite_vec")

    def open(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self._db: Any = self._apsw.Connection(str(path / "bench.db"))
        self._db.enable_load_extension(True)
        self._db.load_extension(self._sqlite_vec.loadable_path())
        self._db.pragma("journal_mode", "wal")
        self._db.pragma("synchronous", "full")
        self._db.execute(_SCHEMA)

    def ingest(self, batches: Batches) -> None:
        for batch in batches(1_000):
            with self._db:
                for item in batch.items():
                    self._insert(item)

    def add(self, item: Item) -> None:
        with self._db:
            self._insert(item)

    def _insert(self, item: Item) -> None:
        self._db.execute("INSERT INTO docs(id, text) VALUES (?, ?)", (item.id, item.text))
        self._db.execute("INSERT INTO words(rowid, text) VALUES (?, ?)", (item.id, item.text))
        self._db.execute(
            "INSERT INTO vectors(id, embedding, bucket) VALUES (?, ?, ?)",
            (item.id, item.vector.tobytes(), item.bucket),
        )

    def dense(self, vector: Floats, k: int, bucket: str | None) -> list[Hit]:
        return self._rows(self._nearest(vector, k, bucket))

    def hybrid(self, vector: Floats, text: str, k: int, bucket: str | None) -> list[Hit]:
        return self._rows(
            fuse(self._nearest(vector, FUSION_DEPTH, bucket), self._matching(text, bucket), k=k)
        )

    def _nearest(self, vector: Floats, k: int, bucket: str | None) -> list[int]:
        if bucket is None:
            found = self._db.execute(
                "SELECT id FROM vectors WHERE embedding MATCH ? AND k = ? ORDER BY distance",
                (vector.tobytes(), k),
            )
        else:
            found = self._db.execute(
                "SELECT id FROM vectors WHERE embedding MATCH ? AND k = ? AND bucket = ? ORDER BY distance",
                (vector.tobytes(), k, bucket),
            )
        return [row[0] for row in found]

    def _matching(self, text: str, bucket: str | None) -> list[int]:
        query = " OR ".join(f'"{word}"' for word in text.split())
        if bucket is None:
            found = self._db.execute(
                "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?",
                (query, FUSION_DEPTH),
            )
        else:
            found = self._db.execute(
                "SELECT rowid FROM words WHERE words MATCH ? AND rowid IN (SELECT id FROM vectors WHERE bucket = ?) ORDER BY rank LIMIT ?",
                (query, bucket, FUSION_DEPTH),
            )
        return [row[0] for row in found]

    def _rows(self, ids: list[int]) -> list[Hit]:
        marks = ",".join("?" * len(ids))
        texts = dict(self._db.execute(f"SELECT id, text FROM docs WHERE id IN ({marks})", ids))
        return [(id, texts[id]) for id in ids]

    def close(self) -> None:
        self._db.close()
