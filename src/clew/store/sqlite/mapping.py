"""The file as memory, for as long as much of it is read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

MOST_BYTES = 1 << 31  # SQLite maps no more anyway; what lies behind is read as always


@contextmanager
def mapped(connection: sqlite3.Connection) -> Iterator[None]:
    """Read straight from the file's pages inside, not through SQLite's page cache: large blobs arrive several times as fast.

    Not for good: a failing disk ends a process that reads mapped pages, where otherwise it gets an error.
    """
    before = connection.execute("PRAGMA mmap_size").fetchone()
    if before is None:  # a SQLite that was built without
        yield
        return
    connection.execute(f"PRAGMA mmap_size = {MOST_BYTES}").fetchall()
    try:
        yield
    finally:
        connection.execute(f"PRAGMA mmap_size = {before[0]}").fetchall()
