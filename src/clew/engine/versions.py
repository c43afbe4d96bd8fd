"""The rows of one fact, and of those before and after it: which of them held at a time?"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from clew.ports import Store
from clew.store.filters import passes
from clew.types import Filter, Kind, Node, NodeId

SUPERSEDES = "SUPERSEDES"


def head_of(store: Store, node: Node) -> Node:
    """Return the row that keeps the fact's id; a version of a memory names it as its root."""
    return store.get([node.root]).get(node.root, node) if node.kind is Kind.MEMORY and node.root else node


def rows_of(store: Store, node: Node) -> list[Node]:
    """Return every row of a fact: the one with its id and its versions; what was imported has none."""
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
        near = dict.fromkeys(end for edge in edges for end in (edge.source, edge.target) if end not in seen)
        fresh = list(dict.fromkeys(head_of(store, each).id for each in store.get(list(near)).values()))
        fresh = [id for id in fresh if id not in seen]
        seen.update(near)
        seen.update(dict.fromkeys(fresh))
    return in_time(store.get(store.family(list(seen))).values())


def in_time(nodes: Iterable[Node]) -> tuple[Node, ...]:
    """Order rows by when they became true, then by when that was known."""
    return tuple(sorted(nodes, key=lambda node: (node.t_valid, node.t_created, node.id)))


def at(store: Store, node: Node, *, now: datetime, as_of: datetime | None, known_at: datetime | None) -> Node | None:
    """Return the row that was true and believed then: of the fact itself if any was, else of what stood in its place; the latest."""
    where = Filter(space=node.space, now=now, as_of=as_of, known_at=known_at, archived=True)
    own = [row for row in rows_of(store, node) if passes(row, where)]
    others = () if own else [row for row in chain(store, node) if passes(row, where)]
    return next(reversed(in_time(own or others)), None)
