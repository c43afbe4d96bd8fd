"""Find the links of a node, from names in texts and from stored edges, with hubs damped.

NAMES      the text names the subject of the other node
OPENS      the text names what the other text begins with, and no title has that name
NAMED_BY   the other text names the subject of this node
SHARES     both texts name the same thing, and it is the subject of neither
Stored edges keep their own kinds and are followed in both directions.

Names are resolved during the walk, not when a text is written: a subject that is added later is
linked to earlier texts that name it, and no link has to be updated when nodes change.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from clew.graph.phrases import find_known_names, phrases
from clew.graph.walk import Link
from clew.ports import Background, Store
from clew.types import COSINE, RELATED, Edge, Filter, Mention, Named, Node, NodeId

NAMES, NAMED_BY, OPENS, SHARES = "NAMES", "NAMED_BY", "OPENS", "SHARES"
OTHER = "OTHER"  # the weight of stored edges of any other kind
BY_NAME = (NAMES, NAMED_BY, OPENS, SHARES)
MAX_NODES = 16  # a name with more nodes is too ambiguous to follow
HUB_POWER = 0.25  # damping exponent for names that many nodes share
CROWD_POWER = 1.0  # damping exponent for shared names of a text with many names


def damping(count: int, *, power: float) -> float:
    """Return the damping of a name that `count` nodes share: (1 + ln count)^−power.

    >>> damping(1, power=0.5), round(damping(100, power=0.5), 3), damping(100, power=0)
    (1.0, 0.422, 1.0)
    """
    return float((1 + math.log(max(1, count))) ** -power)


@dataclass(frozen=True, slots=True)
class LinksFrom:
    """Finds the links from several nodes at once to nodes that pass the filter."""

    where: Filter
    weights: Mapping[str, float]
    """The share of the signal that each kind of link passes on."""
    asked: frozenset[str] = frozenset()
    """Names in the question itself, which the other channels search for already."""
    known: Mapping[NodeId, Node] = field(default_factory=dict, repr=False)
    """Nodes that are loaded already."""
    background: Background = Background()  # noqa: RUF009 - a value
    store: Store = field(repr=False, compare=False, kw_only=True)

    def __call__(self, ids: Sequence[NodeId]) -> dict[NodeId, list[Link]]:
        """Return the links of each node, strongest first."""
        found: dict[NodeId, list[Link]] = {id: [] for id in ids}
        for link in (*self._by_names(ids), *self._by_edges(ids)):
            if link.weight > 0 and link.target != link.source:
                found[link.source].append(link)
        return {
            id: sorted(links, key=lambda link: (-link.weight, link.target, link.kind))
            for id, links in found.items()
        }

    def _by_names(self, ids: Sequence[NodeId]) -> Iterator[Link]:
        if not any(map(self.weights.get, BY_NAME)):
            return
        missing = [id for id in ids if id not in self.known]
        read = {**self.known, **(self.store.get(missing) if missing else {})}
        nodes, mentions = (
            {id: read[id] for id in sorted(ids) if id in read},
            self.store.mentions(ids),
        )
        runs = {id: phrases(node.text) for id, node in nodes.items()}
        keys = dict.fromkeys(phrase.key for each in runs.values() for phrase in each)
        keys |= dict.fromkeys(mention.key for each in mentions.values() for mention in each)
        known = self.store.named(sorted(keys), self.where, limit=MAX_NODES + 1, parts=False)
        known_names = {
            key
            for key, named in known.items()
            if named.subjects or (named.openers and key not in self.asked)
        }
        for id, node in nodes.items():
            yield from self._of(
                node, find_known_names(runs[id], known_names), mentions.get(id, ()), known
            )

    def _of(
        self,
        node: Node,
        names: Sequence[str],
        mentions: Sequence[Mention],
        known: Mapping[str, Named],
    ) -> Iterator[Link]:
        about = {mention.key for mention in mentions if mention.subject}
        for key in names:
            if key not in about:
                kind, targets = (
                    (NAMES, known[key].subjects)
                    if known[key].subjects
                    else (OPENS, known[key].openers)
                )
                yield from self._to(node.id, kind, known[key], targets)
        for key in sorted(about & known.keys()):
            yield from self._to(node.id, NAMED_BY, known[key], known[key].holders)
        others = (
            {mention.key for mention in mentions if not mention.subject and mention.key in known}
            - about
            - self.asked
        )
        shared = [key for key in sorted(others) if not known[key].subjects]
        for key in shared:  # the more names a text has, the less it says about each
            yield from self._to(
                node.id, SHARES, known[key], known[key].holders, part=len(shared) ** -CROWD_POWER
            )

    def _to(
        self,
        source: NodeId,
        kind: str,
        named: Named,
        targets: Sequence[NodeId],
        *,
        part: float = 1.0,
    ) -> Iterator[Link]:
        others = [target for target in targets if target != source]
        if not others or len(targets) > MAX_NODES:
            return
        # A name refers to one of several subjects, so they share the weight; texts that mention it
        # do not compete.
        meant = len(others) ** -0.5 if kind in (NAMES, OPENS) else 1.0
        weight = self.weights.get(kind, 0.0) * damping(named.nodes, power=HUB_POWER) * meant * part
        for target in others:
            yield Link(source, target, kind, weight, named.name)

    def _by_edges(self, ids: Sequence[NodeId]) -> Iterator[Link]:
        edges = [edge for edge in self.store.edges(ids) if self._weight(edge) > 0]
        if not edges:
            return
        asked = set(ids)
        seen = self.store.visible(
            list({id for edge in edges for id in (edge.source, edge.target)}), self.where
        )
        ways = [
            (edge, *ends)
            for edge in edges
            for ends in ((edge.source, edge.target), (edge.target, edge.source))
        ]
        usable = [
            (edge, source, target)
            for edge, source, target in ways
            if source in asked and target in seen
        ]
        degrees: dict[tuple[NodeId, str], int] = {}
        for edge, source, _ in usable:
            degrees[source, edge.kind] = degrees.get((source, edge.kind), 0) + 1
        for edge, source, target in usable:
            yield Link(
                source,
                target,
                edge.kind,
                self._passing(edge, degrees[source, edge.kind]),
                edge.evidence,
            )

    def _weight(self, edge: Edge) -> float:
        """Return the weight of an edge's kind.

        A RELATED edge made by a user, not by cosine, counts as OTHER.
        """
        made = edge.kind not in self.weights or (edge.kind == RELATED and edge.evidence != COSINE)
        return self.weights.get(OTHER, 0.0) if made else self.weights[edge.kind]

    def _passing(self, edge: Edge, degree: int) -> float:
        by_cosine = edge.kind == RELATED and edge.evidence == COSINE
        weight = self.background.passage_share(edge.weight) if by_cosine else edge.weight
        strength = max(0.0, min(1.0, weight)) * max(0.0, min(1.0, edge.confidence))
        return self._weight(edge) * strength * damping(degree, power=HUB_POWER)
