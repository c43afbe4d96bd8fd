"""Put a backup in the place of a store.

Verified first, switched in one step, with the replaced store kept beside it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from urllib.parse import quote

from clew.errors import (
    CorruptStoreError,
    InputError,
    NotAStoreError,
    ReadOnlyError,
    StoreBusyError,
    clipped,
)
from clew.files import is_special, make_private_folder
from clew.ports import Problem
from clew.store.sqlite.backup import copy_to, sync
from clew.store.sqlite.database import SQLITE_ERRORS, open_here
from clew.store.sqlite.schema import MIGRATIONS, SIDE_FILES, check, refuse_foreign
from clew.store.sqlite.store import SqliteStore

# where SQLite locks a file: pending, reserved and shared bytes
FIRST_LOCK_BYTE, LOCK_BYTES = 0x40000000, 512
LOST = ("file", "objects", "rows", "references", "events")
"""Checks of `verify` that tell of lost truth; what the others find is rebuilt by `verify --repair`."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore put in place."""

    path: Path
    nodes: int
    replaced: Path | None
    """Where the store is now that was there before; None if there was none, or it was not to be
    kept.
    """
    problems: tuple[Problem, ...] = ()
    """What `verify --repair` is to rebuild: nothing that is lost."""


def restore_backup(backup: Path, path: Path, *, keep: bool = True, force: bool = False) -> Restored:
    """Verify a backup and put it in the place of the store at a path, which nobody may use meanwhile.

    The replaced store is kept beside it, unless `keep` is false. `force` replaces a file that
    cannot be recognised as a store.
    """
    _check_paths(backup, path, force=force)
    # SQLite keeps journals beside the file that a link leads to
    backup, path = backup.resolve(), path.resolve()
    partial = path.with_name(f".{path.name}.{os.getpid()}.restoring")
    try:
        make_private_folder(path.parent)
        _remove(partial)
        _copy(backup, partial)
        nodes, problems = _verified(partial, backup)
        with _unused(path):
            replaced = _switch(partial, path, keep=keep)
    except OSError as error:
        raise ReadOnlyError(
            f"{path} cannot be replaced ({error.strerror}). Check the permissions of its folder.",
            path=str(path),
        ) from error
    finally:
        _remove(partial)
    return Restored(path, nodes, replaced, problems)


def _check_paths(backup: Path, path: Path, *, force: bool) -> None:
    if not backup.exists():
        raise InputError(
            "backup",
            str(backup),
            "is not there",
            "Name a file made by clew backup; to bring a memory back from the archive: clew unarchive ID",
        )
    if path.exists() and path.samefile(backup):
        raise InputError(
            "backup",
            str(backup),
            "is the store itself",
            "Name a file made by clew backup, and the store with --store.",
        )
    refuse_foreign(backup)
    try:
        refuse_foreign(path)
    except NotAStoreError as error:
        if path.is_dir() or is_special(path):
            raise
        if not force:
            raise NotAStoreError(
                f"{path} is not recognised as a Clew store. If it was one and is damaged, replace it with --force.",
                path=str(path),
            ) from error


def _copy(backup: Path, partial: Path) -> None:
    # Without a journal nobody writes to the backup, and reading it needs no side files.
    journal = any(Path(f"{backup}{side}").exists() for side in ("-wal", "-journal"))
    mode = "mode=ro" if journal else "mode=ro&immutable=1"
    try:
        with closing(
            sqlite3.connect(
                f"file:{quote(os.fsencode(backup))}?{mode}", uri=True, isolation_level=None
            )
        ) as connection:
            check(connection, backup, migrations=MIGRATIONS)
            copy_to(connection, partial)
    except SQLITE_ERRORS as error:
        raise _unusable(backup, clipped(str(error))) from error


def _verified(partial: Path, backup: Path) -> tuple[int, tuple[Problem, ...]]:
    """Check the copy, brought to the newest schema.

    Return how many nodes it has and what can be rebuilt.
    """
    try:
        with closing(SqliteStore.open(partial)) as store:
            problems = store.verify()
            lost = next(
                (
                    f"{problem.check}: {problem.detail}"
                    for problem in problems
                    if problem.check in LOST
                ),
                None,
            )
            nodes = 0 if lost else int(store.stats()["nodes"])
    except CorruptStoreError as error:
        raise _unusable(backup, error.message.replace(str(partial), str(backup))) from error
    if lost:
        raise _unusable(backup, lost)
    for side in SIDE_FILES:
        Path(f"{partial}{side}").unlink(missing_ok=True)
    return nodes, problems


def _unusable(backup: Path, problem: str) -> CorruptStoreError:
    return CorruptStoreError(
        f"{backup} is damaged itself ({problem}), so nothing was replaced. "
        f"Use another backup, or repair this one: clew verify --repair --store {backup}",
        path=str(backup),
    )


# --- the store that is replaced ---


@contextmanager
def _unused(path: Path) -> Iterator[None]:
    """Keep everybody else from the store inside; raise if somebody has it open."""
    if open_here(path):
        raise StoreBusyError(f"{path} is open in this process. Close it first.", path=str(path))
    if not path.exists():
        yield
        return
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
        locked = _exclusive(connection, path)
        if locked:
            yield
    if not locked:  # SQLite does not lock what it cannot read
        with _locked_bytes(path):
            yield


def _exclusive(connection: sqlite3.Connection, path: Path) -> bool:
    """Take the exclusive lock and write the journal back, so that the file is whole without it.

    Return False if it is damaged.
    """
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        connection.execute("PRAGMA locking_mode = NORMAL")
        # lets go of the lock, and of a journal that it kept
        connection.execute("SELECT 1 FROM sqlite_master").fetchall()
        connection.execute("BEGIN EXCLUSIVE")
    except SQLITE_ERRORS as error:
        if (getattr(error, "sqlite_errorname", "") or "").startswith(
            ("SQLITE_BUSY", "SQLITE_LOCKED")
        ):
            raise _in_use(path) from error
        return False
    return True


@contextmanager
def _locked_bytes(path: Path) -> Iterator[None]:
    """Hold the bytes that SQLite locks in a file.

    Where the system has no such locks, open files cannot be replaced either.
    """
    try:
        import fcntl  # noqa: PLC0415 - not on every system
    except ImportError:
        yield
        return
    descriptor = os.open(path, os.O_RDWR)
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, LOCK_BYTES, FIRST_LOCK_BYTE)
        yield
    except BlockingIOError as error:
        raise _in_use(path) from error
    finally:
        os.close(descriptor)


def _in_use(path: Path) -> StoreBusyError:
    users = sorted(_users(path))
    who = f"process {', '.join(map(str, users))}" if users else "another process"
    return StoreBusyError(
        f"{path} is in use by {who}. Stop it, and restore again.", path=str(path), processes=users
    )


def _users(path: Path) -> set[int]:
    """Return the processes that hold a lock on a file, as far as the system tells."""
    with suppress(OSError, ValueError, IndexError):
        inode = str(path.stat().st_ino)
        locks = [
            line.split() for line in Path("/proc/locks").read_text(encoding="ascii").splitlines()
        ]
        users = {
            int(lock[4])
            for lock in locks
            if lock[1] == "POSIX" and lock[5].rpartition(":")[2] == inode
        }
        return users - {-1, 0, os.getpid()}
    return set()


def _switch(partial: Path, path: Path, *, keep: bool) -> Path | None:
    """Put the new file in its place in one step.

    A journal that belongs to the old one must not stay beside it.
    """
    replaced = None
    if path.exists():
        partial.chmod(path.stat().st_mode & 0o777)
        if keep:
            replaced = next(name for name in _names(path) if not name.exists())
            os.link(path, replaced)
    else:
        partial.chmod(0o600)
    for side in SIDE_FILES:
        left = Path(f"{path}{side}")
        if replaced is not None and side != "-shm" and left.exists():
            left.rename(f"{replaced}{side}")  # the old store is whole only with it
        left.unlink(missing_ok=True)
    partial.replace(path)
    sync(path.parent)
    return replaced


def _names(path: Path) -> Iterator[Path]:
    return (
        path.with_name(f"{path.name}.replaced{f'.{number}' if number > 1 else ''}")
        for number in count(1)
    )


def _remove(partial: Path) -> None:
    for left in partial.parent.glob(f"{partial.name}*") if partial.parent.is_dir() else ():
        left.unlink()
