"""What only a store on a server has.

A second wall between spaces, round trips, blocks, two servers that start at once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import clew
from clew.errors import InputError, NewerSchemaError, NotAStoreError, StoreBusyError, StoreError
from clew.store.sqlite import SqliteStore
from clew.testing import MODEL, added, embedding, filled, node, unit, where
from clew.types import Filter
from tests.conftest import Open
from tests.postgres_fixtures import Database

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed (extra postgres)")

from clew.store.postgres import PostgresStore  # noqa: E402 - only where the driver is there


@pytest.fixture
def store(postgres: Database) -> Iterator[PostgresStore]:
    store = PostgresStore.open(postgres.url)
    yield store
    store.close()


# --- the second wall ---


def _seen(postgres: Database, query: str, **settings: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(postgres.url) as connection:
        connection.execute("SET LOCAL search_path TO clew")
        for name, value in settings.items():
            connection.execute("SELECT set_config(%s, %s, true)", [f"clew.{name}", value])
        found: list[tuple[Any, ...]] = connection.execute(query).fetchall()
        return found


def test_a_query_without_its_space_sees_nothing(store: PostgresStore, postgres: Database) -> None:
    filled(store, [node("a", "apple", tags=("t",)), node("b", "apple", space="work")])
    for table in ("node", "place", "space", "label", "embedding", "counted"):
        assert _seen(postgres, f"SELECT * FROM {table}") == []
    assert _seen(postgres, "SELECT id FROM node", space="work") == [("b",)]
    assert _seen(postgres, "SELECT id FROM node WHERE space = 'default'", space="work") == []
    assert _seen(postgres, "SELECT id FROM node ORDER BY id", every_space="on") == [("a",), ("b",)]


def test_a_partition_shows_nobody_anything_past_its_table(
    store: PostgresStore, postgres: Database
) -> None:
    filled(store, [node("a", "apple")])
    assert (
        _seen(
            postgres,
            "SELECT id FROM node_0 UNION ALL SELECT id FROM node_1",
            space="default",
            every_space="on",
        )
        == []
    )


def test_a_row_cannot_be_written_into_a_space_that_was_not_named(
    store: PostgresStore, postgres: Database
) -> None:
    store.insert([node("a", "apple")])
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        _seen(
            postgres,
            "INSERT INTO label SELECT 'work', gen_random_uuid(), 1 RETURNING nid",
            space="default",
        )


# --- round trips ---

MOST_ROUND_TRIPS = 12


@pytest.mark.parametrize("nodes", [80, 400])
def test_a_recall_makes_a_small_number_of_round_trips_whatever_the_size(
    open_clew: Open, postgres: Database, nodes: int
) -> None:
    memory = open_clew(postgres.url)
    texts = [
        f"Project {number} of team {number % 7} ships its report in week {number % 50}."
        for number in range(nodes)
    ]
    memory.remember_many(texts, near=False)
    store = memory.store
    assert isinstance(store, PostgresStore)
    made = []
    for question in (
        "Which report does team 3 ship?",
        "Which report does team 5 ship?",
        "week 9 report",
    ):
        before = store.round_trips
        assert memory.recall(question, track=False).hits
        made.append(store.round_trips - before)
    assert max(made[1:]) <= MOST_ROUND_TRIPS


# --- blocks ---


def _many(store: PostgresStore, count: int) -> None:
    store.activate(MODEL)
    for at in range(0, count, 100):
        added(
            store, [node(f"n{number:04}", f"apple word{number}") for number in range(at, at + 100)]
        )


def test_a_first_load_reads_blocks_and_what_came_after_them(
    store: PostgresStore, postgres: Database
) -> None:
    _many(store, 300)
    store.update("n0007", text="pear word7")
    store.delete(["n0008"])
    store.insert([node("last", "apple pie")], [embedding(node("last", "apple pie"))])
    blocks = _seen(
        postgres, "SELECT kind, count(*) FROM block GROUP BY kind ORDER BY kind", every_space="on"
    )
    assert blocks == [("v", 1), ("w", 1)]
    with PostgresStore.open(postgres.url) as other:
        for each in (store, other):
            assert len(each.sparse(["appl"], where(), limit=500)) == 299
            assert [match.id for match in each.sparse(["pear"], where(), limit=5)] == ["n0007"]
            assert each.dense(unit("apple pie"), where(), limit=1)[0].id == "last"
        assert other.verify() == ()


def test_a_damaged_block_changes_no_answer_and_is_found_and_repaired(
    store: PostgresStore, postgres: Database
) -> None:
    _many(store, 200)
    postgres.server.run("app", "UPDATE clew.block SET checksum = checksum + 1")
    with PostgresStore.open(postgres.url) as other:
        assert len(other.sparse(["appl"], where(), limit=500)) == 200
        assert other.dense(unit("apple word17"), where(), limit=1)[0].id == "n0017"
        assert {problem.check for problem in other.verify()} == {"words", "vectors"}
        other.repair()
        assert other.verify() == ()
        assert len(other.sparse(["appl"], where(), limit=500)) == 200


def test_a_row_that_was_changed_past_clew_is_found_and_set_aside(
    store: PostgresStore, postgres: Database
) -> None:
    filled(store, [node("a", "apple"), node("b", "apple")])
    postgres.server.run("app", "UPDATE clew.node SET text = 'pear' WHERE id = 'a'")
    assert [problem.check for problem in store.verify()] == ["nodes"]
    assert len(store.repair().quarantined) == 1
    assert (store.verify(), list(store.get(["a", "b"])), len(store.kept("quarantine"))) == (
        (),
        ["b"],
        1,
    )


def test_spaces_leave_memory_when_there_is_no_room_and_come_back(postgres: Database) -> None:
    with PostgresStore.open(postgres.url, cache_bytes=20_000) as store:
        spaces = [f"space{number}" for number in range(6)]
        store.activate(MODEL)
        for space in spaces:
            added(
                store,
                [node(f"{space}-{number}", f"apple {number}", space=space) for number in range(5)],
            )
        for _ in range(2):
            for space in spaces:
                assert (
                    len(store.sparse(["appl"], Filter(space=space, now=where().now), limit=9)) == 5
                )


# --- opening ---


def test_two_servers_that_make_the_store_at_once_take_turns(postgres: Database) -> None:
    url = f"{postgres.url}?schema=twice"
    with ThreadPoolExecutor(2) as threads:
        stores = [
            future.result()
            for future in [threads.submit(PostgresStore.open, url, partitions=1) for _ in range(2)]
        ]
    stores[0].insert([node("a", "apple")])
    assert list(stores[1].get(["a"])) == ["a"]
    for store in stores:
        store.close()
    postgres.server.run("app", "DROP SCHEMA twice CASCADE")


def test_another_programs_schema_and_a_later_store_are_left_alone(postgres: Database) -> None:
    postgres.server.run(
        "app",
        "CREATE SCHEMA foreign_one AUTHORIZATION clew",
        "CREATE TABLE foreign_one.orders (id int)",
    )
    with pytest.raises(NotAStoreError, match="schema=NAME"):
        PostgresStore.open(f"{postgres.url}?schema=foreign_one")
    postgres.server.run(
        "app",
        "DROP SCHEMA foreign_one CASCADE",
        "UPDATE clew.meta SET value = '99' WHERE key = 'schema'",
    )
    try:
        with pytest.raises(NewerSchemaError, match="newer Clew"):
            PostgresStore.open(postgres.url)
    finally:
        postgres.server.run("app", "UPDATE clew.meta SET value = '1' WHERE key = 'schema'")


def test_no_error_tells_a_password(postgres: Database) -> None:
    url = postgres.url.replace("clew@", "nobody:hunter2@")
    with pytest.raises(StoreError) as refused:
        PostgresStore.open(url, busy_timeout_seconds=0.1)
    with pytest.raises(StoreBusyError) as unreachable:
        PostgresStore.open("postgresql://me:hunter2@127.0.0.1:1/app", busy_timeout_seconds=0.1)
    with pytest.raises(InputError) as senseless:
        PostgresStore.open("postgresql://me:hunter2@127.0.0.1/app?nonsense=1")
    for error in (refused, unreachable, senseless):
        assert "hunter2" not in f"{error.value} {error.value.as_dict()}"


def test_other_kinds_of_store_are_named_in_the_error() -> None:
    with pytest.raises(InputError, match="postgresql://"):
        clew.open("mysql://localhost/app", model={"embedder": "none"})


# --- writers ---


def test_threads_and_handles_that_write_one_space_lose_nothing(
    store: PostgresStore, postgres: Database
) -> None:
    store.activate(MODEL)
    with PostgresStore.open(postgres.url) as other:

        def write(handle: PostgresStore, name: str) -> None:
            for number in range(15):
                added(handle, [node(f"{name}{number:02}", f"apple {name}")])

        threads = [
            threading.Thread(target=write, args=(handle, name))
            for handle, name in ((store, "a"), (store, "b"), (other, "c"))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        expected = sorted(f"{name}{number:02}" for name in "abc" for number in range(15))
        assert sorted(match.id for match in store.sparse(["appl"], where(), limit=99)) == expected
        assert store.verify() == ()


def test_a_record_is_claimed_by_one_of_many(store: PostgresStore, postgres: Database) -> None:
    store.keep("job", "j", {"owner": None})
    won = []

    def claim(name: str) -> None:
        with PostgresStore.open(postgres.url) as own, own.transaction():
            job = own.record("job", "j")
            if job is not None and job["owner"] is None:
                own.keep("job", "j", {"owner": name})
                won.append(name)

    threads = [threading.Thread(target=claim, args=(f"w{number}",)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert store.record("job", "j") == {"owner": won[0]}


def test_sqlite_is_what_a_path_means(tmp_path: Any) -> None:
    with clew.open(tmp_path / "m.clew", model={"embedder": "none"}) as memory:
        assert isinstance(memory.store, SqliteStore)
