"""What searches saw is used again only while nothing has been committed since, and is never another node's."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from clew.store.sqlite import SqliteStore
from clew.store.sqlite import row_cache as seen
from clew.testing import MODEL, NOW, added, node, unit, where
from tests.store.tracing import statements

WORDS = ["fox"]
IDS = ["a", "b"]


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore.open(path, synchronous="OFF")) as opened:
        opened.activate(MODEL)
        added(opened, [node(id) for id in IDS])
        yield opened


def searched(store: SqliteStore) -> None:
    store.sparse(WORDS, where(), limit=5)
    store.dense(unit("the quick brown fox"), where(), limit=5)


def importances(store: SqliteStore) -> dict[str, float]:
    return {id: signals.importance for id, signals in store.signals(IDS).items()}


def in_thread(run: Callable[[], object]) -> None:
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


def reads(store: SqliteStore, run: Callable[[], object]) -> list[str]:
    """Return the statements that read nodes."""
    return [each for each in statements(store, run) if " node n" in each]


def test_signals_of_what_was_just_found_are_not_read_again(store: SqliteStore) -> None:
    store.signals(IDS)  # from here on the connection knows whether anything has changed
    searched(store)
    assert reads(store, lambda: store.signals(IDS)) == []
    in_thread(lambda: searched(store))
    assert reads(store, lambda: store.signals(IDS)) == []


@pytest.mark.parametrize("writer", ["same thread", "other thread", "other store"])
def test_a_commit_makes_signals_be_read_again(store: SqliteStore, path: Path, writer: str) -> None:
    store.signals(IDS)
    searched(store)
    if writer == "same thread":
        store.update("a", importance=0.9)
    elif writer == "other thread":
        in_thread(lambda: store.update("a", importance=0.9))
    else:
        with closing(SqliteStore.open(path)) as other:
            other.update("a", importance=0.9)
    assert importances(store) == {"a": 0.9, "b": 0.5}
    searched(store)
    assert importances(store) == {"a": 0.9, "b": 0.5}


def test_a_counted_access_shows_at_once(store: SqliteStore) -> None:
    store.signals(IDS)
    searched(store)
    in_thread(lambda: store.touch(["a"], NOW, min_interval_seconds=3600))
    assert [store.signals(IDS)[id].accesses for id in IDS] == [1, 0]


def test_what_a_search_read_before_a_commit_is_not_taken_for_newer(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search that began before a commit may note what it saw only after somebody has looked at what was committed."""
    read, looked = threading.Event(), threading.Event()
    note = seen.Seen.note

    def late(self: seen.Seen, *noted: object) -> None:
        read.set()
        looked.wait()
        note(self, *noted)  # type: ignore[arg-type]

    monkeypatch.setattr(seen.Seen, "note", late)
    search = threading.Thread(target=lambda: store.sparse(WORDS, where(), limit=5))
    search.start()
    read.wait()
    store.update("a", importance=0.9)
    assert importances(store)["a"] == 0.9
    looked.set()
    search.join()
    assert importances(store)["a"] == 0.9


def test_what_is_uncommitted_is_seen_inside_alone_and_gone_after_a_rollback(
    store: SqliteStore,
) -> None:
    store.signals(IDS)
    searched(store)
    with ThreadPoolExecutor(max_workers=1) as other:
        assert other.submit(importances, store).result()["a"] == 0.5
        with pytest.raises(RuntimeError), store.transaction():
            store.update("a", importance=0.9)
            searched(store)
            assert importances(store)["a"] == 0.9
            assert other.submit(importances, store).result()["a"] == 0.5
            raise RuntimeError
        assert other.submit(importances, store).result()["a"] == importances(store)["a"] == 0.5


def test_a_node_that_is_written_again_under_its_id_is_found_under_its_new_number(
    store: SqliteStore,
) -> None:
    searched(store)
    store.delete(["a"])
    assert store.get(IDS).keys() == {"b"}
    added(store, [node("c"), node("a", "another text")])
    assert store.get(["a"])["a"].text == "another text"
    assert store.signals(["a", "b", "nobody"]).keys() == {"a", "b"}


def test_a_number_is_only_where_to_look_first(store: SqliteStore) -> None:
    searched(store)
    for _, rows in store._seen._notes:
        rows["b"], rows["nobody"] = rows["a"], rows["b"]
    assert store.get(["b"]).keys() == {"b"}
    assert store.get(["nobody"]) == {}


def test_coverage_and_model_follow_every_commit(store: SqliteStore, path: Path) -> None:
    assert (store.coverage("default").nodes, store.coverage("work").nodes, store.model()) == (
        2,
        0,
        MODEL,
    )
    with closing(SqliteStore.open(path)) as other:
        added(other, [node("w", space="work")])
    assert (store.coverage("default").nodes, store.coverage("work").nodes) == (2, 1)
    with store.transaction():
        store.delete(["w"])
        assert store.coverage("work").nodes == 0
    assert store.coverage("work").nodes == 0


def test_memory_of_what_was_seen_is_bounded(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("KEPT", "ANSWERS_KEPT"):
        monkeypatch.setattr(seen, name, 40)
    added(store, [node(f"n{n:02}") for n in range(20)])
    for at in range(60):
        store.dense(np.roll(unit("the quick brown fox"), at), where(), limit=2)
        store.coverage(f"space {at}")
    held = store._seen
    assert 0 < sum(len(note.rows) for note in held._notes) <= 40
    assert len(held._local.look.answers) <= 40 + 2


def test_searches_that_find_little_are_not_kept_for_good(store: SqliteStore) -> None:
    for _ in range(100):
        store.sparse(["unheard"], where(), limit=5)
        store.dense(unit("the quick brown fox"), where(space="elsewhere"), limit=5)
    assert store._seen._notes == ()
    for _ in range(100):
        store.sparse(WORDS, where(), limit=1)
    assert len(store._seen._notes) == seen.NOTES_KEPT
