"""Connections to PostgreSQL.

A pool, transactions of a thread, statements sent together, and errors in Clew's words.

Statements go to the server in batches, each one round trip: what a transaction begins with, its
savepoints and the space that row-level security lets it see travel with the next statement. Nothing
depends on the session, so a pooler may give every transaction another connection.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, TypeVar, cast
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg import Connection, errors
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from clew.errors import (
    ClewError,
    CorruptStoreError,
    InputError,
    ReadOnlyError,
    StoreBusyError,
    StoreError,
    StoreFullError,
)
from clew.forking import after_fork
from clew.store.postgres.schema import PARTITIONS, lock_key, migrate

SCHEMA = "clew"
POOL_SIZE = 16
RETRY_SECONDS = 0.05  # before a connection is tried again, doubled each time up to a second

# what it tells is in the error that Clew raises
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())

Row = tuple[Any, ...]
Rows = list[Row]
Statement = tuple[str, Sequence[Any]]
T = TypeVar("T")


class State(NamedTuple):
    """What was written to a space.

    How often, the highest numbers given out, and how far its stored blocks reach.
    """

    version: int = 0
    nid: int = 0
    eid: int = 0
    floor: int = 0
    """Changes up to this version are no longer in the log."""
    words_format: str = ""
    words_version: int = 0
    words_nid: int = 0
    vectors_model: int = 0
    vectors_version: int = 0
    vectors_eid: int = 0


STATE = (
    "SELECT m.mid, m.name, m.dimension, coalesce(s.version, 0), coalesce(s.nid, 0), coalesce(s.eid, 0), coalesce(s.floor, 0), "
    "coalesce(s.words_format, ''), coalesce(s.words_version, 0), coalesce(s.words_nid, 0), coalesce(s.vectors_model, 0), "
    "coalesce(s.vectors_version, 0), coalesce(s.vectors_eid, 0) "
    "FROM (SELECT 1) one LEFT JOIN model m ON m.active LEFT JOIN space s ON s.space = %s"
)

Model = tuple[int, str, int]


WHOLE_TABLES: Statement = (
    "SELECT set_config('enable_hashjoin', 'on', true), set_config('enable_seqscan', 'on', true)",
    (),
)
"""Sent before statements that read all of a space or a store, until the end of the transaction."""


def model_of(row: Row) -> Model | None:
    """Return the number, name and dimension of the active model from a row of STATE."""
    return None if row[0] is None else (row[0], row[1], row[2])


def state_of(row: Row) -> State:
    """Return the state of the space from a row of STATE."""
    return State(*row[3:])


def split_url(url: str) -> tuple[str, str]:
    """Return what libpq connects with, and the schema.

    Of all parameters of the URL only `schema` is ours.

    >>> split_url("postgresql://localhost/app?schema=agents&sslmode=require")
    ('postgresql://localhost/app?sslmode=require', 'agents')
    """
    parts = urlsplit(url)
    options = parse_qsl(parts.query, keep_blank_values=True)
    schema = next((value for key, value in options if key == "schema"), SCHEMA)
    if not 0 < len(schema.encode()) < 64 or "\0" in schema:
        raise InputError(
            "schema",
            schema,
            "is no name of a schema",
            "Use 1 to 63 bytes: postgresql://…?schema=NAME",
        )
    query = urlencode([(key, value) for key, value in options if key != "schema"])
    return urlunsplit(parts._replace(query=query)), schema


class Session:
    """One transaction of a thread.

    Read-only with one snapshot, or one that writes and locks the spaces it touches.
    """

    def __init__(self, database: Database, *, writing: bool) -> None:
        self._database = database
        self.writing = writing
        self._connection: Connection[Any] | None = None
        self._pending: list[Statement] = []
        # the space that row-level security lets through; None for every space, False for none yet
        self._seen: str | bool | None = False
        # of each level inside: how many statements had been sent when it began
        self._levels: list[int] = []
        self._sent = 0
        self.states: dict[str, State] = {}
        """The spaces that are locked, as this transaction has left them."""
        self.held: set[int] = set()
        self.model: Model | None = None
        self.dirty: set[str] = set()
        """Spaces that were written to."""
        self.overlays: dict[str, Any] = {}
        """What searches inside have made of uncommitted rows."""
        self.broken = False

    # --- statements ---

    def run(self, space: str | None, *statements: Statement) -> list[Rows]:
        """Send statements that may see one space, or every space, in one round trip.

        Return the rows of each.
        """
        if self.broken:
            raise StoreError(
                "The connection to the database was lost inside this transaction; nothing of it was written. Begin it again."
            )
        first = self._connection is None
        lead = [*self._beginning(), *self._pending] if first else self._pending
        if self._seen is False or self._seen != space:
            lead = [*lead, _visible(space)]
        self._pending, self._sent = [], self._sent + 1
        deadline, pause = time.monotonic() + self._database.patience, RETRY_SECONDS
        while True:
            try:
                rows = self._send([*lead, *statements])
            except psycopg.Error as error:
                lost = (
                    self._connection is None or self._connection.closed or self._connection.broken
                )
                self._give_up(lost=lost)
                if not (first and lost and time.monotonic() < deadline):
                    self.broken = lost
                    raise self._database.translation(error) from error
                # a server that restarts; nothing of this transaction had been done
                time.sleep(pause)
                pause = min(2 * pause, 1.0)
                continue
            break
        self._seen = space
        return rows[len(lead) :]

    def _send(self, statements: Sequence[Statement]) -> list[Rows]:
        if self._connection is None:
            self._connection = self._database.borrow()
        self._database.round_trips += 1
        cursors = [self._connection.cursor(binary=True) for _ in statements]
        with self._connection.pipeline():
            for cursor, (query, values) in zip(cursors, statements, strict=True):
                cursor.execute(query.encode(), values or None)
        return [
            cursor.fetchall() if cursor.description else [(cursor.rowcount,)] for cursor in cursors
        ]

    def _beginning(self) -> list[Statement]:
        mode = (
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
            if self.writing
            else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        )
        return [(mode, ()), self._database.setup]

    def _give_up(self, *, lost: bool) -> None:
        connection = self._connection
        if connection is not None and lost:
            self._connection = None
            self._database.give_back(connection)

    def lock(self, *keys: int, shared: bool = False) -> None:
        """Let the next statements wait until nobody else holds these locks."""
        for key in sorted(set(keys) - self.held):
            self._pending.append(
                (
                    "SELECT pg_advisory_xact_lock_shared(%s)"
                    if shared
                    else "SELECT pg_advisory_xact_lock(%s)",
                    [key],
                )
            )
            self.held.add(key)

    # --- levels ---

    def enter(self) -> None:
        """Begin a level inside, which can be undone by itself."""
        self._levels.append(self._sent)
        self._pending.append((f"SAVEPOINT level_{len(self._levels)}", ()))

    def leave(self, *, failed: bool) -> None:
        """End the innermost level."""
        name, sent = f"level_{len(self._levels)}", self._levels.pop()
        if sent == self._sent:  # nothing was sent since
            at = next(
                place
                for place in range(len(self._pending) - 1, -1, -1)
                if self._pending[place][0] == f"SAVEPOINT {name}"
            )
            if failed:
                del self._pending[at:]
                self._forget()
            else:
                del self._pending[at]
            return
        if not failed:
            self._pending.append((f"RELEASE {name}", ()))
            return
        self._pending = []
        self._forget()
        if self._connection is not None and not self.broken:
            try:
                self._send([(f"ROLLBACK TO {name}", ()), (f"RELEASE {name}", ())])
            except psycopg.Error as error:
                self.broken = True
                raise self._database.translation(error) from error
            self._seen = False

    def _forget(self) -> None:
        """Forget what was locked and counted inside.

        A rollback to a savepoint gives back the locks that were taken after it.
        """
        self.states, self.held, self.model = {}, set(), None
        self.overlays = {}

    def commit(self, *statements: Statement, space: str | None = None) -> list[Rows]:
        """Send the last statements with the commit."""
        if self._connection is None and not statements:
            return []
        if not self.writing:
            *rows, _ = self.run(space, *statements, ("COMMIT", ()))
        else:
            rows = self.run(space, *statements) if statements else []
            self._commit()
        self.close()
        return rows

    def _commit(self) -> None:
        if self._connection is None:
            return
        try:
            self._send([("COMMIT", ())])
        except psycopg.Error as error:
            lost = self._connection.closed or self._connection.broken
            self.broken = True
            if lost:
                self._give_up(lost=True)
                raise StoreBusyError(
                    "The connection to the database was lost during the commit, so whether the write was kept is not known. "
                    "Offer it again: a text that is there already is not kept twice."
                ) from error
            raise self._database.translation(error) from error

    def close(self) -> None:
        """Give the connection back; what was not committed is rolled back."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        if (
            not connection.closed
            and connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE
        ):
            with suppress(psycopg.Error):
                self._database.round_trips += 1
                connection.execute("ROLLBACK")
        self._database.give_back(connection)


def _visible(space: str | None) -> Statement:
    every = "on" if space is None else "off"
    return "SELECT set_config('clew.space', %s, true), set_config('clew.every_space', %s, true)", [
        space or "",
        every,
    ]


class Database:
    """The server of one store."""

    def __init__(
        self,
        url: str,
        *,
        busy_timeout_seconds: float,
        pool_size: int = POOL_SIZE,
        partitions: int = PARTITIONS,
    ) -> None:
        self.conninfo, self.schema = split_url(url)
        try:
            self.server = _without_secrets(conninfo_to_dict(self.conninfo))
        except psycopg.ProgrammingError:
            raise InputError(
                "path",
                "postgresql://…",
                "is no connection string that libpq understands",
                "Write postgresql://USER@HOST:PORT/DATABASE",
            ) from None
        self.patience = busy_timeout_seconds
        self.round_trips = 0
        """Batches of statements sent: what a networked store waits for."""
        self.setup: Statement = (
            "SELECT set_config('search_path', quote_ident(%s), true), set_config('lock_timeout', %s, true), "
            "set_config('jit', 'off', true), "
            # What a search has proposed drives its joins, whatever the planner thinks of tables
            # that were never analysed.
            "set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), "
            "set_config('enable_seqscan', 'off', true)",
            [self.schema, f"{max(1, round(1000 * busy_timeout_seconds))}ms"],
        )
        self._pool_size = pool_size
        self._local = threading.local()
        self._closed = False
        self._open_pool()
        after_fork(self._renew)
        try:
            self._migrate(partitions)
        except BaseException:
            self.close()
            raise

    def _open_pool(self) -> None:
        self._pool: ConnectionPool[Connection[Any]] = ConnectionPool(
            self.conninfo,
            kwargs={"autocommit": True, "prepare_threshold": None, "application_name": "clew"},
            min_size=0,
            max_size=self._pool_size,
            num_workers=1,
            timeout=self.patience,
            reconnect_timeout=self.patience,
            open=True,
        )

    def _renew(self) -> None:
        """Begin with connections of its own in a forked child.

        Psycopg does not close those of the parent.
        """
        self._local = threading.local()
        if not self._closed:
            self._open_pool()

    def _migrate(self, partitions: int) -> None:
        try:
            with psycopg.connect(
                self.conninfo, autocommit=True, prepare_threshold=None, application_name="clew"
            ) as connection:
                migrate(connection, self.schema, partitions=partitions)
        except psycopg.Error as error:
            raise self.translation(error) from error

    def borrow(self) -> Connection[Any]:
        """Return a connection of the pool."""
        self.check_open()
        try:
            return self._pool.getconn()
        except PoolTimeout as error:
            raise StoreBusyError(
                f"{self.server} gave no connection within {self.patience:g} seconds. Is the server running, and does it "
                "allow more connections? See docs/guide/postgres.md."
            ) from error
        except PoolClosed as error:
            raise StoreError("This store was closed. Open it again before using it.") from error

    def give_back(self, connection: Connection[Any]) -> None:
        """Return a connection to the pool, which replaces broken ones."""
        with suppress(PoolClosed, ValueError):
            self._pool.putconn(connection)

    def check_open(self) -> None:
        """Raise if the store was closed."""
        if self._closed:
            raise StoreError("This store was closed. Open it again before using it.")

    def close(self) -> None:
        """Close all connections."""
        self._closed = True
        self._pool.close(timeout=5)

    # --- sessions ---

    @property
    def session(self) -> Session | None:
        """The transaction of this thread, if it is inside one."""
        found: Session | None = getattr(self._local, "session", None)
        return found

    # --- what was seen lately ---

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Let this thread's reads inside go without asking again for what was told since the beginning: one recall is one look."""
        if self.session is not None or getattr(self._local, "told", None) is not None:
            yield
            return
        self._local.told, self._local.noted = {}, {}
        try:
            yield
        finally:
            self._local.told = self._local.noted = None

    def told(self, what: Hashable, ask: Callable[[], T]) -> T:
        """Return what `ask` returns, asked once in a scope."""
        told = getattr(self._local, "told", None) if self.session is None else None
        if told is None:
            return ask()
        if what not in told:
            told[what] = ask()
        return cast("T", told[what])

    def note(self, rows: Rows) -> None:
        """Take note of rows that begin with an id, for `noted` in the same scope."""
        noted = getattr(self._local, "noted", None) if self.session is None else None
        if noted is not None:
            noted.update((row[0], row) for row in rows)

    def noted(self, ids: Iterable[str]) -> tuple[Rows, list[str]]:
        """Return the rows that were noted, and the ids of which none was."""
        noted = getattr(self._local, "noted", None) if self.session is None else None
        if noted is None:
            return [], list(ids)
        asked = list(dict.fromkeys(ids))
        return [noted[id] for id in asked if id in noted], [id for id in asked if id not in noted]

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Read as of one moment, or as the transaction of this thread sees it."""
        self.check_open()
        inside = self.session
        if inside is not None:
            yield inside
            return
        session = Session(self, writing=False)
        try:
            yield session
        finally:
            session.close()

    def ask(self, space: str | None, query: str, values: Sequence[Any] = ()) -> Rows:
        """Return the rows of one query; one round trip."""
        return self.ask_all(space, (query, values))[0]

    def ask_all(self, space: str | None, *statements: Statement) -> list[Rows]:
        """Return the rows of several queries as of one moment; one round trip."""
        self.check_open()
        inside = self.session
        if inside is not None:
            self.secure(inside, *(() if space is None else (space,)))
            return inside.run(space, *statements)
        session = Session(self, writing=False)
        try:
            return session.commit(*statements, space=space)
        finally:
            session.close()

    def secure(self, session: Session, *spaces: str) -> None:
        """Inside a transaction take the locks of spaces before anything is read of them, and read their states; in the order of keys."""
        if not session.writing:
            return
        for space in sorted(set(spaces) - session.states.keys(), key=self.space_lock):
            session.lock(self.space_lock(space))
            row = session.run(space, (STATE, [space]))[0][0]
            session.model, session.states[space] = model_of(row), state_of(row)

    def space_lock(self, space: str) -> int:
        """Return the number of the lock on a space."""
        return lock_key(self.schema, "space", space)

    def lock_of(self, *parts: str) -> int:
        """Return the number of the lock on something else in the store."""
        return lock_key(self.schema, *parts)

    @contextmanager
    def writing(self, ending: Callable[[Session], None]) -> Iterator[Session]:
        """Write in a transaction, or in a level of the one that this thread is inside.

        `ending` is called before the commit.
        """
        self.check_open()
        inside = self.session
        if inside is not None:
            inside.enter()
            try:
                yield inside
            except BaseException:
                inside.leave(failed=True)
                raise
            inside.leave(failed=False)
            return
        session = self._local.session = Session(self, writing=True)
        try:
            yield session
            ending(session)
            session.commit()
        finally:
            self._local.session = None
            session.close()

    def repeated(self, read: Callable[[], T]) -> T:
        """Return what a read of several round trips returns.

        Once more where the server went away in the middle.
        """
        if self.session is not None:
            return read()
        deadline = time.monotonic() + self.patience
        while True:
            try:
                return read()
            except StoreBusyError as error:
                if not error.facts.get("lost") or time.monotonic() >= deadline:
                    raise

    # --- errors ---

    def translation(self, error: psycopg.Error) -> ClewError:
        """Return an error of the driver in Clew's words, without anything secret."""
        told = _first_line(error)
        for kinds, make in _TRANSLATIONS:
            if isinstance(error, kinds):
                return make(told, self.server)
        return StoreError(f"The database refused: {told}", sqlstate=error.sqlstate or "")


def _busy(told: str, server: str) -> ClewError:
    return StoreBusyError(
        f"{server} did not do it in time ({told}). Try again; clew stats shows the store's load."
    )


def _refused(told: str, server: str) -> ClewError:
    return StoreError(
        f"The role may not do this on {server} ({told}). Grant it what docs/guide/postgres.md lists."
    )


def _lost(told: str, server: str) -> ClewError:
    return StoreBusyError(
        f"{server} cannot be reached, or the connection was lost ({told}). Check that the server runs, then try again.",
        lost=True,
    )


_TRANSLATIONS: tuple[
    tuple[tuple[type[BaseException], ...], Callable[[str, str], ClewError]], ...
] = (
    (
        (
            errors.LockNotAvailable,
            errors.QueryCanceled,
            errors.DeadlockDetected,
            errors.SerializationFailure,
            errors.TooManyConnections,
        ),
        _busy,
    ),
    (
        (errors.ReadOnlySqlTransaction,),
        lambda told, server: ReadOnlyError(
            f"{server} takes no writes ({told}). Name the primary server."
        ),
    ),
    (
        (errors.DiskFull,),
        lambda told, server: StoreFullError(
            f"The disk of {server} is full ({told}). Make room; nothing was written."
        ),
    ),
    ((errors.InsufficientPrivilege,), _refused),
    (
        (errors.DataCorrupted, errors.IndexCorrupted),
        lambda told, server: CorruptStoreError(
            f"{server} reports damage ({told}). Restore it with the database's own tools."
        ),
    ),
    (
        (
            errors.InvalidCatalogName,
            errors.InvalidPassword,
            errors.InvalidAuthorizationSpecification,
        ),
        _refused,
    ),
    ((psycopg.OperationalError, psycopg.InterfaceError), _lost),
)


def _first_line(error: psycopg.Error) -> str:
    """Return what the server says, without the row that it may quote in its details."""
    told = (
        error.diag.message_primary or str(error).strip().split("\n", 1)[0] or type(error).__name__
    )
    return told[:200]


def _without_secrets(parameters: dict[str, Any]) -> str:
    host, port = parameters.get("host") or "localhost", parameters.get("port")
    return f"The database {parameters.get('dbname') or 'of the role'!s} at {host}{f':{port}' if port else ''}"
