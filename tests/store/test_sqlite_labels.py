"""Tags and metadata are found by what they are; what a node carries is known from its row alone."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from clew.ports import Sort
from clew.store.sqlite import SqliteStore, schema
from clew.store.sqlite.rows import canonical
from clew.testing import added, node, where
from tests.store.unsealed import unsealed

CARRIED: dict[str, Any] = {
    "page": 3.0,
    "by": "Ada",
    "parts": [1, 2.5, {"b": None, "a": True}],
    "é": "naïve",
}
VERSION = 6  # the last that had an index by node


@pytest.fixture
def store(store: SqliteStore) -> SqliteStore:
    added(
        store,
        [node("a", tags=("red", "green"), metadata=CARRIED), node("b", tags=("red",)), node("c")],
    )
    return store


def raw(path: Path, statement: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return connection.execute(statement).fetchall()


def found(store: SqliteStore, **asked: Any) -> list[str]:
    return [each.id for each in store.listing(where(**asked), sort=Sort.RECENT, limit=10)]


def test_what_a_node_that_goes_has_carried_goes_with_it(store: SqliteStore, path: Path) -> None:
    assert store.delete(["a", "missing"]) == 1
    assert raw(path, "SELECT key, value FROM label") == [("#", '"red"')]
    assert (found(store, tags=("red",)), found(store, metadata={"by": "Ada"})) == (["b"], [])
    assert store.verify() == ()


def test_a_node_is_found_by_what_it_was_given_last(store: SqliteStore) -> None:
    store.update("a", tags=("blue",), importance=0.75)
    assert (
        found(store, tags=("green",)),
        found(store, tags=("blue",)),
        found(store, metadata={"page": 3}),
    ) == ([], ["a"], ["a"])
    store.update("a", metadata={"page": 4})
    assert (
        found(store, tags=("blue",)),
        found(store, metadata={"page": 3}),
        found(store, metadata={"page": 4}),
    ) == (["a"], [], ["a"])
    assert store.verify() == ()


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("DELETE FROM label WHERE key = '#'", "3 labels of tags and metadata are missing"),
        (
            "UPDATE label SET value = '\"Eve\"' WHERE key = '.by'",
            "1 labels of tags and metadata belong to no node",
        ),
        (
            "INSERT INTO label VALUES ('#', '\"red\"', 99)",
            "1 labels of tags and metadata belong to no node",
        ),
    ],
)
def test_labels_that_are_not_what_the_nodes_carry_are_seen_and_made_anew(
    store: SqliteStore, path: Path, statement: str, fault: str
) -> None:
    raw(path, statement)
    told = [problem for problem in store.verify() if problem.check == "labels"]
    assert fault in [problem.detail for problem in told]
    assert all("clew verify --repair" in problem.way_out for problem in told)
    store.repair()
    assert store.verify() == ()
    assert (found(store, tags=("red",)), found(store, metadata={"by": "Ada", "page": 3})) == (
        ["a", "b"],
        ["a"],
    )


def test_an_older_file_keeps_its_labels(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        schema.migrate(connection, path, migrations=schema.MIGRATIONS[:VERSION])
        for number, id in enumerate("ab", start=1):
            connection.execute(*unsealed(node(id, tags=("red",), metadata={"n": number})))
            connection.execute(
                "INSERT INTO event (node, kind, at, detail) VALUES (?, 'ADD', 0, '{}')", (id,)
            )
            connection.executemany(
                "INSERT INTO label VALUES (?, ?, ?)",
                [("#", canonical("red"), number), (".n", canonical(number), number)],
            )
    with closing(SqliteStore.open(path)) as store:
        assert (found(store, tags=("red",)), found(store, metadata={"n": 2})) == (["a", "b"], ["b"])
        assert store.verify() == ()
        store.delete(["a"])
        assert (found(store, tags=("red",)), store.verify()) == (["b"], ())
    assert [
        name for (name,) in raw(path, "SELECT name FROM sqlite_master WHERE tbl_name = 'label'")
    ] == ["label"]
