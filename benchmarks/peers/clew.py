"""Clew itself, through its public interface; vectors come from outside, as for everybody.

Late interaction needs token vectors beside them. They are synthetic: a word has a fixed vector for
each seven characters, about forty for a text. So every memory has real token codes, and every
recall really rescores. Looking them up counts as Clew's time.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import cached_property
from itertools import accumulate, chain, cycle, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import floor
from benchmarks.data import DIMENSION, SEED, TOP, WARM_UP, Data, Floats, Item
from benchmarks.peers import FUSION_DEPTH, Batches, Facts, Hit, library

if TYPE_CHECKING:
    import clew
    from clew.ports import EmbedRole, SpannedText, TokenEmbeddings

_SCAN_ROUNDS = 70
_TOKEN_VECTORS = 4_096
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


class GivenTokens(GivenVectors):
    """The same, with synthetic token vectors."""

    def __init__(self) -> None:
        super().__init__()
        rng = np.random.default_rng(SEED)
        vectors = rng.standard_normal((_TOKEN_VECTORS, DIMENSION), dtype=np.float32)
        self._vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        self._rows: dict[str, list[int]] = {}

    def embed_tokens(self, texts: Sequence[SpannedText], *, role: EmbedRole) -> TokenEmbeddings:
        """Return the given vectors, and the token vectors of the words of each text."""
        rows = [[row for word in each.text.split() for row in self._word(word)] for each in texts]
        tokens = self._vectors[list(chain.from_iterable(rows))]
        ends = list(accumulate(map(len, rows), initial=0))
        found = [tokens[start:end] for start, end in pairwise(ends)]
        embedded: TokenEmbeddings = self._ports.TokenEmbeddings(
            self.embed([each.text for each in texts], role=role), found
        )
        return embedded

    @cached_property
    def _ports(self) -> Any:
        return library("clew.ports")

    def count(self, text: str) -> int:
        """Return how many tokens a text has."""
        return sum(len(self._word(word)) for word in text.split())

    def _word(self, word: str) -> list[int]:
        if word not in self._rows:
            plain = word.strip(".").lower()
            self._rows[word] = [
                zlib.crc32(plain[at : at + 7].encode()) % _TOKEN_VECTORS
                for at in range(0, len(plain), 7)
            ]
        return self._rows[word]


class Clew:
    """`remember`, `remember_many`, `recall`.

    Dense alone through the store, which is what the peers' dense search is.
    """

    facts = Facts(
        environment="",
        install=(),
        packages=("clew", "numpy", "simsimd"),
        about="default settings: exact int8 scan with float16 rescore, postings in memory, token codes of every memory (1 bit a number, "
        "about 40 tokens); hybrid: `recall` with the recipe `balanced`, late interaction over the best 50, scoring, explanations and "
        "access counting included; dense: `Store.dense` and the rows; filter: on metadata",
        commit=_COMMIT,
    )
    _recipe: str | None = None
    _embedder: type[GivenVectors] = GivenTokens

    def load(self) -> None:
        self._clew: Any = library("clew")
        # the package loads its parts when they are first used; the peers load theirs here
        library("clew.engine")
        self._types: Any = library("clew.types")

    def open(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self._path, self._given = path, self._embedder()
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
        about="the same store, asked with the recipe `fast`: 30 candidates of each channel in place of 100, no late interaction; "
        f"the peers fuse {FUSION_DEPTH} of each where that can be chosen",
        commit=_COMMIT,
        store_of="clew",
    )
    _recipe = "fast"


class Untokened(Clew):
    """A store of its own without token codes: what they cost."""

    facts = Facts(
        environment="",
        install=(),
        packages=("clew", "numpy", "simsimd"),
        about="the same with a model that gives no token vectors, so that there are no token codes and no late interaction",
        commit=_COMMIT,
    )
    _embedder = GivenVectors
