"""Clew itself, through its public interface; vectors come from outside, as for everybody."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import floor
from benchmarks.data import DIMENSION, TOP, WARM_UP, Data, Floats, Item
from benchmarks.peers import FUSION_DEPTH, Batches, Facts, Hit, library

if TYPE_CHECKING:
    import clew
    from clew.ports import EmbedRole

_SCAN_ROUNDS = 70
_COMMIT = "SQLite commit with row, words, vector and event, WAL, synchronous FULL"


class GivenVectors:
    """An embedder that is told the vector of each text just before it is asked for it."""

    id = "benchmark/given"
    dimension = DIMENSION
    max_tokens = 512

    def __init__(self) -> None:
        self.known: dict[str, Floats] = {}

    # Both sides alike
    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> Floats:  # noqa: ARG002
        found = [self.known.pop(text) for text in texts]
        return np.stack(found) if found else np.empty((0, DIMENSION), dtype=np.float32)


class Clew:
    """`remember`, `remember_many`, `recall`.

    Dense alone through the store, which is what the peers' dense search is.
    """

    facts = Facts(
        environment="",
        install=(),
        packages=("clew", "numpy", "simsimd"),
        about="default settings: exact int8 scan with float16 rescore, postings in memory; hybrid: `recall` with the recipe "
        "`balanced`, its scoring, explanations and access counting included; dense: `Store.dense` and the rows; filter: on metadata",
        commit=_COMMIT,
    )
    _recipe: str | None = None

    def load(self) -> None:
        self._clew: Any = library("clew")
        # the package loads its parts when they are first used; the peers load theirs here
        library("clew.engine")
        self._types: Any = library("clew.types")

    def open(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self._path, self._given = path, GivenVectors()
        self._memory: clew.Clew = self._clew.open(path / "bench.clew", embedder=self._given)

    def ingest(self, batches: Batches) -> None:
        for outcome in self._memory.remember_many(self._records(batches), on_duplicate="insert"):
            if outcome.outcome != "inserted":
                raise RuntimeError(f"not inserted: {outcome}")

    def _records(self, batches: Batches) -> Iterator[dict[str, Any]]:
        for batch in batches(1_000):
            for item in batch.items():
                self._given.known[item.text] = item.vector
                yield {
                    "text": item.text,
                    "source": str(item.id),
                    "metadata": {"bucket": item.bucket},
                }

    def add(self, item: Item) -> None:
        self._remember(item, on_duplicate="insert")

    def add_checked(self, item: Item) -> None:
        """Store one item as `remember` does by default.

        After looking for the same text and for nearly the same vector.
        """
        self._remember(item, on_duplicate="reinforce")

    @contextmanager
    def bare_add(self) -> Iterator[Callable[[Item], None]]:
        """Lend what tells SQLite the same as an add, by Python's `sqlite3` alone.

        Its rows are no memories of their own.
        """
        pages = library("clew.store.sqlite.database").CHECKPOINT_PAGES
        with closing(
            floor.Statements(self._path / "bench.clew", checkpoint_pages=pages)
        ) as statements:
            yield statements.add

    def _remember(self, item: Item, *, on_duplicate: str) -> None:
        self._given.known[item.text] = item.vector
        outcome = self._memory.remember(
            item.text,
            source=str(item.id),
            metadata={"bucket": item.bucket},
            on_duplicate=on_duplicate,
        )
        if outcome.outcome != "inserted":
            raise RuntimeError(f"not inserted: {outcome}")

    def dense(self, vector: Floats, k: int, bucket: str | None) -> list[Hit]:
        store = self._memory.store
        ranking = store.dense(vector, self._filter(bucket), limit=k)
        nodes = store.get([match.id for match in ranking])
        return [(int(nodes[match.id].source), nodes[match.id].text) for match in ranking]

    def hybrid(self, vector: Floats, text: str, k: int, bucket: str | None) -> list[Hit]:
        self._given.known[text] = vector
        where = {"metadata": {"bucket": bucket}} if bucket else None
        nodes = [
            hit.node
            for hit in self._memory.recall(text, k=k, where=where, recipe=self._recipe).hits
        ]
        return [(int(node.source), node.text) for node in nodes if node]

    def _filter(self, bucket: str | None) -> Any:
        return self._types.Filter(
            now=datetime.now(UTC), metadata={"bucket": bucket} if bucket else {}
        )

    def scan(self, data: Data) -> dict[str, Any]:
        """Compare the scan alone, and the bare dense search with its exact rescoring, with the time to read as many bytes."""
        vectors = cycle(question.vector for question in data.questions()[WARM_UP:])
        store: Any = self._memory.store
        where = self._filter(None)
        store.dense(next(vectors), where, limit=TOP)  # reads the index into memory
        index, count = store._dense._shared, library("clew.store.sqlite.dense").proposals(TOP)
        asked = {"role": self._types.Role.CONTENT, "count": count, "allowed": None, "hidden": None}

        def scanned() -> object:
            return index.begin(next(vectors), where, **asked)()

        return floor.compare(
            scanned,
            lambda: store.dense(next(vectors), where, limit=TOP),
            data.facts["size"],
            rounds=_SCAN_ROUNDS,
        )

    def close(self) -> None:
        self._memory.close()


class Fast(Clew):
    """The recipe `fast` on the same store."""

    facts = Facts(
        environment="",
        install=(),
        packages=("clew", "numpy", "simsimd"),
        about="the same store, asked with the recipe `fast`: 30 candidates of each channel in place of 100, all else alike; "
        f"the peers fuse {FUSION_DEPTH} of each where that can be chosen",
        commit=_COMMIT,
        store_of="clew",
    )
    _recipe = "fast"
