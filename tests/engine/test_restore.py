"""A backup in the place of a store."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import clew
from clew.errors import CorruptStoreError, InputError, NotAStoreError, StoreBusyError
from clew.store.sqlite import schema
from clew.testing import node
from tests.conftest import Open
from tests.store.unsealed import unsealed

KEPT, LATER = "The ladder is in the cellar", "The kettle was sold after the backup"


@pytest.fixture
def backup(open_clew: Open, path: Path, tmp_path: Path) -> Path:
    """A backup of a store that was written to afterwards."""
    with open_clew() as memory:
        memory.remember(KEPT)
        backup = memory.backup(tmp_path / "monday.clew")
        memory.remember(LATER)
    return backup


def texts(path: Path) -> set[str]:
    with clew.open(path, model={"embedder": "hashing"}) as memory:
        assert memory.verify() == ()
        return {node.text for node in memory.recent()}


def names(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir() if file.is_file()}


def test_a_backup_takes_the_place_of_the_store_which_is_kept_beside_it(
    backup: Path, path: Path
) -> None:
    content = backup.read_bytes()
    path.chmod(0o640)
    done = clew.restore_backup(backup, path)
    assert (done.path, done.nodes, done.replaced, done.problems) == (
        path,
        1,
        path.with_name("memory.clew.replaced"),
        (),
    )
    assert path.stat().st_mode & 0o777 == 0o640
    assert names(path.parent) == {"memory.clew", "memory.clew.replaced", "monday.clew"}
    assert done.replaced is not None
    assert (texts(path), texts(done.replaced)) == ({KEPT}, {KEPT, LATER})
    assert backup.read_bytes() == content
    assert clew.restore_backup(backup, path).replaced == path.with_name("memory.clew.replaced.2")
    assert clew.restore_backup(backup, path, keep=False).replaced is None


def test_what_stands_only_in_the_journal_is_kept_with_the_replaced_store(
    backup: Path, path: Path, tmp_path: Path
) -> None:
    memory = clew.open(path, model={"embedder": "hashing"})
    memory.remember("Written to the journal and not yet to the file")
    for suffix in ("", "-wal"):  # as a killed process leaves them
        Path(f"{tmp_path / 'killed.clew'}{suffix}").write_bytes(
            Path(f"{path}{suffix}").read_bytes()
        )
    memory.close()
    done = clew.restore_backup(backup, tmp_path / "killed.clew")
    assert texts(tmp_path / "killed.clew") == {KEPT}
    assert done.replaced is not None
    assert len(texts(done.replaced)) == 3


def test_a_journal_of_a_damaged_store_goes_aside_with_it(backup: Path, path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:4096] + bytes(4096) + content[8192:])
    Path(f"{path}-wal").write_bytes(b"a journal of something else")
    Path(f"{path}-shm").write_bytes(bytes(32768))
    done = clew.restore_backup(backup, path)
    assert texts(path) == {KEPT}
    assert not Path(f"{path}-wal").exists()
    assert done.replaced is not None


def test_a_backup_is_restored_where_there_is_no_store(backup: Path, tmp_path: Path) -> None:
    fresh = tmp_path / "new" / "memory.clew"
    done = clew.restore_backup(backup, fresh)
    assert (done.replaced, texts(fresh)) == (None, {KEPT})
    assert fresh.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE node SET text = 'edited by hand'",
        "CREATE TRIGGER evil AFTER INSERT ON node BEGIN SELECT 1; END",
        "DROP TABLE event",
    ],
)
def test_a_damaged_backup_replaces_nothing(backup: Path, path: Path, damage: str) -> None:
    with closing(sqlite3.connect(backup, isolation_level=None)) as connection:
        connection.execute(damage)
    before = path.read_bytes()
    with pytest.raises(CorruptStoreError) as caught:
        clew.restore_backup(backup, path)
    assert str(backup) in caught.value.message
    assert path.read_bytes() == before
    assert names(path.parent) - {"monday.clew-wal", "monday.clew-shm"} == {
        "memory.clew",
        "monday.clew",
    }


def test_a_truncated_backup_replaces_nothing(backup: Path, path: Path) -> None:
    backup.write_bytes(backup.read_bytes()[:20000])
    with pytest.raises(CorruptStoreError, match="damaged itself"):
        clew.restore_backup(backup, path)
    assert texts(path) == {KEPT, LATER}


def test_an_older_backup_is_brought_up_to_date_on_the_way(path: Path, tmp_path: Path) -> None:
    old = tmp_path / "old.clew"
    with closing(sqlite3.connect(old, isolation_level=None)) as connection:
        schema.migrate(connection, old, migrations=schema.MIGRATIONS[:8])
        connection.execute(*unsealed(node("a", KEPT)))
        connection.execute(
            "INSERT INTO event (node, kind, at, detail) VALUES ('a', 'ADD', 0, '{}')"
        )
    content = old.read_bytes()
    assert clew.restore_backup(old, path).nodes == 1
    assert texts(path) == {KEPT}
    assert old.read_bytes() == content
    assert names(tmp_path) == {"memory.clew", "old.clew"}


ELSEWHERE = """
import sys
import clew
with clew.open(sys.argv[1], model={"embedder": "hashing"}) as memory:
    memory.stats()
    print("open", flush=True)
    sys.stdin.readline()
"""


def test_a_store_that_another_process_has_open_is_not_replaced_and_the_process_is_named(
    backup: Path, path: Path
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", ELSEWHERE, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "open\n"
        with pytest.raises(StoreBusyError, match="in use by") as caught:
            clew.restore_backup(backup, path)
        if Path("/proc/locks").exists():
            assert str(process.pid) in caught.value.message
        process.stdin.write("\n")
    assert texts(path) == {KEPT, LATER}
    clew.restore_backup(backup, path)
    assert texts(path) == {KEPT}


def test_a_store_that_this_process_has_open_is_not_replaced(
    backup: Path, path: Path, open_clew: Open
) -> None:
    memory = open_clew()
    with pytest.raises(StoreBusyError, match="open in this process"):
        clew.restore_backup(backup, path)
    memory.close()
    assert clew.restore_backup(backup, path).nodes == 1


def test_what_is_no_store_is_replaced_only_by_force(backup: Path, path: Path) -> None:
    path.write_bytes(b"nothing that SQLite can read " * 99)
    with pytest.raises(NotAStoreError, match="--force"):
        clew.restore_backup(backup, path)
    done = clew.restore_backup(backup, path, force=True)
    assert texts(path) == {KEPT}
    assert done.replaced is not None
    assert done.replaced.read_bytes().startswith(b"nothing")


def test_a_backup_that_is_none_is_refused(backup: Path, path: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="clew unarchive"):
        clew.restore_backup(tmp_path / "01jqx", path)
    with pytest.raises(InputError, match="is the store itself"):
        clew.restore_backup(path, path)
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(NotAStoreError):
        clew.restore_backup(tmp_path / "notes.txt", path)
    with pytest.raises(InputError, match="is no file"):
        clew.restore_backup(backup, ":memory:")
    assert texts(path) == {KEPT, LATER}
