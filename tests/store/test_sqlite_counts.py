"""Nodes are counted several at a time, and whoever asks is told of all of them."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from clew.store.sqlite import SqliteStore
from clew.store.sqlite.stats import MOST_UNCOUNTED
from clew.store.sqlite.verify import _spaces
from clew.testing import added, later, node
from clew.types import Kind
from tests.store.tracing import statements

SPACES = ("default", "work")


def counted_to(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("SELECT value FROM meta WHERE key = 'counted'").fetchone()[0])


def told(store: SqliteStore) -> list[object]:
    """Return what the store says of how many there are, in every place where it says so."""
    return [store.coverage(space) for space in SPACES] + [
        store.stats()[name] for name in ("nodes", "live", "by_kind", "by_space")
    ]


def test_counts_are_true_at_every_step_of_a_store_that_grows_changes_and_shrinks(
    store: SqliteStore, path: Path
) -> None:
    drawn = random.Random(20_260)
    there: list[str] = []
    with closing(SqliteStore.open(path)) as other:
        for step in range(60):
            fresh = [
                f"n{step:03d}-{number}"
                for number in range(drawn.choice((0, 1, 1, 2, MOST_UNCOUNTED + 3)))
            ]
            nodes = [
                node(
                    id,
                    f"note {id}",
                    space=drawn.choice(SPACES),
                    kind=drawn.choice((Kind.MEMORY, Kind.SECTION)),
                    context=drawn.choice(("", "k")),
                )
                for id in fresh
            ]
            added(store, nodes)
            there += fresh
            # of those that are counted and of those that are not
            for id in drawn.sample(there, min(len(there), 3)):
                store.update(
                    id,
                    **drawn.choice(
                        (
                            {"archived": True},
                            {"t_expired": later(1)},
                            {"t_expired": None},
                            {"context": "other"},
                        )
                    ),
                )
            gone = drawn.sample(there, min(len(there), 2))
            store.delete(gone)
            there = [id for id in there if id not in gone]
            assert sum(store.stats()["by_kind"].values()) == store.stats()["nodes"] == len(there)
            assert told(other) == told(store)
            with store._reading() as connection:
                assert list(_spaces(connection)) == []
    assert counted_to(path) > MOST_UNCOUNTED


def test_few_nodes_more_are_left_uncounted_and_many_are_not(store: SqliteStore, path: Path) -> None:
    for number in range(MOST_UNCOUNTED - 1):
        added(store, [node(f"n{number}")])
    assert (counted_to(path), store.coverage("default").nodes) == (0, MOST_UNCOUNTED - 1)
    added(store, [node("one more"), node("and one")])
    assert (counted_to(path), store.coverage("default").nodes) == (
        MOST_UNCOUNTED + 1,
        MOST_UNCOUNTED + 1,
    )


def test_processes_that_write_one_memory_each_leave_no_more_uncounted_than_one_that_writes_many(
    path: Path,
) -> None:
    for number in range(MOST_UNCOUNTED + 1):
        with closing(SqliteStore.open(path)) as store:
            store.insert([node(f"n{number}")])
    assert counted_to(path) == MOST_UNCOUNTED
    with closing(SqliteStore.open(path)) as store:
        assert store.coverage("default").nodes == MOST_UNCOUNTED + 1


@pytest.mark.parametrize(
    "doing",
    [lambda store: store.coverage("default"), lambda store: added(store, [node("one more")])],
    ids=["asking", "writing"],
)
def test_nobody_looks_at_a_node_that_is_counted(
    store: SqliteStore, path: Path, doing: Callable[[SqliteStore], object]
) -> None:
    added(store, [node(f"n{number}") for number in range(MOST_UNCOUNTED - 1)])
    asked = [
        statement for statement in statements(store, lambda: doing(store)) if "counted" in statement
    ]
    with closing(sqlite3.connect(path)) as connection:
        plans = [
            step
            for statement in asked
            for (*_, step) in connection.execute(f"EXPLAIN QUERY PLAN {statement}")
        ]
    assert any("SEARCH node USING INTEGER PRIMARY KEY" in step for step in plans)
    assert not any(step.startswith("SCAN node") for step in plans)


def test_what_a_rollback_undoes_is_counted_by_nobody(store: SqliteStore) -> None:
    added(store, [node("a")])
    with pytest.raises(ZeroDivisionError), store.transaction():
        added(store, [node(f"n{number}") for number in range(2 * MOST_UNCOUNTED)])
        _ = 1 / 0
    assert store.coverage("default").nodes == 1
    added(store, [node(f"m{number}") for number in range(2 * MOST_UNCOUNTED)])
    assert store.coverage("default").nodes == 2 * MOST_UNCOUNTED + 1
    assert store.verify() == ()


def test_damaged_counts_are_seen_and_made_anew(store: SqliteStore, path: Path) -> None:
    added(store, [node(f"n{number}") for number in range(5)])
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE meta SET value = 3 WHERE key = 'counted'")
    assert [problem.check for problem in store.verify()] == ["spaces"]
    store.repair()
    assert store.verify() == ()
    assert store.coverage("default").nodes == 5


def test_one_more_memory_writes_its_own_rows_and_nothing_beside_them(store: SqliteStore) -> None:
    added(store, [node(f"n{number}") for number in range(2 * MOST_UNCOUNTED)])
    asked = statements(store, lambda: added(store, [node("one more", metadata={"bucket": "b1"})]))
    written = [
        statement.partition("INTO ")[2].split()[0] for statement in asked if "INTO " in statement
    ]
    assert written == ["node", "label", "embedding"]
