"""Counting accesses: a write that nobody waits for, so it keeps nobody waiting."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from clew.store.sqlite import SqliteStore
from clew.testing import NOW, node
from tests.store.tracing import statements

IDS = [f"n{n:02}" for n in range(50)]


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore.open(path, synchronous="FULL")) as opened:
        opened.insert([node(id) for id in IDS])
        yield opened


def counted(store: SqliteStore, *ids: str) -> Callable[[], object]:
    return lambda: store.touch(ids, NOW, min_interval_seconds=60)


def test_counting_waits_for_no_disk_and_the_next_write_does(store: SqliteStore) -> None:
    asked = statements(store, counted(store, "n01"))
    lax, strict = (asked.index(f"PRAGMA synchronous = {level}") for level in ("NORMAL", "FULL"))
    assert lax < asked.index("SAVEPOINT outermost") < asked.index("COMMIT") < strict
    assert store._database.connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_an_access_that_is_part_of_a_write_is_flushed_with_it(store: SqliteStore) -> None:
    def restored() -> None:
        with store.transaction():
            store.update("n01", archived=False)
            store.touch(["n01"], NOW, min_interval_seconds=0)

    assert not any("synchronous" in each for each in statements(store, restored))
    assert store.get(["n01"])["n01"].accesses == 1


def test_a_store_that_never_waits_for_the_disk_is_not_made_to(path: Path) -> None:
    with closing(SqliteStore.open(path, synchronous="OFF")) as store:
        store.insert([node("n01")])
        assert not any("synchronous" in each for each in statements(store, counted(store, "n01")))
        assert store._database.connection.execute("PRAGMA synchronous").fetchone() == (0,)


def test_many_are_counted_by_as_many_statements_as_one(store: SqliteStore) -> None:
    many = statements(store, counted(store, *IDS))
    assert len([each for each in many if "INSERT" in each]) == 2
    assert [each.accesses for each in store.get(IDS).values()] == [1] * len(IDS)
    assert all(len(store.events(id)) == 1 for id in IDS)
