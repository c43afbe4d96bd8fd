"""Names on SQLite: as the oracle has them after any history, bounded for hubs, mended when damaged, and there after a migration."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.store.memory import MemoryStore
from clew.store.sqlite import SqliteStore, names, schema
from clew.store.sqlite.database import Database
from clew.testing import node, where
from clew.testing.build import MODEL as _MODEL
from clew.testing.build import added, later
from clew.text.words import content_hash
from clew.types import Kind, Mention
from tests.store.unsealed import unsealed

KEYS = ("matt", "matt joyce", "joyce", "matt smith", "ada", "matt joyce miller")


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore.open(path, synchronous="OFF")) as opened:
        yield opened


def said(id: str, key: str, *, subject: bool = False, confidence: float = 0.9) -> Mention:
    return Mention(id, key, key.title(), "PERSON", confidence, subject, 0, 3)


def raw(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


# --- any history ---

IDS = st.sampled_from(["a", "b", "c", "d", "e"])
MENTIONS = st.builds(
    said, IDS, st.sampled_from(KEYS), subject=st.booleans(), confidence=st.sampled_from([0.8, 0.9])
)
STEPS = st.one_of(
    st.tuples(st.just("mention"), st.lists(MENTIONS, max_size=6)),
    st.tuples(st.just("delete"), st.lists(IDS, max_size=2)),
    st.tuples(st.just("insert"), IDS),
    st.tuples(st.just("expire"), IDS),
    st.tuples(st.just("revive"), IDS),
    st.tuples(st.just("reword"), IDS),
)


def take(store: Any, step: tuple[str, Any]) -> None:
    what, value = step
    there = value in store.get([value]) if isinstance(value, str) else False
    if what == "mention":
        store.mention(value)
    elif what == "delete":
        store.delete(value)
    elif what == "insert" and not there:
        added(store, [node(value, space="one" if value in "abc" else "two")])
    elif there and what != "insert":
        changes: dict[str, dict[str, Any]] = {
            "expire": {"t_expired": later(2)},
            "revive": {"t_expired": None},
            "reword": {"text": "so"},
        }
        store.update(value, **changes[what])


def seen(store: Any) -> list[Any]:
    filters = [
        where(space=space, **times)
        for space in ("one", "two")
        for times in ({}, {"known_at": later(1)})
    ]
    asked = [
        store.named(KEYS, each, limit=limit, parts=parts)
        for each in filters
        for limit in (1, 9)
        for parts in (True, False)
    ]
    return [*asked, store.mentions(list("abcde"))]


@settings(max_examples=75)
@given(st.lists(STEPS, max_size=14))
def test_after_any_history_names_are_as_the_oracle_has_them(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, Any]]
) -> None:
    oracle = MemoryStore()
    path = tmp_path_factory.mktemp("names") / "memory.clew"
    with closing(SqliteStore.open(path, synchronous="OFF")) as store:
        for each in (oracle, store):
            each.activate(_MODEL)
        for step in [*(("insert", id) for id in "abde"), *steps]:
            take(oracle, step)
            take(store, step)
        assert seen(store) == seen(oracle)
        assert store.verify() == ()


# --- hubs ---


def test_a_hub_is_not_looked_through_to_its_end(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(names, "MOST_LOOKED_AT", 50)
    store.insert(
        [
            node(f"n{number:03}", kind=Kind.CHUNK if number < 400 else Kind.MEMORY)
            for number in range(500)
        ]
    )
    store.mention([said(f"n{number:03}", "hub") for number in range(500)])
    assert store.named(["hub"], where(), limit=2)["hub"] == (
        "Hub",
        "PERSON",
        (),
        ("n499", "n498"),
        500,
        (),
    )
    # they stand too far back
    assert store.named(["hub"], where(kinds=(Kind.CHUNK,)), limit=2)["hub"].holders == ()


def test_asking_for_a_hub_costs_no_more_than_its_latest_holders(store: SqliteStore) -> None:
    def cost(key: str) -> float:
        best = []
        for _ in range(7):
            before = time.process_time()
            store.named([key], where(kinds=(Kind.CHUNK,)), limit=10)
            best.append(time.process_time() - before)
        return min(best)

    with store.transaction():
        store.insert([node(f"n{number}", "x") for number in range(20_000)])
        store.mention(
            [said(f"n{number}", "large" if number % 4 else "small") for number in range(20_000)]
        )
    assert store.named(["large"], where(), limit=1)["large"].nodes == 15_000
    # both are asked about 4,096 holders, none of which passes
    assert cost("large") < 5 * cost("small") + 0.002


# --- damage ---


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE name SET holders = holders + 1 WHERE key = 'matt'",
        "DELETE FROM alias",
        "INSERT INTO alias SELECT space, 'somebody', id FROM name LIMIT 1",
        "INSERT INTO name VALUES (99, 'default', 'nobody', 'Nobody', 'PERSON', 0)",
        "DELETE FROM name WHERE key = 'matt'",
    ],
)
def test_damaged_names_are_found_and_mended(path: Path, damage: str) -> None:
    with closing(SqliteStore.open(path)) as store:
        store.activate(_MODEL)
        added(store, [node("a"), node("b")])
        store.mention([said("a", "matt"), said("b", "matt joyce")])
    raw(path, "PRAGMA foreign_keys = OFF", damage)
    with closing(SqliteStore.open(path)) as store:
        assert {problem.check for problem in store.verify()} == {"names"}
        store.repair()
        assert store.verify() == ()
        assert store.named(["matt joyce"], where(), limit=5)["matt joyce"].holders[0] == "b"


# --- migration ---


def version_one(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a store as the version before names made it: by the first step of the schema alone."""
    from clew.store.sqlite import database

    with monkeypatch.context() as old:
        old.setattr(database, "MIGRATIONS", schema.MIGRATIONS[:1])
        with closing(Database(path, synchronous="OFF", busy_timeout_seconds=1)) as made:
            connection = made.connection
            # its triggers called functions of Clew's own
            connection.execute("PRAGMA trusted_schema = ON")
            # what its triggers called
            for name, arguments in (("clew_terms", 1), ("clew_body", 2), ("clew_facet", 1)):
                connection.create_function(name, arguments, lambda *given: str(given[-1]))
            connection.execute(
                "INSERT INTO node (id, space, kind, text, title, category, trigger, importance, stability, t_valid, t_created, source, "
                "context, content_hash, keywords, tags, metadata, protected, archived) VALUES "
                "('a', 'default', 'memory', 'Matt left.', '', 'fact', '', 0.5, 'unknown', 0, 0, '', '', ?, '[]', '[]', '{}', 0, 0)",
                (content_hash("Matt left."),),
            )
            connection.execute(
                "INSERT INTO event (node, kind, at, detail) VALUES ('a', 'ADD', 0, '{}')"
            )


def test_a_store_of_the_first_version_gets_names_and_says_that_its_texts_are_unread(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version_one(path, monkeypatch)
    with closing(SqliteStore.open(path)) as store:
        assert store.stats()["schema"] == len(schema.MIGRATIONS)
        assert store.get(["a"])["a"].text == "Matt left."
        assert [(problem.check, problem.way_out) for problem in store.verify()] == [
            ("names", "Run: clew verify --repair")
        ]
        store.mention([said("a", "matt")])
        assert store.named(["matt"], where(), limit=5)["matt"].holders == ("a",)
        store.delete(["a"])
        assert store.named(["matt"], where(), limit=5) == {}
        store.repair()
        assert store.verify() == ()
    backup = path.with_name(f"{path.name}.v1.backup")
    with closing(sqlite3.connect(backup)) as kept:
        assert kept.execute("PRAGMA user_version").fetchone() == (1,)


def test_an_empty_store_of_the_first_version_has_nothing_to_be_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version_one(path, monkeypatch)
    raw(path, "DELETE FROM event", "DROP TRIGGER words_removed", "DELETE FROM node")
    with closing(SqliteStore.open(path)) as store:
        assert [problem for problem in store.verify() if problem.check == "names"] == []


def test_in_a_store_of_the_seventh_version_memories_are_told_of_what_they_begin_with(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from clew.store.sqlite import database

    texts = {
        "a": "Matt Joyce left.",
        "b": "Matt Joyce: hello",
        "c": "Then Matt Joyce left.",
        "e": "Matt Joyce's cat left.",
    }
    with monkeypatch.context() as old:
        old.setattr(database, "MIGRATIONS", schema.MIGRATIONS[:7])
        with closing(SqliteStore.open(path)) as store:
            for each in (
                *(node(id, text) for id, text in texts.items()),
                node("d", "Matt Joyce left.", kind=Kind.CHUNK),
            ):
                store._database.connection.execute(*unsealed(each))
            places = {**{id: text.index("Matt") for id, text in texts.items()}, "d": 0}
            store.mention(
                [
                    said(id, "matt joyce")._replace(start=start, end=start + 10)
                    for id, start in places.items()
                ]
            )
    with closing(SqliteStore.open(path)) as store:
        found = store.named(["matt joyce"], where(), limit=5)["matt joyce"]
        assert (found.openers, found.holders, found.nodes) == (("a",), ("d", "e", "c", "b", "a"), 5)
        assert [problem for problem in store.verify() if problem.check == "names"] == []
