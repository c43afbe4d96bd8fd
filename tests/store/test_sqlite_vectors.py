"""Dense search on SQLite.

Int8 proposes, float16 decides, and the index keeps in step with every commit.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clew.ports import ModelInfo, Sort
from clew.store.filters import passes
from clew.store.memory import MemoryStore
from clew.store.sqlite import SqliteStore, dense, scan, verify
from clew.store.sqlite import rows as mapping
from clew.store.sqlite import scan as work
from clew.store.sqlite import vector_index as index
from clew.store.sqlite.scan import Work, portions
from clew.store.vectors import exact_cosines
from clew.testing import MODEL, added, embedding, later, node, unit, where
from clew.types import Embedding, Filter, Role, Vectors
from tests.store.tracing import statements

COUNT, DIMENSION = 5_000, 64
BIG = ModelInfo("clustered", DIMENSION)
QUERIES = 60


def clustered(count: int, seed: int) -> Vectors:
    """Return unit vectors in tight clusters: neighbours closer than int8 can tell apart."""
    draw = np.random.default_rng(seed)
    centres = draw.standard_normal((50, DIMENSION))
    rows = centres[draw.integers(0, 50, count)] + 0.15 * draw.standard_normal((count, DIMENSION))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def made(vectors: Vectors) -> tuple[list[Any], list[Embedding]]:
    nodes = [
        node(
            f"n{n:05}",
            f"text {n}",
            category="plan" if n % 100 == 7 else "fact",
            tags=("rare",) if n % 50 == 3 else (),
            space="work" if n % 10 == 1 else "default",
            t_valid=later(-(n % 30)),
            archived=n % 97 == 5,
        )
        for n in range(len(vectors))
    ]
    return nodes, [embedding(each, vector) for each, vector in zip(nodes, vectors, strict=True)]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    path = tmp_path_factory.mktemp("large") / "memory.clew"
    with closing(SqliteStore.open(path, synchronous="OFF")) as store:
        store.activate(BIG)
        nodes, vectors = made(clustered(COUNT, 1))
        for start in range(0, COUNT, 1000):
            store.insert(nodes[start : start + 1000], vectors[start : start + 1000])
        yield store


@cache
def everything() -> tuple[list[Any], Any]:
    """Return the nodes of the large store and their rounded vectors."""
    nodes, vectors = made(clustered(COUNT, 1))
    return nodes, np.stack([each.vector for each in vectors]).astype(np.float16)


def brute_force(filter: Filter, query: Vectors, limit: int) -> list[tuple[str, float]]:
    """Return the exact answer from the vectors themselves, by the definition of the filter."""
    nodes, halves = everything()
    passing = [n for n, each in enumerate(nodes) if passes(each, filter)]
    scored = zip(
        (nodes[n].id for n in passing), exact_cosines(halves[passing], query).tolist(), strict=True
    )
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:limit]


FILTERS = [
    where(),
    where(categories=("plan",)),
    where(tags=("rare",)),
    where(space="work"),
    where(since=later(-3)),
    where(categories=("fact",), until=later(-20), archived=True),
    where(as_of=later(-10)),
]


@pytest.mark.parametrize("fallback", [False, True], ids=["simsimd", "numpy"])
@pytest.mark.parametrize(
    "filter", FILTERS, ids=["none", "category", "tag", "space", "since", "several", "as_of"]
)
def test_the_ten_nearest_are_exactly_the_ten_nearest(
    large: SqliteStore, filter: Filter, fallback: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fallback:
        monkeypatch.setattr(scan, "cdist", None)
    for query in clustered(QUERIES // len(FILTERS) + 1, 2):
        found = large.dense(query, filter, limit=10)
        assert [(match.id, match.score) for match in found] == brute_force(filter, query, 10)


def test_where_few_pass_no_rounding_matters(tmp_path: Path) -> None:
    """All but the first number of the nearest are rounded down, by nearly half a step each.

    Int8 has it far behind the other.
    """
    nearest = np.full(768, 5.45 / 127, np.float32)
    nearest[0] = 1.0
    nearest /= np.linalg.norm(nearest)
    query = np.full(768, 767**-0.5, np.float32)
    query[0] = 0.0
    cosine = float(nearest @ query) - 0.02
    other = query * cosine
    other[0] = (1 - cosine**2) ** 0.5
    with closing(SqliteStore.open(tmp_path / "few.clew", synchronous="OFF")) as store:
        store.activate(ModelInfo("m", 768))
        vectors = {"nearest": nearest, "other": other}
        embedded = [
            Embedding(node=id, role=Role.CONTENT, text_hash=node(id).content_hash, vector=each)
            for id, each in vectors.items()
        ]
        store.insert([node(id) for id in vectors], embedded)
        assert [match.id for match in store.dense(query, where(), limit=1)] == ["nearest"]


def products(codes: scan.Codes, query: scan.Codes) -> Any:
    rows = scan.raised(codes)
    return scan.dots(rows, scan.excess(rows), query)


@pytest.mark.parametrize("dimension", [3, 64, 384, 1024])
@pytest.mark.parametrize("fallback", [False, True], ids=["simsimd", "numpy"])
def test_products_of_raised_rows_are_those_of_the_codes(
    dimension: int, fallback: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fallback:
        monkeypatch.setattr(scan, "cdist", None)
    draw = np.random.default_rng(5)
    codes = np.vstack(
        [
            draw.integers(-127, 128, (50, dimension)),
            np.full((1, dimension), 127),
            np.full((1, dimension), -127),
        ]
    )
    query = draw.integers(-127, 128, dimension)
    exact = codes @ query
    # Whole numbers up to 2^24 are exact; the raised products of longer vectors are larger, and
    # rounded.
    assert np.abs(products(codes.astype(np.int8), query.astype(np.int8)) - exact).max() <= (
        0 if dimension <= 64 else dimension / 128
    )


def test_without_simsimd_the_same_rows_are_proposed(
    large: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes, _ = scan.quantise(clustered(3000, 3))
    query, _ = scan.quantise(clustered(1, 4))
    fast = products(codes, query[0])
    monkeypatch.setattr(scan, "cdist", None)
    monkeypatch.setattr(scan, "FALLBACK_ROWS", 700)
    assert (products(codes, query[0]) == fast).all()
    assert products(codes[:0], query[0]).shape == (0,)


@pytest.fixture
def afresh(large: SqliteStore) -> Iterator[SqliteStore]:
    """The large store without its index in memory, which remembers how many rows pass a filter."""
    large._dense.forget()
    yield large
    large._dense.forget()


@pytest.mark.parametrize("looked_at", [(1,), (8,), (1, 8)], ids=["few", "many", "more"])
@pytest.mark.parametrize(
    "filter", FILTERS, ids=["none", "category", "tag", "space", "since", "several", "as_of"]
)
def test_filtering_only_the_best_rows_changes_no_answer(
    afresh: SqliteStore, filter: Filter, looked_at: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "GROUP", 1)  # as if the store were larger
    monkeypatch.setattr(scan, "LOOKED_AT", looked_at)
    monkeypatch.setattr(index, "MOSTLY", 0.0)
    for query in clustered(3, 6):
        found = afresh.dense(query, filter, limit=10)
        assert [(match.id, match.score) for match in found] == brute_force(filter, query, 10)


def test_how_many_rows_pass_is_sampled_once_for_a_filter_and_again_when_there_are_many_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(index, "GROUP", 1)
    monkeypatch.setattr(index, "SAMPLES_KEPT", 3)
    sampled: list[slice] = []
    passing = index.VectorIndex._passing

    def counted(self: Any, rows: Any, *rest: Any, **more: Any) -> Any:
        sampled.extend([rows] if isinstance(rows, slice) and rows.step else [])
        return passing(self, rows, *rest, **more)

    monkeypatch.setattr(index.VectorIndex, "_passing", counted)

    def searched(vectors: index.VectorIndex, filter: Filter) -> int:
        asked: dict[str, Any] = {"role": Role.CONTENT, "count": 5, "allowed": None, "hidden": None}
        vectors.begin(clustered(1, 9)[0], filter, **asked)()
        return len(sampled)

    vectors = index.VectorIndex(DIMENSION)
    codes, _ = scan.quantise(clustered(1000, 9))
    vectors.append(np.zeros(1000, index.RECORD), codes)
    assert [searched(vectors, where()) for _ in range(3)] == [1, 1, 1]
    assert [
        searched(vectors, filter)
        for filter in (where(space="work"), where(since=later(-3)), where(now=later(9)))
    ] == [2, 3, 3]
    vectors.append(np.zeros(100, index.RECORD), codes[:100])
    assert [searched(vectors, where()) for _ in range(2)] == [4, 4]
    assert len(vectors.sampled) <= 3


def test_a_question_is_rounded_as_the_rows_are() -> None:
    for query in (*clustered(20, 10), np.zeros(DIMENSION, np.float32)):
        (codes,), (scale,) = scan.quantise(query[None])
        asked, step = scan.quantised(query)
        assert (asked.tolist(), step) == (codes.tolist(), float(scale))


def test_only_what_rounding_leaves_open_is_rescored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rescored: list[int] = []
    rescore = dense.DenseSearch._rescored

    def counted(self: Any, connection: Any, eids: Any, *rest: Any) -> Any:
        rescored.append(len(eids))
        return rescore(self, connection, eids, *rest)

    monkeypatch.setattr(dense.DenseSearch, "_rescored", counted)
    with closing(SqliteStore.open(tmp_path / "memory.clew", synchronous="OFF")) as store:
        store.activate(BIG)
        apart = (
            np.eye(DIMENSION, dtype=np.float32)[0]
            + 0.05 * np.arange(1, 41)[:, None] * np.eye(DIMENSION, dtype=np.float32)[1]
        )
        nodes, vectors = made(apart / np.linalg.norm(apart, axis=1, keepdims=True))
        store.insert(nodes, vectors)
        found = store.dense(np.eye(DIMENSION, dtype=np.float32)[0], where(archived=True), limit=5)
        assert [match.id for match in found] == [
            each.id for each in nodes if each.space == "default"
        ][:5]
        assert len(rescored) == 1
        assert 5 <= rescored[0] < dense.proposals(5) // 2
        # What changed behind the index drops out when it is rescored, and those behind it take its
        # place.
        monkeypatch.setattr(
            index.VectorIndex,
            "_passing",
            lambda self, rows, *_, **__: np.ones(len(self.records["eid"][rows]), np.bool_),
        )
        again = store.dense(np.eye(DIMENSION, dtype=np.float32)[0], where(archived=True), limit=5)
        assert (again, len(rescored)) == (found, 3)


def test_labels_find_their_vectors_in_whatever_order_those_were_written(tmp_path: Path) -> None:
    with closing(SqliteStore.open(tmp_path / "memory.clew", synchronous="OFF")) as store:
        store.activate(BIG)
        nodes, vectors = made(clustered(200, 7))
        store.insert(nodes)
        store.put(vectors[100:], BIG)
        store.put(
            [
                Embedding(node=each.node, role=Role.CONTEXT, text_hash="", vector=-each.vector)
                for each in vectors[:50]
            ],
            BIG,
        )
        store.put(vectors[:100], BIG)
        found = store.dense(vectors[3].vector, where(tags=("rare",)), limit=10)
        assert found[0].id == "n00003"
        assert {match.id for match in found} == {
            each.id for each in nodes if passes(each, where(tags=("rare",)))
        }
        assert store.dense(vectors[3].vector, where(tags=("nowhere",)), limit=10) == ()


def test_shared_out_among_threads_or_not_the_products_are_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    codes, _ = scan.quantise(clustered(3001, 3))
    query, _ = scan.quantise(clustered(1, 4))
    alone = products(codes, query[0])
    monkeypatch.setattr(scan, "THREADED_ROWS", 100)
    for threads in (2, 3, 8):
        monkeypatch.setattr(scan, "THREADS", threads)
        assert (products(codes, query[0]) == alone).all()


def test_a_scan_does_not_wait_for_threads_that_are_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    codes, _ = scan.quantise(clustered(3001, 3))
    query, _ = scan.quantise(clustered(1, 4))
    alone = products(codes, query[0])
    monkeypatch.setattr(scan, "THREADED_ROWS", 100)
    monkeypatch.setattr(scan, "THREADS", 2)
    release = threading.Event()
    Work(lambda _: _waited(release), [slice(1)]).offer(threads=1)
    try:
        assert (products(codes, query[0]) == alone).all()  # would hang if it waited
    finally:
        release.set()


def _waited(event: threading.Event) -> None:
    event.wait()


def test_what_a_helping_thread_meets_is_raised_to_the_one_who_waits() -> None:
    begun = threading.Event()

    def part(cut: slice) -> None:
        if cut.start == 0:  # which whoever waits would take last
            begun.set()
            raise MemoryError("no room")
        _waited(begun)

    work = Work(part, [slice(0, 1), slice(1, 2)])
    work.offer(threads=1)
    with pytest.raises(MemoryError, match="no room"):
        work.finish()


def test_where_no_thread_can_be_begun_the_one_who_asks_does_it_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    codes, _ = scan.quantise(clustered(3001, 3))
    query, _ = scan.quantise(clustered(1, 4))
    alone = products(codes, query[0])
    monkeypatch.setattr(scan, "THREADED_ROWS", 100)
    monkeypatch.setattr(scan, "THREADS", 5)
    monkeypatch.setattr(threading.Thread, "start", refused)
    monkeypatch.setattr(work, "_helpers", {})
    assert (products(codes, query[0]) == alone).all()


def test_many_that_ask_at_once_share_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "_helpers", {})
    before = threading.active_count()
    together = threading.Barrier(16)
    release = threading.Event()

    def ask() -> None:
        together.wait()
        Work(lambda _: _waited(release), [slice(1)]).offer(threads=3)

    asking = [threading.Thread(target=ask) for _ in range(16)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert threading.active_count() == before + 3
    release.set()


def test_what_was_finished_can_be_asked_for_again() -> None:
    done = Work(lambda cut: cut.stop, [slice(0, 1), slice(1, 2)])
    assert done.finish() == done.finish() == [1, 2]


@pytest.mark.parametrize("threads", [2, 3, 8])
@pytest.mark.parametrize("size", [1, 2, 7, 64, 1000])
def test_portions_are_the_whole_and_become_no_larger(size: int, threads: int) -> None:
    cuts = portions(size, threads=threads)
    sizes = [cut.stop - cut.start for cut in cuts]
    assert [row for cut in cuts for row in range(cut.start, cut.stop)] == list(range(size))
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
def test_a_forked_child_scans_with_threads_of_its_own() -> None:
    script = """
import os, warnings
import numpy as np
from clew.store.sqlite import scan
warnings.simplefilter("ignore")
scan.THREADED_ROWS, scan.THREADS = 100, 2
rows = np.arange(64_000, dtype=np.uint64).astype(np.uint8).reshape(1000, 64)
query = np.arange(64, dtype=np.int8)
expected = scan.dots(rows, scan.excess(rows), query)
child = os.fork()
found = scan.dots(rows, scan.excess(rows), query)
assert (found == expected).all()
if not child:
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
begun = scan.begun(rows, scan.excess(rows), query)
child = os.fork()
assert (begun() == expected).all()  # in the child too, whose parent's threads may have taken a part along
if not child:
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_search_that_was_begun_finds_what_was_there_then_and_is_there_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "THREADED_ROWS", 100)
    monkeypatch.setattr(scan, "THREADS", 2)
    monkeypatch.setattr(index, "GROUP", 1)  # as if the store were larger
    with closing(SqliteStore.open(tmp_path / "memory.clew", synchronous="OFF")) as store:
        store.activate(BIG)
        nodes, vectors = made(clustered(1000, 7))
        store.insert(nodes, vectors)
        for (at, query), filter in zip(enumerate(clustered(5, 8)), FILTERS, strict=False):
            assert store.begin_dense(query, filter, limit=10)() == store.dense(
                query, filter, limit=10
            ), at
        query = vectors[200].vector
        before = store.dense(query, where(), limit=10)
        begun = store.begin_dense(query, where(), limit=10)
        store.delete([before[0].id])
        late = node("late", "written after the search began")
        store.insert([late], [embedding(late, query)])
        found = begun()
        assert before[0].id not in {match.id for match in found}
        assert "late" not in {match.id for match in found}
        assert found[:9] == before[1:]
        with store.transaction():
            own = node("own", "seen by nobody else yet")
            store.insert([own], [embedding(own, query)])
            assert {match.id for match in store.begin_dense(query, where(), limit=2)()} == {
                "late",
                "own",
            }


@pytest.fixture
def shared_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqliteStore]:
    """A store of a thousand vectors that is searched as a large one is."""
    monkeypatch.setattr(scan, "THREADED_ROWS", 100)
    monkeypatch.setattr(scan, "THREADS", 2)
    monkeypatch.setattr(index, "GROUP", 1)
    with closing(SqliteStore.open(tmp_path / "memory.clew", synchronous="OFF")) as store:
        store.activate(BIG)
        store.insert(*made(clustered(1000, 7)))
        yield store


def test_vectors_that_are_written_anew_while_a_search_goes_on_change_nothing_else(
    shared_out: SqliteStore,
) -> None:
    (query,) = clustered(1, 8)
    before = shared_out.dense(query, where(), limit=10)
    begun = shared_out.begin_dense(query, where(), limit=10)
    nodes, vectors = made(clustered(1000, 7))
    near = {match.id for match in before}
    far = [each for node_, each in zip(nodes, vectors, strict=True) if node_.id not in near][:200]
    # its codes add up to less than any other's
    sunk = np.full(len(query), -1 / np.sqrt(len(query)), np.float32)
    shared_out.put([replace(each, vector=sunk) for each in far], BIG)
    shared_out.dense(query, where(), limit=1)  # takes them over, in place
    assert begun() == before


def test_a_list_is_full_though_the_nearest_were_deleted_while_the_search_went_on(
    shared_out: SqliteStore,
) -> None:
    (query,) = clustered(1, 8)
    begun = shared_out.begin_dense(query, where(), limit=10)
    shared_out.delete([match.id for match in shared_out.dense(query, where(), limit=100)])
    assert begun() == shared_out.dense(query, where(), limit=10)


def test_the_file_is_mapped_only_while_the_vectors_are_read(large: SqliteStore) -> None:
    (query,) = clustered(1, 9)
    with closing(SqliteStore.open(large._database.path)) as store:
        before = table(store, "PRAGMA mmap_size")
        store.dense(query, where(), limit=1)
        assert table(store, "PRAGMA mmap_size") == before
        with (
            pytest.raises(RuntimeError, match="on the way"),
            mapping.mapped(store._database.connection),
        ):
            assert table(store, "PRAGMA mmap_size") != before
            raise RuntimeError("on the way")
        assert table(store, "PRAGMA mmap_size") == before


def test_long_lists_are_exact_too(large: SqliteStore) -> None:
    (query,) = clustered(1, 5)
    assert [
        (match.id, match.score) for match in large.dense(query, where(), limit=300)
    ] == brute_force(where(), query, 300)
    assert len(large.dense(query, where(), limit=100_000)) == sum(
        1 for each in large.nodes("default") if not each.archived
    )


def test_the_best_scores_are_found_among_many_blocks() -> None:
    draw = np.random.default_rng(8)
    for size, most in product((1, 5, 127, 128, 129, 1000, 20_000, 20_063), (1, 50, 10**6)):
        scores = draw.integers(0, most, size).astype(np.float32)
        for count in (1, 3, 40):
            kept = scan.top(scores, count)
            cut = np.sort(scores)[::-1][min(count, size) - 1]
            assert kept.tolist() == np.flatnonzero(scores >= cut).tolist()


# --- segments ---


def table(store: SqliteStore, query: str, *values: object) -> list[Any]:
    return store._database.connection.execute(query, values).fetchall()


def damaged(store: SqliteStore, path: Path, statement: str) -> SqliteStore:
    store.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)
    return SqliteStore.open(path)


@pytest.fixture
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments of 16 rows, written every 16 changes; a log of 64 changes."""
    monkeypatch.setattr(dense, "SEGMENT_ROWS", 16)
    monkeypatch.setattr(verify, "SEGMENT_ROWS", 16)
    monkeypatch.setattr(dense, "CHANGES_KEPT", 64)


def filled(path: Path, count: int, start: int = 0) -> SqliteStore:
    store = SqliteStore.open(path, synchronous="OFF")
    store.activate(MODEL)
    for first in range(start, start + count, 10):
        added(
            store,
            [node(f"n{n:04}", f"text {n}") for n in range(first, min(first + 10, start + count))],
        )
    return store


def nearest(store: SqliteStore, text: str) -> str:
    return store.dense(unit(text), where(), limit=1)[0].id


def test_segments_are_written_after_4096_changes_and_read_on_opening(large: SqliteStore) -> None:
    rows = table(large, "SELECT segment, length(columns) FROM segment ORDER BY segment")
    assert [segment for segment, _ in rows] == [0, 1]
    assert rows[0][1] == 4095 * index.RECORD.itemsize  # ids begin at 1
    (query,) = clustered(1, 6)
    expected = large.dense(query, where(), limit=10)
    with closing(SqliteStore.open(large._database.path)) as again:
        loads: list[int] = []
        real = again._dense._read_segments
        again._dense._read_segments = lambda *given, **options: (  # type: ignore[method-assign]
            loads.append(1) or real(*given, **options)  # type: ignore[func-returns-value]
        )
        assert again.dense(query, where(), limit=10) == expected
        assert loads == [1]
        assert again._dense._shared is not None
        assert again._dense._shared.size == COUNT
    assert "segments" not in {problem.check for problem in large.verify()}


@pytest.mark.usefixtures("small_segments")
def test_reopening_reads_segments_and_what_changed_after_them(path: Path) -> None:
    store = filled(path, 45)
    store.delete(["n0003"])
    store.update("n0004", archived=True)
    store.put([embedding(node("n0005"), unit("moved"))], MODEL)
    store.close()
    with closing(SqliteStore.open(path)) as again:
        assert nearest(again, "text 44") == "n0044"
        assert nearest(again, "text 3") != "n0003"
        assert nearest(again, "text 4") != "n0004"
        assert nearest(again, "moved") == "n0005"
        assert again.verify() == ()


@pytest.mark.usefixtures("small_segments")
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE segment SET codes = substr(codes, 1, length(codes) - 1)",
        "UPDATE segment SET columns = substr(columns, 1, 5) WHERE segment = 1",
        "UPDATE segment SET codes = x'', columns = x''",
        "DELETE FROM segment WHERE segment = 1",
        "DELETE FROM segment",
        "DELETE FROM meta WHERE key LIKE 'segment%'",
    ],
)
def test_a_segment_that_is_missing_or_cut_is_ignored_without_a_wrong_answer(
    path: Path, statement: str
) -> None:
    store = damaged(filled(path, 60), path, statement)
    assert [nearest(store, f"text {n}") for n in range(60)] == [f"n{n:04}" for n in range(60)]
    store.repair()
    assert store.verify() == ()
    assert table(store, "SELECT count(*) FROM segment") == [(4,)]
    store.close()


@pytest.mark.usefixtures("small_segments")
@pytest.mark.parametrize("column", ["codes", "columns"])
def test_a_segment_with_other_bytes_is_found_by_verify_and_repaired(
    path: Path, column: str
) -> None:
    store = damaged(
        filled(path, 60),
        path,
        f"UPDATE segment SET {column} = zeroblob(length({column})) WHERE segment = 1",
    )
    assert [problem.check for problem in store.verify()] == ["segments"]
    store.repair()
    assert store.verify() == ()
    assert [nearest(store, f"text {n}") for n in range(60)] == [f"n{n:04}" for n in range(60)]
    store.close()


def saved_at(store: SqliteStore) -> int:
    """Return as of which change the segments are."""
    return int(table(store, "SELECT value FROM meta WHERE key = 'segment_seq'")[0][0])


@pytest.mark.usefixtures("small_segments")
def test_appended_vectors_are_saved_soon_and_scattered_changes_once_they_are_many(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense, "SEGMENT_CHANGES", 4)
    with closing(filled(path, 600)) as store:
        store._dense.checkpoint(store._database.connection)
        before = saved_at(store)
        for n in range(600, 617):
            added(store, [node(f"n{n:04}", f"text {n}")])
        after = saved_at(store)
        assert after - before >= 16  # two segments, far less than a sixteenth of the rows
        for n in range(0, 600, 30):
            store.update(f"n{n:04}", archived=True)
        assert saved_at(store) == after  # as many segments as changes
        assert nearest(store, "text 616") == "n0616"


def test_a_store_without_an_active_model_writes_no_segments_over_and_over(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense, "SEGMENT_ROWS", 16)
    with closing(SqliteStore.open(path, synchronous="OFF")) as store:
        nodes = [node(f"n{n:03}", f"text {n}") for n in range(40)]
        store.insert(nodes)
        checkpoints: list[int] = []
        real = store._dense.checkpoint
        store._dense.checkpoint = lambda connection: checkpoints.append(1) or real(connection)  # type: ignore[method-assign,func-returns-value]
        for each in nodes:
            store.put([embedding(each)], MODEL)
        assert checkpoints == []
        store.activate(MODEL)
        assert checkpoints == [1]
        assert nearest(store, "text 7") == "n007"


# --- other processes, other threads ---

ELSEWHERE = """
import sys
from clew.store.sqlite import SqliteStore
from clew.testing import MODEL, added, node
store = SqliteStore.open(sys.argv[1])
added(store, [node(f"other{n}", f"other {n}") for n in range(5)])
store.delete(["n0007", "other3"])
store.update("n0008", archived=True)
store.close()
"""


def test_another_processs_commits_are_seen_with_its_deletes_and_changes(path: Path) -> None:
    with closing(filled(path, 30)) as store:
        assert nearest(store, "text 7") == "n0007"
        subprocess.run([sys.executable, "-c", ELSEWHERE, str(path)], check=True)
        assert nearest(store, "other 2") == "other2"
        found = {match.id for match in store.dense(unit("text 7"), where(), limit=100)}
        assert len(found) == 30 - 2 + 4
        assert found.isdisjoint({"n0007", "n0008", "other3"})
        with store.transaction():
            assert {match.id for match in store.dense(unit("text 7"), where(), limit=100)} == found


@pytest.mark.usefixtures("small_segments")
@pytest.mark.parametrize("in_transaction", [False, True])
def test_an_index_that_the_log_no_longer_reaches_is_read_anew(
    path: Path, in_transaction: bool
) -> None:
    with closing(filled(path, 30)) as store, closing(filled(path, 200, start=100)) as other:
        fresh = SqliteStore.open(path)
        assert nearest(fresh, "text 7") == "n0007"  # this index stands at the end of the log
        behind = fresh._dense._shared
        assert behind is not None
        other.delete([f"n{n:04}" for n in range(10)])
        added(other, [node(f"m{n:04}", f"late {n}") for n in range(200)])
        for n in range(100, 300):  # what is added needs no log, what is refiled does
            other.update(f"n{n:04}", category="fact")
        (floor,) = table(other, "SELECT value FROM meta WHERE key = 'change_floor'")[0]
        assert behind.seq - behind.newest < floor
        if in_transaction:
            with fresh.transaction():
                added(fresh, [node("mine", "mine")])
                found = {match.id for match in fresh.dense(unit("late 5"), where(), limit=1000)}
                assert "mine" in found
        else:
            found = {match.id for match in fresh.dense(unit("late 5"), where(), limit=1000)}
        assert len(found) == 30 + 200 - 10 + 200 + in_transaction
        assert fresh._dense._shared is not behind
        fresh.close()
        assert nearest(store, "late 5") == "m0005"


def test_a_transaction_sees_its_own_vectors_and_nobody_else_does(path: Path) -> None:
    with closing(filled(path, 30)) as store:
        assert nearest(store, "text 1") == "n0001"
        seen_by_another: list[str] = []
        with store.transaction():
            added(store, [node("mine", "mine")])
            store.delete(["n0001"])
            assert nearest(store, "mine") == "mine"
            assert nearest(store, "text 1") != "n0001"
            other = threading.Thread(
                target=lambda: seen_by_another.extend(
                    (nearest(store, "mine"), nearest(store, "text 1"))
                )
            )
            other.start()
            other.join()
        assert seen_by_another[0] != "mine"
        assert seen_by_another[1] == "n0001"
        assert nearest(store, "mine") == "mine"


def test_what_was_rolled_back_leaves_nothing_in_the_next_transaction(path: Path) -> None:
    """The ids of vectors that were rolled back are given out again."""
    with closing(filled(path, 30)) as store:
        with pytest.raises(ZeroDivisionError), store.transaction():
            added(store, [node(f"lost{n}", f"lost {n}") for n in range(5)])
            assert nearest(store, "lost 2") == "lost2"
            raise ZeroDivisionError
        with store.transaction():
            added(store, [node(f"kept{n}", f"kept {n}") for n in range(3)])
            assert [nearest(store, f"kept {n}") for n in range(3)] == ["kept0", "kept1", "kept2"]
            with pytest.raises(ZeroDivisionError), store.transaction():
                added(store, [node("inner", "inner")])
                assert nearest(store, "inner") == "inner"
                raise ZeroDivisionError
            assert nearest(store, "inner") != "inner"
            assert nearest(store, "kept 1") == "kept1"
        assert nearest(store, "kept 2") == "kept2"
        assert nearest(store, "lost 2") != "lost2"


def test_after_another_model_is_active_a_writer_reads_the_index_once(path: Path) -> None:
    other_model = ModelInfo("other", 8)
    with closing(filled(path, 20)) as store:
        assert nearest(store, "text 3") == "n0003"
        store.put([embedding(each, unit(each.text, 8)) for each in store.nodes()], other_model)
        store.activate(other_model)
        loads: list[int] = []
        real = store._dense._load
        store._dense._load = lambda connection: loads.append(1) or real(connection)  # type: ignore[method-assign,func-returns-value]
        for n in range(5):
            with store.transaction():
                fresh = node(f"new{n}", f"new {n}")
                store.insert([fresh], [embedding(fresh, unit(fresh.text, 8))])
                assert store.dense(unit(f"new {n}", 8), where(), limit=1)[0].id == f"new{n}"
        assert loads == [1]


def test_many_deletes_make_the_index_small_again(path: Path) -> None:
    with closing(filled(path, 100)) as store:
        assert nearest(store, "text 99") == "n0099"
        store.delete([f"n{n:04}" for n in range(60)])
        assert nearest(store, "text 99") == "n0099"
        assert store._dense._shared is not None
        assert store._dense._shared.size == 40


def test_a_role_has_vectors_of_its_own(path: Path) -> None:
    with closing(filled(path, 10)) as store:
        store.put([embedding(node("n0003"), unit("a question"), role=Role.QUESTION)], MODEL)
        assert [
            match.id
            for match in store.dense(unit("a question"), where(), limit=5, role=Role.QUESTION)
        ] == ["n0003"]
        assert len(store.dense(unit("a question"), where(), limit=50)) == 10


@pytest.mark.parametrize(
    "bearable", [1, 1000], ids=["file opened once more", "taken into the overlay"]
)
def test_a_transaction_that_writes_before_it_searches_sees_what_others_committed_meanwhile(
    path: Path, monkeypatch: pytest.MonkeyPatch, bearable: int
) -> None:
    monkeypatch.setattr(dense, "OVERLAY_ROWS", bearable)
    with closing(filled(path, 30)) as store, closing(SqliteStore.open(path)) as other:
        assert nearest(store, "text 1") == "n0001"
        other.delete(["n0001", "n0002"])
        other.update("n0003", archived=True)
        added(other, [node("theirs", "their text")])
        with store.transaction():
            added(store, [node("mine", "my text")])
            store.delete(["n0004"])
            inside = store.dense(unit("their text"), where(), limit=100)
        assert {match.id for match in inside} == {f"n{n:04}" for n in (0, *range(5, 30))} | {
            "theirs",
            "mine",
        }
        assert store.dense(unit("their text"), where(), limit=100) == inside


def test_the_important_are_listed_alike_with_and_without_their_index(path: Path) -> None:
    with closing(SqliteStore.open(path, synchronous="OFF")) as store:
        oracle = MemoryStore()
        nodes = [
            node(f"n{n:02}", f"text {n}", importance=n % 11 / 10, t_valid=later(-(n % 3)))
            for n in range(40)
        ]
        store.insert(nodes)
        oracle.insert(nodes)
        for least in (0.0, 0.5, 0.51, 0.7, 1.0):
            for limit in (1, 15, 100):
                found = store.listing(
                    where(), sort=Sort.IMPORTANT, limit=limit, min_importance=least
                )
                assert found == oracle.listing(
                    where(), sort=Sort.IMPORTANT, limit=limit, min_importance=least
                )


def test_the_list_of_the_important_does_not_look_at_every_node(path: Path) -> None:
    with closing(SqliteStore.open(path, synchronous="OFF")) as store:
        asking = statements(
            store, lambda: store.listing(where(), sort=Sort.IMPORTANT, limit=5, min_importance=0.7)
        )
        (asked,) = [query for query in asking if "ORDER BY n.importance" in query]
        assert any(
            "node_by_importance" in row[3] for row in table(store, f"EXPLAIN QUERY PLAN {asked}")
        )


def test_many_scans_leave_the_interpreter_sound() -> None:
    """A library that gives back a None too many brings Python down only after tens of thousands of searches."""
    codes, query = np.ones((64, 8), np.int8), np.ones(8, np.int8)
    before = sys.getrefcount(None)
    for _ in range(1000):
        products(codes, query)
    assert sys.getrefcount(None) > before - 500
