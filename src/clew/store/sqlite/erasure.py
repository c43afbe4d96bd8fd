"""Erase what deletions leave behind in the files of a store, and look for it.

`secure_delete` overwrites deleted rows and free pages. Two kinds of copies stay: pages in the journal as they were
before, until it is cut, and cells that SQLite has moved to another page, whose old bytes stay in the unused part of a
page until it is rewritten. The journal is cut after every deletion; a mark in `meta` outlives a process that could not
do so. A file in which a moved copy is found is rewritten by VACUUM.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from glob import escape
from pathlib import Path

from clew.store.sqlite.rawbytes import Identity, Windows, count_in_file, main_files

ROWS_AT_ONCE = 2000
MARK = "erase"


def mark(connection: sqlite3.Connection) -> None:
    """Note, in the transaction that deletes, that the journal has to be cut after it."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, hex(randomblob(8)))", (MARK,))


def marked(connection: sqlite3.Connection) -> str | None:
    """Return the mark of a deletion that is still to be seen in the journal."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (MARK,)).fetchone()
    return row[0] if row else None


def settle(connection: sqlite3.Connection) -> bool:
    """Cut the journal if a deletion asked for it; tell whether none waits any more."""
    waiting = marked(connection)
    if waiting is None:
        return True
    if not cut_journal(connection):
        return False
    # By its value: another process may have deleted something since.
    connection.execute("DELETE FROM meta WHERE key = ? AND value = ?", (MARK, waiting))
    return True


def cut_journal(connection: sqlite3.Connection) -> bool:
    """Write the journal into the file and cut it to nothing; tell whether nobody was in the way."""
    try:
        busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.OperationalError:  # this very connection is reading
        return False
    return not busy


@contextmanager
def patience(connection: sqlite3.Connection, seconds: float) -> Iterator[None]:
    """Wait at most so long for the locks of others."""
    (before,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute(f"PRAGMA busy_timeout = {round(seconds * 1000)}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA busy_timeout = {before}")


def counts(path: Path, identity: Identity, windows: Windows) -> dict[str, Counter[bytes]]:
    """Return how often each window occurs in the files that a store owns, by file name."""
    journal = Path(f"{path}-wal")
    return {path.name: main_files.count(path, identity, windows), journal.name: count_in_file(journal, windows)}


def backups(path: Path) -> list[Path]:
    """Return the copies beside a store: those made before a migration, and what an interrupted copy has left."""
    name = escape(path.name)
    return sorted([*path.parent.glob(f"{name}.v*.backup*"), *path.parent.glob(f".{name}*.partial")])


def schema(connection: sqlite3.Connection) -> bytes:
    """Return the statements that made the tables: what they say is in every file."""
    return "\0".join(sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")).encode()


def live(connection: sqlite3.Connection, pieces: Sequence[bytes]) -> set[bytes]:
    """Return those of the pieces that a row still holds, whatever its table."""
    found: set[bytes] = set()
    windows = Windows(pieces)
    for table, columns in _text_columns(connection):
        cursor = connection.execute(f'SELECT {columns} FROM "{table}"')
        while rows := cursor.fetchmany(ROWS_AT_ONCE):
            data = "\0".join(cell for row in rows for cell in row if isinstance(cell, str)).encode("utf-8", "surrogatepass")
            found |= windows.count(data, until=len(data)).keys()
            if len(found) == len(pieces):
                cursor.close()  # or the journal could not be cut
                return found
    return found


def _text_columns(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return the tables with the columns of each that may hold text."""
    query = (
        "SELECT m.name, group_concat('\"' || c.name || '\"') FROM sqlite_master m, pragma_table_info(m.name) c "
        "WHERE m.type = 'table' AND c.type NOT IN ('INTEGER', 'REAL', 'BLOB') GROUP BY m.name ORDER BY m.name = 'node' DESC, m.name"
    )
    return connection.execute(query).fetchall()
