"""A consistent copy of a store, under its final name only when it is whole."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from clew.errors import InputError, ReadOnlyError
from clew.files import create_private_file, make_private_folder

# in one step, from one snapshot: in WAL mode others go on writing, and their writes never start the
# copy anew
ALL_PAGES = -1


def copy_to(connection: sqlite3.Connection, path: Path) -> None:
    """Copy the store to a new file; an existing one is never overwritten."""
    try:
        if path.exists():
            raise InputError(
                "path",
                str(path),
                "exists already",
                "Name a file that does not exist; a backup never overwrites.",
            )
        partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
        make_private_folder(path.parent)
        _copy(connection, partial)
        partial.rename(path)
    except (OSError, ValueError) as error:  # no name, or one with a NUL in it
        said = getattr(error, "strerror", None) or "no file can have this name"
        raise ReadOnlyError(
            f"{path} cannot be made ({said}). Choose another place for the copy.", path=str(path)
        ) from error


def _copy(connection: sqlite3.Connection, partial: Path) -> None:
    try:
        partial.unlink(missing_ok=True)
        os.close(create_private_file(partial))
        with closing(sqlite3.connect(partial)) as copy:
            # nothing to go back to, and no second file to leave behind
            copy.execute("PRAGMA journal_mode = OFF").fetchall()
            connection.backup(copy, pages=ALL_PAGES)
        sync(partial)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def sync(path: Path) -> None:
    """Flush a file, or what a folder lists, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
