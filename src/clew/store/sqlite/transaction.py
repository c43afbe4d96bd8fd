"""Write transactions: the outermost commits, those inside it can be undone by themselves.

The outermost is a savepoint too: SQLite goes back to the beginning of a transaction and keeps its lock only by name. Until something is
written, levels inside need no savepoint of their own. One costs a copy of every page that changes in it, and each row whose table has
a trigger a look through all of these: of what it took to write 256 memories more than a third.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from types import TracebackType
from typing import Protocol

from clew.store.sqlite.database import SQLITE_ERRORS, Database


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


TAKE_LOCK = "UPDATE meta SET value = value WHERE FALSE"  # what writes nothing needs the lock, and waits for it, as BEGIN IMMEDIATE does


class Level:
    """Holds the write lock of the file; commits on leaving, rolls back on an exception. Nests.

    What the caller raises inside leaves as it is, but for SQLite's own errors where `translating` is asked for.
    A class and not a generator: every write passes through two of them.
    """

    __slots__ = ("_connection", "_database", "_lock", "_nested", "_saved", "_translating", "_watcher")

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

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
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
