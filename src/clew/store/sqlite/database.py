"""Connections to one store file.

One per thread, foreign errors translated, writes in nested transactions.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from urllib.parse import quote
from weakref import WeakSet

from clew.errors import (
    ClewError,
    CorruptStoreError,
    NotAStoreError,
    ReadOnlyError,
    StoreBusyError,
    StoreError,
    StoreFullError,
    clipped,
)
from clew.files import create_private_file, make_private_folder
from clew.forking import around_fork
from clew.store.sqlite import erasure as rawbytes
from clew.store.sqlite.schema import (
    MIGRATIONS,
    Migration,
    check,
    lend_tables,
    migrate,
    refuse_foreign,
)

# Room in the journal ahead of its end, so that a commit writes over blocks that are there already.
#
# A file that becomes longer is flushed with its size and its new blocks, for which the file system
# writes a journal of its own: beside
# one that keeps its length a commit took twice as long and a fifth more of the processor. SQLite
# lengthens its journal by each commit's
# pages until the first checkpoint, after which it begins again at the front; Python gives no way to
# tell it otherwise.
#
# Zeros behind the last frame are nothing to SQLite: a frame counts with the journal's salt and a
# checksum over all before it, and behind
# the end of a journal that began again there are the frames of the round before. The zeros are
# written, not only reserved: the first
# write to a reserved block is one that its file system has to note.

LEAST_BYTES = 1 << 19  # a process that writes a few memories needs no room
UNSEEN_COMMITS = 64  # between two looks at a journal that has grown to its full length
STEP_BYTES = 1 << 22  # at most at once: whoever commits next waits until it is on the disk


class Journal:
    """The journal beside a store file, as one process sees it.

    Used by whoever holds the write lock.
    """

    def __init__(self, path: Path, *, most_bytes: int) -> None:
        self._path = f"{os.fspath(path)}-wal"
        self._most_bytes = most_bytes
        self._size = 0  # when it was last seen
        self._commits = 0  # since then

    def make_room(self) -> None:
        """Double the journal where it has grown, within bounds.

        Only under the file's write lock, when nobody else appends to it.
        """
        if self._size >= self._most_bytes and self._commits < UNSEEN_COMMITS:
            # it has all the room it gets, and hardly ever loses it: `compact` cuts it
            self._commits += 1
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
        # At the end, wherever that is by now, and only of a file that is there. SQLite holds no
        # lock on it that closing would lose.
        journal = os.open(self._path, os.O_WRONLY | os.O_APPEND)
        try:
            return os.write(journal, bytes(room))
        finally:
            os.close(journal)


# of every connection, and every thread has one: the system caches the file for all of them
PAGE_CACHE_KIB = 2 * 1024
IMPATIENT_MILLISECONDS = 100
FLUSHING = ("FULL", "EXTRA")  # settings of `synchronous` under which a commit waits for the disk
# 16 MiB of journal: a single add writes about 10 pages, and a checkpoint costs it 5 ms
CHECKPOINT_PAGES = 4000
FRAME_BYTES = 4096 + 24  # of a page and its head in the journal
# switching a new file to WAL ignores the busy timeout; processes that open it together retry
OPENING_PAUSE_SECONDS = 0.02
FORKING_PAUSE_SECONDS = 0.001
CREATING = threading.Lock()

# Python cannot decode SQLite's message either where that repeats a damaged schema.
SQLITE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
UNDECODABLE = "Could not decode to UTF-8"  # how Python's message about a damaged text begins
CLOSED = "The store is closed. Open it again with clew.open(path)."
FORKED = "This process was forked while the store was in use, so it must not touch the file. Fork when nothing uses the store, or spawn."
# connections of the parent, by the file that this process must leave alone; kept from being closed
INHERITED: dict[Path, object] = {}


def migrations() -> tuple[Migration, ...]:
    """Return the steps that make a store as this version of Clew knows it."""
    return MIGRATIONS


OPEN: WeakSet[Database] = WeakSet()


def open_here(path: Path) -> bool:
    """Tell whether this process has a store open at a path."""
    return any(each.is_open_at(path.resolve()) for each in list(OPEN))


def space_code(space: str) -> int:
    """Return a 64-bit number for a space, the same in every process.

    >>> f"{space_code('default'):016x}"
    'fe98b07b1ba6b3a2'
    """
    return int.from_bytes(hashlib.blake2b(space.encode(), digest_size=8).digest(), "big")


class Translating:
    """Turns SQLite's errors into Clew's. A class and not a generator.

    Every read passes through it.
    """

    __slots__ = ("_database",)

    def __init__(self, database: Database) -> None:
        self._database = database

    def __enter__(self) -> sqlite3.Connection:
        """Return this thread's connection."""
        try:
            lent = self._database.lend()
        except SQLITE_ERRORS as error:
            raise self._database.translation(error) from error
        return lent.connection

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Translate what SQLite raised; let everything else pass."""
        self._database.give_back()
        if error is not None and (found := self._database.explanation(error)):
            raise found from error


def _name(error: Exception) -> str:
    """Return SQLite's name of an error; nothing for one of Python's own."""
    return getattr(error, "sqlite_errorname", "") or ""


def _undecodable(error: Exception) -> bool:
    return isinstance(error, UnicodeDecodeError) or str(error).startswith(UNDECODABLE)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - before every write; a Path's own takes twice as long
    except OSError:
        return None
    return found.st_dev, found.st_ino


class Lent:
    """A thread's connection, and how many of its callers use it now."""

    __slots__ = ("connection", "open", "uses")

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.uses = 0
        self.open = True

    def close(self) -> None:
        """End the connection; whoever asks for it next gets another."""
        self.open = False
        self.connection.close()


class Database:
    """A store file, opened once per thread that uses it."""

    def __init__(self, path: Path, *, synchronous: str, busy_timeout_seconds: float) -> None:
        self.path = path
        self.read_only = path.exists() and not (
            os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
        )
        self._synchronous = synchronous
        self._busy_timeout_seconds = busy_timeout_seconds
        # all waits of an opening together
        self._opening_until: float | None = time.monotonic() + busy_timeout_seconds
        self.diagnose: Callable[[sqlite3.Connection], ClewError | None] = lambda _: None
        self._diagnosing = threading.local()
        self._local = threading.local()
        self._connections: dict[threading.Thread, Lent] = {}
        self._lock = threading.Lock()
        self._journal = Journal(path.resolve(), most_bytes=CHECKPOINT_PAGES * FRAME_BYTES)
        self.writing = threading.RLock()  # held by the thread whose write transaction is under way
        # what SQLite counts of the changes of that transaction while it has made none
        self.unwritten: int | None = None
        self._refusal = FORKED if path.resolve() in INHERITED else ""
        self._translating = Translating(self)
        self._lending = threading.Event()
        self._lending.set()
        around_fork(before=self._before_fork, parent=self._after_fork, child=self._in_child)
        self.backup_made: Path | None = None
        try:
            with self.writing:
                self._place, self._identity = path.resolve(), None
                # not `translated`, which would open the file before it is known to be a store
                self._prepare()
        except BaseException as error:
            self.close()
            if isinstance(error, SQLITE_ERRORS):
                raise self.translation(error) from error
            raise
        self._identity = _identity(self._place)
        OPEN.add(self)
        if self._identity is not None:
            rawbytes.main_files.hold(self._identity)

    def is_open_at(self, place: Path) -> bool:
        """Tell whether this is an open store at a resolved path."""
        return self._place == place and self._refusal != CLOSED

    def opened(self) -> None:
        """End the opening: from now on every operation may wait for the whole busy timeout."""
        self._opening_until = None
        with self.translated() as connection:
            self._set_patience(connection, self._busy_timeout_seconds)

    def _patience(self) -> float:
        """Return how long a lock may still be waited for."""
        if self._opening_until is None:
            return self._busy_timeout_seconds
        return max(0.0, self._opening_until - time.monotonic())

    @staticmethod
    def _set_patience(connection: sqlite3.Connection, seconds: float) -> None:
        connection.execute(f"PRAGMA busy_timeout = {round(seconds * 1000)}")

    @property
    def files(self) -> tuple[Path, rawbytes.Identity | None]:
        """The resolved path of the store file, and which file it was when it was opened."""
        return self._place, self._identity

    def check_place(self) -> None:
        """Raise if the file is no longer where it was opened.

        SQLite would go on with one that has no name, and lose what is written.
        """
        if _identity(self._place) != self._identity:
            raise StoreError(
                f"{self.path} was moved, deleted or replaced while it was open. Put it back, or open the store again.",
                path=str(self.path),
            )

    def _before_fork(self) -> None:
        """Close what can be closed, once the other threads are done, and lend nothing until the process has forked.

        SQLite keeps a list of the files a process has open, with the locks on them. A child
        inherits the list but not the locks: even a connection of its own would then count on locks
        that nobody holds, and a parent that closes takes the journal away.
        """
        self._paused = self.writing.acquire(timeout=self._busy_timeout_seconds)
        self._lending.clear()
        this, until = threading.current_thread(), time.monotonic() + self._busy_timeout_seconds
        while (
            any(lent.uses for thread, lent in list(self._connections.items()) if thread is not this)
            and time.monotonic() < until
        ):
            time.sleep(FORKING_PAUSE_SECONDS)
        self._lock.acquire()
        for thread, lent in list(self._connections.items()):
            if not lent.uses and not lent.connection.in_transaction:
                self._connections.pop(thread).close()

    def _after_fork(self) -> None:
        self._lock.release()
        self._lending.set()
        if self._paused:
            self.writing.release()

    def _in_child(self) -> None:
        """Begin anew. Where a connection was in use, SQLite forbids the child to use the file, or even to close what is the parent's."""
        if self._connections:
            INHERITED[self.path.resolve()] = self._connections
            self._refusal = FORKED
        self._connections = {}
        self._lock, self.writing, self.unwritten = threading.Lock(), threading.RLock(), None
        # another: the parent's may have been locked by a thread that waited
        self._lending = threading.Event()
        self._lending.set()

    def _prepare(self) -> None:
        refuse_foreign(self.path)
        if self.read_only:
            check(self.connection, self.path, migrations=MIGRATIONS)
            return
        try:
            make_private_folder(self.path.parent)
            if not self._place.exists():
                # One thread at a time: closing a file takes a process the locks that another
                # thread's connection has on it.
                with CREATING, suppress(FileExistsError):
                    # SQLite gives the journal the mode of the file
                    os.close(create_private_file(self._place))
        except OSError as error:
            raise ReadOnlyError(
                f"{self.path} cannot be made ({error.strerror}). Choose another place with --store.",
                path=str(self.path),
            ) from error
        self.backup_made = migrate(self.connection, self.path, migrations=MIGRATIONS)

    @property
    def connection(self) -> sqlite3.Connection:
        """This thread's connection."""
        return self._lent().connection

    @property
    def in_transaction(self) -> bool:
        """Whether this thread is inside a transaction, whose beginning looked for the file.

        Opens nothing: a file that is gone stays so.
        """
        found: Lent | None = getattr(self._local, "lent", None)
        return found is not None and found.open and found.connection.in_transaction

    def lend(self) -> Lent:
        """Return this thread's connection, marked as in use until it is given back."""
        while True:
            lent = self._lent()
            lent.uses += 1
            if lent.uses > 1 or (self._lending.is_set() and lent.open):
                return lent
            lent.uses -= 1  # the process is forking, or has closed it before it was marked
            self._lending.wait()

    def give_back(self) -> None:
        """Take note that a caller is done with this thread's connection."""
        self._local.lent.uses -= 1

    def _lent(self) -> Lent:
        if self._refusal:
            raise StoreError(self._refusal, path=str(self.path))
        found: Lent | None = getattr(self._local, "lent", None)
        if found is None or not found.open:
            with self._lock:  # none is opened while the process forks
                found = self._local.lent = Lent(self._connect())
                self._close_of_ended_threads()
                self._connections[threading.current_thread()] = found
        return found

    def _close_of_ended_threads(self) -> None:
        for thread in [thread for thread in self._connections if not thread.is_alive()]:
            self._connections.pop(thread).close()

    @property
    def _mode(self) -> str:
        """How the file may be opened. Reading a WAL file takes two side files.

        Where they cannot be made, nobody writes either.
        """
        if not self.read_only:
            return "mode=rwc"
        frozen = (
            not os.access(self._place.parent, os.W_OK) and not Path(f"{self._place}-wal").exists()
        )
        return "mode=ro&immutable=1" if frozen else "mode=ro"

    def _connect(self) -> sqlite3.Connection:
        until = time.monotonic() + self._patience()
        connection = sqlite3.connect(
            f"file:{quote(os.fsencode(self._place))}?{self._mode}",
            uri=True,
            isolation_level=None,  # transactions are begun by hand, always IMMEDIATE
            check_same_thread=False,  # close() runs in one thread for all
            cached_statements=256,
        )
        try:
            while not self._configured(connection, until):
                time.sleep(OPENING_PAUSE_SECONDS)
            self._set_patience(connection, self._patience())
        except BaseException:
            connection.close()
            raise
        return connection

    def _configured(self, connection: sqlite3.Connection, until: float) -> bool:
        """Configure a connection.

        Return whether that was done, and raise if the file is still locked at the end of the time.
        """
        left = until - time.monotonic()
        try:
            self._set_patience(connection, max(0.0, left))
            self._configure(connection)
        except sqlite3.OperationalError as error:
            if left <= 0 or not _name(error).startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
                raise
            return False
        return True

    def _configure(self, connection: sqlite3.Connection) -> None:
        connection.execute(f"PRAGMA cache_size = -{PAGE_CACHE_KIB}")
        # what a file's own views and triggers may call
        connection.execute("PRAGMA trusted_schema = OFF")
        # a damaged page is noticed when it is read
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA temp_store = MEMORY")
        if self.read_only:
            if check(connection, self.path, migrations=MIGRATIONS) < len(MIGRATIONS):
                lend_tables(connection)
        else:
            # Checked before the journal mode is touched: a foreign file must stay as it was.
            check(connection, self.path, migrations=MIGRATIONS)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {self._synchronous}")
            connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
            # forgotten bytes are overwritten, not left in free pages
            connection.execute("PRAGMA secure_delete = ON")

    @contextmanager
    def impatient(self) -> Iterator[None]:
        """Wait only briefly for another process's lock, and not for the disk, for writes that nobody waits for.

        In the journal they stand before whatever is committed next: that one's flush takes them
        along, or a checkpoint's does.
        """
        # inside one it is somebody's write, and SQLite allows no other
        alone = not self.in_transaction and self._synchronous in FLUSHING
        try:
            with self.translated() as connection:
                connection.execute(f"PRAGMA busy_timeout = {IMPATIENT_MILLISECONDS}")
                if alone:
                    connection.execute("PRAGMA synchronous = NORMAL")
            yield
        finally:
            with self.translated() as connection:
                self._set_patience(connection, self._busy_timeout_seconds)
                if alone:
                    connection.execute(f"PRAGMA synchronous = {self._synchronous}")

    def make_room(self) -> None:
        """Let the journal have room for what is about to be committed, where a commit waits for the disk. Only under the write lock."""
        if self._synchronous in FLUSHING:
            self._journal.make_room()

    def check_writable(self) -> None:
        """Raise if the file cannot be written, or is no longer there."""
        if self.read_only:
            raise ReadOnlyError(
                f"{self.path} cannot be written. Check the permissions of the file and its folder, or copy it elsewhere.",
                path=str(self.path),
            )
        self.check_place()

    def translated(self) -> Translating:
        """Lend this thread's connection and turn SQLite's errors into Clew's."""
        return self._translating

    def explanation(self, error: BaseException) -> ClewError | None:
        """Return the Clew error for what went wrong in the store.

        None for what is not the file's fault.

        Whatever SQLite cannot name and Python cannot decode is blamed on the file only if looking
        through it finds damage.
        """
        if not isinstance(error, Exception) or isinstance(error, ClewError | OSError):
            return None
        known = self.translation(error) if isinstance(error, SQLITE_ERRORS) else None
        vague = known is None or type(known) is StoreError or _undecodable(error)
        return (self._damage() or known) if vague else known

    def _damage(self) -> ClewError | None:
        """Look for the damage that an error may come from; not while looking already."""
        if getattr(self._diagnosing, "now", False):
            return None
        self._diagnosing.now = True
        try:
            return self.diagnose(self.connection)
        except SQLITE_ERRORS as error:
            return self.translation(error)
        finally:
            self._diagnosing.now = False

    def translation(self, error: sqlite3.Error | UnicodeDecodeError) -> ClewError:
        """Return the Clew error that stands for one of SQLite's."""
        name = _name(error)
        path = str(self.path)
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return StoreBusyError(
                f"{path} was locked by another process for {self._busy_timeout_seconds:g} s. "
                "Try again, or raise store.busy_timeout_seconds.",
                path=path,
            )
        # a quota or a limit of file sizes is an I/O error
        if name in ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHMSIZE"):
            return StoreFullError(
                f"No space left for {path}; the write was rolled back. Free space and try again.",
                path=path,
            )
        if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")):
            return ReadOnlyError(
                f"{path} cannot be opened or written ({clipped(str(error))}). Check the path and its permissions.",
                path=path,
            )
        if name == "SQLITE_NOTADB":
            return NotAStoreError(
                f"{path} is not a Clew store. Name another file with --store or CLEW_STORE; this one was left as it is.",
                path=path,
            )
        if name.startswith("SQLITE_CORRUPT") or _undecodable(error):
            return CorruptStoreError(
                f"{path} is damaged ({clipped(str(error))}). Put your last backup in its place: clew restore BACKUP; "
                "or save what can still be read: clew export FILE",
                path=path,
            )
        return StoreError(
            f"{path}: {clipped(str(error))}. Run: clew verify", path=path, sqlite=name
        )

    @contextmanager
    def reader(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection that sees only what is committed, also inside this thread's transaction."""
        connection = self._connect()
        try:
            yield connection
        finally:
            connection.close()

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._lock:
            self._refusal = CLOSED
            for lent in self._connections.values():
                lent.close()
            self._connections.clear()
            held, self._identity = self._identity, None
        if held is not None:
            rawbytes.main_files.release(held)
