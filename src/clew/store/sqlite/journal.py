"""Room in the journal ahead of its end, so that a commit writes over blocks that are there already.

A file that becomes longer is flushed with its size and its new blocks, for which the file system writes a journal of its own: beside
one that keeps its length a commit took twice as long and a fifth more of the processor. SQLite lengthens its journal by each commit's
pages until the first checkpoint, after which it begins again at the front; Python gives no way to tell it otherwise.

Zeros behind the last frame are nothing to SQLite: a frame counts with the journal's salt and a checksum over all before it, and behind
the end of a journal that began again there are the frames of the round before. The zeros are written, not only reserved: the first
write to a reserved block is one that its file system has to note.
"""

from __future__ import annotations

import os
from pathlib import Path

LEAST_BYTES = 1 << 19  # a process that writes a few memories needs no room
UNSEEN_COMMITS = 64  # between two looks at a journal that has grown to its full length
STEP_BYTES = 1 << 22  # at most at once: whoever commits next waits until it is on the disk


class Journal:
    """The journal beside a store file, as one process sees it; used by whoever holds the write lock."""

    def __init__(self, path: Path, *, most_bytes: int) -> None:
        self._path = f"{os.fspath(path)}-wal"
        self._most_bytes = most_bytes
        self._size = 0  # when it was last seen
        self._commits = 0  # since then

    def make_room(self) -> None:
        """Double the journal where it has grown, within bounds. Only under the file's write lock, when nobody else appends to it."""
        if self._size >= self._most_bytes and self._commits < UNSEEN_COMMITS:
            self._commits += 1  # it has all the room it gets, and hardly ever loses it: `compact` cuts it
            return
        self._commits = 0
        try:  # not `suppress`: before every commit
            size = os.stat(self._path).st_size  # noqa: PTH116 - a Path's own takes twice as long
            if size != self._size:
                self._size = size + self._added(size)
        except OSError:  # a full disk: SQLite says so where it needs the room
            pass

    def _added(self, size: int) -> int:
        room = min(size, STEP_BYTES, self._most_bytes - size)
        if size < LEAST_BYTES or room <= 0:
            return 0
        # At the end, wherever that is by now, and only of a file that is there. SQLite holds no lock on it that closing would lose.
        journal = os.open(self._path, os.O_WRONLY | os.O_APPEND)
        try:
            return os.write(journal, bytes(room))
        finally:
            os.close(journal)
