"""What a memory is connected with.

What it names, who else names it or is about it, and the edges in and out.

Nothing crosses spaces, and only what can be seen now is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from clew.graph.links import HUB_POWER, damping
from clew.ports import Store
from clew.types import Edge, Filter, Kind, Mention, Named, Node, NodeId

ROOM = 80  # characters of a text on each side of a name


@dataclass(frozen=True, slots=True)
class Entity:
    """Something that the memory names or is about, and in which words."""

    mention: Mention
    evidence: str
    count: int
    """How many nodes of the space name it."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A node that shares names with the memory or has an edge to it."""

    node: Node
    strength: float
    """The sum of edge weights and of shared names, each damped by how many nodes name it."""
    about: tuple[str, ...]
    """What the memory names, as far as this node is about it."""
    shares: tuple[str, ...]
    """What both name."""
    edges: tuple[str, ...]
    """The kinds of the edges between the two."""


@dataclass(frozen=True, slots=True)
class Related:
    """All that a memory is connected with."""

    id: NodeId
    entities: tuple[Entity, ...]
    edges: tuple[Edge, ...]
    nodes: tuple[Neighbour, ...]


@dataclass(frozen=True, slots=True)
class _Tie:
    """One reason why a node is a neighbour."""

    node: NodeId
    strength: float
    about: str = ""
    shares: str = ""
    edge: str = ""


def related(store: Store, node: Node, *, now: datetime, limit: int) -> Related:
    """Return what a node is connected with.

    At most `limit` nodes and edges, the strongest first, ties by id.

    What many nodes name connects little and is damped, as in a recall.
    """
    where = Filter(space=node.space, now=now)
    said = store.mentions([node.id]).get(node.id, ())
    # the node itself may be among them
    known = store.named([mention.key for mention in said], where, limit=limit + 1)
    edges = _seen(store, node, where)[:limit]
    ties = [*_by_names(said, known), *_by_edges(node, edges)]
    heads = _heads(store, [tie.node for tie in ties])
    # A memory that is true at two times has a row for each, and is one neighbour all the same.
    own = dict.fromkeys(replace(tie, node=heads[tie.node].id) for tie in ties if tie.node in heads)
    return Related(
        id=node.id,
        entities=tuple(_entities(node, said, known)),
        edges=edges,
        nodes=_neighbours(heads, [tie for tie in own if tie.node != node.id], limit=limit),
    )


def _heads(store: Store, ids: Sequence[NodeId]) -> dict[NodeId, Node]:
    """Return for each node the one that keeps its memory's id, under both their ids."""
    found = store.get(list(dict.fromkeys(ids)))
    roots = store.get(
        list(
            dict.fromkeys(
                each.root for each in found.values() if each.kind is Kind.MEMORY and each.root
            )
        )
    )
    heads = {id: roots.get(each.root or "", each) for id, each in found.items()}
    return heads | {head.id: head for head in heads.values()}


def _entities(node: Node, said: Sequence[Mention], known: Mapping[str, Named]) -> Iterator[Entity]:
    """Yield each name once, though a subject is noted under several keys."""
    told = {(mention.name, mention.subject): mention for mention in reversed(said)}
    for mention in [each for each in said if told[each.name, each.subject] is each]:
        yield Entity(
            mention,
            evidence(node, mention),
            known[mention.key].nodes if mention.key in known else 0,
        )


def evidence(node: Node, mention: Mention) -> str:
    """Return the words around a name, or the title where only that has it."""
    if mention.end == 0:
        return node.title
    start, end = max(0, mention.start - ROOM), mention.end + ROOM
    cut = " ".join(node.text[start:end].split())
    return f"{'…' if start else ''}{cut}{'…' if end < len(node.text) else ''}"


def _seen(store: Store, node: Node, where: Filter) -> tuple[Edge, ...]:
    """Return the edges to nodes that can be seen, strongest first.

    One of weight 0 was retracted.
    """
    edges = [edge for edge in store.edges([node.id]) if edge.weight > 0]
    seen = store.visible([_other(node, edge) for edge in edges], where)
    kept = (edge for edge in edges if _other(node, edge) in seen)
    return tuple(sorted(kept, key=lambda edge: (-edge.weight, edge.kind, edge.source, edge.target)))


def _other(node: Node, edge: Edge) -> NodeId:
    return edge.target if edge.source == node.id else edge.source


def _by_names(said: Sequence[Mention], known: Mapping[str, Named]) -> Iterator[_Tie]:
    for mention in said:
        named = known.get(mention.key)
        if named is None:
            continue
        strength = mention.confidence * damping(named.nodes, power=HUB_POWER)
        yield from (_Tie(id, strength, about=mention.name) for id in named.subjects)
        yield from (_Tie(id, strength, shares=mention.name) for id in named.holders)


def _by_edges(node: Node, edges: Sequence[Edge]) -> Iterator[_Tie]:
    return (_Tie(_other(node, edge), edge.weight, edge=edge.kind) for edge in edges)


def _neighbours(
    nodes: Mapping[NodeId, Node], ties: Sequence[_Tie], *, limit: int
) -> tuple[Neighbour, ...]:
    strengths: dict[NodeId, float] = {}
    for tie in ties:
        strengths[tie.node] = strengths.get(tie.node, 0.0) + tie.strength
    best = sorted(strengths, key=lambda id: (-strengths[id], id))[:limit]
    return tuple(
        _neighbour(nodes[id], strengths[id], [tie for tie in ties if tie.node == id]) for id in best
    )


def _neighbour(node: Node, strength: float, ties: Sequence[_Tie]) -> Neighbour:
    about, shares, edges = (
        tuple(dict.fromkeys(each for each in said if each))
        for said in (
            [tie.about for tie in ties],
            [tie.shares for tie in ties],
            [tie.edge for tie in ties],
        )
    )
    return Neighbour(node, strength, about, shares, edges)
