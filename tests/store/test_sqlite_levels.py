"""Parts of a transaction can be undone by themselves, whether or not anything was written before them, and the lock is kept."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from clew.errors import InputError, StoreBusyError, StoreError
from clew.ports import ModelInfo
from clew.store.sqlite import SqliteStore
from clew.testing import node
from clew.types import Embedding, Role
from tests.store.tracing import statements

BRIEFLY = 0.05  # seconds


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.clew"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore.open(path, busy_timeout_seconds=BRIEFLY)) as opened:
        yield opened


def _fail(store: SqliteStore) -> None:
    """Write a node, and then one that cannot be written."""
    with pytest.raises(StoreError):
        store.insert([node("half"), node("half")])


def _ids(store: SqliteStore) -> list[str]:
    return [each.id for each in store.nodes()]


def test_a_part_that_fails_first_leaves_nothing_and_the_rest_is_written(store: SqliteStore) -> None:
    with store.transaction():
        _fail(store)
        assert _ids(store) == []
        store.insert([node("whole")])
    assert _ids(store) == ["whole"] and not store.in_transaction


def test_a_part_that_fails_later_takes_nothing_along(store: SqliteStore) -> None:
    with store.transaction():
        store.insert([node("first")])
        _fail(store)
        with store.transaction():
            store.insert([node("second")])
            _fail(store)
        _fail(store)
    assert _ids(store) == ["first", "second"]


def test_parts_within_parts_are_undone_alone(store: SqliteStore) -> None:
    with store.transaction():
        with pytest.raises(KeyError), store.transaction():
            store.insert([node("inner")])
            _fail(store)
            raise KeyError
        store.insert([node("outer")])
    assert _ids(store) == ["outer"]


def test_nobody_writes_between_a_part_that_failed_and_the_rest(
    store: SqliteStore, path: Path
) -> None:
    with (
        closing(SqliteStore.open(path, busy_timeout_seconds=BRIEFLY)) as other,
        store.transaction(),
    ):
        _fail(store)
        with pytest.raises(StoreBusyError):
            other.insert([node("between")])
        store.insert([node("rest")])
    assert _ids(store) == ["rest"]


def test_a_lock_that_is_not_to_be_had_leaves_no_transaction_open(
    store: SqliteStore, path: Path
) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusyError):
            store.insert([node("early")])
        assert not store.in_transaction
        other.execute("COMMIT")
    store.insert([node("late")])
    assert _ids(store) == ["late"]


def test_only_what_follows_a_write_needs_a_savepoint(store: SqliteStore) -> None:
    asked: list[str] = []
    store._database.connection.set_trace_callback(asked.append)
    with store.transaction():
        store.insert([node("first")])
        assert "SAVEPOINT nested" not in asked
        store.insert([node("second")])
    assert asked.count("SAVEPOINT nested") == asked.count("RELEASE nested") == 1


SMALL, LARGE = ModelInfo("model/small", 2), ModelInfo("model/large", 3)


def _vector(id: str, dimension: int) -> Embedding:
    return Embedding(
        node=id, role=Role.CONTENT, text_hash="", vector=np.eye(dimension, dtype=np.float32)[0]
    )


def test_a_transaction_asks_for_the_model_once_until_it_writes(store: SqliteStore) -> None:
    store.activate(SMALL)

    def written() -> None:
        with store.transaction():
            assert store.model() == SMALL
            store.insert([node("first")], [_vector("first", 2)])

    assert sum("JOIN model" in each for each in statements(store, written)) == 1


def test_the_model_is_the_one_that_the_transaction_made_the_stores(store: SqliteStore) -> None:
    store.activate(SMALL)
    with store.transaction():
        assert store.model() == SMALL
        store.activate(LARGE)
        assert store.model() == LARGE
        store.insert([node("first")], [_vector("first", 3)])
    with pytest.raises(KeyError), store.transaction():
        store.activate(SMALL)
        assert store.model() == SMALL
        raise KeyError
    assert store.model() == LARGE


def test_a_part_that_changed_the_model_and_failed_leaves_the_former(store: SqliteStore) -> None:
    store.activate(SMALL)
    with store.transaction():
        with pytest.raises(KeyError), store.transaction():
            store.activate(LARGE)
            assert store.model() == LARGE
            raise KeyError
        assert store.model() == SMALL
        store.insert([node("first")], [_vector("first", 2)])
    assert [len(each.vector) for each in store.embeddings(["first"])] == [2]


def test_a_model_that_another_process_chose_counts_from_the_next_transaction_on(
    store: SqliteStore, path: Path
) -> None:
    store.activate(SMALL)
    with store.transaction():
        assert store.model() == SMALL  # and nothing is written
    with closing(SqliteStore.open(path)) as other:
        other.activate(LARGE)
    with pytest.raises(InputError):
        store.insert([node("first")], [_vector("first", 2)])
    store.insert([node("first")], [_vector("first", 3)])
    assert store.model() == LARGE
