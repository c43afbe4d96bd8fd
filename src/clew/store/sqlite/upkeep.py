"""Keeping the indexes in step with write transactions: what is read anew after one, and when the segments are written."""

from __future__ import annotations

import sqlite3
from contextlib import suppress

from clew.store.sqlite import counting, erasure, segments
from clew.store.sqlite.dense import DenseSearch
from clew.store.sqlite.lexical import WordSearch
from clew.store.sqlite.row_checks import MAX_DIMENSION
from clew.store.sqlite.rows import damaged

ACTIVE_MODEL = "SELECT m.mid, m.name, m.dimension FROM meta JOIN model m ON m.mid = meta.value WHERE meta.key = 'model'"
Model = tuple[int, str, int]


class Upkeep:
    """Watches the write transactions of one store; called under its write lock."""

    def __init__(self, dense: DenseSearch, words: WordSearch) -> None:
        self._dense = dense
        self._words = words
        self._before = 0
        self._left = 0  # rows that may change until segments can be due; none: look
        self._uncounted = 0  # and until nodes have to be counted
        self.waiting = False  # whether a deletion waits for the journal to be cut
        self._writer: sqlite3.Connection | None = None  # whose transaction is under way
        self._asked: tuple[int, Model | None] | None = None  # the model, and how much had been changed when it was asked for

    def began(self, connection: sqlite3.Connection) -> None:
        """Begin with nothing uncommitted."""
        self._before = connection.total_changes
        self._writer, self._asked = connection, None
        self._dense.transaction_began(connection)
        self._words.transaction_moved()

    def ending(self, connection: sqlite3.Connection) -> None:
        """Count the nodes and write the segments that are due.

        A log grows by no more rows than SQLite says were changed. Asking the file at every commit would cost more than that.
        """
        self._writer = None
        changes = connection.total_changes - self._before
        self._left -= changes
        self._uncounted -= changes
        if self._uncounted <= 0:
            self._uncounted = counting.count_if_due(connection)
        if self._left <= 0:
            self._left = min(self._dense.checkpoint_if_due(connection), segments.checkpoint_if_due(connection))

    def committed(self, connection: sqlite3.Connection) -> None:
        """Cut the journal if somebody deleted something and nobody is reading just now; else the next commit tries again."""
        with suppress(sqlite3.Error):
            self.waiting = erasure.marked(connection) is not None
            if self.waiting:
                with erasure.patience(connection, 0):
                    self.waiting = not erasure.settle(connection)

    def undone(self) -> None:
        """Forget what was seen inside: all or a part of it is rolled back."""
        self._writer = None
        self._dense.rolled_back()
        self._words.transaction_moved()
        self.look()

    def model(self, connection: sqlite3.Connection) -> Model | None:
        """Return the number, name and dimension of the active model; the file is asked once by a transaction until it writes."""
        if connection is not self._writer:  # another thread's, or one that only reads: others may write meanwhile
            return _model(connection)
        asked = self._asked
        if asked is None or asked[0] != connection.total_changes:
            asked = self._asked = (connection.total_changes, _model(connection))
        return asked[1]

    def look(self) -> None:
        """Ask at the next commit whether anything is due, however little has changed."""
        self._left = self._uncounted = 0


def _model(connection: sqlite3.Connection) -> Model | None:
    row: Model | None = connection.execute(ACTIVE_MODEL).fetchone()
    if row is not None and not (type(row[1]) is str and row[1] and type(row[2]) is int and 0 < row[2] <= MAX_DIMENSION):
        raise damaged("The name or dimension of the store's model", row[1:], table="model")
    return row
