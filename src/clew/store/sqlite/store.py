"""The default store: one SQLite file, standard library only."""

from __future__ import annotations

import json
import math
import secrets
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import takewhile
from operator import itemgetter
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np

from clew.errors import (
    ClewError,
    CorruptStoreError,
    InputError,
    ModelMismatchError,
    NotFoundError,
    StoreBusyError,
    StoreError,
)
from clew.ports import Coverage, Evidence, ModelInfo, OnDamage, Problem, Repaired, Sort
from clew.store.overview import Assessed, Densities, Span
from clew.store.remains import Remains
from clew.store.sqlite import erasure, names, overview, remains, segments
from clew.store.sqlite import erasure as rawbytes
from clew.store.sqlite import rows as labels
from clew.store.sqlite import stats as counting
from clew.store.sqlite.backup import copy_to
from clew.store.sqlite.database import Database, Translating
from clew.store.sqlite.dense import DenseSearch, strip_segments
from clew.store.sqlite.lexical import WordSearch
from clew.store.sqlite.repair import rebuild_free_list, repair
from clew.store.sqlite.row_cache import Seen
from clew.store.sqlite.row_checks import undecodable_text
from clew.store.sqlite.rows import (
    CHANGED,
    COLUMNS,
    SELECTED,
    SUMMED,
    UNREADABLE,
    cell,
    checksum,
    compact_json,
    damaged,
    damaged_node,
    detail_of,
    insertion,
    labels_of,
    mapping_of,
    micros,
    moment,
    moments,
    node_of,
    vector_checksum,
)
from clew.store.sqlite.schema import TOMBSTONE_KEY
from clew.store.sqlite.stats import CODED, evidence, statistics
from clew.store.sqlite.transaction import Transaction, Upkeep, Writing
from clew.store.sqlite.verify import first_damage, problems
from clew.store.sqlite.where import behind, condition, source
from clew.store.tombstones import KEY_BYTES, key_fault, tombstone
from clew.store.vectors import as_codes, as_unit, codes_fault
from clew.text.words import ANALYSER_VERSION, content_hash
from clew.types import (
    Edge,
    Embedding,
    Erasure,
    Event,
    EventKind,
    FileCheck,
    Filter,
    Mention,
    Named,
    Node,
    NodeId,
    Ranking,
    Role,
    Signals,
    Spot,
    Vectors,
)

ORDERS = {
    Sort.RECENT: "n.t_valid DESC, n.id",
    Sort.IMPORTANT: "n.importance DESC, n.t_valid DESC, n.id",
    Sort.POPULAR: "coalesce(a.count, 0) DESC, n.t_valid DESC, n.id",
}
# importance; the schema says so too, and SQLite uses a partial index only where the query repeats
# its condition
INDEXED_ABOVE = 0.5
LEAST_INDEXED = math.nextafter(INDEXED_ABOVE, 1)

# Of so many nodes (?1) those whose last access is an interval (?3) or more away from now (?2): on
# either side, for a clock may go back.
# Whole statements, which run without Python: it is another thread's recall that would wait for each
# row.
ACCESS_EVENTS = """
INSERT INTO event (node, kind, at, detail) SELECT n.id, 'ACCESS', ?2, '{}' FROM json_each(?1) j CROSS JOIN node n ON n.id = j.value
LEFT JOIN access a ON a.nid = n.nid WHERE a.nid IS NULL OR abs(?2 - a.last_at) >= ?3
"""
ACCESS_COUNTS = """
INSERT INTO access SELECT n.nid, 1, ?2 FROM json_each(?1) j CROSS JOIN node n ON n.id = j.value WHERE TRUE
ON CONFLICT (nid) DO UPDATE SET count = count + 1, last_at = excluded.last_at WHERE abs(excluded.last_at - access.last_at) >= ?3
"""

PUT_FIRST = "INSERT INTO embedding (nid, model, role, text_hash, vector, checksum) VALUES (?, ?, ?, ?, ?, ?)"
# What may replace another runs a trigger, and then SQLite keeps every page that it changes as it
# was before: of no use to a new node.
PUT = (
    f"{PUT_FIRST} ON CONFLICT (nid, model, role) DO UPDATE SET "
    "(text_hash, vector, checksum) = (excluded.text_hash, excluded.vector, excluded.checksum) "
    # A vector that stays as it is leaves no change for others to follow: token codes are added to a
    # store without moving its vectors.
    "WHERE (text_hash, vector, checksum) IS NOT (excluded.text_hash, excluded.vector, excluded.checksum)"
)
OF_VECTOR = "SELECT eid FROM embedding WHERE nid = ? AND model = ? AND role = ?"
WITH_CODES = (
    "CROSS JOIN embedding e ON e.nid = n.nid AND e.model = (SELECT value FROM meta WHERE key = 'model') "
    "CROSS JOIN token_code t ON t.eid = e.eid"
)
DROP_CODES = f"DELETE FROM token_code WHERE eid = ({OF_VECTOR})"
PUT_CODES = f"INSERT INTO token_code (eid, codes, checksum) VALUES (({OF_VECTOR}), ?, ?)"

# The event of a node's own row is the first: there is no number 0 in the log.
EVENTS = """
SELECT 0 AS seq, 'ADD', added_at, added FROM node WHERE id = ?1 AND added_at IS NOT NULL
UNION ALL SELECT seq, kind, at, detail FROM event WHERE node = ?1 ORDER BY seq
"""

PAGE = 1000  # nodes read at a time when all are wanted
# for which a deletion waits for readers, before it leaves the journal to the next write
ERASE_SECONDS = 2.0
# a larger file is rewritten by `compact` alone: VACUUM takes 2 s of CPU for 250 MB
REWRITE_BYTES = 1 << 30


class SqliteStore:
    """Nodes, words and vectors in one file.

    See `clew.ports.Store` for what each method promises.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._seen = Seen()
        self._dense = DenseSearch(database, self._seen)
        self._words = WordSearch(database, self._seen)
        self._upkeep = Upkeep(self._dense, self._words)
        database.diagnose = first_damage

    @classmethod
    def open(
        cls, path: str | Path, *, synchronous: str = "FULL", busy_timeout_seconds: float = 30.0
    ) -> Self:
        """Open the store at a path, making or upgrading it where needed."""
        store = cls(
            Database(
                Path(path).expanduser(),
                synchronous=synchronous,
                busy_timeout_seconds=busy_timeout_seconds,
            )
        )
        try:
            # what is damaged is told when it is read; `verify` needs an open store
            with suppress(CorruptStoreError):
                store._follow_analyser()
                store._finish_erasure()
            store._database.opened()
        except BaseException:
            store.close()
            raise
        return store

    def _follow_analyser(self) -> None:
        """Make the words anew when their analysis, or the form of postings, has changed since, or the store has none yet."""
        with self._reading() as connection:
            known = connection.execute("SELECT value FROM meta WHERE key = 'analyser'").fetchone()
            current = known == (ANALYSER_VERSION,) and not segments.missing(connection)
        if current or self._database.read_only:
            return
        with self._writing() as connection:
            self._rebuild_words(connection)
            connection.execute(
                "INSERT OR REPLACE INTO meta VALUES ('analyser', ?)", (ANALYSER_VERSION,)
            )

    def _finish_erasure(self) -> None:
        """Cut the journal if an earlier process has deleted something and could not.

        Never wait for it.
        """
        if self._database.read_only:
            return
        with self._reading() as connection:
            self._upkeep.committed(connection)

    def _rebuild_words(self, connection: sqlite3.Connection) -> None:
        """Make the words anew when the transaction ends."""
        segments.drop(connection)
        self._upkeep.look()

    def _reading(self) -> Translating:
        return self._database.translated()

    def _writing(self) -> Writing:
        return Writing(self._database, self._upkeep, translating=True)

    def transaction(self) -> Transaction:
        """Take the write lock; commit on leaving, roll back on an exception. Nests."""
        return Transaction(self._database, self._upkeep)

    @property
    def in_transaction(self) -> bool:
        """Whether this thread is inside a transaction, and so sees what nobody else sees yet."""
        with self._reading() as connection:
            return connection.in_transaction

    # --- nodes ---

    def insert(
        self,
        nodes: Sequence[Node],
        embeddings: Sequence[Embedding] = (),
        events: Sequence[Event] = (),
    ) -> None:
        """Add new nodes, searchable at once, with vectors of the store's model, and append events."""
        with self._writing() as connection:
            model = self._active(connection) if embeddings else None
            added = _added(nodes, events)
            numbers = {
                node.id: self._inserted(connection, node, added.get(node.id)) for node in nodes
            }
            labels.add(connection, zip(numbers.values(), nodes, strict=True))
            accessed = [(numbers[node.id], node.accesses) for node in nodes if node.accesses]
            if accessed:
                connection.executemany("INSERT INTO access VALUES (?, ?, 0)", accessed)
            if model is not None:
                once = len({(each.node, each.role) for each in embeddings}) == len(embeddings)
                self._put(
                    connection, embeddings, *model, numbers, statement=PUT_FIRST if once else PUT
                )
            if len(added) < len(events):
                self._append(
                    connection, [event for event in events if added.get(event.node) is not event]
                )

    def _inserted(self, connection: sqlite3.Connection, node: Node, added: Event | None) -> int:
        try:
            return int(connection.execute(*insertion(node, added)).lastrowid or 0)
        except sqlite3.IntegrityError as error:
            raise StoreError(
                f"A node with this id or idempotency key exists already ({error}).", id=node.id
            ) from error

    def update(self, id: NodeId, **changes: Any) -> None:
        """Set fields of a node by name; derived indexes follow in the same transaction."""
        for field, value in changes.items():
            if field not in COLUMNS or field in ("id", "space"):
                raise InputError(
                    field,
                    value,
                    "is not a field that can change",
                    f"Fields: {', '.join(c for c in COLUMNS if c not in ('id', 'space'))}.",
                )
        if "text" in changes:
            changes.setdefault("content_hash", content_hash(changes["text"]))
        with self._writing() as connection:
            number = self._numbers(connection, [id]).get(id)
            if number is None:
                raise NotFoundError(f"No memory {id}. List them with: clew list", id=id)
            self._check_seal(connection, id, number)
            relabelled = bool(changes.keys() & {"tags", "metadata"})
            if relabelled:
                labels.remove(connection, [number])
            for field, value in changes.items():
                connection.execute(
                    f'UPDATE node SET "{field}" = ? WHERE nid = ?', (cell(field, value), number)
                )
            _, *values = self._sealed(connection, number)
            connection.execute(
                "UPDATE node SET checksum = ? WHERE nid = ?", (checksum(values), number)
            )
            if "context" in changes:
                connection.execute(
                    "DELETE FROM embedding WHERE nid = ? AND role = 'context'", (number,)
                )
            if relabelled:
                labels.add(connection, [(number, self.get([id])[id])])

    def _check_seal(self, connection: sqlite3.Connection, id: NodeId, number: int) -> None:
        """Raise if a row is not what was written.

        A new checksum would make its damage look right.
        """
        kept, *values = self._sealed(connection, number)
        if kept is not None and kept != checksum(values):
            raise damaged_node(id, CHANGED)

    def _sealed(self, connection: sqlite3.Connection, number: int) -> tuple[Any, ...]:
        row: tuple[Any, ...] = connection.execute(
            f"SELECT checksum, {SUMMED} FROM node WHERE nid = ?", (number,)
        ).fetchone()
        return row

    def delete(self, ids: Sequence[NodeId]) -> int:
        """Remove nodes with their vectors, edges, words and earlier events.

        Return how many there were.
        """
        with self._writing() as connection:
            found = list(self._numbers(connection, ids).values())
            if not found:
                return 0
            numbers = [(number,) for number in found]
            vectors = "SELECT e.eid FROM json_each(?) j CROSS JOIN embedding e ON e.nid = j.value"
            eids = [eid for (eid,) in connection.execute(vectors, (json.dumps(found),))]
            named = names.mentioned(connection, found)
            labels.remove(connection, found)
            connection.executemany(
                "DELETE FROM event WHERE node = (SELECT id FROM node WHERE nid = ?)", numbers
            )
            # by hand: its trigger tells the indexes
            connection.executemany("DELETE FROM embedding WHERE nid = ?", numbers)
            connection.executemany("DELETE FROM node WHERE nid = ?", numbers)
            strip_segments(connection, eids)
            segments.strip(connection, found)
            names.respell(connection, named)
            erasure.mark(connection)
            return len(numbers)

    def get(self, ids: Sequence[NodeId]) -> dict[NodeId, Node]:
        """Return the nodes that exist, by id."""
        with self._reading() as connection:
            rows = self._seen.rows(connection, SELECTED, ids)
            return {row[0]: node_of(row) for row in sorted(rows, key=itemgetter(0))}

    def signals(self, ids: Sequence[NodeId]) -> dict[NodeId, Signals]:
        """Return what a score asks of the nodes that exist, by id."""
        with self._reading() as connection:
            return _signals(self._seen.signals(connection, ids))

    def evidence(self, ids: Sequence[NodeId]) -> dict[NodeId, Evidence]:
        """Return what has happened around the nodes that exist, by id."""
        with self._reading() as connection:
            return evidence(connection, ids)

    def family(self, ids: Sequence[NodeId]) -> tuple[NodeId, ...]:
        """Return the nodes that exist among these and everything of the same space that has one of them as its root, by id."""
        query = (
            "WITH asked AS (SELECT n.id, n.space FROM json_each(?) j CROSS JOIN node n ON n.id = j.value) SELECT id FROM asked "
            "UNION SELECT n.id FROM asked CROSS JOIN node n ON n.root = asked.id AND +n.space = asked.space ORDER BY 1"
        )
        with self._reading() as connection:
            return tuple(id for (id,) in connection.execute(query, (json.dumps(list(ids)),)))

    def neighbours(self, ids: Sequence[NodeId], *, reach: int) -> dict[NodeId, tuple[Node, ...]]:
        """Return each node that has a parent amid its live neighbours.

        Children of it in the same space at most `reach` positions away.
        """
        query = (
            f"SELECT o.id, {SELECTED} FROM json_each(?) j JOIN node o ON o.id = j.value AND o.parent IS NOT NULL JOIN node n "
            "ON n.id = o.id OR (n.parent = o.parent AND n.kind = o.kind AND n.position BETWEEN o.position - ?2 AND o.position + ?2 "
            "AND +n.space = o.space AND n.t_expired IS NULL AND n.archived = 0) ORDER BY o.id, n.position, n.id"
        )
        found: dict[NodeId, list[Node]] = {}
        with self._reading() as connection:
            for id, *row in connection.execute(query, (json.dumps(list(ids)), reach)):
                found.setdefault(id, []).append(node_of(tuple(row)))
        return {id: tuple(nodes) for id, nodes in found.items()}

    def beginning(self, prefix: str, *, limit: int) -> tuple[NodeId, ...]:
        """Return ids that begin with this, in their order."""
        query = "SELECT id FROM node WHERE id >= ?1 AND substr(id, 1, length(?1)) = ?1 AND id < ?1 || char(1114111) ORDER BY id LIMIT ?2"
        with self._reading() as connection:
            return tuple(id for (id,) in connection.execute(query, (prefix, limit)))

    def find_hash(self, space: str, content_hash: str) -> tuple[NodeId, ...]:
        """Return the live memories of the space with this content hash, oldest first."""
        query = (
            "SELECT id FROM node WHERE space = ? AND content_hash = ? AND kind = 'memory' AND t_expired IS NULL AND archived = 0 "
            "ORDER BY t_created, id"
        )
        with self._reading() as connection:
            return tuple(id for (id,) in connection.execute(query, (space, content_hash)))

    def find_key(self, space: str, key: str) -> NodeId | None:
        """Return the node of the space that was written under this idempotency key, or that claimed it."""
        query = (
            "SELECT id FROM node WHERE space = ?1 AND idempotency_key = ?2 "
            "UNION ALL SELECT n.id FROM claim c JOIN node n ON n.nid = c.nid WHERE c.space = ?1 AND c.key = ?2 LIMIT 1"
        )
        with self._reading() as connection:
            row = connection.execute(query, (space, key)).fetchone()
            return row[0] if row else None

    def claim(self, id: NodeId, key: str) -> None:
        """Let a further idempotency key of the node's space stand for it.

        A key that is taken stays as it is.
        """
        with self._writing() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO claim SELECT space, ?, nid FROM node WHERE id = ?", (key, id)
            )

    def carriers(self, space: str, metadata: Mapping[str, Any]) -> tuple[NodeId, ...]:
        """Return every node of the space that carries all of the metadata, expired and archived ones too, by id."""
        query = (
            "SELECT n.id FROM json_each(?1) j CROSS JOIN label l "
            "ON l.key = json_extract(j.value, '$[0]') AND l.value = json_extract(j.value, '$[1]') JOIN node n ON n.nid = l.nid "
            "WHERE n.space = ?2 GROUP BY n.nid HAVING count(*) = json_array_length(?1) ORDER BY n.id"
        )
        wanted = list(dict.fromkeys(labels_of((), metadata)))
        with self._reading() as connection:
            return tuple(id for (id,) in connection.execute(query, (json.dumps(wanted), space)))

    def add_tombstones(self, space: str, content_hashes: Sequence[str]) -> None:
        """Remember by keyed hashes alone that texts of the space were forgotten."""
        with self._writing() as connection:
            if (
                connection.execute("SELECT 1 FROM meta WHERE key = 'tombstone_key'").fetchone()
                is None
            ):
                key = secrets.token_bytes(KEY_BYTES)
                values = [("tombstone_key", key), ("tombstone_sum", zlib.crc32(key))]
                connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values)
            rows = [(digest,) for digest in self._digests(connection, space, content_hashes)]
            connection.executemany("INSERT OR IGNORE INTO tombstone VALUES (?)", rows)

    def find_tombstones(self, space: str, content_hashes: Sequence[str]) -> frozenset[str]:
        """Return those of the content hashes whose texts were forgotten in the space."""
        with self._reading() as connection:
            digests = self._digests(connection, space, content_hashes)
            there = "SELECT 1 FROM tombstone WHERE digest = ?"
            return frozenset(
                known
                for digest, known in digests.items()
                if connection.execute(there, (digest,)).fetchone()
            )

    def drop_tombstones(self, space: str, content_hashes: Sequence[str]) -> None:
        """Let texts of the space be kept again."""
        with self._writing() as connection:
            rows = [(digest,) for digest in self._digests(connection, space, content_hashes)]
            connection.executemany("DELETE FROM tombstone WHERE digest = ?", rows)

    def _digests(
        self, connection: sqlite3.Connection, space: str, content_hashes: Sequence[str]
    ) -> dict[bytes, str]:
        """Return the content hashes by their digests.

        None before the store has a key, and so its first tombstone.
        """
        row = connection.execute(TOMBSTONE_KEY).fetchone()
        if row is None:
            return {}
        if fault := key_fault(*row):
            raise damaged("The key of the tombstones", fault)
        return {tombstone(row[0], space, each): each for each in content_hashes}

    def nodes(
        self, space: str | None = None, *, on_damage: OnDamage | None = None
    ) -> Iterator[Node]:
        """Yield every node, expired ones too, in the order of ids.

        Without the damaged ones where `on_damage` is told of them.
        """
        if on_damage is not None:
            yield from self._readable_nodes(space, on_damage)
            return
        after = ""
        while page := self._page(space, after):
            yield from page
            after = page[-1].id

    def _page(self, space: str | None, after: NodeId) -> list[Node]:
        with self._reading() as connection:
            query = f"SELECT {SELECTED} FROM node n WHERE n.id > ? AND (? IS NULL OR n.space = ?) ORDER BY n.id LIMIT {PAGE}"
            return [node_of(row) for row in connection.execute(query, (after, space, space))]

    def _readable_nodes(self, space: str | None, on_damage: OnDamage) -> Iterator[Node]:
        """Yield the nodes that can be read, one by one.

        A damaged page or row costs no more than what it holds.
        """
        with self._reading() as connection, undecodable_text(connection):
            numbers = [
                number
                for (number,) in connection.execute("SELECT nid FROM node ORDER BY id").fetchall()
            ]
        for number in numbers:
            node = self._readable_node(number, space, on_damage)
            if node is not None:
                yield node

    def _readable_node(self, number: int, space: str | None, on_damage: OnDamage) -> Node | None:
        try:
            with self._reading() as connection, undecodable_text(connection):
                row = connection.execute(
                    f"SELECT {SELECTED} FROM node n WHERE n.nid = ?", (number,)
                ).fetchone()
            node = None if row is None else node_of(row)
        except CorruptStoreError as error:
            on_damage(
                error
                if "id" in error.facts
                else damaged(f"Memory number {number}", error.message, number=number)
            )
            return None
        return node if node is not None and space in (None, node.space) else None

    def listing(
        self,
        where: Filter,
        *,
        sort: Sort,
        limit: int,
        min_importance: float = 0.0,
        min_accesses: int = 0,
        after: Spot | None = None,
    ) -> tuple[Node, ...]:
        """Return nodes in the order of `sort`, best first, ties by id.

        Those behind the spot, if one is given.
        """
        if sort is Sort.IMPORTANT and min_importance <= INDEXED_ABOVE:
            outstanding = self.listing(
                where,
                sort=sort,
                limit=limit,
                min_importance=LEAST_INDEXED,
                min_accesses=min_accesses,
                after=after,
            )
            if len(outstanding) >= limit:
                return outstanding
        clause, values = condition(where)
        if after is not None:
            further, spot = behind(after, sort)
            clause, values = f"{clause} AND {further}", [*values, *spot]
        if min_importance > INDEXED_ABOVE:
            clause += f" AND n.importance > {INDEXED_ABOVE}"
        with self._reading() as connection:
            nodes, first = source(connection, where)
            # Without a least count none is compared: a damaged one is read and told, not passed
            # over.
            used, counted = (
                (" AND coalesce(a.count, 0) >= ?", [min_accesses]) if min_accesses > 0 else ("", [])
            )
            query = (
                f"SELECT {SELECTED} FROM {nodes} LEFT JOIN access a ON a.nid = n.nid "
                f"WHERE {clause} AND n.importance >= ?{used} ORDER BY {ORDERS[sort]} LIMIT ?"
            )
            return tuple(
                map(
                    node_of,
                    connection.execute(
                        query, (*first, *values, min_importance, *counted, max(0, limit))
                    ),
                )
            )

    # --- search ---

    def sparse(self, terms: Sequence[str], where: Filter, *, limit: int) -> Ranking:
        """Return the nodes that hold any of the analysed terms, by BM25 in the filter's space.

        A repeated term counts more.
        """
        with self._reading():
            return self._words.search(terms, where, limit=limit)

    def holding(self, terms: Sequence[str], space: str) -> dict[str, int]:
        """Return how many nodes of the space hold each of the analysed terms."""
        with self._reading():
            return self._words.holding(terms, space)

    def dense(
        self, vector: Vectors, where: Filter, *, limit: int, role: Role = Role.CONTENT
    ) -> Ranking:
        """Return the nodes nearest to a unit vector, by cosine."""
        with self._reading():
            return self._dense.search(vector, where, limit=limit, role=role)

    def begin_dense(self, vector: Vectors, where: Filter, *, limit: int) -> Callable[[], Ranking]:
        """Begin what `dense` does, and return what waits for it, for this thread.

        The scan goes on while something else is done.
        """
        with self._reading():
            begun = self._dense.begin(vector, where, limit=limit, role=Role.CONTENT)

        def finished() -> Ranking:
            with self._reading():
                return begun()

        return finished

    def cosines(
        self, vector: Vectors, ids: Sequence[NodeId], *, role: Role = Role.CONTENT
    ) -> dict[NodeId, float]:
        """Return the exact cosine of each named node that has a vector."""
        model = self.model()
        if model is None:
            return {}
        with self._reading():
            return self._dense.cosines(as_unit(vector, model.dimension), ids, role=role)

    # --- events, accesses, edges ---

    def append(self, events: Sequence[Event]) -> None:
        """Write events to the end of the log."""
        with self._writing() as connection:
            self._append(connection, events)

    def _append(self, connection: sqlite3.Connection, events: Sequence[Event]) -> None:
        rows = [(e.node, str(e.kind), micros(e.at), detail_of(e)) for e in events]
        connection.executemany(
            "INSERT INTO event (node, kind, at, detail) VALUES (?, ?, ?, ?)", rows
        )

    def events(self, node: NodeId, *, on_damage: OnDamage | None = None) -> tuple[Event, ...]:
        """Return what happened to a node, oldest first.

        Without the damaged ones where `on_damage` is told of them.
        """
        with self._reading() as connection:
            rows = self._rows(connection, EVENTS, (node,), on_damage)
        told = list(
            _decoded(
                rows,
                partial(_event, node),
                lambda row: (f"Event {row[0]} of {node}", node),
                on_damage,
            )
        )
        # What was forgotten under this id is told of before what was then added under it.
        forgotten = (
            [*takewhile(lambda event: event.kind is EventKind.FORGET, told[1:])]
            if rows and not rows[0][0]
            else []
        )
        return (*forgotten, *told[:1], *told[len(forgotten) + 1 :])

    def _rows(
        self,
        connection: sqlite3.Connection,
        query: str,
        values: Sequence[Any],
        on_damage: OnDamage | None,
    ) -> list[tuple[Any, ...]]:
        """Read rows; text that is not UTF-8 is passed on where somebody is told of damage."""
        if on_damage is None:
            return connection.execute(query, values).fetchall()
        with undecodable_text(connection):
            return connection.execute(query, values).fetchall()

    def touch(self, ids: Sequence[NodeId], at: datetime, *, min_interval_seconds: float) -> int:
        """Count one access for each node not counted within the interval; return how many were."""
        asked = (
            json.dumps(list(dict.fromkeys(ids))),
            micros(at),
            round(min_interval_seconds * 1_000_000),
        )
        with self._database.impatient(), self._writing() as connection:
            connection.execute(ACCESS_EVENTS, asked)  # first: once it is counted, no access is due
            return connection.execute(ACCESS_COUNTS, asked).rowcount

    def reject(self, counts: Mapping[str, int]) -> None:
        """Add to how many texts each rule has rejected; `stats` tells the sums as `rejected`."""
        with self._writing() as connection:
            connection.executemany(
                "INSERT INTO rejection VALUES (?, ?) ON CONFLICT (rule) DO UPDATE SET count = count + excluded.count",
                counts.items(),
            )

    def keep(self, kind: str, id: str, body: Mapping[str, Any]) -> None:
        """Write a small JSON record beside the memories; replaces one of the same kind and id."""
        with self._writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO record VALUES (?, ?, ?)",
                (kind, id, compact_json(dict(body))),
            )

    def kept(self, kind: str) -> dict[str, dict[str, Any]]:
        """Return the records of a kind by id, in the order of ids."""
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT id, body FROM record WHERE kind = ? ORDER BY id", (kind,)
            ).fetchall()
            return {id: mapping_of(body) for id, body in rows}

    def record(self, kind: str, id: str) -> dict[str, Any] | None:
        """Return one record; None where there is none."""
        # as bytes: a caller's text may hold half a character, which SQLite takes no other way
        named = id.encode("utf-8", "surrogatepass")
        with self._reading() as connection:
            row = connection.execute(
                "SELECT body FROM record WHERE kind = ? AND id = CAST(? AS TEXT)", (kind, named)
            ).fetchone()
            return None if row is None else mapping_of(row[0])

    def drop(self, kind: str, id: str) -> bool:
        """Remove a record; tell whether there was one."""
        with self._writing() as connection:
            return (
                connection.execute(
                    "DELETE FROM record WHERE kind = ? AND id = ?", (kind, id)
                ).rowcount
                > 0
            )

    def link(self, edges: Sequence[Edge]) -> None:
        """Add edges; an edge with the same source, target and kind is replaced."""
        with self._writing() as connection:
            numbers = self._numbers(
                connection, [end for edge in edges for end in (edge.source, edge.target)]
            )
            for edge in edges:
                for end in (edge.source, edge.target):
                    if end not in numbers:
                        raise NotFoundError(
                            f"No memory {end} to link. List them with: clew list", id=end
                        )
            connection.executemany(
                "INSERT OR REPLACE INTO edge VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        numbers[e.source],
                        numbers[e.target],
                        e.kind,
                        e.weight,
                        e.confidence,
                        e.evidence,
                        micros(e.t_created),
                    )
                    for e in edges
                ],
            )

    def edges(
        self, ids: Sequence[NodeId], *, on_damage: OnDamage | None = None
    ) -> tuple[Edge, ...]:
        """Return every edge that starts or ends at one of the nodes.

        Without the damaged ones where `on_damage` is told of them.
        """
        query = (
            "WITH wanted AS (SELECT nid FROM node WHERE id IN (SELECT value FROM json_each(?))) "
            "SELECT s.id, t.id, e.kind, e.weight, e.confidence, e.evidence, e.t_created "
            "FROM edge e JOIN node s ON s.nid = e.source JOIN node t ON t.nid = e.target "
            "WHERE e.source IN wanted OR e.target IN wanted ORDER BY s.id, e.kind, t.id"
        )
        with self._reading() as connection:
            rows = self._rows(connection, query, (json.dumps(list(ids)),), on_damage)
        return tuple(
            _decoded(
                rows, _edge, lambda row: (f"An edge from {row[0]} to {row[1]}", row[0]), on_damage
            )
        )

    # --- names ---

    def mention(self, mentions: Sequence[Mention]) -> None:
        """Note what nodes name and are about.

        What was noted of the same nodes before is replaced.
        """
        if mentions:
            with self._writing() as connection:
                names.mention(connection, mentions)

    def mentions(self, ids: Sequence[NodeId]) -> dict[NodeId, tuple[Mention, ...]]:
        """Return what each of the nodes names and is about.

        Subjects first, then the surest, ties by key.
        """
        with self._reading() as connection:
            return names.mentions(connection, ids)

    def named(
        self, keys: Sequence[str], where: Filter, *, limit: int, parts: bool = True
    ) -> dict[str, Named]:
        """Return where the filter's space speaks of each key that is known there.

        At most `limit` subjects and holders that pass.
        """
        if not keys:
            return {}
        with self._reading() as connection:
            return names.named(connection, keys, where, limit=limit, parts=parts)

    def visible(self, ids: Sequence[NodeId], where: Filter) -> frozenset[NodeId]:
        """Return those of the nodes that pass the filter."""
        with self._reading() as connection:
            return names.visible(connection, ids, where)

    # --- models and vectors ---

    def model(self) -> ModelInfo | None:
        """Return the model whose vectors are searched; None before the first.

        Asked by every recall: a file that is gone is told here.
        """
        if not self._database.in_transaction:
            self._database.check_place()
        with self._reading() as connection:
            return self._seen.told(
                connection, "model", lambda: _model(self._upkeep.model(connection))
            )

    def activate(self, model: ModelInfo) -> None:
        """Make this the searched model and drop the vectors of every other."""
        with self._writing() as connection:
            number = self._model_number(connection, model)
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('model', ?)", (number,))
            connection.execute("DELETE FROM embedding WHERE model <> ?", (number,))
            connection.execute("DELETE FROM model WHERE mid <> ?", (number,))
            self._upkeep.look()  # the vectors of a model that was not searched have no segments

    def put(self, embeddings: Sequence[Embedding], model: ModelInfo) -> None:
        """Write vectors of a model, which need not be the active one.

        Replaces per node and role.
        """
        with self._writing() as connection:
            numbers = self._numbers(connection, [embedding.node for embedding in embeddings])
            self._put(
                connection,
                embeddings,
                self._model_number(connection, model),
                model.dimension,
                numbers,
            )

    def embeddings(
        self, ids: Sequence[NodeId], *, on_damage: OnDamage | None = None
    ) -> tuple[Embedding, ...]:
        """Return the vectors of the active model that the nodes have, by node and role.

        As `edges` without the damaged ones.
        """
        query = (
            "SELECT n.id, e.role, e.text_hash, e.vector, m.dimension, t.codes FROM embedding e JOIN node n ON n.nid = e.nid "
            "JOIN model m ON m.mid = e.model LEFT JOIN token_code t ON t.eid = e.eid "
            "WHERE n.id IN (SELECT value FROM json_each(?)) AND e.model = (SELECT value FROM meta WHERE key = 'model') "
            "ORDER BY n.id, e.role"
        )
        with self._reading() as connection:
            rows = self._rows(connection, query, (json.dumps(list(ids)),), on_damage)
        return tuple(
            _decoded(rows, _embedding, lambda row: (f"The vector of {row[0]}", row[0]), on_damage)
        )

    def token_codes(self, ids: Sequence[NodeId]) -> dict[NodeId, bytes]:
        """Return the token codes that the nodes have with a vector of the active model.

        Those of a context vector go first.
        """
        model = self.model()
        if model is None:
            return {}
        with self._reading() as connection:
            rows = self._seen.rows(
                connection, "n.id, e.role, t.codes, t.checksum", ids, joined=WITH_CODES
            )
        if wrong := next(
            (
                id
                for id, _, codes, crc in rows
                if codes_fault(codes, model.dimension) or zlib.crc32(codes) != crc
            ),
            None,
        ):
            raise damaged(
                f"The record of token codes of {wrong}", "its length or checksum is wrong", id=wrong
            )
        # "content" before "context", which counts
        return {id: codes for id, _, codes, _ in sorted(rows, key=itemgetter(1))}

    def coverage(self, space: str) -> Coverage:
        """Return how many live nodes the space has and how many of them have vectors of the active model; quick, for every recall."""
        with self._reading() as connection:
            return self._seen.told(
                connection, ("coverage", space), lambda: self._coverage(connection, space)
            )

    def _coverage(self, connection: sqlite3.Connection, space: str) -> Coverage:
        nodes, keyed, sections = connection.execute(
            "SELECT coalesce(sum(live), 0), coalesce(sum(keyed), 0), coalesce(sum(live) FILTER (WHERE kind = 'section'), 0) "
            "FROM counted WHERE name = ?",
            (space,),
        ).fetchone()
        vectors = self._dense.count(connection, space)
        contexts = self._dense.count(connection, space, role=Role.CONTEXT) if keyed else 0
        questions = self._dense.count(connection, space, role=Role.QUESTION)
        return Coverage(
            nodes=nodes,
            vectors=vectors,
            keyed=keyed,
            contexts=contexts,
            sections=sections,
            questions=questions,
        )

    def unembedded(self, model_id: str, *, limit: int, tokens: bool = False) -> tuple[Node, ...]:
        """Return live nodes without a content vector of this model, with a stale one, or with a context key and no vector of it, by id.

        With `tokens` also the memories and chunks that have no token codes.
        """
        query = (
            f"WITH m AS (SELECT mid FROM model WHERE name = ?) SELECT {SELECTED} FROM node n "
            "LEFT JOIN embedding e ON e.nid = n.nid AND e.role = 'content' AND e.model = (SELECT mid FROM m) "
            "WHERE n.t_expired IS NULL AND n.archived = 0 AND (e.eid IS NULL OR e.text_hash <> n.content_hash OR (n.context <> '' AND "
            "NOT EXISTS (SELECT 1 FROM embedding c WHERE c.nid = n.nid AND c.role = 'context' AND c.model = (SELECT mid FROM m))) "
            f"OR (? AND n.kind IN {CODED} AND NOT EXISTS (SELECT 1 FROM embedding c CROSS JOIN token_code t ON t.eid = c.eid "
            "WHERE c.nid = n.nid AND c.model = (SELECT mid FROM m)))) ORDER BY n.id LIMIT ?"
        )
        with self._reading() as connection:
            return tuple(map(node_of, connection.execute(query, (model_id, tokens, max(0, limit)))))

    def _active(self, connection: sqlite3.Connection) -> tuple[int, int]:
        """Return the number and the dimension of the active model."""
        row = self._upkeep.model(connection)
        if row is None:
            raise ModelMismatchError(
                "The store has no model yet, so vectors cannot be written to it. Run: clew reembed"
            )
        return int(row[0]), int(row[2])

    def _model_number(self, connection: sqlite3.Connection, model: ModelInfo) -> int:
        connection.execute(
            "INSERT OR IGNORE INTO model (name, dimension) VALUES (?, ?)",
            (model.id, model.dimension),
        )
        number, dimension = connection.execute(
            "SELECT mid, dimension FROM model WHERE name = ?", (model.id,)
        ).fetchone()
        if dimension != model.dimension:
            raise ModelMismatchError(
                f"Model {model.id} gave vectors of {model.dimension} numbers; the store holds {dimension} under that name. "
                "Check that the model is the one that made the store, or run: clew reembed",
                model=model.id,
            )
        return int(number)

    def _put(
        self,
        connection: sqlite3.Connection,
        embeddings: Sequence[Embedding],
        model: int,
        dimension: int,
        numbers: Mapping[NodeId, int],
        *,
        statement: str = PUT,
    ) -> None:
        # the others were forgotten while they were being embedded
        there = [each for each in embeddings if each.node in numbers]
        connection.executemany(
            statement, [_stored(each, numbers[each.node], model, dimension) for each in there]
        )
        codes = {
            (numbers[each.node], model, str(each.role)): as_codes(each.tokens, dimension)
            for each in there
        }
        if statement is not PUT_FIRST:
            connection.executemany(DROP_CODES, codes)
        made = [
            (*key, tokens, zlib.crc32(tokens))
            for key, tokens in codes.items()
            if tokens is not None
        ]
        if made:
            connection.executemany(PUT_CODES, made)

    def _numbers(self, connection: sqlite3.Connection, ids: Sequence[NodeId]) -> dict[NodeId, int]:
        return dict(
            connection.execute(
                "SELECT id, nid FROM node WHERE id IN (SELECT value FROM json_each(?))",
                (json.dumps(list(ids)),),
            ).fetchall()
        )

    # --- care ---

    def stats(self, space: str | None = None) -> Mapping[str, Any]:
        """Return counts and sizes for people and monitors.

        Of a space nothing that another one changes.
        """
        with self._reading() as connection:
            return statistics(connection, self._database.path, space=space)

    def extent(self, where: Filter, *, outliers: float) -> tuple[datetime, datetime] | None:
        """Return between which valid times the nodes lie, without a share of outliers at each end."""
        with self._reading() as connection:
            return overview.extent(connection, where, outliers=outliers)

    def densities(self, where: Filter, span: Span) -> Densities:
        """Count by bucket when the nodes began and ended to be true, and when they were recorded."""
        with self._reading() as connection:
            return overview.densities(connection, where, span)

    def differing(
        self, seen: Filter, unseen: Filter, *, limit: int
    ) -> tuple[int, tuple[Node, ...]]:
        """Return how many nodes pass the first filter and not the second, and the latest of them."""
        with self._reading() as connection:
            return overview.differing(connection, seen, unseen, limit=limit)

    def assessed(self, where: Filter, *, bins: int, lowest: int) -> Assessed:
        """Count the nodes by quality."""
        with self._reading() as connection:
            return overview.assessed(connection, where, bins=bins, lowest=lowest)

    def verify(self) -> tuple[Problem, ...]:
        """Check everything derived against the truth; an empty answer means sound."""
        with self._reading() as connection:
            return problems(connection)

    def repair(self) -> Repaired:
        """Rebuild everything derived from the truth, drop vectors that are none (`reembed` makes them anew), set aside damaged rows."""
        self._dense.forget()  # what was read from damaged segments
        self._words.forget()
        with self._database.translated() as connection:
            rebuild_free_list(connection)
        with self._writing() as connection:
            done = repair(connection, self._database.path)
            self._rebuild_words(connection)
        return done

    def compact(self) -> None:
        """Rewrite the file without what was deleted and merge indexes.

        Nothing searchable changes.
        """
        with self._writing() as connection:
            self._upkeep.look()
            counting.count(connection)
            if self.model() is not None:
                self._dense.checkpoint(connection)
            if segments.needed(connection):
                segments.checkpoint(connection)
        with self._database.translated() as connection:
            connection.execute("VACUUM")
            if erasure.marked(connection) is None:
                erasure.cut_journal(connection)
            elif not erasure.settle(connection):
                path = self._database.path
                raise StoreBusyError(
                    f"{path} was rewritten, but another process is still reading {path.name}-wal, so deleted text may be left in it. "
                    "Let the process finish or end it, then run clew compact again.",
                    path=str(path),
                )

    def erase(self, texts: Sequence[str], *, check: bool = True) -> Erasure:
        """Overwrite what deletions left in the files, and search their bytes for the texts.

        Called outside a transaction.
        """
        path, identity = self._database.files
        unchecked = tuple(each.name for each in erasure.backups(path))
        with self._database.translated() as connection, self._database.writing:
            if connection.in_transaction:
                return Erasure(
                    remains=(
                        f"{path.name}: the transaction is not committed yet; the journal is cut when it is.",
                    )
                )
            with erasure.patience(connection, ERASE_SECONDS):
                settled = erasure.settle(connection)
            if not settled:
                return Erasure(remains=(_STILL_READ.format(name=path.name),), unchecked=unchecked)
            if not check or identity is None:
                return Erasure(unchecked=unchecked)
            return self._checked(connection, path, identity, texts)._replace(unchecked=unchecked)

    def _checked(
        self,
        connection: sqlite3.Connection,
        path: Path,
        identity: rawbytes.Identity,
        texts: Sequence[str],
    ) -> Erasure:
        """Search the files; where a moved copy of a deleted text is found, rewrite the file and search once more."""
        schema = erasure.schema(connection)
        # "metadata" names a column, too
        pieces = [piece for piece in rawbytes.windows_of(texts) if piece not in schema]
        found = erasure.counts(path, identity, rawbytes.Windows(pieces))
        left = set().union(*found.values())
        shared = erasure.live(connection, list(left)) if left else set()
        remains: tuple[str, ...] = ()
        if left - shared and path.stat().st_size > REWRITE_BYTES:
            remains = (
                f"{path.name}: copies are left in unused parts of its pages. Run: clew compact",
            )
        elif left - shared:
            connection.execute("VACUUM")
            if not erasure.cut_journal(connection):
                remains = (_STILL_READ.format(name=path.name),)
            found = erasure.counts(path, identity, rawbytes.Windows(left - shared))
        files = [
            FileCheck(name, sum(count for piece, count in held.items() if piece not in shared))
            for name, held in found.items()
        ]
        return Erasure(files=tuple(files), shared=len(shared), remains=remains)

    def search_files(self, text: str) -> tuple[FileCheck, ...]:
        """Count a text, however it is written, in the bytes of every file of the store, backups beside it too."""
        path, identity = self._database.files
        windows = rawbytes.Windows(rawbytes.forms_of(text))
        with self._reading():  # or it is closed, and nothing may be opened
            found = {} if identity is None else erasure.counts(path, identity, windows)
            found |= {
                each.name: rawbytes.count_in_file(each, windows) for each in erasure.backups(path)
            }
        return tuple(FileCheck(name, held.total()) for name, held in found.items())

    def backup(self, path: Path) -> None:
        """Write a consistent copy that opens as a store, while others read and write."""
        # one that never writes: SQLite waits for those
        with self._database.translated(), self._database.reader() as connection:
            copy_to(connection, Path(path))

    def remains(self) -> Remains:
        """Return what stands beside the nodes, for a move."""
        with self._reading() as connection:
            return remains.read(connection)

    def adopt(self, found: Remains) -> None:
        """Take over what stands beside the nodes of another store; what is there already stays."""
        with self._writing() as connection:
            remains.write(connection, found)

    def close(self) -> None:
        """Release files; further calls are errors, closing again is not."""
        if self._upkeep.waiting:  # a journal that nobody could cut: now there is one reader less
            with suppress(ClewError):
                self._finish_erasure()
        self._database.close()


T = TypeVar("T")
Row = tuple[Any, ...]

_STILL_READ = (
    "{name} and {name}-wal: another process is reading them, so they still hold the deleted bytes. The next write, opening or closing "
    "cuts the journal; clew compact also removes copies in unused parts of pages, and clew forget --verify TEXT shows what is left."
)


def _decoded(
    rows: Sequence[Row],
    read: Callable[[Row], T],
    naming: Callable[[Row], tuple[str, NodeId]],
    on_damage: OnDamage | None,
) -> Iterator[T]:
    """Read rows; a damaged one, which `naming` names with its memory, is told to `on_damage` and left out, or raised."""
    for row in rows:
        try:
            yield read(row)
        except UNREADABLE as error:
            what, id = naming(row)
            found = damaged(what, str(error) or type(error).__name__, id=str(id))
            if on_damage is None:
                raise found from error
            on_damage(found)


def _event(node: NodeId, row: Row) -> Event:
    _, kind, at, detail = row
    return Event(node=node, kind=EventKind(kind), at=moment(at), detail=mapping_of(detail))


def _edge(row: Row) -> Edge:
    source, target, kind, weight, confidence, evidence, at = row
    if tuple(map(type, row)) != (str, str, str, float, float, str, int) or not (
        0 <= weight <= 1 and 0 <= confidence <= 1
    ):
        raise ValueError("a value is of another type or out of range")
    return Edge(
        source=source,
        target=target,
        kind=kind,
        weight=weight,
        confidence=confidence,
        evidence=evidence,
        t_created=moment(at),
    )


def _embedding(row: Row) -> Embedding:
    node, role, text_hash, vector, dimension, tokens = row
    if type(text_hash) is not str or type(vector) is not bytes or len(vector) != 2 * dimension:
        raise ValueError(f"it is not a vector of {dimension} numbers")
    values = np.frombuffer(vector, "<f2").astype(np.float32)
    if not np.isfinite(values).all():
        raise ValueError("it holds NaN or infinity")
    if tokens is not None and codes_fault(tokens, dimension):
        raise ValueError("its token codes are damaged")
    return Embedding(node=node, role=Role(role), text_hash=text_hash, vector=values, tokens=tokens)


def _stored(embedding: Embedding, number: int, model: int, dimension: int) -> Row:
    """Return a vector as the columns of PUT."""
    vector = as_unit(embedding.vector, dimension).astype("<f2").tobytes()
    return (
        number,
        model,
        str(embedding.role),
        embedding.text_hash,
        vector,
        vector_checksum(embedding.text_hash, vector),
    )


_signal: Callable[[Row], Signals] = partial(tuple.__new__, Signals)


def _signals(rows: Sequence[Row]) -> dict[NodeId, Signals]:
    """Return rows that begin as SIGNALS selects.

    Made for every candidate of every recall, so column by column and without Python calls.
    """
    if not rows:
        return {}
    # what is noted has more behind it
    ids, t_valid, importance, accesses, parent, keyed, told, *_ = zip(*rows, strict=False)
    if (
        {*map(type, importance)} != {float}
        or {*map(type, accesses)} != {int}
        or not (0 <= min(importance) <= max(importance) <= 1 and min(accesses) >= 0)
    ):
        raise ValueError("an importance or a count of accesses is damaged")
    if not {*map(type, parent)} <= {str, type(None)}:
        raise TypeError("a parent is damaged")
    values = zip(
        moments(t_valid), importance, accesses, parent, map(bool, keyed), moments(told), strict=True
    )
    return dict(zip(ids, map(_signal, values), strict=True))


def _added(nodes: Sequence[Node], events: Sequence[Event]) -> dict[NodeId, Event]:
    """Return the ADD event of each new node whose first event it is.

    It goes into the node's row.
    """
    first: dict[NodeId, Event] = {}
    for event in events:
        first.setdefault(event.node, event)
    return {
        node.id: first[node.id]
        for node in nodes
        if node.id in first and first[node.id].kind is EventKind.ADD
    }


def _model(row: Row | None) -> ModelInfo | None:
    return ModelInfo(*row[1:]) if row else None
