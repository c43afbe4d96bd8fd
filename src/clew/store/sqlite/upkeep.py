"""Keeping the indexes in step with write transactions: what is read anew after one, and when the segments are written."""

from __future__ import annotations

import sqlite3

from clew.store.sqlite import segments
from clew.store.sqlite.dense import DenseSearch
from clew.store.sqlite.lexical import WordSearch


class Upkeep:
    """Watches the write transactions of one store; called under its write lock."""

    def __init__(self, dense: DenseSearch, words: WordSearch) -> None:
        self._dense = dense
        self._words = words
        self._before = 0
        self._left = 0  # rows that may change until segments can be due; none: look

    def began(self, connection: sqlite3.Connection) -> None:
        """Begin with nothing uncommitted."""
        self._before = connection.total_changes
        self._dense.transaction_began(connection)
        self._words.transaction_moved()

    def ending(self, connection: sqlite3.Connection) -> None:
        """Write the segments that are due.

        A log grows by no more rows than SQLite says were changed. Asking the file at every commit would cost more than that.
        """
        self._left -= connection.total_changes - self._before
        if self._left <= 0:
            self._left = min(self._dense.checkpoint_if_due(connection), segments.checkpoint_if_due(connection))

    def undone(self) -> None:
        """Forget what was seen inside: all or a part of it is rolled back."""
        self._dense.rolled_back()
        self._words.transaction_moved()
        self.look()

    def look(self) -> None:
        """Ask at the next commit whether segments are due, however little has changed."""
        self._left = 0
