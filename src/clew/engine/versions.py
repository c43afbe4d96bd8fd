"""The rows of one fact, and of those before and after it: which of them held at a time?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from clew.ports import Store
from clew.search.state import Hit
from clew.store.filters import passes
from clew.types import (
    BEGINNING,
    COSINE,
    RELATED,
    SUPERSEDES,
    Edge,
    EventKind,
    Filter,
    Kind,
    Node,
    NodeId,
)


def head_of(store: Store, node: Node) -> Node:
    """Return the row that keeps the fact's id; a version of a memory names it as its root."""
    return (
        store.get([node.root]).get(node.root, node)
        if node.kind is Kind.MEMORY and node.root
        else node
    )


def owned(store: Store, hits: Iterable[Hit], where: Filter) -> tuple[Hit, ...]:
    """Return hits under the ids that their memories keep, each once.

    Node and text stay those of the version that was found.
    """
    found = tuple(hits)
    nodes = {hit.id: hit.node for hit in found if hit.node is not None}
    if (
        where.as_of is None
        and where.known_at is None
        and all(_own(node) == node.id for node in nodes.values())
    ):
        return found  # the usual: nobody asks about another time, and nothing is read again
    passed = {end for hit in found for hop in hit.path for end in (hop.source, hop.target)}
    nodes |= store.get(sorted(passed - nodes.keys()))
    names = {id: _own(node) for id, node in nodes.items()}
    once: dict[NodeId, Hit] = {}
    # Of two versions the one that holds at `as_of` is answered, not the one that begins later on
    # that day.
    begun = {
        names.get(hit.id, hit.id)
        for hit in found
        if hit.node is not None and hit.node.t_valid <= where.moment
    }
    for hit in found:
        if (
            hit.node is not None
            and hit.node.t_valid > where.moment
            and names.get(hit.id, hit.id) in begun
        ):
            continue
        path = tuple(
            hop._replace(
                source=names.get(hop.source, hop.source), target=names.get(hop.target, hop.target)
            )
            for hop in hit.path
        )
        once.setdefault(
            names.get(hit.id, hit.id), hit._replace(id=names.get(hit.id, hit.id), path=path)
        )
    return tuple(once.values())


def _own(node: Node) -> NodeId:
    return node.root if node.kind is Kind.MEMORY and node.root else node.id


def rows_of(store: Store, node: Node) -> list[Node]:
    """Return every row of a fact: the one with its id and its versions.

    What was imported has none.
    """
    if node.kind is not Kind.MEMORY:
        return [node]
    return list(store.get(store.family([head_of(store, node).id])).values())


def chain(store: Store, node: Node) -> tuple[Node, ...]:
    """Return all rows of a fact, of what it superseded and of what superseded it, in the order in which they were true."""
    if node.kind is not Kind.MEMORY:
        return (node,)
    head = head_of(store, node).id
    seen: dict[NodeId, None] = {head: None}
    fresh = [head]
    while fresh:
        edges = [edge for edge in store.edges(fresh) if edge.kind == SUPERSEDES]
        near = dict.fromkeys(
            end for edge in edges for end in (edge.source, edge.target) if end not in seen
        )
        fresh = list(
            dict.fromkeys(head_of(store, each).id for each in store.get(list(near)).values())
        )
        fresh = [id for id in fresh if id not in seen]
        seen.update(near)
        seen.update(dict.fromkeys(fresh))
    return in_time(store.get(store.family(list(seen))).values())


def successor(store: Store, node: Node) -> NodeId | None:
    """Return what took a fact's place, unless that is forgotten or disbelieved or the fact was asserted again."""
    for event in reversed(store.events(node.id)):
        if "reasserted" in event.detail:
            return None
        if event.kind is EventKind.SUPERSEDE and "by" in event.detail:
            later = store.get([event.detail["by"]]).get(event.detail["by"])
            return later.id if later is not None and later.t_expired is None else None
    return None


def carried(store: Store, old: Node, new: NodeId, now: datetime) -> list[Edge]:
    """Return the links that somebody made to or from a fact, for what takes its place.

    What looked alike looks for itself again.
    """
    own = _own(old)
    made = [
        edge
        for edge in store.edges([own])
        if edge.weight > 0
        and edge.kind != SUPERSEDES
        and (edge.kind, edge.evidence) != (RELATED, COSINE)
        and len({edge.source, edge.target, new}) == 3
    ]
    put = {own: new}
    return [
        replace(
            edge,
            source=put.get(edge.source, edge.source),
            target=put.get(edge.target, edge.target),
            t_created=now,
        )
        for edge in made
    ]


def in_time(nodes: Iterable[Node]) -> tuple[Node, ...]:
    """Order rows by when they became true, then by when that was known."""
    return tuple(sorted(nodes, key=lambda node: (node.t_valid, node.t_created, node.id)))


def seen_under(store: Store, node: Node, where: Filter) -> Node:
    """Return the row of a fact that a question sees.

    Of one that it does not see the one that was believed then, or came nearest to it.
    """
    rows = in_time(rows_of(store, node))
    believed = Filter(space=node.space, now=where.now, known_at=where.known_at)
    for test in (
        where,
        replace(believed, as_of=where.as_of, archived=True),
        replace(believed, now=BEGINNING, archived=True),
    ):
        if passing := [row for row in rows if passes(row, test)]:
            return passing[-1]
    return (
        head_of(store, node)
        if where.known_at is None
        else min(rows, key=lambda row: (row.t_created, row.id))
    )


def at(
    store: Store, node: Node, *, now: datetime, as_of: datetime | None, known_at: datetime | None
) -> Node | None:
    """Return the row that was true and believed then.

    Of the fact itself if any was, else of what stood in its place; the latest.
    """
    where = Filter(space=node.space, now=now, as_of=as_of, known_at=known_at, archived=True)
    own = [row for row in rows_of(store, node) if passes(row, where)]
    others = () if own else [row for row in chain(store, node) if passes(row, where)]
    return next(reversed(in_time(own or others)), None)
