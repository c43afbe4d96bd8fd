"""What searches saw of the nodes they found, so that a recall does not read the same rows twice.

Numbers: a node is read by its number in half the time that its id takes. A number is only where to
look first: a row counts when it has the id that is asked for, and a node that was written again
under its id, with another number, is found by the id.

Signals: they stay true until somebody commits, which SQLite tells each connection of the others'
and of its own changes. Whatever was read after a connection last looked, by any thread, is what the
connection itself would read now, as long as nothing has been committed since. A search takes its
stamp before it reads: what it saw is then no older than the stamp. So it is with answers that every
recall asks for several times, such as how many nodes a space has.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from itertools import accumulate, count
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar, cast

from clew.store.sqlite.rows import SIGNALS
from clew.types import Match, NodeId

NOTED = f"{SIGNALS}, n.nid"
NUMBER = 7  # where it stands: behind the signals
KEPT = 2048  # rows of the latest searches: a recall finds some 200; with vectors 2 MB
# searches, which may find little: each is looked through for every node that is asked for
NOTES_KEPT = 32

ANSWERS_KEPT = 256  # of each thread: a few for every space it asks about

Row = tuple[Any, ...]
_ID = itemgetter(0)
T = TypeVar("T")
match: Callable[[tuple[NodeId, float]], Match] = partial(tuple.__new__, Match)
"""Makes a match of an id and a score, without a Python call: for every row of every search."""


class _Look(NamedTuple):
    """What a connection saw when it last asked whether anything has changed, the stamp of that moment, and what it was told since."""

    connection: sqlite3.Connection
    others: int
    own: int
    stamp: int
    answers: dict[Hashable, object]


class _Note(NamedTuple):
    """What one search saw: rows of what NOTED selects, and whatever is behind it, by id."""

    stamp: int
    rows: dict[NodeId, Row]


class Seen:
    """Remembers nodes for all threads of a store."""

    def __init__(self) -> None:
        self._notes: tuple[_Note, ...] = ()  # the latest first; replaced, never changed
        self._stamps = count(1)
        self._local = threading.local()

    def stamp(self) -> int:
        """Return a number that is larger than all before.

        To be taken before what is noted under it is read.
        """
        return next(self._stamps)

    def note(self, connection: sqlite3.Connection, stamp: int, rows: Sequence[Row]) -> None:
        """Take note of nodes: rows of what NOTED selects, and whatever is behind it.

        What is uncommitted is nobody else's.
        """
        if connection.in_transaction or not rows:
            return
        notes = (
            _Note(stamp, dict(zip(map(_ID, rows), rows, strict=True))),
            *self._notes[: NOTES_KEPT - 1],
        )
        sizes = accumulate(len(note.rows) for note in notes)
        self._notes = tuple(note for note, size in zip(notes, sizes, strict=True) if size <= KEPT)

    def signals(self, connection: sqlite3.Connection, ids: Sequence[NodeId]) -> list[Row]:
        """Return what SIGNALS selects of the nodes that exist, and whatever is behind it, in any order."""
        look = self._look(connection)
        rows: list[Row] = []
        left = list(dict.fromkeys(ids))
        for stamp, noted in self._notes:
            if look is not None and stamp > look.stamp and left:
                rows += [noted[id] for id in left if id in noted]
                left = [id for id in left if id not in noted]
        return rows + self.rows(connection, SIGNALS, left) if left else rows

    def told(self, connection: sqlite3.Connection, what: Hashable, ask: Callable[[], T]) -> T:
        """Return what `ask` returns, asked again only when something was committed since this thread was told."""
        look = self._look(connection)
        if look is None:
            return ask()
        if len(look.answers) > ANSWERS_KEPT:
            look.answers.clear()
        if what not in look.answers:
            look.answers[what] = ask()
        return cast("T", look.answers[what])

    def _look(self, connection: sqlite3.Connection) -> _Look | None:
        """Return since when nothing was committed.

        None inside a transaction, which sees what others do not.
        """
        if connection.in_transaction:
            return None
        (others,), own = (
            connection.execute("PRAGMA data_version").fetchone(),
            connection.total_changes,
        )
        look: _Look | None = getattr(self._local, "look", None)
        if look is None or look[:3] != (connection, others, own):
            look = self._local.look = _Look(connection, others, own, self.stamp(), {})
        return look

    def rows(
        self,
        connection: sqlite3.Connection,
        selected: str,
        ids: Sequence[NodeId],
        *,
        joined: str = "",
    ) -> list[Row]:
        """Return a row for each of the nodes that exist, in any order.

        `selected` are expressions over `node n`, the first its id.

        `joined` is what else is read with each node; one for which there is nothing has no row.
        """
        asked, notes = set(ids), self._notes
        known = {
            id: next((noted[id][NUMBER] for _, noted in notes if id in noted), None) for id in asked
        }
        # in order: neighbours stand on one page
        numbers = sorted({number for number in known.values() if number is not None})
        found = [
            row for row in _read(connection, selected, "nid", numbers, joined) if row[0] in asked
        ]
        return found + _read(
            connection, selected, "id", sorted(asked.difference(row[0] for row in found)), joined
        )


def _read(
    connection: sqlite3.Connection,
    selected: str,
    column: str,
    values: Sequence[NodeId | int],
    joined: str,
) -> list[Row]:
    if not values:
        return []
    query = (
        f"SELECT {selected} FROM json_each(?) j CROSS JOIN node n ON n.{column} = j.value {joined}"
    )
    return connection.execute(query, (json.dumps(values),)).fetchall()
