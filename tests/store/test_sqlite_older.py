"""Files of earlier versions.

One that is not what it says stays as it is, one that cannot be written is read all the same.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from clew.errors import CorruptStoreError, ReadOnlyError
from clew.store.sqlite import SqliteStore, schema
from clew.testing import NOW, node, where
from clew.types import Event, EventKind
from tests.store.unsealed import unsealed

EARLIER = range(1, len(schema.MIGRATIONS))
TEXTS = {"a": "The ladder is in the cellar", "b": "The kettle is in the kitchen"}


def older(path: Path, version: int, *more: str) -> None:
    """Make a store as a Clew of this version left it, and do something more to it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        # what its triggers called
        for name, arguments in (("clew_terms", 1), ("clew_body", 2), ("clew_facet", 1)):
            connection.create_function(name, arguments, lambda *given: str(given[-1]))
        schema.migrate(connection, path, migrations=schema.MIGRATIONS[:version])
        for id, text in TEXTS.items():
            connection.execute(*unsealed(node(id, text)))
            connection.execute(
                "INSERT INTO event (node, kind, at, detail) VALUES (?, 'ADD', 0, '{}')", (id,)
            )
        for statement in more:
            connection.execute(statement)


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


@pytest.mark.parametrize("version", EARLIER)
@pytest.mark.parametrize(
    ("lacking", "statement"),
    [
        ("posting", "DROP TABLE posting"),
        ("access.last_at", "ALTER TABLE access RENAME COLUMN last_at TO other"),
    ],
)
def test_a_file_that_lacks_what_its_version_has_is_refused_and_left_at_its_version(
    tmp_path: Path, version: int, lacking: str, statement: str
) -> None:
    path = tmp_path / "store"
    older(path, version, statement)
    for _ in range(2):
        with pytest.raises(
            CorruptStoreError, match=rf"lacks {lacking}.*left as it is.*clew export"
        ):
            SqliteStore.open(path)
        assert version_of(path) == version
    assert not list(tmp_path.glob("*backup*"))


@pytest.mark.parametrize("version", EARLIER)
def test_an_older_file_keeps_its_events_and_goes_on_in_the_new_way(
    tmp_path: Path, version: int
) -> None:
    path = tmp_path / "store"
    older(path, version)
    added = Event(node="c", kind=EventKind.ADD, at=NOW, detail={"source": "inbox"})
    with closing(SqliteStore.open(path)) as store:
        store.insert([node("c")], events=[added])
        assert [event.kind for id in "ab" for event in store.events(id)] == [EventKind.ADD] * 2
        assert store.events("c") == (added,)
        assert store.stats()["by_event"] == {"ADD": 3}
        assert [problem for problem in store.verify() if problem.check != "names"] == []
    assert version_of(path) == len(schema.MIGRATIONS)
    assert version_of(tmp_path / f"store.v{version}.backup") == version


@pytest.mark.parametrize("version", EARLIER)
def test_an_older_file_that_cannot_be_written_answers_and_refuses_writes_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    path = tmp_path / "store"
    older(path, version)
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    with closing(SqliteStore.open(path)) as store:
        assert [match.id for match in store.sparse(["kettl"], where(), limit=5)] == ["b"]
        assert store.named(["ada"], where(), limit=5) == {}
        assert not any(store.mentions(["a"]).values())
        assert store.kept("token") == {}
        assert store.record("token", "x") is None
        assert not store.signals(["a"])["a"].keyed
        assert [event.kind for event in store.events("a")] == [EventKind.ADD]
        assert store.stats()["by_event"] == {"ADD": 2}
        assert store.get(["a"])["a"].text == TEXTS["a"]
        assert store.verify() == ()
        with pytest.raises(ReadOnlyError):
            store.keep("token", "x", {})
    assert version_of(path) == version


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM meta WHERE key = 'posting_seq'",
        "UPDATE meta SET value = 'x' WHERE key = 'posting_newest'",
    ],
)
def test_segments_without_their_place_in_the_log_are_not_used(
    tmp_path: Path, statement: str
) -> None:
    path = tmp_path / "store"
    with closing(SqliteStore.open(path)) as store:
        store.insert([node(f"n{number}", f"Shelf {number} holds plums") for number in range(100)])
        before = store.sparse(["plum", "shelf"], where(), limit=20)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        assert connection.execute(statement).rowcount == 1
    with closing(SqliteStore.open(path)) as store:
        assert store.sparse(["plum", "shelf"], where(), limit=20) == before
        assert [problem for problem in store.verify() if problem.check == "postings"] == []
