"""Write transactions: the outermost commits, those inside it can be undone by themselves.

The outermost is a savepoint too: SQLite goes back to the beginning of a transaction and keeps its
lock only by name. Until something is written, levels inside need no savepoint of their own. One
costs a copy of every page that changes in it, and each row whose table has a trigger a look through
all of these: of what it took to write 256 memories more than a third.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from types import TracebackType
from typing import Protocol

from clew.store.sqlite import erasure, segments
from clew.store.sqlite import stats as counting
from clew.store.sqlite.database import SQLITE_ERRORS, Database
from clew.store.sqlite.dense import DenseSearch
from clew.store.sqlite.lexical import WordSearch
from clew.store.sqlite.row_checks import MAX_DIMENSION
from clew.store.sqlite.rows import damaged


class Watcher(Protocol):
    """Someone who keeps what is derived in step with what is written."""

    def began(self, connection: sqlite3.Connection) -> None:
        """Take note of a transaction that has written nothing yet."""

    def ending(self, connection: sqlite3.Connection) -> None:
        """Write what belongs into the transaction before it is committed."""

    def committed(self, connection: sqlite3.Connection) -> None:
        """Do what has to wait for the commit; must not raise."""

    def undone(self) -> None:
        """Forget what was seen inside: all or a part of it is rolled back."""


# what writes nothing needs the lock, and waits for it, as BEGIN IMMEDIATE does
TAKE_LOCK = "UPDATE meta SET value = value WHERE FALSE"


class Level:
    """Holds the write lock of the file; commits on leaving, rolls back on an exception. Nests.

    What the caller raises inside leaves as it is, but for SQLite's own errors where `translating`
    is asked for. A class and not a generator: every write passes through two of them.
    """

    __slots__ = (
        "_connection",
        "_database",
        "_lock",
        "_nested",
        "_saved",
        "_translating",
        "_watcher",
    )

    def __init__(self, database: Database, watcher: Watcher, *, translating: bool = False) -> None:
        self._database = database
        self._watcher = watcher
        self._translating = translating

    def _enter(self) -> sqlite3.Connection:
        self._lock = self._database.writing  # kept: in a forked child the database has another
        self._lock.acquire()
        try:
            self._begin()
        except BaseException as error:
            self._lock.release()
            if isinstance(error, SQLITE_ERRORS):
                raise self._database.translation(error) from error
            raise
        return self._connection

    def _begin(self) -> None:
        self._nested = self._database.in_transaction
        if not self._nested:
            self._database.check_writable()
        self._connection = connection = self._database.connection
        self._saved = self._nested and connection.total_changes != self._database.unwritten
        if self._saved:
            connection.execute("SAVEPOINT nested")
        elif not self._nested:
            self._begin_outermost(connection)

    def _begin_outermost(self, connection: sqlite3.Connection) -> None:
        connection.execute("SAVEPOINT outermost")
        try:
            connection.execute(TAKE_LOCK)
            self._watcher.began(connection)
        except BaseException:
            self._undo()
            raise
        self._database.unwritten = connection.total_changes

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Commit, or roll back what this level wrote."""
        try:
            if error is None:
                self._finish()
            else:
                self._undo()
        finally:
            if not self._nested:
                self._database.unwritten = None
            self._lock.release()
        if self._translating and error is not None and (found := self._database.explanation(error)):
            raise found from error

    def _finish(self) -> None:
        try:
            if self._saved:
                self._connection.execute("RELEASE nested")
            elif not self._nested:
                self._watcher.ending(self._connection)
                self._database.make_room()
                self._connection.execute("COMMIT")
        except BaseException as error:
            self._undo()
            if found := self._database.explanation(error):
                raise found from error
            raise
        if not self._nested:
            self._watcher.committed(self._connection)

    def _undo(self) -> None:
        self._watcher.undone()  # while the lock is held: what the next transaction sees is its own
        with suppress(sqlite3.Error):  # a full disk has rolled back already
            if self._saved:
                self._connection.execute("ROLLBACK TO nested")
                self._connection.execute("RELEASE nested")
            elif self._nested:
                self._connection.execute("ROLLBACK TO outermost")
            elif self._connection.in_transaction:
                self._connection.execute("ROLLBACK")


class Transaction(Level):
    """A level for those who write through the store alone."""

    __slots__ = ()

    def __enter__(self) -> None:
        """Take the lock."""
        self._enter()


class Writing(Level):
    """A level for the store's own statements."""

    __slots__ = ()

    def __enter__(self) -> sqlite3.Connection:
        """Take the lock and return this thread's connection."""
        return self._enter()


# Keeping the indexes in step with write transactions: what is read anew after one, and when the
# segments are written.

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
        # the model, and how much had been changed when it was asked for
        self._asked: tuple[int, Model | None] | None = None

    def began(self, connection: sqlite3.Connection) -> None:
        """Begin with nothing uncommitted."""
        self._before = connection.total_changes
        self._writer, self._asked = connection, None
        self._dense.transaction_began(connection)
        self._words.transaction_moved()

    def ending(self, connection: sqlite3.Connection) -> None:
        """Count the nodes and write the segments that are due.

        A log grows by no more rows than SQLite says were changed. Asking the file at every commit
        would cost more than that.
        """
        self._writer = None
        changes = connection.total_changes - self._before
        self._left -= changes
        self._uncounted -= changes
        if self._uncounted <= 0:
            self._uncounted = counting.count_if_due(connection)
        if self._left <= 0:
            self._left = min(
                self._dense.checkpoint_if_due(connection), segments.checkpoint_if_due(connection)
            )

    def committed(self, connection: sqlite3.Connection) -> None:
        """Cut the journal if somebody deleted something and nobody is reading just now.

        Else the next commit tries again.
        """
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
        """Return the number, name and dimension of the active model.

        The file is asked once by a transaction until it writes.
        """
        # another thread's, or one that only reads: others may write meanwhile
        if connection is not self._writer:
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
    if row is not None and not (
        type(row[1]) is str and row[1] and type(row[2]) is int and 0 < row[2] <= MAX_DIMENSION
    ):
        raise damaged("The name or dimension of the store's model", row[1:], table="model")
    return row
