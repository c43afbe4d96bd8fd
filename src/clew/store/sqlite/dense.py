"""Dense search: keep the in-memory index in step with the file, propose from int8, rescore from float16.

The index follows the `change` table. Segments of 4,096 int8 rows with a place in that log make
opening quick; they are a cache, and everything works without them. Inside a write transaction the
uncommitted rows live in an overlay of their own, so that a rollback never leaves anything in the
shared index.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from clew.errors import CorruptStoreError
from clew.forking import after_fork
from clew.store.sqlite.database import Database
from clew.store.sqlite.row_cache import NOTED, Seen, match
from clew.store.sqlite.row_checks import MAX_DIMENSION
from clew.store.sqlite.rows import mapped, snapshot
from clew.store.sqlite.scan import Codes, quantise
from clew.store.sqlite.vector_index import (
    RECORD,
    ROLES,
    SELECTED,
    STANDALONE,
    Proposed,
    Records,
    VectorIndex,
    fill,
)
from clew.store.sqlite.where import carrying, condition
from clew.store.vectors import as_unit, exact_cosines
from clew.types import Filter, Match, NodeId, Ranking, Role, Vectors, ranked

SEGMENT_ROWS = 4096
# segments are rewritten when a sixteenth of the rows has changed: bounds both replay and rewriting,
CHECKPOINT_SHARE = 16
# or, from a segment's worth on, when so many changes pay for each: those that were appended stand
# together
SEGMENT_CHANGES = 256
CHANGES_KEPT = 16384  # for other processes to catch up from; one that is further behind reloads
COMPACT_SHARE = 4  # reload when a quarter of the rows is dead
# changes of others that a transaction takes into its overlay rather than open the file once more, 1
# ms
OVERLAY_ROWS = 256

ROWS = f"""
SELECT e.eid, e.nid, iif(e.role = 'content' AND n.context = '', '', e.role), e.vector, {SELECTED}
FROM embedding e JOIN node n ON n.nid = e.nid WHERE (e.role <> 'context' OR n.context <> '') AND e.model = ? AND
"""

COUNT = """
SELECT count(*) FROM node n CROSS JOIN embedding e ON e.nid = n.nid WHERE n.space = ?3 AND e.model = ?1 AND e.role = ?2
AND n.t_expired IS NULL AND n.archived = 0 AND (?2 <> 'context' OR n.context <> '')
"""


_OF_MODEL = "CROSS JOIN embedding e ON e.nid = n.nid AND e.model = (SELECT value FROM meta WHERE key = 'model') AND e.role = "
WITH_VECTOR = {role: f"{_OF_MODEL} '{role}'" for role in Role} | {
    Role.CONTEXT: f"{_OF_MODEL} iif(n.context = '', 'content', 'context')"
}
"""What reads the vector of a role with each node; a node without a context key is searched in that
role by its own vector.
"""


def proposals(limit: int) -> int:
    """Return how many int8 candidates to rescore at most.

    On 300 questions each, 32, 64 and 172 more than a list of 100 gave the same recall@100: 1.0 on
    LoCoMo's vectors,
    0.99997 on SciFact's. On 100,000 clustered vectors recall@10 was 0.9995.
    """
    return 4 * limit + 8 if limit <= 18 else limit + 64


def records_of(rows: Sequence[tuple[object, ...]], dimension: int) -> tuple[Records, Codes]:
    """Return index rows from rows selected as ROWS."""
    if not rows:
        return np.empty(0, RECORD), np.empty((0, dimension), np.int8)
    eid, nid, role, vector, *columns = zip(*rows, strict=True)
    if damaged := [n for n, blob in zip(nid, vector, strict=True) if len(blob) != 2 * dimension]:
        raise CorruptStoreError(
            f"The vectors of {len(damaged)} memories are damaged. Run: clew verify --repair, then: clew reembed",
            vectors=len(damaged),
        )
    halves = np.frombuffer(b"".join(vector), "<f2").reshape(len(rows), dimension)
    if not np.isfinite(halves).all():
        raise ValueError("a vector holds NaN or infinity")
    records = np.zeros(len(rows), RECORD)
    codes, records["scale"] = quantise(halves)
    fill(records, columns)
    records["eid"], records["nid"] = eid, nid
    records["role"] = [ROLES.get(name, STANDALONE) for name in role]
    return records, codes


class DenseSearch:
    """Finds the nearest vectors of the active model, in step with every commit."""

    def __init__(self, database: Database, seen: Seen) -> None:
        self._database = database
        self._seen = seen
        self._renew_lock()
        after_fork(self._renew_lock)
        self._shared: VectorIndex | None = None
        self._overlay: tuple[VectorIndex, set[int]] | None = None
        # what `total_changes` is as long as the transaction has written nothing
        self._untouched = 0

    def count(
        self, connection: sqlite3.Connection, space: str, *, role: Role = Role.CONTENT
    ) -> int:
        """Return how many live nodes of a space have a vector of the active model made for a role.

        Quick once there was a search.
        """
        seq, model, _ = self._state(connection)
        index = self._shared
        if connection.in_transaction or index is None or index.model != model:
            return int(connection.execute(COUNT, (model, role, space)).fetchone()[0])
        return self._synced(connection, seq, model).live(space, role)

    def _renew_lock(self) -> None:
        self._lock = threading.RLock()

    def search(self, query: Vectors, where: Filter, *, limit: int, role: Role) -> Ranking:
        """Return the `limit` nearest nodes by exact cosine."""
        return self.begin(query, where, limit=limit, role=role)()

    def begin(
        self, query: Vectors, where: Filter, *, limit: int, role: Role
    ) -> Callable[[], Ranking]:
        """Begin to look for the `limit` nearest nodes by exact cosine.

        Return what waits for them, for this thread.
        """
        connection = self._database.connection
        seq, model, dimension = self._state(connection)
        if not model:
            return tuple
        query = as_unit(query, dimension)
        if limit <= 0:
            return tuple
        allowed = carrying(connection, where)
        count = proposals(limit)
        if connection.in_transaction:
            there = self._propose_in_transaction(
                connection, query, where, role=role, count=count, allowed=allowed
            )
            return lambda: self._ranked(there, query, where, limit=limit)
        index = self._synced(connection, seq, model)
        proposed = self._proposing(index, query, where, role=role, count=count, allowed=allowed)

        def finished() -> Ranking:
            there = proposed()
            found = self._ranked(there, query, where, limit=limit)
            if len(found) == limit or len(there.eids) < count:
                return found
            connection = self._database.connection  # of the thread that waits
            seq, active, _ = self._state(connection)
            if active != model:
                return found
            # many were deleted meanwhile: those behind them count
            index = self._synced(connection, seq, model)
            there = self._proposing(index, query, where, role=role, count=count, allowed=allowed)()
            return self._ranked(there, query, where, limit=limit)

        return finished

    def _proposing(
        self,
        index: VectorIndex,
        query: Vectors,
        where: Filter,
        *,
        role: Role,
        count: int,
        allowed: npt.NDArray[np.int64] | None,
        hidden: npt.NDArray[np.int64] | None = None,
    ) -> Callable[[], Proposed]:
        """Begin to look in the shared index.

        Return what waits for it, and looks once more where vectors were overwritten meanwhile.
        """

        def begin() -> Callable[[], Proposed]:
            return index.begin(query, where, role=role, count=count, allowed=allowed, hidden=hidden)

        with self._lock:  # not in the middle of a change
            edits = index.edits
        proposed = begin()

        def finished() -> Proposed:
            there = proposed()
            if index.edits == edits:
                return there
            with self._lock:  # with nobody writing
                return begin()()

        return finished

    def _ranked(self, proposed: Proposed, query: Vectors, where: Filter, *, limit: int) -> Ranking:
        connection = self._database.connection
        # Where all that pass were proposed they are few, and all are scored: then no rounding
        # matters at all.
        near = proposed.near(
            limit if len(proposed.eids) >= proposals(limit) else len(proposed.eids)
        )
        found = self._rescored(connection, proposed.eids[near], query, where)
        # some are gone or changed since: then those behind them count
        if len(found) < np.count_nonzero(near):
            found += self._rescored(connection, proposed.eids[~near], query, where)
        return ranked(found)[:limit]

    def cosines(self, query: Vectors, ids: Sequence[NodeId], *, role: Role) -> dict[NodeId, float]:
        """Return the exact cosine of each node that has a vector of the active model."""
        rows = self._seen.rows(
            self._database.connection, "n.id, e.vector", ids, joined=WITH_VECTOR[role]
        )
        return {match.id: match.score for match in _scored(rows, query)}

    def _rescored(
        self,
        connection: sqlite3.Connection,
        eids: npt.NDArray[np.int64],
        query: Vectors,
        where: Filter,
    ) -> list[Match]:
        """Score the proposals from the truth, under the whole filter and this connection's snapshot."""
        clause, values = condition(where)
        stamp = self._seen.stamp()
        rows = connection.execute(
            # CROSS JOIN: the proposals drive, whatever the planner thinks of the filter
            f"SELECT {NOTED}, e.vector FROM json_each(?) j CROSS JOIN embedding e ON e.eid = j.value "
            f"CROSS JOIN node n ON n.nid = e.nid WHERE {clause}",
            (json.dumps(eids.tolist()), *values),
        ).fetchall()
        self._seen.note(connection, stamp, rows)
        return _scored(rows, query)

    # --- keeping in step ---

    def _state(self, connection: sqlite3.Connection) -> tuple[int, int, int]:
        """Return the place of the last change, the active model and its dimension, as this connection sees them."""
        row = connection.execute(
            "SELECT (SELECT coalesce(sum(seq), 0) FROM sqlite_sequence WHERE name IN ('embedding', 'change')), m.mid, m.dimension "
            "FROM meta JOIN model m ON m.mid = meta.value WHERE meta.key = 'model'"
        ).fetchone()
        if row is None:
            return 0, 0, 0
        seq, model, dimension = row
        if (
            {type(seq), type(model), type(dimension)} != {int}
            or not 0 < dimension <= MAX_DIMENSION
            or seq < 0
        ):
            raise ValueError("the model or the log of changes is damaged")
        return seq, model, dimension

    def _synced(self, connection: sqlite3.Connection, seq: int, model: int) -> VectorIndex:
        with self._lock:
            index = self._shared
            if index is None or index.model != model:
                index = self._shared = self._load(connection)
            elif index.seq < seq:
                index = self._shared = self._followed(connection, index)
            return index

    def _followed(self, connection: sqlite3.Connection, index: VectorIndex) -> VectorIndex:
        """Apply what changed since the index last looked.

        Reload when the log no longer reaches back, or much is dead.
        """
        with snapshot(connection):
            (floor,) = connection.execute(
                "SELECT coalesce((SELECT value FROM meta WHERE key = 'change_floor'), 0)"
            ).fetchone()
            if index.seq - index.newest < floor:
                return self._load(connection)
            self._apply(connection, index)
        return index if index.dead() * COMPACT_SHARE <= index.size else self._load(connection)

    def _apply(self, connection: sqlite3.Connection, index: VectorIndex) -> list[int]:
        seq, _, _ = self._state(connection)
        moved = changed(connection, index.seq, index.newest)
        rows = connection.execute(
            ROWS + "e.eid IN (SELECT value FROM json_each(?)) ORDER BY e.eid",
            (index.model, json.dumps(moved)),
        ).fetchall()
        index.apply(moved, *records_of(rows, index.dimension))
        index.seq, index.newest = seq, _newest(connection)
        return moved

    def _load(self, connection: sqlite3.Connection) -> VectorIndex:
        """Read the whole index: from segments and the changes after them, or from the rows where there are none."""
        with mapped(connection), snapshot(connection):
            seq, model, dimension = self._state(connection)
            index = VectorIndex(dimension, model=model)
            saved = _saved(connection)
            if saved.get("segment_model") == model and self._read_segments(
                connection, index, saved, changes=seq - saved["segment_seq"]
            ):
                index.seq, index.newest = saved["segment_seq"], saved["segment_newest"]
                self._apply(connection, index)
                return index
            cursor = connection.execute(ROWS + "TRUE ORDER BY e.eid", (model,))
            while rows := cursor.fetchmany(SEGMENT_ROWS):
                index.append(*records_of(rows, dimension))
            index.seq, index.newest = seq, _newest(connection)
            return index

    def _read_segments(
        self,
        connection: sqlite3.Connection,
        index: VectorIndex,
        saved: Mapping[str, int],
        *,
        changes: int,
    ) -> bool:
        """Fill the index from the segments.

        Say False, and leave it empty, when one is missing or not what it should be.
        """
        if _segment_rows(connection) != saved["segment_rows"]:
            return False
        index.reserve(saved["segment_rows"] + min(max(0, changes), saved["segment_rows"]))
        for codes, columns in connection.execute(
            "SELECT codes, columns FROM segment ORDER BY segment"
        ):
            if not _fitting(codes, columns, index.dimension):
                index.__post_init__()
                index.size = 0
                return False
            records = np.frombuffer(columns, RECORD)
            index.append(
                records, np.frombuffer(codes, np.int8).reshape(len(records), index.dimension)
            )
        return True

    # --- inside a write transaction ---

    def _propose_in_transaction(
        self,
        connection: sqlite3.Connection,
        query: Vectors,
        where: Filter,
        *,
        role: Role,
        count: int,
        allowed: npt.NDArray[np.int64] | None,
    ) -> Proposed:
        seq, model, dimension = self._state(connection)
        if self._overlay is None:
            self._catch_up(connection, seq, model)
        base = self._committed(model)
        if self._overlay is None:
            with self._lock:  # both numbers of one moment
                overlay = (
                    VectorIndex(dimension, model=model, seq=base.seq, newest=base.newest)
                    if base
                    else self._load(connection)
                )
            self._overlay = overlay, set()
        overlay, touched = self._overlay
        if overlay.seq < seq or overlay.model != model:
            if overlay.model != model:  # the transaction itself changed the model
                self._overlay = overlay, touched = self._load(connection), set()
            touched.update(self._apply(connection, overlay))
        fresh = overlay.begin(query, where, role=role, count=count, allowed=allowed, hidden=None)()
        if base is None:
            return fresh
        hidden = np.fromiter(touched, np.int64, len(touched))
        return fresh.beside(
            self._proposing(
                base, query, where, role=role, count=count, allowed=allowed, hidden=hidden
            )()
        )

    def _catch_up(self, connection: sqlite3.Connection, seq: int, model: int) -> None:
        """Bring the shared index up to what is committed, or so near that the overlay stays small."""
        # then this connection sees what is committed and no more
        if connection.total_changes == self._untouched:
            self._synced(connection, seq, model)
        elif (
            self._shared is None
            or self._shared.model != model
            or seq - self._shared.seq >= min(OVERLAY_ROWS, CHANGES_KEPT)
        ):
            with self._database.reader() as other:
                seq, committed, _ = self._state(other)
                if committed == model:
                    self._synced(other, seq, committed)

    def _committed(self, model: int) -> VectorIndex | None:
        """Return the shared index if it is of this model."""
        shared = self._shared
        return shared if shared is not None and shared.model == model else None

    def transaction_began(self, connection: sqlite3.Connection) -> None:
        """Begin with nothing uncommitted.

        What others committed is caught up with when the transaction first searches.
        """
        self._overlay = None
        self._untouched = connection.total_changes

    def rolled_back(self) -> None:
        """Forget what was uncommitted: its part of the change log is gone."""
        self._overlay = None

    def forget(self) -> None:
        """Drop the index in memory; the next search reads it anew."""
        with self._lock:
            self._shared = None

    # --- segments ---

    def checkpoint_if_due(self, connection: sqlite3.Connection) -> int:
        """Write the segments when enough vectors changed since they were last written.

        Return how many more may change until then.
        """
        seq, model, _ = self._state(connection)
        saved = _saved(connection)
        changes = seq - (saved["segment_seq"] if saved.get("segment_model") == model else 0)
        if not model or changes < SEGMENT_ROWS:
            return SEGMENT_ROWS - changes if model else SEGMENT_ROWS
        (rows,) = connection.execute("SELECT coalesce(max(eid), 0) FROM embedding").fetchone()
        bearable = min(
            -(-int(rows) // CHECKPOINT_SHARE),
            SEGMENT_CHANGES * len(_stale(connection, model, saved)),
        )
        if changes < bearable:
            return bearable - changes  # no sooner: the segments that are stale only become more
        self.checkpoint(connection)
        return SEGMENT_ROWS

    def checkpoint(self, connection: sqlite3.Connection) -> None:
        """Write the segments whose vectors changed, and drop the part of the log that nobody needs."""
        seq, model, dimension = self._state(connection)
        saved = _saved(connection)
        if saved.get("segment_model") != model:
            connection.execute("DELETE FROM segment")
        for segment in sorted(_stale(connection, model, saved)):
            self._write_segment(connection, segment, model, dimension)
        newest = _newest(connection)
        floor = max(0, seq - newest - CHANGES_KEPT)
        connection.execute("DELETE FROM change WHERE seq <= ?", (floor,))
        connection.executemany(
            "INSERT OR REPLACE INTO meta VALUES (?, ?)",
            [
                ("segment_model", model),
                ("segment_seq", seq),
                ("segment_newest", newest),
                ("segment_rows", _segment_rows(connection)),
                ("change_floor", floor),
            ],
        )

    def _write_segment(
        self, connection: sqlite3.Connection, segment: int, model: int, dimension: int
    ) -> None:
        first = segment * SEGMENT_ROWS
        rows = connection.execute(
            ROWS + "e.eid >= ? AND e.eid < ? ORDER BY e.eid", (model, first, first + SEGMENT_ROWS)
        ).fetchall()
        if not rows:
            connection.execute("DELETE FROM segment WHERE segment = ?", (segment,))
            return
        records, codes = records_of(rows, dimension)
        connection.execute(
            "INSERT OR REPLACE INTO segment VALUES (?, ?, ?)",
            (segment, codes.tobytes(), records.tobytes()),
        )


def strip_segments(connection: sqlite3.Connection, eids: Sequence[int]) -> None:
    """Take the codes of deleted vectors out of the stored segments.

    Drop all segments if one of these is damaged.
    """
    deleted = np.fromiter(eids, np.int64, len(eids))
    dimension = _segment_dimension(connection)
    for segment in sorted({eid // SEGMENT_ROWS for eid in eids}):
        row = connection.execute(
            "SELECT codes, columns FROM segment WHERE segment = ?", (segment,)
        ).fetchone()
        if row is None:
            continue
        codes, columns = row
        if not _fitting(codes, columns, dimension):
            _drop_segments(connection)
            return
        records = np.frombuffer(columns, RECORD)
        kept = ~np.isin(records["eid"], deleted)
        if not kept.any():
            connection.execute("DELETE FROM segment WHERE segment = ?", (segment,))
        elif not kept.all():
            rows = np.frombuffer(codes, np.int8).reshape(len(records), -1)[kept]
            changes = (rows.tobytes(), records[kept].tobytes(), segment)
            connection.execute(
                "UPDATE segment SET codes = ?, columns = ? WHERE segment = ?", changes
            )
    connection.execute(
        "UPDATE meta SET value = ? WHERE key = 'segment_rows'", (_segment_rows(connection),)
    )


def _segment_dimension(connection: sqlite3.Connection) -> int:
    """Return the dimension of the vectors in the segments; 0 if it is not known."""
    query = "SELECT dimension FROM model WHERE mid = (SELECT value FROM meta WHERE key = 'segment_model')"
    row = connection.execute(query).fetchone()
    return row[0] if row is not None and type(row[0]) is int else 0


def _drop_segments(connection: sqlite3.Connection) -> None:
    """Delete all segments and their place in the log, so that the vectors are read until the next checkpoint."""
    connection.execute("DELETE FROM segment")
    connection.execute("DELETE FROM meta WHERE key LIKE 'segment%'")


def changed(connection: sqlite3.Connection, seq: int, newest: int) -> list[int]:
    """Return the vectors that changed after a place in the log, in order.

    `newest` is as of then.
    """
    query = "SELECT eid FROM change WHERE seq > ? UNION SELECT eid FROM embedding WHERE eid > ? ORDER BY 1"
    return [eid for (eid,) in connection.execute(query, (seq - newest, newest))]


def _saved(connection: sqlite3.Connection) -> dict[str, int]:
    """Return what is noted about the segments."""
    saved = dict(
        connection.execute("SELECT key, value FROM meta WHERE key LIKE 'segment%'").fetchall()
    )
    whole = all(
        type(saved.get(f"segment_{name}")) is int for name in ("model", "seq", "newest", "rows")
    )
    # without their place in the log segments tell nothing: the vectors are read
    return saved if whole else {}


def _stale(connection: sqlite3.Connection, model: int, saved: Mapping[str, int]) -> set[int]:
    """Return the segments whose vectors changed since they were saved.

    All where they are of another model.
    """
    if saved.get("segment_model") == model:
        return {
            eid // SEGMENT_ROWS
            for eid in changed(connection, saved["segment_seq"], saved["segment_newest"])
        }
    rows = connection.execute(
        "SELECT DISTINCT eid / ? FROM embedding WHERE model = ?", (SEGMENT_ROWS, model)
    )
    return {segment for (segment,) in rows}


def _fitting(codes: object, columns: object, dimension: int) -> bool:
    """Tell whether the two blobs of a segment have as many rows as each other, and scales that parts of unit vectors can have."""
    if (
        not isinstance(codes, bytes)
        or not isinstance(columns, bytes)
        or not dimension
        or len(columns) % RECORD.itemsize
    ):
        return False
    scales = np.frombuffer(columns, RECORD)["scale"]
    # not of NaN
    return len(codes) == len(scales) * dimension and bool(((scales >= 0) & (scales <= 1)).all())


def _newest(connection: sqlite3.Connection) -> int:
    """Return the highest embedding number given out."""
    (eid,) = connection.execute(
        "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'embedding'), 0)"
    ).fetchone()
    return int(eid)


def _segment_rows(connection: sqlite3.Connection) -> int:
    (size,) = connection.execute("SELECT coalesce(sum(length(columns)), 0) FROM segment").fetchone()
    return int(size) // RECORD.itemsize


def _scored(rows: Sequence[tuple[Any, ...]], query: Vectors) -> list[Match]:
    """Return nodes by their exact cosines, from rows that begin with an id and end with a vector."""
    if not rows:
        return []
    ids, *_, blobs = zip(*rows, strict=True)
    cosines = exact_cosines(
        np.frombuffer(b"".join(blobs), "<f2").reshape(len(rows), len(query)), query
    )
    if not np.isfinite(cosines).all():
        raise ValueError("a vector holds NaN or infinity")
    return list(map(match, zip(ids, cosines.tolist(), strict=True)))
