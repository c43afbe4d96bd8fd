"""Erase what deletions leave behind in the files of a store, and look for it.

`secure_delete` overwrites deleted rows and free pages. Two kinds of copies stay: pages in the
journal as they were before, until it is cut, and cells that SQLite has moved to another page, whose
old bytes stay in the unused part of a page until it is rewritten. The journal is cut after every
deletion; a mark in `meta` outlives a process that could not do so. A file in which a moved copy is
found is rewritten by VACUUM.
"""

from __future__ import annotations

import base64
import json
import os
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from glob import escape
from itertools import chain, islice, zip_longest
from pathlib import Path

import numpy as np
import numpy.typing as npt

from clew.forking import after_fork

# Search the raw bytes of a store's files for pieces of text.
#
# POSIX drops all locks that a process holds on a file as soon as the process closes any descriptor
# of it. The main file
# is therefore opened at most once per process, and that descriptor is closed together with the last
# `Database` on it.
# SQLite keeps no locks in the journal, which may be opened and closed at any time. It keeps locks
# in the `-shm` file,
# which holds page numbers and no text: that file is never opened here.

# a longer text is cut into windows: SQLite cuts rows at page borders, and a copy may be cut short
WINDOW_BYTES = 48
LEAST_BYTES = 8  # shorter pieces occur by chance
ANCHOR_BYTES = 15  # any so many bytes in a row hold eight that begin at a multiple of eight
MOST_WINDOWS = 4096  # for one search
BLOCK_BYTES = 1 << 20  # stays in the processor's cache
# of one piece in one block: a text that repeats itself would be counted at every repetition
MOST_COUNTED = 16
TABLE_BITS = 20
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)

Identity = tuple[int, int]
Words = npt.NDArray[np.uint64]


class _MainFiles:
    """The store files that this process has open with SQLite, and the descriptor of each that was searched."""

    def __init__(self) -> None:
        self._users: Counter[Identity] = Counter()
        self._descriptors: dict[Identity, int] = {}
        self._lock = threading.Lock()
        after_fork(self._renew)

    def _renew(self) -> None:
        """Open files anew in a forked child.

        It shares the place in a file with its parent, and has none of its locks.
        """
        self._lock = threading.Lock()
        for descriptor in self._descriptors.values():
            os.close(descriptor)
        self._descriptors = {}

    def hold(self, identity: Identity) -> None:
        """Count one more user of a file, whose locks must survive a search."""
        with self._lock:
            self._users[identity] += 1

    def release(self, identity: Identity) -> None:
        """Count one user less, and close the descriptor with the last one."""
        with self._lock:
            self._users[identity] -= 1
            if self._users[identity] <= 0:
                del self._users[identity]
                if identity in self._descriptors:
                    os.close(self._descriptors.pop(identity))

    def count(self, path: Path, identity: Identity, windows: Windows) -> Counter[bytes]:
        """Count windows in a file that is held."""
        with self._lock:
            if identity not in self._descriptors:
                self._descriptors[identity] = _opened(path)
            return _count(self._descriptors[identity], windows)


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))


main_files = _MainFiles()


def count_in_file(path: Path, windows: Windows) -> Counter[bytes]:
    """Count windows in a file on which SQLite holds no locks.

    A file that does not exist holds none.
    """
    try:
        descriptor = _opened(path)
    except FileNotFoundError:
        return Counter()
    try:
        return _count(descriptor, windows)
    finally:
        os.close(descriptor)


def _count(descriptor: int, windows: Windows) -> Counter[bytes]:
    found: Counter[bytes] = Counter()
    for begin in range(0, os.fstat(descriptor).st_size, BLOCK_BYTES):
        os.lseek(descriptor, begin, os.SEEK_SET)
        found += windows.count(
            os.read(descriptor, BLOCK_BYTES + windows.overlap), until=BLOCK_BYTES
        )
    return found


def windows_of(texts: Iterable[str]) -> Iterator[bytes]:
    """Yield the windows of texts as a store writes them: as they are, and as JSON.

    A text that is too short has none.

    At most MOST_WINDOWS, taken evenly from all texts.
    """
    cut = [
        list(_cut(form))
        for text in texts
        for form in dict.fromkeys((_utf8(text), _utf8(_json(text, ascii_only=False))))
    ]
    evenly = (window for row in zip_longest(*cut) for window in row if window is not None)
    return islice(_unrepeated(dict.fromkeys(evenly)), MOST_WINDOWS)


def forms_of(text: str) -> Iterator[bytes]:
    """Yield every way in which somebody may have written a text: UTF-8, UTF-16, JSON, base64.

    Long ones in windows.
    """
    plain = _utf8(text)
    wide = (text.encode(name, "surrogatepass") for name in ("utf-16-le", "utf-16-be"))
    written = (_utf8(_json(text, ascii_only=ascii_only)) for ascii_only in (False, True))
    forms = dict.fromkeys((plain, *written, *wide, *map(_base64, (plain,) * 3, range(3))))
    return islice(
        dict.fromkeys(chain.from_iterable(_cut(form, least=1) for form in forms)), MOST_WINDOWS
    )


def _unrepeated(windows: Iterable[bytes]) -> Iterator[bytes]:
    """Leave out windows of a text that repeats itself: those before them find it too."""
    known: set[int] = set()
    for window in windows:
        words = {word for word, _ in _anchors(window)}
        if not words or not words <= known:
            known |= words
            yield window


def _anchors(piece: bytes) -> list[tuple[int, int]]:
    """Return eight words of a long piece, each with its place.

    They are from its middle, for many texts begin alike.
    """
    first = (len(piece) - ANCHOR_BYTES) // 2
    return (
        [(int.from_bytes(piece[at : at + 8], "little"), at) for at in range(first, first + 8)]
        if first >= 0
        else []
    )


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _json(text: str, *, ascii_only: bool) -> str:
    return json.dumps(text, ensure_ascii=ascii_only)[1:-1]


def _base64(data: bytes, shift: int) -> bytes:
    """Return the characters that depend on the data alone when it begins `shift` bytes behind a multiple of three."""
    encoded = base64.b64encode(bytes(shift) + data)
    return encoded[(8 * shift + 5) // 6 : 8 * (shift + len(data)) // 6]


def _cut(data: bytes, *, least: int = LEAST_BYTES) -> Iterator[bytes]:
    """Yield pieces that cover the data, each of WINDOW_BYTES.

    The last one reaches back into the one before it.
    """
    if len(data) <= WINDOW_BYTES:
        if len(data) >= least:
            yield data
        return
    last = len(data) - WINDOW_BYTES
    for begin in range(0, len(data), WINDOW_BYTES):
        yield data[min(begin, last) : min(begin, last) + WINDOW_BYTES]


class Windows:
    """Pieces of bytes, all counted in one pass over the data.

    A piece of 15 bytes or more holds eight bytes that begin at a multiple of eight wherever it
    stands. Only those words of the data are looked up, so that a gigabyte takes about a second
    whatever the number of pieces.
    """

    def __init__(self, pieces: Iterable[bytes]) -> None:
        every = tuple(dict.fromkeys(pieces))
        self.overlap = max(map(len, every), default=1) - 1
        self._short = [piece for piece in every if len(piece) < ANCHOR_BYTES]
        self._anchors: dict[int, list[tuple[bytes, int]]] = {}
        for piece in every:
            for word, at in _anchors(piece):
                self._anchors.setdefault(word, []).append((piece, at))
        self._keys = np.array(sorted(self._anchors), np.uint64)
        self._table = np.zeros(1 << TABLE_BITS, np.bool_)
        self._table[_slots(self._keys)] = True

    def count(self, data: bytes, *, until: int) -> Counter[bytes]:
        """Count how often each piece begins before `until`, up to MOST_COUNTED.

        Pieces that do not occur are left out.
        """
        found = self._count_long(data, until)
        for piece in self._short:
            at = data.find(piece)
            while 0 <= at < until and found[piece] < MOST_COUNTED:
                found[piece] += 1
                at = data.find(piece, at + 1)
        return +found

    def _count_long(self, data: bytes, until: int) -> Counter[bytes]:
        """Count the long pieces.

        Wherever one stands, exactly one of its eight anchors begins at a multiple of eight.
        """
        found: Counter[bytes] = Counter()
        if not len(self._keys):
            return found
        words: Words = np.frombuffer(data, "<u8", len(data) // 8)
        likely = np.flatnonzero(self._table[_slots(words)])
        likely = likely[np.isin(words[likely], self._keys)]
        for at, word in zip(likely.tolist(), words[likely].tolist(), strict=True):
            for piece, offset in self._anchors[word]:
                begin = 8 * at - offset
                if (
                    found[piece] < MOST_COUNTED
                    and 0 <= begin < until
                    and data.startswith(piece, begin)
                ):
                    found[piece] += 1
        return found


def _slots(words: Words) -> npt.NDArray[np.uint64]:
    return (words * MULTIPLIER) >> np.uint64(64 - TABLE_BITS)


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
    return {
        path.name: main_files.count(path, identity, windows),
        journal.name: count_in_file(journal, windows),
    }


def backups(path: Path) -> list[Path]:
    """Return the copies beside a store.

    Those made before a migration, and what an interrupted copy has left.
    """
    name = escape(path.name)
    return sorted([*path.parent.glob(f"{name}.v*.backup*"), *path.parent.glob(f".{name}*.partial")])


def schema(connection: sqlite3.Connection) -> bytes:
    """Return the statements that made the tables: what they say is in every file."""
    return "\0".join(
        sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
    ).encode()


def live(connection: sqlite3.Connection, pieces: Sequence[bytes]) -> set[bytes]:
    """Return those of the pieces that a row still holds, whatever its table."""
    found: set[bytes] = set()
    windows = Windows(pieces)
    for table, columns in _text_columns(connection):
        cursor = connection.execute(f'SELECT {columns} FROM "{table}"')
        while rows := cursor.fetchmany(ROWS_AT_ONCE):
            data = "\0".join(cell for row in rows for cell in row if isinstance(cell, str)).encode(
                "utf-8", "surrogatepass"
            )
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
