"""What else belongs to it? Names in the question, and a signal that spreads from the best hits along links (V15–V17, X6).

"Where was the director of Titanic born?" is answered by two texts, of which only one is about Titanic. The best few hits
are the starts; what they name, and what is linked to them, gets a share of their relevance. All is on one scale: relevance
is what the hit is worth by itself, by being named in the question, and by the signal that arrived, in fixed shares. Where
nothing is named and nothing linked, nothing changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import nsmallest
from itertools import count
from operator import neg
from typing import NamedTuple

from clew.graph.phrases import Phrase, phrases, spotted
from clew.graph.walk import Limits, Path, walk
from clew.ports import Store
from clew.recall.fetch import fetched
from clew.recall.links import LinksFrom
from clew.recall.placed import relevance
from clew.recall.state import DENSE, NAMED, PATH, Hit, Hop, LazyHits, Place, Recall
from clew.types import NodeId
from clew.words import terms

TRAVERSAL = "traversal"
BEHIND = 0.9  # how much of the distance to its start a path may close: what is left keeps hits apart that one start leads to


class Shares(NamedTuple):
    """What counts how much in a relevance: what a hit is worth by itself, being named, and the signal that arrived."""

    own: float
    named: float
    path: float

    def times(self, factor: float) -> Shares:
        """Return all of them multiplied."""
        return Shares(*(share * factor for share in self))


class Reached(NamedTuple):
    """A way to a hit, and how much of the signal on it counts."""

    path: Path
    value: float


def spread_to(hit: Hit, *, named: Place | None, reached: Reached | None, shares: Shares) -> Hit:
    """Return a hit with its name's and its path's place among its channels, and each in its share.

    >>> hit = Hit("a", 0.5, {"dense": Place(1, 0.7, 1.0, 0.5)})
    >>> round(spread_to(hit, named=Place(1, 1.0, 1.0, 0.2), reached=None, shares=Shares(0.4, 0.2, 0.4)).score, 9)
    0.4
    """
    channels = {name: Place(rank, raw, value, weight * shares.own) for name, (rank, raw, value, weight) in hit.channels.items()}
    if named is not None:
        channels[NAMED] = named._replace(weight=shares.named)
    if reached is None:  # most of some two hundred: `_replace` would take as long as all the rest
        return Hit(hit.id, relevance(channels), channels, *hit[3:])
    path = reached.path
    channels[PATH] = Place(None, path[-1].signal, reached.value, shares.path)
    score, carried = relevance(channels), channels[PATH].contribution
    hops = tuple(
        Hop(step.link.source, step.link.kind, step.link.weight, step.link.target, step.signal, step.link.evidence) for step in path
    )
    return hit._replace(channels=channels, score=score, path=hops, method=TRAVERSAL if carried > score - carried else hit.method)


def _held_back(path: Path, id: NodeId, alone: Mapping[NodeId, float], *, share: float) -> float:
    """Return how much of a signal counts: no path lifts a hit past the start that it came from, or links would outdo an exact answer."""
    room = BEHIND * (alone[path[0].link.source] - alone[id]) / share
    return max(0.0, min(path[-1].signal, room))


def fitting(cosine: float, *, low: float, best: float) -> float:
    """Return how well a node fits the question, from 0 to 1: the best candidate is 1, the last one half.

    >>> fitting(0.9, low=0.7, best=0.9), fitting(0.7, low=0.7, best=0.9), fitting(0.1, low=0.7, best=0.9)
    (1.0, 0.5, 0.0)
    """
    return min(1.0, max(0.0, 0.5 + 0.5 * (cosine - low) / ((best - low) or 1.0)))


@dataclass(frozen=True, slots=True)
class Spread:
    """Let the best hits, and what the question names, bring in what they are linked to."""

    starts: int
    named_weight: float
    path_weight: float
    mode: str
    limits: Limits
    kinds: Mapping[str, float]
    hub_power: float
    crowd_power: float
    fit: float
    unless_answered: bool
    most: int
    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Set the hits anew, in their new order; the best is worth as much as the best was before."""
        hits = LazyHits.of(recall.hits)
        own = hits.worths()
        runs = phrases(recall.question.text, cased=False)
        named = self._named(runs, recall)
        worth = {id: (1.0 - self.named_weight) * each for id, each in own.items()} if named else own
        for id, place in named.items():
            worth[id] = worth.get(id, 0.0) + place.contribution
        best = [id for _, id in nsmallest(self.starts, zip(map(neg, worth.values()), worth, strict=True))]
        # With the starts those that are likely to be returned: who comes next finds them read.
        recall = fetched(recall, dict.fromkeys((*best, *hits.ids(recall.question.k))), store=self.store)
        starts = {id: worth[id] for id in best if worth[id] > 0}
        paths = {} if self._answered(best[:1], recall) else self._paths(starts, runs, recall)
        if not named and not paths:
            return recall
        return replace(recall, hits=self._together(hits, own, named, paths), signals=None)

    def _together(
        self, hits: LazyHits, own: Mapping[NodeId, float], named: Mapping[NodeId, Place], paths: Mapping[NodeId, Path]
    ) -> LazyHits:
        """Return all hits on one scale.

        It ends where it did before, or recency and importance would weigh more where something is linked.
        """
        by_name, by_path = self.named_weight if named else 0.0, self.path_weight if paths else 0.0
        shares = Shares(1.0 - by_name - by_path, by_name, by_path)
        alone = {id: shares.own * each for id, each in own.items()}
        for id in named.keys() | paths.keys():
            alone[id] = alone.get(id, 0.0) + (shares.named * named[id].normalised if id in named else 0.0)
        held = {id: Reached(path, _held_back(path, id, alone, share=by_path)) for id, path in paths.items()}
        reached = {id: way for id, way in held.items() if way.value > 0}  # a better hit owes nothing to the link that leads back to it
        before, highest = max(own.values(), default=0.0), max(alone.values())
        scaled = shares.times(before / highest if before > 0 and highest > 0 else 1.0)
        at = dict(zip(own, count(), strict=False))

        def reached_by(id: NodeId) -> Hit:
            hit = hits[at[id]] if id in at else Hit(id, 0.0, {})
            return spread_to(hit, named=named.get(id), reached=reached.get(id), shares=scaled)

        # Hits are made when they are looked at: most keep their share of what they were worth, or were reached by a path alone.
        worths = {id: scaled.own * each for id, each in own.items()}
        worths |= {id: scaled.path * reached[id].value if id in reached else 0.0 for id in paths if id not in own}
        worths |= {id: reached_by(id).score for id in named.keys() | (paths.keys() & own.keys())}
        return LazyHits(
            sorted((-worth, id) for id, worth in worths.items()), lambda source: reached_by(source[1])._replace(score=-source[0])
        )

    def _answered(self, best: Sequence[NodeId], recall: Recall) -> bool:
        """Tell whether the best hit holds every word of the question: then it is about one thing, and nothing is to be brought in."""
        if not self.unless_answered or not recall.terms:
            return False
        nodes = [recall.nodes[id] for id in best if id in recall.nodes]
        return any(set(recall.terms) <= set(terms(f"{node.title} {node.text}")) for node in nodes)

    def _named(self, runs: Sequence[Phrase], recall: Recall) -> dict[NodeId, Place]:
        """Return the nodes that are about something that the question names."""
        if not runs or not self.named_weight:
            return {}
        known = self.store.named([run.key for run in runs], recall.question.where, limit=self.most + 1, parts=False)
        about = {key: each.subjects for key, each in known.items() if 0 < len(each.subjects) <= self.most}
        found: dict[NodeId, Place] = {}
        for rank, key in enumerate(spotted(runs, about), start=1):
            value = len(about[key]) ** -0.5
            for id in about[key]:
                if id not in found or found[id].normalised < value:
                    found[id] = Place(rank, value, value, self.named_weight)
        return found

    def _paths(self, starts: Mapping[NodeId, float], runs: Sequence[Phrase], recall: Recall) -> dict[NodeId, Path]:
        if not starts or not self.path_weight:
            return {}
        links = LinksFrom(
            where=recall.question.where,
            weights=self.kinds,
            hub_power=self.hub_power,
            crowd_power=self.crowd_power,
            most=self.most,
            asked=frozenset(run.key for run in runs),
            known=recall.nodes,
            store=self.store,
        )
        found = walk(starts, links, limits=self.limits, mode=self.mode, seed=recall.question.seed)
        return self._fitting(found, recall)

    def _fitting(self, paths: dict[NodeId, Path], recall: Recall) -> dict[NodeId, Path]:
        """Damp what arrives at nodes that have little to do with the question: a text names much by the way."""
        dense = recall.channels.get(DENSE, ())
        if not paths or not dense or recall.vector is None or not self.fit:
            return paths
        best, low = dense[0].score, dense[-1].score
        cosines = self.store.cosines(recall.vector, list(paths))
        kept = {id: 1 - self.fit * (1 - fitting(cosines.get(id, low), low=low, best=best)) for id in paths}
        return {id: (*path[:-1], path[-1]._replace(signal=path[-1].signal * kept[id])) for id, path in paths.items()}
