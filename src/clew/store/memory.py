"""A store in this process's memory: brute force, obviously right, gone when the process ends.

It is the oracle that the other stores are compared with, and good for tests and throw-away
sessions. Nothing is indexed: every search looks at every node.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from clew.errors import InputError, ModelMismatchError, NotFoundError, StoreError, clipped
from clew.ports import Coverage, Evidence, ModelInfo, OnDamage, Problem, Repaired, Sort
from clew.store import bm25
from clew.store.filters import passes, same_json
from clew.store.name_index import Spoken, each_once
from clew.store.tombstones import KEY_BYTES, tombstone
from clew.store.vectors import Halves, as_codes, as_unit, exact_cosines
from clew.text.gist import searched_text
from clew.text.words import content_hash, idf, query_weight
from clew.text.words import terms as terms_of
from clew.token_codes import CODED_KINDS
from clew.types import (
    BEGINNING,
    Edge,
    Embedding,
    Erasure,
    Event,
    EventKind,
    FileCheck,
    Filter,
    Kind,
    Match,
    Mention,
    Named,
    Node,
    NodeId,
    Ranking,
    Role,
    Signals,
    Spot,
    Vectors,
    ranked,
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# A node stays in its space, and its accesses are counted by `touch` alone.
_CHANGEABLE = frozenset(item.name for item in fields(Node)) - {"id", "space", "accesses"}
_EVIDENCE = (EventKind.REINFORCE_EXACT, EventKind.REINFORCE_NEAR, EventKind.ACCESS)

# Subtracting from the epoch turns "latest first" into an ascending key without losing microseconds
# to floats.
_ORDERS: Mapping[Sort, Callable[[Node], tuple[Any, ...]]] = {
    Sort.RECENT: lambda node: (_EPOCH - node.t_valid, node.id),
    Sort.IMPORTANT: lambda node: (-node.importance, _EPOCH - node.t_valid, node.id),
    Sort.POPULAR: lambda node: (-node.accesses, _EPOCH - node.t_valid, node.id),
}


def _behind(spot: Spot, sort: Sort) -> tuple[Any, ...]:
    """Return what `_ORDERS` gives for the node at the spot."""
    return (*(() if sort is Sort.RECENT else (-spot.value,)), _EPOCH - spot.t_valid, spot.id)


@dataclass(frozen=True, slots=True)
class _Row:
    """A node with its words counted."""

    node: Node
    title: Counter[str]
    text: Counter[str]
    context: Counter[str]

    @classmethod
    def of(cls, node: Node) -> _Row:
        return cls(
            _own(node),
            *(
                Counter(terms_of(field))
                for field in (node.title, searched_text(node.kind, node.text), node.context)
            ),
        )

    def frequency(self, term: str) -> float:
        return bm25.frequency(self.title[term], self.text[term], self.context[term])

    @property
    def length(self) -> int:
        return bm25.length(self.title.total(), self.text.total(), self.context.total())


@dataclass(frozen=True, slots=True)
class _Vector:
    text_hash: str
    halves: Halves
    tokens: bytes | None


@dataclass(slots=True)
class _State:
    """Everything the store holds.

    The values inside are never changed, so a shallow copy is a snapshot.
    """

    rows: dict[NodeId, _Row] = field(default_factory=dict)
    vectors: dict[tuple[str, Role, NodeId], _Vector] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    edges: dict[tuple[NodeId, NodeId, str], Edge] = field(default_factory=dict)
    touched: dict[NodeId, datetime] = field(default_factory=dict)
    claims: dict[tuple[str, str], NodeId] = field(default_factory=dict)
    mentions: dict[NodeId, tuple[Mention, ...]] = field(default_factory=dict)
    names: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    rejections: dict[str, int] = field(default_factory=dict)
    records: dict[tuple[str, str], str] = field(default_factory=dict)
    tombstones: set[bytes] = field(default_factory=set)
    model: ModelInfo | None = None

    def copy(self) -> _State:
        return _State(
            self.rows.copy(),
            self.vectors.copy(),
            self.events.copy(),
            self.edges.copy(),
            self.touched.copy(),
            self.claims.copy(),
            self.mentions.copy(),
            self.names.copy(),
            self.rejections,
            self.records.copy(),
            self.tombstones.copy(),
            self.model,
        )


class MemoryStore:
    """The `Store` port without a file; see `clew.ports.Store` for what each method promises."""

    def __init__(self) -> None:
        """Open an empty store."""
        self._lock = threading.RLock()
        self._state = _State()
        self._tombstone_key = secrets.token_bytes(KEY_BYTES)
        self._closed = False

    @contextmanager
    def _reading(self) -> Iterator[_State]:
        with self._lock:
            if self._closed:
                raise StoreError("This store was closed. Open it again before using it.")
            yield self._state

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Keep other threads out; on an exception everything is as it was before. Nests."""
        with self._reading() as state:
            before = state.copy()
            try:
                yield
            except BaseException:
                self._state = before
                raise

    @contextmanager
    def _writing(self) -> Iterator[_State]:
        with self.transaction():
            yield self._state

    def insert(
        self,
        nodes: Sequence[Node],
        embeddings: Sequence[Embedding] = (),
        events: Sequence[Event] = (),
    ) -> None:
        """Add new nodes, with vectors of the active model, and append events."""
        with self._writing() as state:
            for node in nodes:
                if node.id in state.rows:
                    raise StoreError(
                        f"The store holds a node {node.id!r} already. Use update to change it.",
                        id=node.id,
                    )
                _keep(state, node)
            if embeddings and state.model is None:
                raise ModelMismatchError(
                    "The store has no embedding model yet. Activate one before vectors are written."
                )
            if state.model is not None:
                _write(state, embeddings, state.model)
            self.append(events)

    def update(self, id: NodeId, **changes: Any) -> None:
        """Set fields of a node by name."""
        if unknown := sorted(changes.keys() - _CHANGEABLE):
            raise InputError(
                "changes",
                unknown[0],
                "is not a field that can be set",
                f"Use one of {', '.join(sorted(_CHANGEABLE))}.",
            )
        if "text" in changes:
            changes.setdefault("content_hash", content_hash(changes["text"]))
        with self._writing() as state:
            before = _existing(state, id)
            _keep(state, replace(before, **changes))
            if (before.title, before.text) != (state.rows[id].node.title, state.rows[id].node.text):
                _unmention(state, {id})
            if "context" in changes:
                state.vectors = {
                    key: vector
                    for key, vector in state.vectors.items()
                    if key[1:] != (Role.CONTEXT, id)
                }

    def delete(self, ids: Sequence[NodeId]) -> int:
        """Remove nodes with their vectors, edges and earlier events."""
        with self._writing() as state:
            gone = set(ids) & state.rows.keys()
            named = {
                (state.rows[id].node.space, each.key)
                for id in gone
                for each in state.mentions.get(id, ())
            }
            _unmention(state, gone)
            _respell(state, named)
            state.rows = {key: row for key, row in state.rows.items() if key not in gone}
            state.vectors = {
                key: vector for key, vector in state.vectors.items() if key[2] not in gone
            }
            state.edges = {
                key: edge
                for key, edge in state.edges.items()
                if not {edge.source, edge.target} & gone
            }
            state.events = [event for event in state.events if event.node not in gone]
            state.touched = {key: at for key, at in state.touched.items() if key not in gone}
            state.claims = {key: id for key, id in state.claims.items() if id not in gone}
            return len(gone)

    def get(self, ids: Sequence[NodeId]) -> dict[NodeId, Node]:
        """Return the nodes that exist, by id."""
        with self._reading() as state:
            return {key: _own(state.rows[key].node) for key in ids if key in state.rows}

    def signals(self, ids: Sequence[NodeId]) -> dict[NodeId, Signals]:
        """Return what a score asks of the nodes that exist, by id."""
        nodes = self.get(ids)
        with self._reading() as state:
            added: dict[NodeId, datetime] = {}
            for event in state.events:
                if event.node in nodes and event.kind is EventKind.ADD:
                    added.setdefault(event.node, event.at)
        return {
            id: Signals(
                node.t_valid,
                node.importance,
                node.accesses,
                node.parent,
                bool(node.context),
                _told(node, added.get(id)),
            )
            for id, node in nodes.items()
        }

    def evidence(self, ids: Sequence[NodeId]) -> dict[NodeId, Evidence]:
        """Return what has happened around the nodes that exist, by id."""
        with self._reading() as state:
            return _evidence(state, ids)

    def family(self, ids: Sequence[NodeId]) -> tuple[NodeId, ...]:
        """Return the nodes that exist among these and everything of the same space that has one of them as its root, by id."""
        with self._reading() as state:
            heads = {(state.rows[id].node.space, id) for id in ids if id in state.rows}
            own = (row.node for row in state.rows.values())
            return tuple(
                sorted(
                    node.id
                    for node in own
                    if (node.space, node.id) in heads or (node.space, node.root) in heads
                )
            )

    def neighbours(self, ids: Sequence[NodeId], *, reach: int) -> dict[NodeId, tuple[Node, ...]]:
        """Return each node that has a parent amid its live neighbours."""
        with self._reading() as state:
            asked = [
                state.rows[id].node for id in ids if id in state.rows and state.rows[id].node.parent
            ]
            nodes = [row.node for row in state.rows.values()]
            return {
                node.id: tuple(
                    sorted(
                        (_own(other) for other in nodes if _near(node, other, reach)), key=_place
                    )
                )
                for node in asked
            }

    def beginning(self, prefix: str, *, limit: int) -> tuple[NodeId, ...]:
        """Return ids that begin with this, in their order."""
        with self._reading() as state:
            return tuple(sorted(id for id in state.rows if id.startswith(prefix))[:limit])

    def find_hash(self, space: str, content_hash: str) -> tuple[NodeId, ...]:
        """Return the live memories of the space with this content hash, oldest first."""
        with self._reading() as state:
            same = [
                row.node
                for row in state.rows.values()
                if (row.node.space, row.node.content_hash) == (space, content_hash)
            ]
        return tuple(
            node.id for node in sorted(same, key=_age) if node.kind == Kind.MEMORY and _live(node)
        )

    def find_key(self, space: str, key: str) -> NodeId | None:
        """Return the node of the space that was written under this idempotency key, or that claimed it."""
        with self._reading() as state:
            own = (
                row.node.id
                for row in state.rows.values()
                if (row.node.space, row.node.idempotency_key) == (space, key)
            )
            return next(own, None) or state.claims.get((space, key))

    def claim(self, id: NodeId, key: str) -> None:
        """Let a further idempotency key of the node's space stand for it.

        A key that is taken stays as it is.
        """
        with self._writing() as state:
            if id in state.rows:
                state.claims.setdefault((state.rows[id].node.space, key), id)

    def carriers(self, space: str, metadata: Mapping[str, Any]) -> tuple[NodeId, ...]:
        """Return every node of the space that carries all of the metadata, expired and archived ones too, by id."""
        with self._reading() as state:
            return tuple(
                sorted(node.id for node in _nodes(state, space) if _carries(node, metadata))
            )

    def add_tombstones(self, space: str, content_hashes: Sequence[str]) -> None:
        """Remember by keyed hashes alone that texts of the space were forgotten."""
        with self._writing() as state:
            state.tombstones |= {
                tombstone(self._tombstone_key, space, each) for each in content_hashes
            }

    def find_tombstones(self, space: str, content_hashes: Sequence[str]) -> frozenset[str]:
        """Return those of the content hashes whose texts were forgotten in the space."""
        with self._reading() as state:
            return frozenset(
                each
                for each in content_hashes
                if tombstone(self._tombstone_key, space, each) in state.tombstones
            )

    def drop_tombstones(self, space: str, content_hashes: Sequence[str]) -> None:
        """Let texts of the space be kept again."""
        with self._writing() as state:
            state.tombstones -= {
                tombstone(self._tombstone_key, space, each) for each in content_hashes
            }

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
        with self._reading() as state:
            seen = (row.node for row in _visible(state, where))
            found = [
                node
                for node in seen
                if node.importance >= min_importance and node.accesses >= min_accesses
            ]
            if after is not None:
                found = [node for node in found if _ORDERS[sort](node) > _behind(after, sort)]
            return tuple(_own(node) for node in sorted(found, key=_ORDERS[sort])[: max(limit, 0)])

    def sparse(self, terms: Sequence[str], where: Filter, *, limit: int) -> Ranking:
        """Return the nodes that hold any of the terms, by BM25 over all nodes of the filter's space; a repeated term counts more."""
        with self._reading() as state:
            rows = [row for row in state.rows.values() if row.node.space == where.space]
            counts = {term: sum(row.frequency(term) > 0 for row in rows) for term in terms}
            weights = {
                term: idf(len(rows), counts[term]) * query_weight(asked)
                for term, asked in Counter(terms).items()
            }
            mean_length = sum(row.length for row in rows) / max(len(rows), 1)
            matches = (
                Match(row.node.id, _score(row, weights, mean_length))
                for row in _visible(state, where)
            )
            return ranked(match for match in matches if match.score > 0)[: max(limit, 0)]

    def holding(self, terms: Sequence[str], space: str) -> dict[str, int]:
        """Return how many nodes of the space hold each of the terms."""
        with self._reading() as state:
            rows = [row for row in state.rows.values() if row.node.space == space]
            return {
                term: sum(row.frequency(term) > 0 for row in rows) for term in dict.fromkeys(terms)
            }

    def dense(
        self, vector: Vectors, where: Filter, *, limit: int, role: Role = Role.CONTENT
    ) -> Ranking:
        """Return the nodes nearest to a unit vector, by cosine."""
        with self._reading() as state:
            found = _cosines(state, vector, (row.node.id for row in _visible(state, where)), role)
            return ranked(map(Match, found.keys(), found.values()))[: max(limit, 0)]

    def cosines(
        self, vector: Vectors, ids: Sequence[NodeId], *, role: Role = Role.CONTENT
    ) -> dict[NodeId, float]:
        """Return the exact cosine of each named node that has a vector."""
        with self._reading() as state:
            return _cosines(state, vector, ids, role)

    def append(self, events: Sequence[Event]) -> None:
        """Write events to the end of the log."""
        with self._writing() as state:
            state.events += [
                replace(event, detail=_plain_json("detail", event.detail)) for event in events
            ]

    def events(self, node: NodeId, *, on_damage: OnDamage | None = None) -> tuple[Event, ...]:  # noqa: ARG002 - nothing here is ever damaged
        """Return what happened to a node, oldest first; also of one that was forgotten."""
        with self._reading() as state:
            return tuple(event for event in state.events if event.node == node)

    def touch(self, ids: Sequence[NodeId], at: datetime, *, min_interval_seconds: float) -> int:
        """Count and log one access for each node not counted within the interval."""
        with self._writing() as state:
            due = [
                key
                for key in dict.fromkeys(ids)
                if key in state.rows and _due(state.touched.get(key), at, min_interval_seconds)
            ]
            for key in due:
                row = state.rows[key]
                state.rows[key] = replace(
                    row, node=replace(row.node, accesses=row.node.accesses + 1)
                )
                state.touched[key] = at
                state.events.append(Event(node=key, kind=EventKind.ACCESS, at=at))
            return len(due)

    def reject(self, counts: Mapping[str, int]) -> None:
        """Add to how many texts each rule has rejected."""
        with self._writing() as state:
            state.rejections = dict(sorted((Counter(state.rejections) + Counter(counts)).items()))

    def keep(self, kind: str, id: str, body: Mapping[str, Any]) -> None:
        """Write a small JSON record beside the memories; replaces one of the same kind and id."""
        with self._writing() as state:
            state.records[kind, id] = json.dumps(dict(body))

    def kept(self, kind: str) -> dict[str, dict[str, Any]]:
        """Return the records of a kind by id, in the order of ids."""
        with self._reading() as state:
            return {
                id: json.loads(body)
                for (other, id), body in sorted(state.records.items())
                if other == kind
            }

    def record(self, kind: str, id: str) -> dict[str, Any] | None:
        """Return one record; None where there is none."""
        with self._reading() as state:
            body = state.records.get((kind, id))
        return None if body is None else json.loads(body)

    def drop(self, kind: str, id: str) -> bool:
        """Remove a record; tell whether there was one."""
        with self._writing() as state:
            return state.records.pop((kind, id), None) is not None

    def link(self, edges: Sequence[Edge]) -> None:
        """Add edges; one with the same source, target and kind is replaced."""
        with self._writing() as state:
            for edge in edges:
                _existing(state, edge.source)
                _existing(state, edge.target)
                state.edges[edge.source, edge.target, edge.kind] = edge

    def edges(
        self,
        ids: Sequence[NodeId],
        *,
        on_damage: OnDamage | None = None,  # noqa: ARG002
    ) -> tuple[Edge, ...]:
        """Return every edge that starts or ends at one of the nodes."""
        asked = set(ids)
        with self._reading() as state:
            return tuple(
                edge
                for edge in sorted(state.edges.values(), key=_ends)
                if {edge.source, edge.target} & asked
            )

    def mention(self, mentions: Sequence[Mention]) -> None:
        """Note what nodes name and are about.

        What was noted of the same nodes before is replaced.
        """
        with self._writing() as state:
            noted = [each for each in each_once(mentions) if each.node in state.rows]
            _unmention(state, {each.node for each in noted})
            for each in noted:
                state.mentions[each.node] = (*state.mentions.get(each.node, ()), each)
                state.names.setdefault(
                    (state.rows[each.node].node.space, each.key), (each.name, each.type)
                )

    def mentions(self, ids: Sequence[NodeId]) -> dict[NodeId, tuple[Mention, ...]]:
        """Return what each of the nodes names and is about.

        Subjects first, then the surest, ties by key.
        """
        with self._reading() as state:
            found = {id: state.mentions[id] for id in ids if id in state.mentions}
            return {
                id: tuple(
                    sorted(each, key=lambda said: (not said.subject, -said.confidence, said.key))
                )
                for id, each in found.items()
            }

    def named(
        self, keys: Sequence[str], where: Filter, *, limit: int, parts: bool = True
    ) -> dict[str, Named]:
        """Return where the filter's space speaks of each key that is known there.

        At most `limit` subjects and holders that pass.
        """
        with self._reading() as state:
            names = {
                key: name for (space, key), name in state.names.items() if space == where.space
            }
            rows = [row.node for row in state.rows.values() if row.node.space == where.space]
            spoken = Spoken(names, [(node, state.mentions.get(node.id, ())) for node in rows])
            found = {
                key: spoken.named(
                    key, lambda node: passes(node, where), limit=max(0, limit), parts=parts
                )
                for key in keys
            }
            return {key: named for key, named in found.items() if named is not None}

    def visible(self, ids: Sequence[NodeId], where: Filter) -> frozenset[NodeId]:
        """Return those of the nodes that pass the filter."""
        with self._reading() as state:
            return frozenset(
                id for id in ids if id in state.rows and passes(state.rows[id].node, where)
            )

    def model(self) -> ModelInfo | None:
        """Return the model whose vectors are searched; None before the first."""
        with self._reading() as state:
            return state.model

    def activate(self, model: ModelInfo) -> None:
        """Make this the searched model and drop the vectors of every other."""
        with self._writing() as state:
            _check_same_dimension(state, model)
            state.model = model
            state.vectors = {
                key: vector for key, vector in state.vectors.items() if key[0] == model.id
            }

    def put(self, embeddings: Sequence[Embedding], model: ModelInfo) -> None:
        """Write vectors of a model, active or not."""
        with self._writing() as state:
            _check_same_dimension(state, model)
            _write(state, embeddings, model)

    def embeddings(
        self,
        ids: Sequence[NodeId],
        *,
        on_damage: OnDamage | None = None,  # noqa: ARG002
    ) -> tuple[Embedding, ...]:
        """Return the vectors of the active model that the nodes have, by node and role."""
        with self._reading() as state:
            return tuple(
                Embedding(
                    node=node,
                    role=role,
                    text_hash=vector.text_hash,
                    vector=vector.halves.astype(np.float32),
                    tokens=vector.tokens,
                )
                for (model, role, node), vector in sorted(
                    state.vectors.items(), key=lambda item: (item[0][2], item[0][1])
                )
                if node in set(ids) and state.model is not None and model == state.model.id
            )

    def token_codes(self, ids: Sequence[NodeId]) -> dict[NodeId, bytes]:
        """Return the token codes that the nodes have with a vector of the active model.

        Those of a context vector go first.
        """
        with self._reading() as state:
            model = state.model.id if state.model else ""
            return {id: codes for id in ids if (codes := _codes(state, model, id)) is not None}

    def coverage(self, space: str) -> Coverage:
        """Return how many live nodes the space has and how many of them have vectors of the active model."""
        with self._reading() as state:
            nodes = [node for node in _nodes(state, space) if _live(node)]
            model = state.model.id if state.model else None
            return Coverage(
                nodes=len(nodes),
                vectors=sum((model, Role.CONTENT, node.id) in state.vectors for node in nodes),
                keyed=sum(bool(node.context) for node in nodes),
                contexts=sum(
                    bool(node.context) and (model, Role.CONTEXT, node.id) in state.vectors
                    for node in nodes
                ),
                sections=sum(node.kind is Kind.SECTION for node in nodes),
                questions=sum((model, Role.QUESTION, node.id) in state.vectors for node in nodes),
            )

    def unembedded(self, model_id: str, *, limit: int, tokens: bool = False) -> tuple[Node, ...]:
        """Return live nodes without a content vector of this model, or with a stale one, by id.

        With `tokens` those without codes too.
        """
        with self._reading() as state:
            found = {node.id: node for node in _unembedded(state, model_id)}
            if tokens:
                found |= {
                    node.id: node
                    for node in _coded(_nodes(state, None))
                    if _codes(state, model_id, node.id) is None
                }
            return tuple(_own(found[id]) for id in sorted(found)[: max(limit, 0)])

    def nodes(
        self,
        space: str | None = None,
        *,
        on_damage: OnDamage | None = None,  # noqa: ARG002
    ) -> Iterator[Node]:
        """Yield every node as of this call, expired ones too, in the order of ids."""
        with self._reading() as state:
            found = sorted(_nodes(state, space), key=lambda node: node.id)
        return map(_own, found)

    def stats(self, space: str | None = None) -> Mapping[str, Any]:
        """Return counts for people and monitors; of a space nothing that another one changes."""
        with self._reading() as state:
            nodes = _nodes(state, space)
            ids = {node.id for node in nodes}
            events = [
                event
                for event in state.events
                if space is None or event.node in ids or _last_word(event, space)
            ]
            told = {
                "model": state.model.id if state.model else None,
                "dimension": state.model.dimension if state.model else None,
            }
            whole = {"rejected": dict(state.rejections)} if space is None else {}
            return {**_counted(state, nodes, events), **whole, **told}

    def verify(self) -> tuple[Problem, ...]:
        """Return no problem: nothing here is derived."""
        with self._reading():
            return ()

    def repair(self) -> Repaired:
        """Do nothing: nothing here is derived."""
        with self._reading():
            return Repaired()

    def compact(self) -> None:
        """Do nothing: there is no space to give back."""
        with self._reading():
            return

    # There is nothing to search
    def erase(self, texts: Sequence[str], *, check: bool = True) -> Erasure:  # noqa: ARG002
        """Do nothing: there is no file."""
        with self._reading():
            return Erasure()

    # There is nothing to search
    def search_files(self, text: str) -> tuple[FileCheck, ...]:  # noqa: ARG002
        """Return nothing: there is no file."""
        with self._reading():
            return ()

    def backup(self, path: Path) -> None:
        """Refuse: there is no file to copy."""
        raise StoreError(
            "A store in memory cannot be backed up to a file. Export it, or open a store on a path.",
            path=str(path),
        )

    def close(self) -> None:
        """Forget everything; closing again is no error."""
        with self._lock:
            self._closed = True
            self._state = _State()


def _near(node: Node, other: Node, reach: int) -> bool:
    """Tell whether another stands in reach.

    Every node does so of itself, one without a position of no other.
    """
    if other.id == node.id:
        return True
    if node.position is None or other.position is None or not _live(other):
        return False
    return (other.space, other.parent, other.kind) == (node.space, node.parent, node.kind) and abs(
        other.position - node.position
    ) <= reach


def _ends(edge: Edge) -> tuple[NodeId, str, NodeId]:
    return edge.source, edge.kind, edge.target


def _place(node: Node) -> tuple[int, NodeId]:
    return node.position or 0, node.id


def _told(node: Node, added: datetime | None) -> datetime:
    """Return when a memory was first told.

    What was imported has its own time, or none if that is the import's.
    """
    if node.kind is Kind.MEMORY and node.root is not None:
        return node.t_created
    if node.kind is Kind.MEMORY:
        return added or node.t_created
    return node.t_valid if node.t_valid in (node.t_created, added) else BEGINNING


def _live(node: Node) -> bool:
    return node.t_expired is None and not node.archived


def _due(last: datetime | None, at: datetime, min_interval_seconds: float) -> bool:
    # on either side: a clock may go back
    return last is None or abs((at - last).total_seconds()) >= min_interval_seconds


def _last_word(event: Event, space: str) -> bool:
    """Tell whether an event says that a node of the space was forgotten."""
    return event.kind is EventKind.FORGET and event.detail.get("space") == space


def _counted(state: _State, nodes: Sequence[Node], events: Sequence[Event]) -> dict[str, Any]:
    """Return what is counted of some nodes, their events, edges and vectors."""
    ids = {node.id for node in nodes}
    model = state.model.id if state.model else None
    return {
        "nodes": len(nodes),
        "live": sum(map(_live, nodes)),
        "expired": sum(node.t_expired is not None for node in nodes),
        "archived": sum(node.archived for node in nodes),
        "protected": sum(node.protected for node in nodes),
        "memories": sum(node.kind is Kind.MEMORY and node.root is None for node in nodes),
        "versions": sum(node.kind is Kind.MEMORY and node.root is not None for node in nodes),
        "ending": sum(
            node.kind is Kind.MEMORY
            and node.root is None
            and _live(node)
            and node.t_invalid is not None
            for node in nodes
        ),
        "by_kind": _counts(str(node.kind) for node in nodes),
        "by_category": _counts(node.category for node in nodes),
        "by_space": _counts(node.space for node in nodes),
        "events": len(events),
        "by_event": _counts(str(event.kind) for event in events),
        "edges": sum({edge.source, edge.target} <= ids for edge in state.edges.values()),
        "vectors": sum(known == model and node in ids for known, _, node in state.vectors),
        "coverage": _levels(state, nodes),
        "unembedded": sum(node.id in ids for node in _unembedded(state, model or "")),
        "token_codes": _count_codes(state, nodes),
    }


def _count_codes(state: _State, nodes: Sequence[Node]) -> dict[str, int]:
    """Return how many live memories and chunks have token codes, how many have none, and how many bytes there are."""
    model = state.model.id if state.model else ""
    codes = [_codes(state, model, node.id) for node in _coded(nodes)]
    held = [each for each in codes if each is not None]
    return {"nodes": len(held), "missing": len(codes) - len(held), "bytes": sum(map(len, held))}


def _levels(state: _State, nodes: Sequence[Node]) -> dict[str, dict[str, int]]:
    """Return for each kind how many live nodes there are, and what they have."""
    model = state.model.id if state.model else None
    found: dict[str, dict[str, int]] = {}
    for node in sorted(filter(_live, nodes), key=lambda node: str(node.kind)):
        level = found.setdefault(
            str(node.kind),
            dict.fromkeys(("nodes", "vectors", "context_keys", "context_vectors"), 0),
        )
        level["nodes"] += 1
        level["vectors"] += (model, Role.CONTENT, node.id) in state.vectors
        level["context_keys"] += bool(node.context)
        level["context_vectors"] += (model, Role.CONTEXT, node.id) in state.vectors
    return found


def _counts(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))


def _age(node: Node) -> tuple[datetime, NodeId]:
    return node.t_created, node.id


def _nodes(state: _State, space: str | None) -> list[Node]:
    return [row.node for row in state.rows.values() if space in (None, row.node.space)]


def _visible(state: _State, where: Filter) -> Iterator[_Row]:
    return (row for row in state.rows.values() if passes(row.node, where))


def _existing(state: _State, id: NodeId) -> Node:
    if id not in state.rows:
        raise NotFoundError(
            f"There is no node {id!r}. List the nodes to see which there are.", id=id
        )
    return state.rows[id].node


def _evidence(state: _State, ids: Sequence[NodeId]) -> dict[NodeId, Evidence]:
    """Return the evidence of nodes that exist.

    The log and the edges are gone through once for all of them.
    """
    nodes = {id: state.rows[id].node for id in ids if id in state.rows}
    moments: dict[tuple[NodeId, bool], list[datetime]] = {
        (id, access): [] for id in nodes for access in (False, True)
    }
    for event in state.events:
        if event.node in nodes and event.kind in _EVIDENCE:
            moments[event.node, event.kind is EventKind.ACCESS].append(event.at)
    related = Counter(edge.target for edge in state.edges.values() if edge.kind == "RELATED")
    return {
        id: Evidence(
            node.stability,
            node.t_valid,
            tuple(sorted(moments[id, False])),
            related[id],
            max(moments[id, True], default=None),
        )
        for id, node in nodes.items()
    }


def _unmention(state: _State, nodes: AbstractSet[NodeId]) -> None:
    """Forget what the nodes named, and the names that nobody mentions any more."""
    state.mentions = {id: said for id, said in state.mentions.items() if id not in nodes}
    left = {
        (state.rows[id].node.space, each.key)
        for id, said in state.mentions.items()
        for each in said
    }
    state.names = {name: known for name, known in state.names.items() if name in left}


def _respell(state: _State, names: AbstractSet[tuple[str, str]]) -> None:
    """Write names as the first node does that still mentions them, where nobody is left who spells them as they are."""
    for space, key in names & state.names.keys():
        said = [
            each.name
            for id in state.rows
            for each in state.mentions.get(id, ())
            if (state.rows[id].node.space, each.key) == (space, key)
        ]
        if state.names[space, key][0] not in said:
            state.names[space, key] = (said[0], state.names[space, key][1])


def _carries(node: Node, metadata: Mapping[str, Any]) -> bool:
    return all(
        name in node.metadata and same_json(node.metadata[name], value)
        for name, value in metadata.items()
    )


def _keep(state: _State, node: Node) -> None:
    """Write the node; an idempotency key names at most one node of a space."""
    others = (
        row.node
        for row in state.rows.values()
        if node.idempotency_key is not None and row.node.id != node.id
    )
    if any(
        (other.space, other.idempotency_key) == (node.space, node.idempotency_key)
        for other in others
    ):
        raise StoreError(
            f"The space {node.space!r} holds a node under the key {node.idempotency_key!r} already. Find it with find_key.",
            key=node.idempotency_key,
        )
    state.rows[node.id] = _Row.of(node)


def _own(node: Node) -> Node:
    """Part the node from the caller's metadata, so that neither side can change the other's."""
    return replace(node, metadata=_plain_json("metadata", node.metadata)) if node.metadata else node


def _plain_json(name: str, value: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return dict(json.loads(json.dumps(dict(value), allow_nan=False)))
    except (TypeError, ValueError) as error:
        raise InputError(
            name,
            value,
            f"is not JSON: {clipped(str(error))}",
            "Use strings, numbers, truth values, lists and objects.",
        ) from error


def _score(row: _Row, weights: Mapping[str, float], mean_length: float) -> float:
    parts = ((weight, row.frequency(term)) for term, weight in weights.items())
    return bm25.bm25(parts, length=row.length, mean_length=mean_length)


def _cosines(
    state: _State, vector: Vectors, ids: Iterable[NodeId], role: Role
) -> dict[NodeId, float]:
    if state.model is None:
        return {}
    query = as_unit(vector, state.model.dimension)
    found = {
        node: kept.halves
        for node in ids
        if (kept := _vector(state, state.model.id, role, node)) is not None
    }
    return (
        dict(zip(found, exact_cosines(np.stack(list(found.values())), query).tolist(), strict=True))
        if found
        else {}
    )


def _vector(state: _State, model: str, role: Role, node: NodeId) -> _Vector | None:
    """Return a vector of a node; without a context key it is its own context."""
    itself = role is Role.CONTEXT and node in state.rows and not state.rows[node].node.context
    return state.vectors.get((model, Role.CONTENT if itself else role, node))


def _coded(nodes: Iterable[Node]) -> list[Node]:
    return [node for node in nodes if _live(node) and node.kind in CODED_KINDS]


def _codes(state: _State, model: str, node: NodeId) -> bytes | None:
    found = (state.vectors.get((model, role, node)) for role in (Role.CONTEXT, Role.CONTENT))
    return next(
        (vector.tokens for vector in found if vector is not None and vector.tokens is not None),
        None,
    )


def _write(state: _State, embeddings: Sequence[Embedding], model: ModelInfo) -> None:
    for embedding in embeddings:
        if embedding.node not in state.rows:
            continue  # forgotten while it was being embedded
        halves = as_unit(embedding.vector, model.dimension).astype(np.float16)
        tokens = as_codes(embedding.tokens, model.dimension)
        state.vectors[model.id, embedding.role, embedding.node] = _Vector(
            embedding.text_hash, halves, tokens
        )


def _check_same_dimension(state: _State, model: ModelInfo) -> None:
    if (
        state.model is not None
        and state.model.id == model.id
        and state.model.dimension != model.dimension
    ):
        raise ModelMismatchError(
            f"The store's vectors of {model.id} have {state.model.dimension} numbers, not {model.dimension}. Use another model id.",
            model=model.id,
        )


def _unembedded(state: _State, model_id: str) -> list[Node]:
    def fresh(node: Node) -> bool:
        vector = state.vectors.get((model_id, Role.CONTENT, node.id))
        known = not node.context or (model_id, Role.CONTEXT, node.id) in state.vectors
        return vector is not None and vector.text_hash == node.content_hash and known

    return [row.node for row in state.rows.values() if _live(row.node) and not fresh(row.node)]
