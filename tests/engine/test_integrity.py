"""Damage inside a store file: found, named, kept out of answers, repaired or set aside."""

from __future__ import annotations

import json
import sqlite3
import struct
import warnings
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import clew
from clew.errors import CorruptStoreError, StoreBusyError
from clew.store.sqlite import database
from clew.store.sqlite.row_checks import fault
from clew.store.sqlite.vector_index import RECORD
from tests.conftest import Open

PORT = "The staging database listens on port 5433"
FORGOTTEN = "The spare key is under the third flower pot"
NOTES = [PORT, "The kettle is in the kitchen", "Ada Lovelace keeps the ladder in the cellar"]


def edit(path: Path, *statements: str) -> None:
    """Change a store file past Clew."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        for statement in statements:
            connection.execute(statement)


@pytest.fixture
def ids(open_clew: Open) -> tuple[str, ...]:
    """Ids of the memories of a store with something of everything."""
    with open_clew() as memory:
        ids = tuple(
            str(memory.remember(text, tags=["home"], metadata={"n": 1}, title="A title").id)
            for text in NOTES
        )
        memory.link(ids[0], ids[1])
        memory.store.keep("token", "t", {"name": "agent"})
        memory.protect(ids[1])
        memory.forget(str(memory.remember(FORGOTTEN).id))
        memory.recall("kettle", k=1)
        memory.stats()
    return ids


NODE = "WHERE text LIKE '%5433%'"
DAMAGES = {
    "an edited text": "UPDATE node SET text = replace(text, '5433', '9999') " + NODE,
    "an edited title": "UPDATE node SET title = 'Another title' " + NODE,
    "an edited tag": "UPDATE node SET tags = '[\"work\"]' " + NODE,
    "keywords that are not UTF-8": "UPDATE node SET keywords = CAST(x'5b22ff225d' AS TEXT) " + NODE,
    "keywords that are not a list": "UPDATE node SET keywords = '5' " + NODE,
    "metadata that is not JSON": "UPDATE node SET metadata = '{\"a\": ' " + NODE,
    "metadata nested too deeply": "UPDATE node SET metadata = replace(printf('%99999s', ''), ' ', '[') "
    + NODE,
    "a title that is bytes": "UPDATE node SET title = x'00ff' " + NODE,
    "an importance out of range": "UPDATE node SET importance = 7.5, checksum = NULL " + NODE,
    "an infinite importance": "UPDATE node SET importance = 9e999, checksum = NULL " + NODE,
    "a time beyond all calendars": "UPDATE node SET t_valid = 9223372036854775807, checksum = NULL "
    + NODE,
    "an end before the beginning": "UPDATE node SET t_invalid = t_valid - 1, checksum = NULL "
    + NODE,
    "an unknown kind": "UPDATE node SET kind = 'planet' " + NODE,
    "a flag that is neither": "UPDATE node SET archived = 3, checksum = NULL " + NODE,
    "an ADD event that is not JSON": "UPDATE node SET added = 'no', checksum = NULL " + NODE,
}
"""Damage to the row of the first memory."""

OTHER_DAMAGES = {
    "an unknown kind of event": "UPDATE event SET kind = 'EXPLODE'",
    "an event without time": "UPDATE event SET at = 'noon'",
    "an event whose detail is a list": "UPDATE event SET detail = '[]'",
    "an edge of infinite weight": "UPDATE edge SET weight = 9e999",
    "an edge to nowhere": "UPDATE edge SET target = 99",
    "a vector of zeros": "UPDATE embedding SET vector = zeroblob(length(vector)) WHERE eid = 1",
    "another unit vector": "UPDATE embedding SET vector = (SELECT vector FROM embedding WHERE eid = 2) WHERE eid = 1",
    "half a vector": "UPDATE embedding SET vector = substr(vector, 1, 3) WHERE eid = 1",
    "a vector that is text": "UPDATE embedding SET vector = 'text' WHERE eid = 1",
    "an unknown role": "UPDATE embedding SET role = 'smell' WHERE eid = 1",
    "a model without dimension": "UPDATE model SET dimension = -5",
    "a record that is not JSON": "UPDATE record SET body = '{'",
    "a negative count of accesses": "UPDATE access SET count = -1",
    "a label of nothing": "INSERT INTO label VALUES ('#', '\"x\"', 99)",
    "numbers that were never given out": "UPDATE sqlite_sequence SET seq = 9223372036854775807",
    "numbers that come again": "UPDATE sqlite_sequence SET seq = 0 WHERE name = 'node'",
    "a model that is not known": "UPDATE meta SET value = 77 WHERE key = 'model'",
    "a place in the log that is text": "INSERT OR REPLACE INTO meta VALUES ('posting_floor', 'x')",
    "a tombstone key that is text": "UPDATE meta SET value = 'x' WHERE key = 'tombstone_key'",
    "half a tombstone key": "UPDATE meta SET value = substr(value, 1, 16) WHERE key = 'tombstone_key'",
    "no tombstone key": "DELETE FROM meta WHERE key = 'tombstone_key'",
    "half a tombstone": "UPDATE tombstone SET digest = substr(digest, 1, 3)",
    "another tombstone key": "UPDATE meta SET value = randomblob(32) WHERE key = 'tombstone_key'",
    "a value that nobody keeps": "INSERT INTO meta VALUES ('x', 1)",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_memory_is_found_by_its_id_and_set_aside_with_its_raw_content(
    open_clew: Open, path: Path, ids: tuple[str, ...], damage: str
) -> None:
    edit(path, damage)
    memory = open_clew()
    (problem,) = memory.verify()
    assert (problem.check, ids[0] in problem.detail) == ("rows", True)
    exported: list[CorruptStoreError] = []
    whole = list(memory.export(on_damage=exported.append))
    assert {record["node"]["id"] for record in map(json.loads, whole) if "node" in record} >= set(
        ids[1:]
    )
    done = memory.repair()
    assert memory.verify() == ()
    assert done.file == path.with_name(path.name + ".quarantine.jsonl")
    kept = [json.loads(line) for line in done.file.read_text(encoding="ascii").splitlines()]
    assert [record["row"]["id"] for record in kept if record["table"] == "node"] == [ids[0]]
    assert done.file.stat().st_mode & 0o077 == 0
    made_anew = "keywords" in damage
    assert (memory.get(ids[0]) is not None) == made_anew
    assert [ids[0] in each.detail for each in done.quarantined] == ([] if made_anew else [True])
    assert [record["table"] for record in kept] == (["node"] if made_anew else ["edge", "node"])
    memory.remember("The store works as before after it was repaired")
    assert memory.recall("kettle kitchen").hits[0].text == NOTES[1]
    assert len(list(memory.export())) > len(ids)


@pytest.mark.parametrize("damage", OTHER_DAMAGES.values(), ids=OTHER_DAMAGES)
def test_damage_beside_memories_is_found_and_repaired_without_losing_one(
    open_clew: Open, path: Path, ids: tuple[str, ...], damage: str
) -> None:
    edit(path, damage)
    memory = open_clew()
    assert memory.verify()
    assert memory.verify(repair=True) == ()
    memory.reembed()
    assert memory.stats()["unembedded"] == 0
    assert {node.text for node in memory.recent()} == set(NOTES)
    assert memory.recall("port of the staging database").hits[0].id == ids[0]
    assert memory.remember("There is room for one more after the repair").outcome == "inserted"
    assert memory.verify() == ()


@pytest.mark.parametrize(
    "damage", ["a tombstone key that is text", "half a tombstone key", "another tombstone key"]
)
def test_a_damaged_tombstone_key_is_named_and_its_tombstones_are_set_aside(
    open_clew: Open, path: Path, ids: tuple[str, ...], damage: str
) -> None:
    edit(path, OTHER_DAMAGES[damage])
    memory = open_clew()
    with pytest.raises(CorruptStoreError, match=r"key of the tombstones.*clew verify --repair"):
        memory.remember(FORGOTTEN)
    assert any("tombstone" in problem.detail for problem in memory.verify())
    (lost,) = memory.repair().quarantined
    assert "forgotten texts are no longer kept out" in lost.detail
    memory.forget(str(memory.remember(FORGOTTEN).id))
    assert memory.remember(FORGOTTEN).outcome == "rejected"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("analyser", "x"),
        ("posting_format", 3),
        ("erase", 5),
        ("model", -1),
        ("tombstone_sum", b""),
        ("x", 1),
    ],
)
def test_every_value_of_the_table_meta_has_a_rule(key: str, value: object) -> None:
    assert fault("meta", {"key": key, "value": value})


def test_a_negative_count_of_accesses_is_damage_wherever_it_is_read(
    open_clew: Open, path: Path, ids: tuple[str, ...]
) -> None:
    edit(path, OTHER_DAMAGES["a negative count of accesses"])
    memory = open_clew()
    for read in (memory.recent, memory.decay, lambda: memory.recall("kettle")):
        with pytest.raises(CorruptStoreError):
            read()
    assert memory.verify(repair=True) == ()
    assert memory.recall("kettle").hits[0].text == NOTES[1]


def test_an_impossible_scale_in_a_segment_is_not_searched_with(
    open_clew: Open, path: Path, ids: tuple[str, ...]
) -> None:
    with open_clew() as memory:
        memory.compact()
    assert RECORD.fields is not None
    scale = RECORD.fields["scale"][1] + 1  # the first record's, counted from 1
    huge = "UPDATE segment SET columns = CAST(substr(columns, 1, {}) || x'ffff7f7f' || substr(columns, {}) AS BLOB)"
    edit(path, huge.format(scale - 1, scale + 4))
    memory = open_clew()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert memory.recall("kettle kitchen").hits[0].text == NOTES[1]
    assert [problem.check for problem in memory.verify()] == ["segments"]


def test_a_damaged_list_of_free_pages_is_made_anew_by_repair(
    open_clew: Open, path: Path, ids: tuple[str, ...]
) -> None:
    with open_clew() as memory:
        memory.forget(
            str(memory.remember("A long text of many words that takes several pages. " * 70).id)
        )
        memory.import_data(
            "\n\n".join(f"Paragraph {n} is about ship number {n}." * 20 for n in range(200)),
            name="long.txt",
        )
        memory.forget(where={"source": "long.txt"}, expect=1)
    content = bytearray(path.read_bytes())
    trunk, free = struct.unpack(">II", content[32:40])
    assert free > 2
    content[(trunk - 1) * 4096 : trunk * 4096] = bytes(4096)
    path.write_bytes(content)
    memory = open_clew()
    memory.repair()
    assert memory.verify() == ()
    for n in range(free):
        assert (
            memory.remember(f"Ship {n} of the fleet carries {n * 7} tonnes " * 80).outcome
            == "inserted"
        )


def test_a_row_whose_key_has_another_type_is_removed_by_repair(
    open_clew: Open, path: Path, ids: tuple[str, ...]
) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        (sql,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'alias'").fetchone()
        connection.execute(
            "UPDATE sqlite_master SET sql = replace(sql, 'space TEXT', 'space BLOB') WHERE name = 'alias'"
        )
    edit(path, "INSERT INTO alias (space, part, name) VALUES (1, 'x', 0)")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'alias'", (sql,))
    memory = open_clew()
    assert memory.verify()
    assert memory.verify(repair=True) == ()


READS: dict[str, Callable[[clew.Clew, str], object]] = {
    "get": lambda memory, id: memory.get(id),
    "list": lambda memory, _: memory.recent(),
    "recall": lambda memory, _: memory.recall("staging database"),
    "history": lambda memory, id: memory.history(id),
    "export": lambda memory, _: list(memory.export()),
    "protect": lambda memory, id: memory.protect(id),
}


UNREADABLE = ("keywords that are not UTF-8", "metadata that is not JSON", "a title that is bytes")
EDITED = ("an edited text", "an edited title", "an edited tag")


@pytest.mark.parametrize("damage", [*UNREADABLE, *EDITED])
def test_reading_a_damaged_memory_names_it_and_the_way_out(
    open_clew: Open, path: Path, ids: tuple[str, ...], damage: str
) -> None:
    edit(path, DAMAGES[damage])
    memory = open_clew()
    for name, read in READS.items():
        with pytest.raises(
            CorruptStoreError, match=r"clew verify --repair.*clew restore"
        ) as caught:
            read(memory, ids[0])
        assert (caught.value.code, caught.value.facts["id"]) == ("store.corrupt", ids[0]), name
    assert memory.get(ids[1]) is not None


def test_an_edited_text_of_an_older_store_without_checksums_is_not_read(
    open_clew: Open, path: Path, ids: tuple[str, ...]
) -> None:
    edit(path, "UPDATE node SET checksum = NULL", DAMAGES["an edited text"])
    memory = open_clew()
    with pytest.raises(CorruptStoreError, match="content_hash differs"):
        memory.get(ids[0])
    assert memory.get(ids[1]) is not None


def test_a_changed_row_is_not_updated_as_if_it_were_right(
    open_clew: Open, path: Path, ids: tuple[str, ...]
) -> None:
    edit(path, DAMAGES["an edited title"])
    memory = open_clew()
    with pytest.raises(CorruptStoreError, match="checksum differs"):
        memory.update(ids[0], importance=0.9)
    assert memory.verify()


def test_an_export_around_damage_names_what_it_leaves_out_and_loads(
    open_clew: Open, path: Path, ids: tuple[str, ...]
) -> None:
    half = OTHER_DAMAGES["half a vector"].replace("eid = 1", "eid = 3")
    edit(path, DAMAGES["an edited text"], OTHER_DAMAGES["an event whose detail is a list"], half)
    memory = open_clew()
    damaged: list[CorruptStoreError] = []
    lines = list(memory.export(on_damage=damaged.append))
    assert {error.facts["id"] for error in damaged} == set(ids)
    with open_clew(":memory:") as copy:
        assert copy.load(lines).nodes == 2
        assert PORT not in {node.text for node in copy.recent()}
    with pytest.raises(CorruptStoreError):
        list(memory.export())


def test_the_rows_of_an_older_store_have_no_checksum_until_they_are_repaired(
    open_clew: Open, path: Path, ids: tuple[str, ...]
) -> None:
    edit(path, "UPDATE node SET checksum = NULL", "UPDATE embedding SET checksum = NULL")
    memory = open_clew()
    assert memory.verify() == ()
    assert memory.repair().quarantined == ()
    memory.close()
    edit(path, DAMAGES["an edited title"], OTHER_DAMAGES["another unit vector"])
    assert [problem.detail.split(":")[0] for problem in open_clew().verify()] == [
        f"memory {ids[0]}",
        f"the vector of {ids[0]}",
    ]


def test_a_broken_index_is_made_anew(open_clew: Open, path: Path, ids: tuple[str, ...]) -> None:
    name = "name = 'node_by_time'"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        row = connection.execute(f"SELECT * FROM sqlite_master WHERE {name}").fetchone()
    edit(path, "PRAGMA writable_schema = ON", f"DELETE FROM sqlite_master WHERE {name}")
    # which the index does not learn of
    edit(path, "UPDATE node SET t_valid = t_valid + 1, checksum = NULL")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", row)
    memory = open_clew()
    assert {problem.check for problem in memory.verify()} == {"indexes"}
    assert memory.verify(repair=True) == ()
    assert len(memory.recent()) == len(ids)


# --- objects that Clew did not make ---

DOCTORED = {
    "trigger evil": ["CREATE TRIGGER evil AFTER INSERT ON node BEGIN DELETE FROM node; END"],
    "view evil": ["CREATE VIEW evil AS SELECT * FROM node"],
    "table evil": ["CREATE TABLE evil (id)"],
    "table words": ["CREATE VIRTUAL TABLE words USING fts5 (text)"],
    "index evil": ["CREATE INDEX evil ON node (upper(text))"],
    "trigger node_unsaid": [
        "DROP TRIGGER node_unsaid",
        "CREATE TRIGGER node_unsaid AFTER UPDATE OF title, text ON node BEGIN DELETE FROM node; END",
    ],
    "trigger embedding_removed": [
        "DROP TRIGGER embedding_removed",
        "CREATE TRIGGER embedding_removed AFTER DELETE ON embedding BEGIN INSERT INTO change (eid) VALUES (old.eid); "
        "SELECT '--'; DELETE FROM node; -- '\nEND",
    ],
}


@pytest.mark.parametrize("name", DOCTORED)
def test_a_store_with_objects_that_clew_did_not_make_is_refused_before_anything_of_it_runs(
    open_clew: Open, path: Path, ids: tuple[str, ...], name: str
) -> None:
    edit(path, *DOCTORED[name])
    before = path.read_bytes()
    with pytest.raises(CorruptStoreError, match=f"has a {name} that Clew did not make") as caught:
        open_clew()
    assert caught.value.facts["object"] == name
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("statements", "lacking"),
    [
        (["DROP TRIGGER node_refiled"], "trigger node_refiled"),
        (["DROP INDEX node_by_key"], "index node_by_key"),
        (["DROP VIEW counted"], "view counted"),
        (
            ["ALTER TABLE node RENAME TO nodes", "CREATE VIEW node AS SELECT * FROM nodes"],
            "node.added",
        ),
    ],
)
def test_a_store_that_lacks_an_object_is_refused(
    open_clew: Open, path: Path, ids: tuple[str, ...], statements: list[str], lacking: str
) -> None:
    edit(path, *statements)
    with pytest.raises(CorruptStoreError, match=rf"lacks .*{lacking}"):
        open_clew()


def test_a_store_that_somebody_analysed_is_opened(
    open_clew: Open, path: Path, ids: tuple[str, ...]
) -> None:
    edit(path, "ANALYZE")
    assert open_clew().verify() == ()


def test_objects_that_appear_while_a_store_is_open_are_found_by_verify(
    open_clew: Open, path: Path, ids: tuple[str, ...]
) -> None:
    memory = open_clew()
    edit(path, "CREATE TABLE evil (id)")
    assert [(problem.check, problem.detail) for problem in memory.verify()] == [
        ("objects", "the table evil was not made by Clew")
    ]


# --- a lock of another program ---


class CountedTime:
    """A clock that moves only by what is waited.

    By pauses, and by what SQLite is allowed to wait.
    """

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_a_lock_of_another_program_is_waited_for_no_longer_than_configured_in_all(
    open_clew: Open, path: Path, ids: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, asked = CountedTime(), []
    configure = database.Database._configure

    def counted(self: database.Database, connection: sqlite3.Connection) -> None:
        (milliseconds,) = connection.execute("PRAGMA busy_timeout").fetchone()
        asked.append(milliseconds)
        connection.execute("PRAGMA busy_timeout = 0")  # waited for on the counted clock instead
        try:
            configure(self, connection)
        finally:
            clock.now += milliseconds / 1000

    monkeypatch.setattr(database, "time", clock)
    monkeypatch.setattr(database.Database, "_configure", counted)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreBusyError, match="locked by another process for 2 s"):
            open_clew(store={"busy_timeout_seconds": 2.0})
    assert sum(asked) <= 2000
    assert clock.now <= 2.0 + 2 * database.OPENING_PAUSE_SECONDS
    monkeypatch.undo()
    assert len(open_clew().recent()) == len(ids)
