"""The scale-out store: PostgreSQL holds the truth and the blocks, this process does the arithmetic."""

from __future__ import annotations

import secrets
import zlib
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import datetime
from itertools import takewhile
from operator import itemgetter
from pathlib import Path
from typing import Any, Self

import numpy as np

from clew.errors import CorruptStoreError, ModelMismatchError, NotFoundError, StoreError
from clew.ports import Coverage, Evidence, ModelInfo, OnDamage, Problem, Repaired, Sort
from clew.store.postgres import blocks, care, names, remains
from clew.store.postgres.database import STATE, Database, Rows, Session, Statement, model_of
from clew.store.postgres.remains import with_escapes, without_escapes
from clew.store.postgres.schema import PARTITIONS
from clew.store.postgres.search import SIGNALS, Search, look, scored, signals_of
from clew.store.postgres.spaces import CACHE_BYTES, Spaces
from clew.store.postgres.where import ORDERS, behind, condition, label_code
from clew.store.postgres.writing import (
    CONTEXT,
    advance,
    check_fields,
    counts,
    delete_labels,
    insert_events,
    insert_labels,
    insert_nodes,
    log_change,
    missing,
    put_state,
    put_vectors,
    updated_cells,
)
from clew.store.remains import Remains
from clew.store.sqlite.rows import (
    SEALED,
    compact_json,
    damaged,
    labels_of,
    mapping_of,
    micros,
    moment,
    node_of,
)
from clew.store.sqlite.store import _added, _decoded, _edge, _embedding, _event
from clew.store.tombstones import KEY_BYTES, key_fault, tombstone
from clew.store.vectors import as_unit, codes_fault
from clew.token_codes import CODED_KINDS
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
    Stability,
    Vectors,
)

SELECTED = ", ".join(f'n."{column}"' for column in (*SEALED, "checksum")) + ", n.accesses"
THESE = "n.space = ANY(%s::text[]) AND n.id = ANY(%s::text[])"
PLACES_KEPT = 1 << 16  # ids whose space is known: 10 MB
PAGE = 1000
UNCHECKED = (
    "the server's data files, write-ahead log, replicas and backups: PostgreSQL overwrites deleted rows when VACUUM and later writes "
    "reuse their room; see docs/guide/postgres.md"
)


class PostgresStore:
    """Nodes, words and vectors in a PostgreSQL database.

    See `clew.ports.Store` for what each method promises.
    """

    def __init__(self, database: Database, *, cache_bytes: int = CACHE_BYTES) -> None:
        self._database = database
        self._spaces = Spaces(cache_bytes=cache_bytes)
        self._search = Search(database, self._spaces, self._note)
        self._places: OrderedDict[NodeId, str] = OrderedDict()
        self._deleted: set[str] = set()
        """Tables with rows that this process has deleted and not vacuumed."""

    @classmethod
    def open(
        cls,
        url: str,
        *,
        busy_timeout_seconds: float = 30.0,
        partitions: int = PARTITIONS,
        cache_bytes: int = CACHE_BYTES,
    ) -> Self:
        """Open the store in a database, making or upgrading it where needed.

        `partitions` counts when it is made.
        """
        return cls(
            Database(url, busy_timeout_seconds=busy_timeout_seconds, partitions=partitions),
            cache_bytes=cache_bytes,
        )

    @property
    def round_trips(self) -> int:
        """How many batches of statements were sent to the server since the store was opened."""
        return self._database.round_trips

    # --- transactions ---

    def transaction(self) -> AbstractContextManager[None]:
        """Write all or nothing; a space is locked when it is first read or written inside.

        Nests.
        """
        return self._transaction()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._writing():
            yield

    def read_scope(self) -> AbstractContextManager[None]:
        """Answer this thread's reads inside as of the first that asked, where that saves a round trip."""
        return self._database.scope()

    def _writing(self) -> AbstractContextManager[Session]:
        return self._database.writing(_ending)

    @property
    def in_transaction(self) -> bool:
        """Whether this thread is inside a transaction, and so sees what nobody else sees yet."""
        return self._database.session is not None

    # --- where nodes are ---

    def _located(self, ids: Iterable[NodeId], *, fresh: bool = False) -> dict[NodeId, str]:
        """Return the spaces of the nodes that exist, as far as this process knows.

        With `fresh` all are asked for.
        """
        wanted = [id for id in dict.fromkeys(ids) if _can_be_stored(id)]
        places = self._places
        known = {} if fresh else {id: places[id] for id in wanted if id in places}
        if left := [id for id in wanted if id not in known]:
            found: dict[NodeId, str] = dict(
                self._plain(None, "SELECT id, space FROM place WHERE id = ANY(%s::text[])", [left])
            )
            known |= found
            self._note(found)
        return known

    def _note(self, places: Mapping[NodeId, str]) -> None:
        if self._database.session is not None:  # it may be rolled back
            return
        self._places.update(places)
        while len(self._places) > PLACES_KEPT:
            self._places.popitem(last=False)

    def _plain(self, space: str | None, query: str, values: Sequence[Any]) -> Rows:
        """Return the rows of a query without the lock that a read of a space takes inside a transaction."""
        inside = self._database.session
        return (
            self._database.ask(space, query, values)
            if inside is None
            else inside.run(space, (query, values))[0]
        )

    def _of(self, ids: Iterable[NodeId], query: str, *, copies: int = 1, column: int = 0) -> Rows:
        """Return the rows of a query over the nodes with these ids.

        It takes the spaces `copies` times around the ids.

        The first two parameters are spaces and ids; further ones are spaces. What is not where it
        was is looked for once more.
        """
        places = self._located(ids)
        rows = self._in_places(places, query, copies=copies)
        gone = places.keys() - {row[column] for row in rows}
        if gone and (
            moved := {
                id: space
                for id, space in self._located(gone, fresh=True).items()
                if places[id] != space
            }
        ):
            rows += self._in_places(moved, query, copies=copies)
        return rows

    def _in_places(self, places: Mapping[NodeId, str], query: str, *, copies: int) -> Rows:
        if not places:
            return []
        spaces = sorted(set(places.values()))
        inside = self._database.session
        if inside is not None:
            self._database.secure(inside, *spaces)
        values = [spaces, list(places), *([spaces] * copies)]
        return self._plain(spaces[0] if len(spaces) == 1 else None, query, values)

    def _by_space(self, ids: Iterable[NodeId], session: Session) -> dict[str, list[NodeId]]:
        """Return nodes by space, with the spaces locked."""
        found: dict[str, list[NodeId]] = defaultdict(list)
        for id, space in self._located(ids, fresh=True).items():
            found[space].append(id)
        self._database.secure(session, *found)
        return dict(sorted(found.items()))

    def _numbers(self, session: Session, space: str, ids: Sequence[NodeId]) -> dict[NodeId, int]:
        query = "SELECT id, nid FROM node WHERE space = %s AND id = ANY(%s::text[])"
        return dict(session.run(space, (query, [space, list(ids)]))[0])

    # --- nodes ---

    def insert(
        self,
        nodes: Sequence[Node],
        embeddings: Sequence[Embedding] = (),
        events: Sequence[Event] = (),
    ) -> None:
        """Add new nodes, searchable at once, with vectors of the store's model, and append events."""
        spaces = {node.id: node.space for node in nodes}
        added = _added(nodes, events)
        with self._writing() as session:
            if embeddings:
                session.lock(self._database.lock_of("model"), shared=True)
            self._database.secure(session, *spaces.values())
            model = self._active(session, embeddings)
            numbers: dict[NodeId, int] = {}
            statements: list[Statement] = []
            for space in sorted(set(spaces.values())):
                own = [node for node in nodes if node.space == space]
                first = session.states[space].nid + 1
                numbers |= {node.id: number for number, node in enumerate(own, first)}
                statements.append(advance(session, space, nodes=len(own)))
            if nodes:
                statements = [*insert_nodes(nodes, numbers, added), *statements]
            several = len(set(spaces.values())) > 1
            if statements:
                session.run(None if several else next(iter(spaces.values())), *statements)
            self._put(
                session,
                [each for each in embeddings if each.node in numbers],
                model,
                spaces,
                numbers,
                replacing=False,
            )
            further = [each for each in embeddings if each.node not in numbers]
            if further:
                self._put_located(session, further, model)
            rest = [event for event in events if added.get(event.node) is not event]
            if rest:
                self._append(session, rest, spaces)

    def _active(self, session: Session, embeddings: Sequence[Embedding]) -> tuple[int, int]:
        """Return the number and dimension of the active model, which vectors need."""
        if not embeddings:
            return 0, 0
        if session.model is None:
            session.model = model_of(session.run("", (STATE, [""]))[0][0])
        if session.model is None:
            raise ModelMismatchError(
                "The store has no model yet, so vectors cannot be written to it. Run: clew reembed"
            )
        return session.model[0], session.model[2]

    def _put(
        self,
        session: Session,
        embeddings: Sequence[Embedding],
        model: tuple[int, int],
        spaces: Mapping[NodeId, str],
        numbers: Mapping[NodeId, int],
        *,
        replacing: bool,
    ) -> None:
        for space in sorted({spaces[each.node] for each in embeddings}):
            own = [each for each in embeddings if spaces[each.node] == space]
            statements = put_vectors(
                session,
                space,
                own,
                numbers,
                model=model[0],
                dimension=model[1],
                replacing=replacing,
            )
            if statements and replacing:
                statements.append(
                    log_change(
                        session, space, sorted({numbers[each.node] for each in own}), reworded=False
                    )
                )
            if statements:
                session.run(space, *statements)

    def _put_located(
        self, session: Session, embeddings: Sequence[Embedding], model: tuple[int, int]
    ) -> None:
        """Write vectors of nodes that are there.

        The others were forgotten while they were being embedded.
        """
        for space, ids in self._by_space([each.node for each in embeddings], session).items():
            numbers = self._numbers(session, space, ids)
            own = [each for each in embeddings if each.node in numbers]
            self._put(session, own, model, dict.fromkeys(numbers, space), numbers, replacing=True)

    def update(self, id: NodeId, **changes: Any) -> None:
        """Set fields of a node by name; derived indexes follow in the same transaction."""
        changes = check_fields(changes)
        with self._writing() as session:
            places = self._by_space([id], session)
            if not places:
                raise missing(id)
            ((space, _),) = places.items()
            query = f"SELECT n.nid, {SELECTED} FROM node n WHERE n.space = %s AND n.id = %s"
            (rows,) = session.run(space, (query, [space, id]))
            if not rows:
                raise missing(id)
            number, *row = rows[0]
            cells, total = updated_cells(id, tuple(row), changes)
            before = node_of(tuple(row))
            sets = ", ".join(f'"{field}" = %s' for field in (*cells, "checksum"))
            change: Statement = (
                f"UPDATE node SET {sets} WHERE space = %s AND nid = %s",
                [*cells.values(), total, space, number],
            )
            session.run(space, change, *self._following(session, space, number, before, changes))

    def _following(
        self, session: Session, space: str, number: int, before: Node, changes: Mapping[str, Any]
    ) -> list[Statement]:
        """Return what follows from a change of a node's fields."""
        after = replace(
            before, **{field: value for field, value in changes.items() if field != "content_hash"}
        )
        statements = [advance(session, space)]
        reworded = bool(changes.keys() & {"title", "text", "context", "kind"})
        statements.append(log_change(session, space, [number], reworded=reworded))
        statements += counts([after], [before])
        if changes.keys() & {"tags", "metadata"}:
            statements += [
                *delete_labels(space, [(before, number)]),
                *insert_labels([(after, number)]),
            ]
        if "context" in changes:
            gone = "DELETE FROM {} WHERE space = %s AND nid = %s AND role = %s"
            statements += [
                (gone.format(table), [space, number, CONTEXT])
                for table in ("embedding", "token_code")
            ]
        if (before.title, before.text) != (after.title, after.text):
            (keys,) = session.run(space, names.mentioned(space, [number]))
            if keys:
                statements += names.unmention(space, [number], [key for (key,) in keys])
        elif (before.t_expired is None) != (after.t_expired is None):
            statements.append(names.recount(space, [number]))
        return statements

    def delete(self, ids: Sequence[NodeId]) -> int:
        """Remove nodes with their vectors, edges, words and earlier events.

        Return how many there were.
        """
        removed = 0
        with self._writing() as session:
            for space, own in self._by_space(ids, session).items():
                removed += self._delete_in(session, space, own)
        for id in ids:
            self._places.pop(id, None)
        return removed

    def _delete_in(self, session: Session, space: str, ids: Sequence[NodeId]) -> int:
        query = (
            f"SELECT n.nid, {SELECTED} FROM node n WHERE n.space = %s AND n.id = ANY(%s::text[])"
        )
        ends = "SELECT other FROM edge WHERE space = %s AND other <> space AND (source = ANY(%s::text[]) OR target = ANY(%s::text[]))"
        (rows, others) = session.run(
            space, (query, [space, list(ids)]), (ends, [space, list(ids), list(ids)])
        )
        nodes = [(node_of(tuple(row)), nid) for nid, *row in rows]
        nids = [nid for _, nid in nodes]
        if not nids:
            return 0
        own = [space, nids]
        eids, keys = session.run(
            space,
            ("SELECT eid FROM embedding WHERE space = %s AND nid = ANY(%s::bigint[])", own),
            names.mentioned(space, nids),
        )
        said = [key for (key,) in keys]
        statements: list[Statement] = [
            ("DELETE FROM event WHERE space = %s AND node = ANY(%s::text[])", [space, list(ids)])
        ]
        gone = "DELETE FROM {} WHERE space = %s AND nid = ANY(%s::bigint[])"
        statements += [(gone.format(table), own) for table in ("embedding", "token_code", "claim")]
        statements += delete_labels(space, nodes)
        statements.append(_drop_edges(space, ids))
        statements.append(("DELETE FROM place WHERE id = ANY(%s::text[])", [list(ids)]))
        statements.append(("DELETE FROM node WHERE space = %s AND nid = ANY(%s::bigint[])", own))
        if said:
            statements += [*names.unmention(space, nids, said), names.respell(space, said)]
        statements += [
            *counts((), [node for node, _ in nodes]),
            advance(session, space),
            log_change(session, space, nids, reworded=True),
        ]
        session.run(space, *statements)
        for other in sorted({other for (other,) in others}):
            self._database.secure(session, other)
            session.run(other, _drop_edges(other, ids))
        dimension = session.model[2] if session.model else 0
        blocks.strip(
            session,
            space,
            np.array(nids, np.int64),
            np.array([eid for (eid,) in eids], np.int64),
            dimension,
        )
        self._deleted.add(space)
        return len(nids)

    def get(self, ids: Sequence[NodeId]) -> dict[NodeId, Node]:
        """Return the nodes that exist, by id."""
        rows = self._of(ids, f"SELECT {SELECTED} FROM node n WHERE {THESE}", copies=0)
        return {row[0]: node_of(row) for row in sorted(rows, key=itemgetter(0))}

    def signals(self, ids: Sequence[NodeId]) -> dict[NodeId, Signals]:
        """Return what a score asks of the nodes that exist, by id."""
        noted, left = self._database.noted(ids)
        rows = (
            self._of(left, f"SELECT {SIGNALS} FROM node n WHERE {THESE}", copies=0) if left else []
        )
        self._database.note(rows)
        return signals_of([*noted, *rows])

    def evidence(self, ids: Sequence[NodeId]) -> dict[NodeId, Evidence]:
        """Return what has happened around the nodes that exist, by id."""
        happened = "SELECT {what} FROM event e WHERE e.space = ANY(%s::text[]) AND e.node = n.id AND e.kind {kinds}"
        reinforced = happened.format(
            what="array_agg(e.at ORDER BY e.at)", kinds="IN ('REINFORCE_EXACT', 'REINFORCE_NEAR')"
        )
        accessed = happened.format(what="max(e.at)", kinds="= 'ACCESS'")
        query = (
            f"WITH asked AS MATERIALIZED (SELECT n.id, n.stability, n.t_valid FROM node n WHERE {THESE}) "
            "SELECT n.id, n.stability, n.t_valid, (SELECT count(*) FROM edge d WHERE d.space = ANY(%s::text[]) AND d.target = n.id "
            f"AND d.kind = 'RELATED'), ({accessed}), ({reinforced}) FROM asked n"
        )
        return {
            id: Evidence(
                Stability(stability),
                moment(t_valid),
                tuple(map(moment, again or ())),
                related,
                None if at is None else moment(at),
            )
            for id, stability, t_valid, related, at, again in self._of(ids, query, copies=3)
        }

    def family(self, ids: Sequence[NodeId]) -> tuple[NodeId, ...]:
        """Return the nodes that exist among these and everything of the same space that has one of them as its root, by id."""
        query = (
            f"WITH asked AS MATERIALIZED (SELECT n.id, n.space FROM node n WHERE {THESE}) SELECT id FROM asked "
            "UNION SELECT n.id FROM asked JOIN node n ON n.root = asked.id AND n.space = asked.space AND n.space = ANY(%s::text[])"
        )
        return tuple(sorted({id for (id,) in self._of(ids, query, copies=1)}))

    def neighbours(self, ids: Sequence[NodeId], *, reach: int) -> dict[NodeId, tuple[Node, ...]]:
        """Return each node that has a parent amid its live neighbours.

        Children of it in the same space at most `reach` positions away.
        """
        query = (
            f"WITH asked AS MATERIALIZED (SELECT n.id, n.space, n.parent, n.kind, n.position FROM node n WHERE {THESE} "
            f"AND n.parent IS NOT NULL) SELECT o.id, {SELECTED} FROM asked o JOIN node n ON n.space = o.space "
            "AND n.space = ANY(%s::text[]) AND n.id = o.id UNION "
            f"SELECT o.id, {SELECTED} FROM asked o JOIN node n ON n.space = o.space AND n.space = ANY(%s::text[]) AND n.parent = o.parent "
            f"AND n.kind = o.kind AND n.position BETWEEN o.position - {int(reach)} AND o.position + {int(reach)} "
            "AND n.t_expired IS NULL AND n.archived = 0"
        )
        found: dict[NodeId, list[Node]] = {}
        for id, *row in self._of(ids, query, copies=2):
            found.setdefault(id, []).append(node_of(tuple(row)))
        return {
            id: tuple(sorted(nodes, key=lambda node: (node.position or 0, node.id)))
            for id, nodes in sorted(found.items())
        }

    def beginning(self, prefix: str, *, limit: int) -> tuple[NodeId, ...]:
        """Return ids that begin with this, in their order."""
        if not _can_be_stored(prefix):
            return ()
        query = "SELECT id FROM place WHERE id >= %s AND starts_with(id, %s) AND id < %s || chr(1114111) ORDER BY id LIMIT %s"
        return tuple(
            id for (id,) in self._plain(None, query, [prefix, prefix, prefix, max(0, limit)])
        )

    def find_hash(self, space: str, content_hash: str) -> tuple[NodeId, ...]:
        """Return the live memories of the space with this content hash, oldest first."""
        query = (
            "SELECT id FROM node WHERE space = %s AND content_hash = %s AND kind = 'memory' AND t_expired IS NULL AND archived = 0 "
            "ORDER BY t_created, id"
        )
        return tuple(id for (id,) in self._database.ask(space, query, [space, content_hash]))

    def find_key(self, space: str, key: str) -> NodeId | None:
        """Return the node of the space that was written under this idempotency key, or that claimed it."""
        if not _can_be_stored(space, key):
            return None
        query = (
            "SELECT id FROM node WHERE space = %s AND idempotency_key = %s UNION ALL "
            "SELECT n.id FROM claim c JOIN node n ON n.space = %s AND n.nid = c.nid WHERE c.space = %s AND c.key = %s LIMIT 1"
        )
        rows = self._database.ask(space, query, [space, key, space, space, key])
        return rows[0][0] if rows else None

    def claim(self, id: NodeId, key: str) -> None:
        """Let a further idempotency key of the node's space stand for it.

        A key that is taken stays as it is.
        """
        with self._writing() as session:
            for space in self._by_space([id], session):
                query = "INSERT INTO claim SELECT space, %s, nid FROM node WHERE space = %s AND id = %s ON CONFLICT DO NOTHING"
                session.run(space, (query, [key, space, id]))

    def carriers(self, space: str, metadata: Mapping[str, Any]) -> tuple[NodeId, ...]:
        """Return every node of the space that carries all of the metadata, expired and archived ones too, by id."""
        codes = list(dict.fromkeys(map(label_code, labels_of((), metadata))))
        query = (
            "SELECT n.id FROM label l JOIN node n ON n.space = %s AND n.nid = l.nid WHERE l.space = %s AND l.label = ANY(%s::uuid[]) "
            "GROUP BY n.id HAVING count(*) = %s ORDER BY n.id"
        )
        return (
            tuple(
                id for (id,) in self._database.ask(space, query, [space, space, codes, len(codes)])
            )
            if codes
            else ()
        )

    # --- tombstones ---

    def add_tombstones(self, space: str, content_hashes: Sequence[str]) -> None:
        """Remember by keyed hashes alone that texts of the space were forgotten."""
        with self._writing() as session:
            self._database.secure(session, space)
            key = secrets.token_bytes(KEY_BYTES)
            made = "INSERT INTO meta VALUES ('tombstone_key', %s) ON CONFLICT DO NOTHING"
            session.run(space, (made, [f"{key.hex()} {zlib.crc32(key)}"]))
            digests = list(self._digests(space, content_hashes))
            session.run(
                space,
                (
                    "INSERT INTO tombstone SELECT unnest(%s::bytea[]) ON CONFLICT DO NOTHING",
                    [digests],
                ),
            )

    def find_tombstones(self, space: str, content_hashes: Sequence[str]) -> frozenset[str]:
        """Return those of the content hashes whose texts were forgotten in the space."""
        digests = self._digests(space, content_hashes)
        if not digests:
            return frozenset()
        query = "SELECT digest FROM tombstone WHERE digest = ANY(%s::bytea[])"
        return frozenset(
            digests[bytes(digest)]
            for (digest,) in self._database.ask(space, query, [list(digests)])
        )

    def drop_tombstones(self, space: str, content_hashes: Sequence[str]) -> None:
        """Let texts of the space be kept again."""
        with self._writing() as session:
            self._database.secure(session, space)
            if digests := list(self._digests(space, content_hashes)):
                session.run(
                    space, ("DELETE FROM tombstone WHERE digest = ANY(%s::bytea[])", [digests])
                )

    def _digests(self, space: str, content_hashes: Sequence[str]) -> dict[bytes, str]:
        """Return the content hashes by their digests.

        None before the store has a key, and so its first tombstone.
        """
        rows = self._plain(space, "SELECT value FROM meta WHERE key = 'tombstone_key'", ())
        if not rows:
            return {}
        text, _, total = rows[0][0].partition(" ")
        try:
            key = bytes.fromhex(text)
        except ValueError as error:
            raise damaged("The key of the tombstones", error) from error
        if fault := key_fault(key, int(total) if total.isdecimal() else -1):
            raise damaged("The key of the tombstones", fault)
        return {tombstone(key, space, each): each for each in content_hashes}

    # --- lists ---

    def nodes(
        self, space: str | None = None, *, on_damage: OnDamage | None = None
    ) -> Iterator[Node]:
        """Yield every node, expired ones too, in the order of ids.

        Without the damaged ones where `on_damage` is told of them.
        """
        after = ""
        while page := self._page(space, after):
            after = page[-1][0]
            for row in page:
                try:
                    node = node_of(row)
                except CorruptStoreError as error:
                    if on_damage is None:
                        raise
                    on_damage(error)
                else:
                    yield node

    def _page(self, space: str | None, after: NodeId) -> Rows:
        if space is not None:
            query = f"SELECT {SELECTED} FROM node n WHERE n.space = %s AND n.id > %s ORDER BY n.id LIMIT {PAGE}"
            return self._database.ask(space, query, [space, after])
        places = self._plain(
            None, f"SELECT id, space FROM place WHERE id > %s ORDER BY id LIMIT {PAGE}", [after]
        )
        rows = self._in_places(
            dict(places), f"SELECT {SELECTED} FROM node n WHERE {THESE}", copies=0
        )
        return sorted(rows, key=itemgetter(0))

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
        clause, values = condition(where)
        if after is not None:
            further, spot = behind(after, sort)
            clause, values = f"{clause} AND {further}", [*values, *spot]
        if min_accesses > 0:
            clause, values = f"{clause} AND n.accesses >= %s", [*values, min_accesses]
        query = f"SELECT {SELECTED} FROM node n WHERE {clause} AND n.importance >= %s ORDER BY {ORDERS[sort]} LIMIT %s"
        return tuple(
            map(
                node_of,
                self._database.ask(where.space, query, [*values, min_importance, max(0, limit)]),
            )
        )

    # --- search ---

    def sparse(self, terms: Sequence[str], where: Filter, *, limit: int) -> Ranking:
        """Return the nodes that hold any of the analysed terms, by BM25 in the filter's space.

        A repeated term counts more.
        """
        return self._database.repeated(lambda: self._search.sparse(terms, where, limit=limit))

    def holding(self, terms: Sequence[str], space: str) -> dict[str, int]:
        """Return how many nodes of the space hold each of the analysed terms."""
        return self._database.repeated(lambda: self._search.holding(terms, space))

    def dense(
        self, vector: Vectors, where: Filter, *, limit: int, role: Role = Role.CONTENT
    ) -> Ranking:
        """Return the nodes nearest to a unit vector, by cosine."""
        return self._database.repeated(
            lambda: self._search.dense(vector, where, limit=limit, role=role)
        )

    def cosines(
        self, vector: Vectors, ids: Sequence[NodeId], *, role: Role = Role.CONTENT
    ) -> dict[NodeId, float]:
        """Return the exact cosine of each named node that has a vector."""
        wanted = f"CASE WHEN n.context = '' AND '{Role(role)}' = 'context' THEN 'content' ELSE '{Role(role)}' END"
        query = (
            f"WITH asked AS MATERIALIZED (SELECT n.id, n.nid, n.space, {wanted} AS role FROM node n WHERE {THESE}) "
            "SELECT a.id, e.vector, m.dimension FROM asked a JOIN embedding e ON e.space = a.space AND e.space = ANY(%s::text[]) "
            "AND e.nid = a.nid AND e.role = a.role JOIN model m ON m.active AND m.mid = e.model"
        )
        model = self.model()
        if model is None:
            return {}
        checked = as_unit(vector, model.dimension)
        rows = self._in_places(self._located(ids), query, copies=1)
        return {match.id: match.score for match in scored([row[:2] for row in rows], checked)}

    # --- events, accesses, records, edges ---

    def append(self, events: Sequence[Event]) -> None:
        """Write events to the end of the log."""
        with self._writing() as session:
            self._append(session, events, {})

    def _append(
        self, session: Session, events: Sequence[Event], known: Mapping[NodeId, str]
    ) -> None:
        places = {
            **known,
            **self._located([each.node for each in events if each.node not in known], fresh=True),
        }
        statements = insert_events(events, places)
        first = [
            (each.node, micros(each.at))
            for each in events
            if each.kind is EventKind.ADD and each.node in places
        ]
        for id, at in first:  # when a memory was first told, for the scores
            told = "UPDATE node SET told_at = least(told_at, %s) WHERE space = %s AND id = %s AND added_at IS NULL"
            statements.append((told, [at, places[id], id]))
        if statements:
            session.run(None, *statements)

    def events(self, node: NodeId, *, on_damage: OnDamage | None = None) -> tuple[Event, ...]:
        """Return what happened to a node, oldest first.

        Without the damaged ones where `on_damage` is told of them.
        """
        if not _can_be_stored(node):
            return ()
        query = (
            "SELECT 0::bigint AS seq, 'ADD', added_at, added FROM node WHERE id = %s AND added_at IS NOT NULL "
            "AND space = (SELECT space FROM place WHERE id = %s) "
            "UNION ALL SELECT seq, kind, at, detail FROM event WHERE node = %s ORDER BY 1"
        )
        rows = self._plain(None, query, [node, node, node])
        told = list(
            _decoded(
                rows,
                lambda row: _event(node, row),
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

    def touch(self, ids: Sequence[NodeId], at: datetime, *, min_interval_seconds: float) -> int:
        """Count one access for each node not counted within the interval; return how many were."""
        query = (
            "WITH due AS (UPDATE node SET accesses = accesses + 1, accessed_at = %s WHERE space = %s AND id = ANY(%s::text[]) "
            "AND (accessed_at IS NULL OR abs(%s - accessed_at) >= %s) RETURNING id) "
            "INSERT INTO event (space, node, kind, at, detail) SELECT %s, id, 'ACCESS', %s, '{}' FROM due"
        )
        counted, when = 0, micros(at)
        with self._writing() as session:
            for space, own in self._by_space(ids, session).items():
                values = [
                    when,
                    space,
                    own,
                    when,
                    round(min_interval_seconds * 1_000_000),
                    space,
                    when,
                ]
                counted += session.run(space, (query, values))[0][0][0]
        return counted

    def reject(self, counts: Mapping[str, int]) -> None:
        """Add to how many texts each rule has rejected; `stats` tells the sums as `rejected`."""
        query = (
            "INSERT INTO rejection SELECT * FROM unnest(%s::text[], %s::bigint[]) "
            "ON CONFLICT (rule) DO UPDATE SET count = rejection.count + excluded.count"
        )
        with self._writing() as session:
            session.run("", (query, [sorted(counts), [counts[rule] for rule in sorted(counts)]]))

    def keep(self, kind: str, id: str, body: Mapping[str, Any]) -> None:
        """Write a small JSON record beside the memories; replaces one of the same kind and id."""
        query = "INSERT INTO record VALUES (%s, %s, %s) ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body"
        with self._writing() as session:
            session.lock(self._database.lock_of("record", kind))
            session.run("", (query, [kind, with_escapes(id), compact_json(dict(body))]))

    def kept(self, kind: str) -> dict[str, dict[str, Any]]:
        """Return the records of a kind by id, in the order of ids."""
        rows = self._records(kind, "SELECT id, body FROM record WHERE kind = %s", [kind])
        return {
            id: mapping_of(body)
            for id, body in sorted((without_escapes(id), body) for id, body in rows)
        }

    def record(self, kind: str, id: str) -> dict[str, Any] | None:
        """Return one record; None where there is none."""
        if not _can_be_stored(kind, with_escapes(id)):
            return None
        rows = self._records(
            kind, "SELECT body FROM record WHERE kind = %s AND id = %s", [kind, with_escapes(id)]
        )
        return mapping_of(rows[0][0]) if rows else None

    def _records(self, kind: str, query: str, values: Sequence[Any]) -> Rows:
        """Read records; inside a transaction nobody else changes those of the kind until its end."""
        inside = self._database.session
        if inside is not None:
            inside.lock(self._database.lock_of("record", kind))
        return self._plain("", query, values)

    def drop(self, kind: str, id: str) -> bool:
        """Remove a record; tell whether there was one."""
        if not _can_be_stored(kind, with_escapes(id)):
            return False
        with self._writing() as session:
            session.lock(self._database.lock_of("record", kind))
            return bool(
                session.run(
                    "", ("DELETE FROM record WHERE kind = %s AND id = %s", [kind, with_escapes(id)])
                )[0][0][0]
                > 0
            )

    def link(self, edges: Sequence[Edge]) -> None:
        """Add edges; an edge with the same source, target and kind is replaced."""
        query = (
            "INSERT INTO edge SELECT * FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::float8[], %s::float8[], %s::text[], "
            "%s::bigint[], %s::text[], %s::boolean[]) ON CONFLICT (space, source, kind, target) DO UPDATE SET "
            "(weight, confidence, evidence, t_created) = (excluded.weight, excluded.confidence, excluded.evidence, excluded.t_created)"
        )
        with self._writing() as session:
            ends = [end for edge in edges for end in (edge.source, edge.target)]
            places = {
                id: space for space, ids in self._by_space(ends, session).items() for id in ids
            }
            for end in ends:
                if end not in places:
                    raise missing_to_link(end)
            rows: dict[tuple[str, NodeId, str, NodeId], tuple[Any, ...]] = {}
            for edge in edges:
                source, target = places[edge.source], places[edge.target]
                told = (edge.weight, edge.confidence, edge.evidence, micros(edge.t_created))
                # an edge out of a space is known in both
                for space, other in ((source, target), (target, source)):
                    key = (space, edge.source, edge.kind, edge.target)
                    rows[key] = (
                        space,
                        edge.source,
                        edge.target,
                        edge.kind,
                        *told,
                        other,
                        source != space,
                    )
            if rows:
                session.run(None, (query, list(map(list, zip(*rows.values(), strict=True)))))

    def edges(
        self, ids: Sequence[NodeId], *, on_damage: OnDamage | None = None
    ) -> tuple[Edge, ...]:
        """Return every edge that starts or ends at one of the nodes.

        Without the damaged ones where `on_damage` is told of them.
        """
        places = self._located(ids)
        own = "SELECT source, target, kind, weight, confidence, evidence, t_created FROM edge WHERE space = ANY(%s::text[]) AND"
        query = f"{own} source = ANY(%s::text[]) UNION {own} target = ANY(%s::text[])"
        spaces, asked = sorted(set(places.values())), list(places)
        if not spaces:
            return ()
        rows = self._plain(
            spaces[0] if len(spaces) == 1 else None, query, [spaces, asked, spaces, asked]
        )
        rows.sort(key=lambda row: (row[0], row[2], row[1]))
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
        if not mentions:
            return
        with self._writing() as session:
            for space, ids in self._by_space([each.node for each in mentions], session).items():
                own = set(ids)
                names.mention(session, space, [each for each in mentions if each.node in own])

    def mentions(self, ids: Sequence[NodeId]) -> dict[NodeId, tuple[Mention, ...]]:
        """Return what each of the nodes names and is about.

        Subjects first, then the surest, ties by key.
        """
        return names.mentions_of(self._in_places(self._located(ids), names.MENTIONS, copies=2))

    def named(
        self, keys: Sequence[str], where: Filter, *, limit: int, parts: bool = True
    ) -> dict[str, Named]:
        """Return where the filter's space speaks of each key that is known there.

        At most `limit` subjects and holders that pass.
        """
        keys = [key for key in keys if _can_be_stored(key)]
        if not keys:
            return {}
        rows = self._database.ask(where.space, *names.named(keys, where, limit=limit, parts=parts))
        return names.named_of(keys, rows, limit)

    def visible(self, ids: Sequence[NodeId], where: Filter) -> frozenset[NodeId]:
        """Return those of the nodes that pass the filter."""
        asked = [id for id in ids if _can_be_stored(id)]
        clause, values = condition(where)
        query = f"SELECT n.id FROM node n WHERE n.id = ANY(%s::text[]) AND {clause}"
        return (
            frozenset(id for (id,) in self._database.ask(where.space, query, [asked, *values]))
            if asked
            else frozenset()
        )

    # --- models and vectors ---

    def model(self) -> ModelInfo | None:
        """Return the model whose vectors are searched; None before the first."""
        query = "SELECT name, dimension FROM model WHERE active"
        rows = self._database.told("model", lambda: self._plain("", query, ()))
        return ModelInfo(*rows[0]) if rows else None

    def activate(self, model: ModelInfo) -> None:
        """Make this the searched model and drop the vectors of every other."""
        with self._writing() as session:
            session.lock(self._database.lock_of("model"))
            number = self._model_number(session, model)
            session.run(
                None,
                ("UPDATE model SET active = false WHERE active AND mid <> %s", [number]),
                ("UPDATE model SET active = true WHERE mid = %s", [number]),
                ("DELETE FROM embedding WHERE model <> %s", [number]),
                ("DELETE FROM token_code WHERE model <> %s", [number]),
                ("DELETE FROM model WHERE mid <> %s", [number]),
            )
            session.model = (number, model.id, model.dimension)
            session.overlays = {}

    def _model_number(self, session: Session, model: ModelInfo) -> int:
        made = "INSERT INTO model (name, dimension) VALUES (%s, %s) ON CONFLICT (name) DO NOTHING"
        find = "SELECT mid, dimension FROM model WHERE name = %s"
        _, rows = session.run("", (made, [model.id, model.dimension]), (find, [model.id]))
        number, dimension = rows[0]
        if dimension != model.dimension:
            raise ModelMismatchError(
                f"Model {model.id} gave vectors of {model.dimension} numbers; the store holds {dimension} under that name. "
                "Check that the model is the one that made the store, or run: clew reembed",
                model=model.id,
            )
        return int(number)

    def put(self, embeddings: Sequence[Embedding], model: ModelInfo) -> None:
        """Write vectors of a model, which need not be the active one.

        Replaces per node and role.
        """
        with self._writing() as session:
            session.lock(self._database.lock_of("model"), shared=True)
            self._put_located(
                session, embeddings, (self._model_number(session, model), model.dimension)
            )

    def embeddings(
        self, ids: Sequence[NodeId], *, on_damage: OnDamage | None = None
    ) -> tuple[Embedding, ...]:
        """Return the vectors of the active model that the nodes have, by node and role.

        As `edges` without the damaged ones.
        """
        query = (
            f"WITH asked AS MATERIALIZED (SELECT n.id, n.nid, n.space FROM node n WHERE {THESE}) "
            "SELECT a.id, e.role, e.text_hash, e.vector, m.dimension, t.codes FROM asked a "
            "JOIN embedding e ON e.space = a.space AND e.space = ANY(%s::text[]) AND e.nid = a.nid "
            "JOIN model m ON m.active AND m.mid = e.model "
            "LEFT JOIN token_code t ON t.space = a.space AND t.space = ANY(%s::text[]) AND t.nid = e.nid AND t.model = e.model "
            "AND t.role = e.role ORDER BY a.id, e.role"
        )
        rows = self._in_places(self._located(ids), query, copies=2)
        return tuple(
            _decoded(rows, _embedding, lambda row: (f"The vector of {row[0]}", row[0]), on_damage)
        )

    def token_codes(self, ids: Sequence[NodeId]) -> dict[NodeId, bytes]:
        """Return the token codes that the nodes have with a vector of the active model.

        Those of a context vector go first.
        """
        query = (
            f"WITH asked AS MATERIALIZED (SELECT n.id, n.nid, n.space FROM node n WHERE {THESE}) "
            "SELECT a.id, t.role, t.codes, t.checksum, m.dimension FROM asked a JOIN token_code t ON t.space = a.space "
            "AND t.space = ANY(%s::text[]) AND t.nid = a.nid JOIN model m ON m.active AND m.mid = t.model"
        )
        rows = self._in_places(self._located(ids), query, copies=1)
        wrong = next(
            (
                id
                for id, _, codes, crc, dimension in rows
                if codes_fault(codes, dimension) or zlib.crc32(codes) != crc
            ),
            None,
        )
        if wrong is not None:
            raise damaged(
                f"The record of token codes of {wrong}", "its length or checksum is wrong", id=wrong
            )
        # "content" before "context", which counts
        return {id: codes for id, _, codes, *_ in sorted(rows, key=itemgetter(1))}

    def coverage(self, space: str) -> Coverage:
        """Return how many live nodes the space has and how many of them have vectors of the active model; quick, for every recall."""
        return self._database.told(
            ("coverage", space), lambda: self._database.repeated(lambda: self._coverage(space))
        )

    def _coverage(self, space: str) -> Coverage:
        query = (
            "SELECT coalesce(sum(live), 0)::bigint, coalesce(sum(keyed), 0)::bigint, "
            "coalesce(sum(live) FILTER (WHERE kind = 'section'), 0)::bigint FROM counted WHERE space = %s"
        )
        at = look(self._database, space)
        nodes, keyed, sections = self._database.ask(space, query, [space])[0]
        vectors = self._search.count(space, Role.CONTENT, at)
        contexts = self._search.count(space, Role.CONTEXT, at) if keyed else 0
        questions = self._search.count(space, Role.QUESTION, at)
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
            f"WITH m AS (SELECT mid FROM model WHERE name = %s) SELECT {SELECTED} FROM node n "
            "LEFT JOIN embedding e ON e.space = n.space AND e.nid = n.nid AND e.role = 'content' AND e.model = (SELECT mid FROM m) "
            "WHERE n.t_expired IS NULL AND n.archived = 0 AND (e.eid IS NULL OR e.text_hash <> n.content_hash OR (n.context <> '' AND "
            "NOT EXISTS (SELECT 1 FROM embedding c WHERE c.space = n.space AND c.nid = n.nid AND c.role = 'context' "
            "AND c.model = (SELECT mid FROM m))) OR (%s AND n.kind = ANY(%s::text[]) AND NOT EXISTS (SELECT 1 FROM token_code t "
            "WHERE t.space = n.space AND t.nid = n.nid AND t.model = (SELECT mid FROM m)))) ORDER BY n.id LIMIT %s"
        )
        return tuple(
            map(
                node_of,
                self._plain(
                    None, query, [model_id, tokens, list(map(str, CODED_KINDS)), max(0, limit)]
                ),
            )
        )

    # --- care ---

    def stats(self, space: str | None = None) -> Mapping[str, Any]:
        """Return counts and sizes for people and monitors.

        Of a space nothing that another one changes.
        """
        return care.statistics(self._database, space)

    def verify(self) -> tuple[Problem, ...]:
        """Check everything derived against the truth; an empty answer means sound."""
        return care.verify(self._database)

    def repair(self) -> Repaired:
        """Rebuild everything derived from the truth, and set aside rows that cannot be read."""
        self._spaces.forget()
        with self._writing() as session:
            return care.repair(self._database, session)

    def compact(self) -> None:
        """Write the blocks of every space anew and give the room of deleted rows back.

        Nothing searchable changes.
        """
        for (space,) in self._plain(None, "SELECT space FROM space ORDER BY space", ()):
            with self._writing() as session:
                self._database.secure(session, space)
                state = blocks.seal(session, space, session.states[space])
                session.run(space, put_state(space, state))
        if self._database.session is None:
            care.vacuum(self._database, full=False)

    # No client can search a server's files
    def erase(self, texts: Sequence[str], *, check: bool = True) -> Erasure:  # noqa: ARG002
        """Vacuum the tables that something was deleted from.

        A server's files cannot be searched from here.
        """
        if self._database.session is not None:
            return Erasure(
                remains=("The transaction is not committed yet; VACUUM runs when it is.",)
            )
        deleted, self._deleted = self._deleted, set()
        remains = care.vacuum_spaces(self._database, deleted) if deleted else ()
        if remains:
            self._deleted |= deleted
        return Erasure(remains=remains, unchecked=(UNCHECKED,))

    def search_files(self, text: str) -> tuple[FileCheck, ...]:
        """Count the live rows of the database that hold a text.

        The server's files cannot be searched from here.
        """
        return care.search_rows(self._database, text)

    def backup(self, path: Path) -> None:
        """Refuse: the database's own tools make backups."""
        raise StoreError(
            "A PostgreSQL store is backed up with the database's own tools: pg_dump, pg_basebackup or your provider's snapshots. "
            "For a file that Clew reads, run: clew export",
            path=str(path),
        )

    def remains(self) -> Remains:
        """Return what stands beside the nodes, for a move."""
        return remains.read(self._database)

    def adopt(self, found: Remains) -> None:
        """Take over what stands beside the nodes of another store; what is there already stays."""
        with self._writing() as session:
            remains.write(self._database, session, found)

    def __enter__(self) -> Self:
        """Return the store."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the store."""
        self.close()

    def close(self) -> None:
        """Close the connections; further calls are errors, closing again is not."""
        self._spaces.forget()
        self._database.close()


def _ending(session: Session) -> None:
    """Write the blocks that are due."""
    for space in sorted(session.dirty & session.states.keys()):
        before = session.states[space]
        after = blocks.seal_if_due(session, space, before)
        if after != before:
            session.run(space, put_state(space, after))


def _drop_edges(space: str, ids: Sequence[NodeId]) -> Statement:
    return (
        "DELETE FROM edge WHERE space = %s AND (source = ANY(%s::text[]) OR target = ANY(%s::text[]))",
        [space, list(ids), list(ids)],
    )


def missing_to_link(id: NodeId) -> NotFoundError:
    """Return the error for an end of an edge that is not there."""
    return NotFoundError(f"No memory {id} to link. List them with: clew list", id=id)


def _can_be_stored(*texts: object) -> bool:
    """Tell whether PostgreSQL can hold these texts: no NUL, no half of a character."""
    for text in texts:
        if not isinstance(text, str) or "\0" in text:
            return False
        try:
            text.encode()
        except UnicodeEncodeError:
            return False
    return True
