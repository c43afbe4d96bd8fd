"""Move a whole store into another, between SQLite and PostgreSQL.

In batches, again from where it was left off, and verified.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import islice

from clew.errors import InputError, ModelMismatchError, StoreError
from clew.ports import Progress, Store
from clew.store.remains import Remains, SupportsMoving
from clew.types import Edge, Embedding, Event, Node, NodeId

BATCH = 500
DIGEST_BYTES = 16


@dataclass(frozen=True, slots=True)
class Moved:
    """What a move brought over, and what was compared at its end."""

    nodes: int
    """Nodes of the source, all of them in the target now."""
    written: int
    """How many of them this run wrote; the others were there already."""
    events: int
    edges: int
    vectors: int
    mentions: int
    tombstones: int
    records: int
    digest: str
    """A hash of everything that was compared, the same for both stores."""


def move(source: Store, target: Store, *, progress: Progress | None = None) -> Moved:
    """Bring everything of a store into another and compare both.

    What is there already is left, so a run can be repeated.

    Nobody may write to the source meanwhile: what changes behind the run is found by the comparison
    and told as an error.
    """
    if not isinstance(source, SupportsMoving) or not isinstance(target, SupportsMoving):
        raise InputError(
            "store", "", "cannot be moved as a whole", "Use clew export and clew load."
        )
    _bring_model(source, target)
    written, done, total = 0, 0, int(source.stats()["nodes"])
    for batch in _batches(source.nodes()):
        written, done = written + _bring(source, target, batch), done + len(batch)
        if progress is not None:
            progress("moving", done, total)
    for batch in _batches(source.nodes()):
        _bring_edges(source, target, [node.id for node in batch])
    remains = source.remains()
    target.adopt(remains)
    before, after = _tally(source, progress), _tally(target, progress)
    if before != after or not _holds(target.remains(), remains):
        told = "; ".join(
            f"{name}: {many} in the source, {after[0][name]} in the target"
            for name, many in before[0].items()
        )
        raise StoreError(
            f"The target does not hold what the source holds ({told or 'tombstones, keys or records differ'}). "
            "Stop whoever writes to either of them and run the move again; nothing was taken from the source.",
        )
    counts, digest = before
    return Moved(
        **counts,
        written=written,
        tombstones=len(remains.tombstones),
        records=len(remains.records),
        digest=digest,
    )


def _batches(nodes: Iterator[Node]) -> Iterator[list[Node]]:
    while batch := list(islice(nodes, BATCH)):
        yield batch


def _bring_model(source: Store, target: Store) -> None:
    ours, theirs = target.model(), source.model()
    if theirs is None or ours == theirs:
        return
    if ours is not None:
        raise ModelMismatchError(
            f"The source holds vectors of {theirs.id}, the target of {ours.id}. Move into a new store, or run clew reembed on one of them.",
            model=theirs.id,
        )
    target.activate(theirs)


def _bring(source: Store, target: Store, batch: Sequence[Node]) -> int:
    """Write the nodes of a batch that are not there yet, each with all that is its own, in one transaction."""
    there = target.get([node.id for node in batch])
    if other := next((node for node in batch if node.id in there and there[node.id] != node), None):
        raise StoreError(
            f"The target holds another memory under the id {other.id}, or another state of it. Move into a new store.",
            id=other.id,
        )
    fresh = [node for node in batch if node.id not in there]
    if not fresh:
        return 0
    ids = [node.id for node in fresh]
    events, vectors, mentions = _events(source, ids), source.embeddings(ids), source.mentions(ids)
    with target.transaction():
        target.insert(fresh, vectors, [event for id in ids for event in events[id]])
        target.mention([said for id in ids for said in mentions.get(id, ())])
    return len(fresh)


def _bring_edges(source: Store, target: Store, ids: Sequence[NodeId]) -> None:
    own = set(ids)
    edges = [edge for edge in source.edges(ids) if edge.source in own]
    there = set(target.edges(ids))
    if fresh := [edge for edge in edges if edge not in there]:
        target.link(fresh)


def _events(store: Store, ids: Sequence[NodeId]) -> dict[NodeId, tuple[Event, ...]]:
    return {id: store.events(id) for id in ids}


def _tally(store: Store, progress: Progress | None) -> tuple[dict[str, int], str]:
    """Return counts of what a store holds and a hash of it, in an order that does not depend on the store."""
    counts = dict.fromkeys(("nodes", "events", "edges", "vectors", "mentions"), 0)
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)

    def take(name: str, values: Iterable[object]) -> None:
        for value in values:
            counts[name] += 1
            digest.update(repr(value).encode("utf-8", "surrogatepass"))

    done = 0
    for batch in _batches(store.nodes()):
        ids = [node.id for node in batch]
        own = set(ids)
        take("nodes", (_plain(node) for node in batch))
        events = _events(store, ids)
        take("events", (_plain(event) for id in ids for event in events[id]))
        take("edges", (_plain(edge) for edge in store.edges(ids) if edge.source in own))
        take("vectors", map(_vector, store.embeddings(ids)))
        mentions = store.mentions(ids)
        take("mentions", (said for id in ids for said in mentions.get(id, ())))
        done += len(batch)
        if progress is not None:
            progress("comparing", done, None)
    return counts, digest.hexdigest()


def _plain(value: Node | Event | Edge) -> list[tuple[str, object]]:
    """Return the fields of a value.

    A mapping's entries in order, for it is no matter in which they were given.
    """
    values = [(each.name, getattr(value, each.name)) for each in fields(value)]
    return [
        (name, json.dumps(kept, sort_keys=True) if isinstance(kept, Mapping) else kept)
        for name, kept in values
    ]


def _vector(each: Embedding) -> tuple[object, ...]:
    return each.node, str(each.role), each.text_hash, each.vector.tobytes(), each.tokens


def _holds(ours: Remains, theirs: Remains) -> bool:
    """Tell whether a store holds what another has beside its nodes."""
    return (
        theirs.tombstones <= ours.tombstones
        and (not theirs.tombstones or ours.tombstone_key == theirs.tombstone_key)
        and theirs.claims <= ours.claims
        and set(map(repr, theirs.last_words)) <= set(map(repr, ours.last_words))
        and theirs.records.keys() <= ours.records.keys()
    )
