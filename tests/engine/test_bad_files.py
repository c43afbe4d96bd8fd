"""A store file that is none, is damaged, is newer, cannot be written, or has no room left."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import clew
from clew.errors import (
    InputError,
    NewerSchemaError,
    NotAStoreError,
    ReadOnlyError,
    StoreError,
    StoreFullError,
)
from clew.store.sqlite import database, schema
from tests.conftest import Open

NOTES = [
    f"Note {n} tells where the {word} is kept"
    for n, word in enumerate(("ladder", "printer", "kettle", "piano", "tent"))
]


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "stores"
    folder.mkdir()
    return folder


# --- not a store ---


@pytest.mark.parametrize(
    "content",
    [b"x", b"hello world\n" * 3, b"\x00" * 5000, b"SQLite format 3", b"PK\x03\x04" + b"z" * 4096],
)
def test_a_file_that_is_something_else_is_refused_and_left_alone(
    open_clew: Open, folder: Path, content: bytes
) -> None:
    path = folder / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(NotAStoreError, match=r"not a Clew store.*left as it is") as caught:
        open_clew(path)
    assert caught.value.facts["path"] == str(path)
    assert files(folder) == {"notes.txt": content}


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_another_applications_database_is_left_byte_for_byte(
    open_clew: Open, folder: Path, journal: str
) -> None:
    path = folder / "theirs.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as theirs:
        theirs.execute(f"PRAGMA journal_mode = {journal}")
        theirs.execute("CREATE TABLE node (id)")
        theirs.execute("INSERT INTO node VALUES (1)")
    before = files(folder)
    with pytest.raises(NotAStoreError, match="SQLite file but not a Clew store"):
        open_clew(path)
    assert files(folder) == before


def test_another_applications_database_with_an_unfinished_journal_is_left_byte_for_byte(
    open_clew: Open, folder: Path
) -> None:
    path = folder / "theirs.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as theirs:
        theirs.execute("PRAGMA journal_mode = WAL")
        theirs.execute("CREATE TABLE node (id)")
        theirs.execute("PRAGMA wal_checkpoint")
        theirs.execute("INSERT INTO node VALUES (1)")
        for name in ("theirs.db", "theirs.db-wal"):  # as a killed process leaves them
            shutil.copy(folder / name, folder / name.replace("theirs", "crashed"))
    before = files(folder)
    with pytest.raises(NotAStoreError):
        open_clew(folder / "crashed.db")
    assert files(folder) == before


def test_an_empty_database_that_another_application_claims_is_refused(
    open_clew: Open, folder: Path
) -> None:
    path = folder / "theirs.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as theirs:
        theirs.execute("PRAGMA application_id = 77")
    with pytest.raises(NotAStoreError):
        open_clew(path)


def test_an_empty_file_becomes_a_store(open_clew: Open, folder: Path) -> None:
    path = folder / "new.clew"
    path.touch()
    assert open_clew(path).remember(NOTES[0]).outcome == "inserted"


def test_a_folder_is_no_store(open_clew: Open, folder: Path) -> None:
    for path in (folder, str(folder), ""):
        with pytest.raises(NotAStoreError, match="folder"):
            open_clew(path)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("path", ["nul\x00byte", "x" * 300, 5, b"bytes", ["list"]])
def test_a_path_that_no_file_can_have_is_refused(open_clew: Open, path: Any) -> None:
    with pytest.raises(InputError, match="path"):
        open_clew(path)


def test_a_folder_that_cannot_be_made_is_said(open_clew: Open, folder: Path) -> None:
    (folder / "file").write_text("x")
    with pytest.raises(ReadOnlyError, match="cannot be made"):
        open_clew(folder / "file" / "memory.clew")


def test_missing_folders_are_made(open_clew: Open, folder: Path) -> None:
    open_clew(folder / "a" / "b" / "memory.clew").remember(NOTES[0])
    assert (folder / "a" / "b" / "memory.clew").is_file()


@pytest.mark.parametrize(
    "name",
    [
        "a b.clew",
        "50%.clew",
        "what?.clew",
        "hash#1.clew",
        "ünïcode.clew",
        "quote'.clew",
        os.fsdecode(b"\xff.clew"),
    ],
)
def test_any_name_of_a_file_will_do(open_clew: Open, folder: Path, name: str) -> None:
    open_clew(folder / name).remember(NOTES[0])
    assert (folder / name).is_file()


# --- damaged ---


def test_a_truncated_store_is_an_error_and_never_a_crash(open_clew: Open, folder: Path) -> None:
    whole = folder / "whole.clew"
    with clew.open(whole, model={"embedder": "hashing"}) as memory:
        memory.remember_many([f"{text}, {n}" for n in range(40) for text in NOTES], near=False)
    content = whole.read_bytes()
    draw = random.Random(5)
    for size in [
        1,
        50,
        99,
        100,
        512,
        4095,
        4096,
        8192,
        *(draw.randrange(len(content)) for _ in range(6)),
    ]:
        cut = folder / f"cut{size}.clew"
        cut.write_bytes(content[:size])
        with pytest.raises(StoreError), clew.open(cut, model={"embedder": "hashing"}) as memory:
            problems = memory.verify()
            assert problems
            # a cut in the last page takes only derived words with it
            assert problems[0].check in ("file", "postings")
            memory.recall("ladder")
            memory.remember("A sentence for a damaged file")
            raise StoreError("found by verify")  # a cut in a page that nothing here reads


def test_garbage_in_the_middle_is_found_by_verify_or_said_at_once(
    open_clew: Open, folder: Path
) -> None:
    whole = folder / "whole.clew"
    with clew.open(whole, model={"embedder": "hashing"}) as memory:
        memory.remember_many([f"{text}, {n}" for n in range(40) for text in NOTES], near=False)
    content = whole.read_bytes()
    draw = random.Random(6)
    for turn in range(8):
        at = draw.randrange(4096, len(content) - 4096) // 4096 * 4096
        bad = folder / f"bad{turn}.clew"
        bad.write_bytes(content[:at] + draw.randbytes(4096) + content[at + 4096 :])
        try:
            with clew.open(bad, model={"embedder": "hashing"}) as memory:
                assert memory.verify() != ()
        except StoreError:
            pass


# --- newer, older ---


def test_a_newer_schema_is_refused_and_left_alone(open_clew: Open, folder: Path) -> None:
    path = folder / "memory.clew"
    with clew.open(path, model={"embedder": "hashing"}) as memory:
        memory.remember(NOTES[0])
    with closing(sqlite3.connect(path, isolation_level=None)) as newer:
        newer.execute("PRAGMA user_version = 99")
    before = files(folder)
    with pytest.raises(NewerSchemaError, match="Upgrade") as caught:
        open_clew(path)
    assert (caught.value.facts["schema"], caught.value.facts["known"]) == (
        99,
        len(schema.MIGRATIONS),
    )
    assert files(folder)["memory.clew"] == before["memory.clew"]


def _add_colour(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE node ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey'")


def _fail(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM node")
    raise sqlite3.OperationalError("planned")


def test_a_migration_makes_a_backup_and_keeps_everything(
    open_clew: Open, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "memory.clew"
    with clew.open(path, model={"embedder": "hashing"}) as memory:
        memory.remember_many(NOTES)
        lines = list(memory.export())
    version = len(schema.MIGRATIONS)
    monkeypatch.setattr(database, "MIGRATIONS", (*schema.MIGRATIONS, _add_colour))
    memory = open_clew(path)
    assert memory.stats()["schema"] == version + 1
    assert list(memory.export()) == lines
    assert memory.verify() == ()
    backup = folder / f"memory.clew.v{version}.backup"
    assert memory.store._database.backup_made == backup  # type: ignore[attr-defined]
    assert os.name != "posix" or backup.stat().st_mode & 0o777 == 0o600
    monkeypatch.undo()
    with clew.open(backup, model={"embedder": "hashing"}) as older:
        assert older.stats()["schema"] == version
        assert list(older.export()) == lines


def test_a_migration_that_fails_leaves_the_file_as_it_was(
    open_clew: Open, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "memory.clew"
    with clew.open(path, model={"embedder": "hashing"}) as memory:
        memory.remember_many(NOTES)
    content = path.read_bytes()
    monkeypatch.setattr(database, "MIGRATIONS", (*schema.MIGRATIONS, _add_colour, _fail))
    with pytest.raises(StoreError, match="planned"):
        open_clew(path)
    assert path.read_bytes() == content
    monkeypatch.undo()
    with clew.open(path, model={"embedder": "hashing"}) as memory:
        assert memory.stats()["nodes"] == len(NOTES)
        assert memory.verify() == ()
        memory.remember("Written between the two attempts at a migration")

    monkeypatch.setattr(database, "MIGRATIONS", (*schema.MIGRATIONS, _add_colour))
    memory = open_clew(path)
    backup = memory.store._database.backup_made  # type: ignore[attr-defined]
    monkeypatch.undo()
    # the second copy is of the file as it was just before, not the old one
    assert len(list(folder.glob("*.backup*"))) == 2
    with clew.open(backup, model={"embedder": "hashing"}) as older:
        assert older.stats()["nodes"] == len(NOTES) + 1


# --- no room ---


def test_a_full_disk_rolls_back_and_nothing_is_lost(open_clew: Open, path: Path) -> None:
    memory = open_clew()
    memory.remember_many(NOTES)
    memory.compact()
    connection = memory.store._database.connection  # type: ignore[attr-defined]
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages + 4}")
    written = []
    with pytest.raises(StoreFullError, match="rolled back") as caught:
        for n in range(1000):
            outcome = memory.remember(
                f"Entry {n} about {'a rather long story ' * 20}{n * 31}", near=False
            )
            written.append(str(outcome.id))
    assert caught.value.code == "store.full"
    assert written
    assert {node.id for node in memory.recent(1000)} >= set(written)
    assert memory.recall("where is the ladder").hits[0].text == NOTES[0]
    with pytest.raises(StoreFullError):
        memory.remember_many(
            [f"Batch {n} about {'another long story ' * 20}{n}" for n in range(100)], near=False
        )
    assert memory.stats()["nodes"] == len(NOTES) + len(written)
    connection.execute(f"PRAGMA max_page_count = {pages + 10_000}")
    assert memory.remember("There is room again after someone cleaned up").outcome == "inserted"
    assert memory.verify() == ()
    memory.close()
    assert open_clew().stats()["nodes"] == len(NOTES) + len(written) + 1


LIMITED = """
import resource, sys
import clew
from clew.errors import StoreFullError

path, limit = sys.argv[1], int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
try:
    with clew.open(path, model={"embedder": "hashing"}) as memory:
        for n in range(10_000):
            print(memory.remember(f"Entry {n} about {'a rather long story ' * 30}{n * 31}", near=False).id, flush=True)
except StoreFullError as error:
    print("full", error.code, file=sys.stderr)
"""


@pytest.mark.parametrize("limit", [10_000, 300_000])
def test_a_file_that_may_not_grow_is_a_full_disk_and_keeps_what_was_acknowledged(
    tmp_path: Path, path: Path, limit: int
) -> None:
    run = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path), str(limit)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stderr.strip() == "full store.full"
    ids = run.stdout.split()
    assert bool(ids) == (limit > 10_000)
    with clew.open(path, model={"embedder": "hashing"}) as memory:
        assert {node.id for node in memory.recent(10_000)} >= set(ids)
        assert memory.verify() == ()
        memory.remember("There is room again after someone cleaned up")


# --- read-only ---


def check_read_only(memory: clew.Clew) -> None:
    assert memory.recall("where is the ladder").hits[0].text == NOTES[0]
    assert len(memory.recent()) == len(NOTES)
    assert memory.verify() == ()
    assert list(memory.export())
    id = memory.recent()[0].id
    for act in (
        lambda: memory.remember("A sentence that cannot be kept"),
        lambda: memory.forget(id),
        lambda: memory.protect(id),
        lambda: memory.link(id, id),
        lambda: memory.verify(repair=True),
        memory.compact,
    ):
        with pytest.raises(ReadOnlyError, match="permissions"):
            act()
    assert "cannot be written" in str(memory.stats()["tracking_failure"])


def test_a_read_only_store_answers_and_refuses_writes(
    open_clew: Open, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with clew.open(path, model={"embedder": "hashing"}) as memory:
        memory.remember_many(NOTES)
    content = path.read_bytes()
    monkeypatch.setattr(os, "access", lambda where, mode: not mode & os.W_OK or Path(where) != path)
    check_read_only(open_clew())
    assert path.read_bytes() == content


AS_NOBODY = """
import os, sys
import clew
from clew.errors import ReadOnlyError

def run(path):
    with clew.open(path, model={"embedder": "hashing"}) as memory:
        yield memory.recall("where is the ladder").hits
        try:
            memory.remember("A sentence that cannot be kept")
        except ReadOnlyError as error:
            yield error.code

list(run(sys.argv[2]))  # as root, whose Python others may not read: whatever is loaded late is loaded now
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
hits, code = run(sys.argv[1])
print(hits[0].text, code, sep="|")
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may not write")
@pytest.mark.parametrize("left_open", [False, True])
def test_a_store_in_a_folder_that_may_not_be_written_answers(
    tmp_path: Path, left_open: bool
) -> None:
    """On a read-only medium SQLite cannot make the side files that reading in WAL mode takes."""
    # pytest's own folders are closed to others
    folder = Path(tmp_path.root) / "tmp" / f"clew-read-only-{os.getpid()}"
    folder.mkdir(mode=0o755)
    path = folder / "memory.clew"
    try:
        memory = clew.open(path, model={"embedder": "hashing"})
        memory.remember_many(NOTES)
        if not left_open:
            memory.close()
        for file in folder.iterdir():
            file.chmod(0o444)
        folder.chmod(0o555)
        run = subprocess.run(
            [sys.executable, "-c", AS_NOBODY, str(path), str(tmp_path / "other.clew")],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "HOME": "/nonexistent"},
        )
        assert run.stderr == ""
        assert run.stdout == f"{NOTES[0]}|store.read_only\n"
        memory.close()
    finally:
        shutil.rmtree(folder)


def test_a_read_only_folder_without_a_store_is_said(
    open_clew: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ReadOnlyError):
        open_clew("/proc/memory.clew")
