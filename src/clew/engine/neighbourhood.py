"""The part of the graph around one memory.

What it is tied to, and what that is tied to, within a bound.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clew.engine.relating import Neighbour, related
from clew.engine.request import whole
from clew.engine.versions import head_of
from clew.types import Filter, Kind, Node, NodeId

if TYPE_CHECKING:
    from clew.engine.clew import Clew

MAX_NODES = 200
MAX_HOPS = 2
FIRST_SHARE = 2  # the first hop may take half of the nodes, where there is a second
PART_OF, SHARES, ABOUT = "PART_OF", "SHARES", "ABOUT"


@dataclass(frozen=True, slots=True)
class Tie:
    """An edge as it is drawn.

    Between which nodes, of which kind, how strong, and by which name where one joins the two.
    """

    source: NodeId
    target: NodeId
    kind: str
    weight: float
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """The nodes with how many hops away they are, nearest and strongest first, and every tie among them that was found."""

    id: NodeId
    nodes: tuple[tuple[Node, int], ...]
    ties: tuple[Tie, ...]
    cut: bool
    """Whether there is more than the bound let through."""


@dataclass(slots=True)
class _Walk:
    """What was found so far."""

    limit: int
    nodes: dict[NodeId, tuple[Node, int]] = field(default_factory=dict)
    ties: dict[tuple[NodeId, NodeId, str], Tie] = field(default_factory=dict)
    cut: bool = False

    def add(self, node: Node, hop: int) -> bool:
        """Take a node, unless there are enough; tell whether it is among them."""
        if node.id not in self.nodes:
            if len(self.nodes) >= self.limit:
                self.cut = True
                return False
            self.nodes[node.id] = (node, hop)
        return True

    def tie(self, made: Tie) -> None:
        """Take a tie once, whichever end it was found from."""
        if (made.target, made.source, made.kind) not in self.ties:
            self.ties.setdefault((made.source, made.target, made.kind), made)


def neighbourhood(clew: Clew, id: NodeId, *, hops: int = 1, limit: int = 50) -> Neighbourhood:
    """Return what lies around a memory, at most `limit` nodes.

    Nothing crosses spaces, and only what is seen now is there.
    """
    most, far = whole("limit", limit, 1, MAX_NODES), whole("hops", hops, 1, MAX_HOPS)
    centre = head_of(clew.store, clew.store.get([id])[id])
    walk = _Walk(most)
    walk.add(centre, 0)
    frontier = [centre]
    for hop in range(1, far + 1):
        room = most if far == hop else max(1, most // FIRST_SHARE)
        share = room if hop == 1 else max(2, (most - len(walk.nodes)) // max(1, len(frontier)) + 1)
        frontier = [found for node in frontier for found in _step(clew, walk, node, hop, share)]
    return Neighbourhood(
        id=centre.id, nodes=tuple(walk.nodes.values()), ties=tuple(walk.ties.values()), cut=walk.cut
    )


def _step(clew: Clew, walk: _Walk, node: Node, hop: int, share: int) -> list[Node]:
    """Take the neighbours of one node; return those that are new."""
    fresh = []
    found = related(clew.store, node, now=clew.now(), limit=share + 1)
    walk.cut = walk.cut or len(found.nodes) > share
    for each in found.nodes[:share]:
        new = each.node.id not in walk.nodes
        if walk.add(each.node, hop):
            fresh += [each.node] if new else []
            _by_names(walk, node, each)
    for edge in found.edges:
        if edge.source in walk.nodes and edge.target in walk.nodes:
            walk.tie(Tie(edge.source, edge.target, edge.kind, edge.weight))
    return fresh + _parent(clew, walk, node, hop)


def _by_names(walk: _Walk, node: Node, each: Neighbour) -> None:
    strength = min(1.0, each.strength)
    if each.about:
        walk.tie(Tie(node.id, each.node.id, ABOUT, strength, ", ".join(each.about)))
    elif each.shares:
        walk.tie(Tie(node.id, each.node.id, SHARES, strength, ", ".join(each.shares)))


def _parent(clew: Clew, walk: _Walk, node: Node, hop: int) -> list[Node]:
    """Take the section or document that a chunk belongs to."""
    above = (
        clew.store.get([node.parent]).get(node.parent)
        if node.parent and node.kind is not Kind.MEMORY
        else None
    )
    if above is None or not clew.store.visible(
        [above.id], Filter(space=node.space, now=clew.now())
    ):
        return []
    new = above.id not in walk.nodes
    if not walk.add(above, hop):
        return []
    walk.tie(Tie(node.id, above.id, PART_OF, 1.0))
    return [above] if new else []
