"""Add and promote nodes that the question names or that the best hits link to (spreading activation).

"Where was the director of Titanic born?" is answered by two texts, of which only one is about
Titanic. The best few hits are the start nodes of a walk along names and stored edges. A memory that
the walk reaches gains a share of the gap between its relevance and that of its start node: the
stronger the links, the larger the share, and it never overtakes its start. A memory whose title is
in the question gains a fixed amount.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import nsmallest
from operator import neg

from clew.graph.links import MAX_NODES, LinksFrom
from clew.graph.phrases import Phrase, find_known_names, phrases
from clew.graph.walk import Limits, Path, walk
from clew.ports import Store
from clew.search.fusion import Fuse
from clew.search.state import (
    DENSE,
    NAMED,
    PATH,
    Hit,
    Hop,
    LazyHits,
    Place,
    Places,
    Recall,
    relevance,
    with_nodes,
)
from clew.text.words import terms
from clew.types import NodeId

TRAVERSAL = "traversal"


def lift(own: float, start: float, share: float) -> float:
    """Return the gain of a reached hit: a share of the gap to its start, or 0 if it is ahead.

    >>> lift(0.25, 0.75, share=0.5), lift(0.75, 0.5, share=0.5)
    (0.25, 0.0)
    """
    return max(0.0, start - own) * min(1.0, share)


@dataclass(frozen=True, slots=True)
class Spread:
    """Walk from the best hits along links.

    Add and promote the nodes that are reached or named in the question.
    """

    starts: int
    named_weight: float
    path_weight: float
    mode: str
    limits: Limits
    kinds: Mapping[str, float]
    fuse: Fuse
    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Return the recall with hits added and promoted, sorted by relevance."""
        hits = LazyHits.of(recall.hits)
        runs = phrases(recall.question.text, cased=False)
        named = self._named(runs, recall)
        own = self._add_names(hits.scores(), named, recall)
        best = [
            id for _, id in nsmallest(self.starts, zip(map(neg, own.values()), own, strict=True))
        ]
        # Also load the hits that are likely to be returned, in the same read.
        recall = with_nodes(
            recall, dict.fromkeys((*best, *hits.ids(recall.question.k))), store=self.store
        )
        starts = {id: own[id] for id in best if own[id] > 0}
        paths = {} if self._covers_question(best[:1], recall) else self._paths(starts, runs, recall)
        if not named and not paths:
            return recall
        return replace(recall, hits=self._merge(recall, hits, named, paths, starts), signals=None)

    def _add_names(
        self, own: Mapping[NodeId, float], named: Mapping[NodeId, Place], recall: Recall
    ) -> dict[NodeId, float]:
        """Return the relevance of all hits including the gain by name.

        A named memory that no channel proposed is scored too.
        """
        further = self.fuse.score_more(recall, [id for id in named if id not in own])
        scores = {**own, **{id: relevance(further.get(id, {})) for id in named if id not in own}}
        return {
            id: score + named[id].contribution if id in named else score
            for id, score in scores.items()
        }

    def _merge(
        self,
        recall: Recall,
        hits: LazyHits,
        named: Mapping[NodeId, Place],
        paths: Mapping[NodeId, Path],
        starts: Mapping[NodeId, float],
    ) -> LazyHits:
        """Return all hits, with the gains of those named or reached."""
        proposed = hits.scores()
        touched = list(dict.fromkeys((*named, *paths)))
        missing = self.fuse.score_more(recall, [id for id in touched if id not in proposed])
        before = {hit.id: hit for hit in (hits.select([id for id in touched if id in proposed]))}
        found = {
            id: before.get(id) or Hit(id, relevance(missing.get(id, {})), missing.get(id, {}))
            for id in touched
        }
        if least := recall.question.min_similarity:
            cosines = {
                id: hit.channels[DENSE].score for id, hit in found.items() if DENSE in hit.channels
            }
            found = {
                id: hit
                for id, hit in found.items()
                if id in proposed or cosines.get(id, least) >= least
            }
        return hits.with_replaced(
            {
                id: self._lift_hit(hit, named.get(id), paths.get(id), starts)
                for id, hit in found.items()
            }
        )

    def _lift_hit(
        self, hit: Hit, named: Place | None, path: Path | None, starts: Mapping[NodeId, float]
    ) -> Hit:
        """Add the channels `named` and `path` to a hit."""
        channels: Places = dict(hit.channels)
        if named is not None:
            channels[NAMED] = named
        own = relevance(channels)
        start = starts[path[0].link.source] if path else 0.0
        gain = lift(own, start, path[-1].signal / start) if path else 0.0
        if path is None or not gain:  # a hit ahead of its start gains nothing from the link
            return hit._replace(channels=channels, score=own)
        channels[PATH] = Place(None, path[-1].signal, gain, self.path_weight)
        carried = channels[PATH].contribution
        hops = tuple(
            Hop(link.source, link.kind, link.weight, link.target, signal, link.evidence)
            for link, signal in path
        )
        method = TRAVERSAL if carried > own else hit.method
        return hit._replace(channels=channels, score=relevance(channels), path=hops, method=method)

    def _covers_question(self, best: Sequence[NodeId], recall: Recall) -> bool:
        """Return whether the best hit contains every term of the question, so that no second text is needed."""
        nodes = [recall.nodes[id] for id in best if id in recall.nodes] if recall.terms else []
        return any(set(recall.terms) <= set(terms(f"{node.title} {node.text}")) for node in nodes)

    def _named(self, runs: Sequence[Phrase], recall: Recall) -> dict[NodeId, Place]:
        """Return the nodes whose subject the question names.

        Nodes that share a name share its weight.
        """
        if not runs or not self.named_weight:
            return {}
        known = self.store.named(
            [run.key for run in runs], recall.question.where, limit=MAX_NODES + 1, parts=False
        )
        about = {
            key: each.subjects for key, each in known.items() if 0 < len(each.subjects) <= MAX_NODES
        }
        found: dict[NodeId, Place] = {}
        for rank, key in enumerate(find_known_names(runs, about), start=1):
            value = len(about[key]) ** -0.5
            for id in about[key]:
                if id not in found or found[id].normalised < value:
                    found[id] = Place(rank, value, value, self.named_weight)
        return found

    def _paths(
        self, starts: Mapping[NodeId, float], runs: Sequence[Phrase], recall: Recall
    ) -> dict[NodeId, Path]:
        if not starts or not self.path_weight:
            return {}
        asked = frozenset(run.key for run in runs)
        links = LinksFrom(
            where=recall.question.where,
            weights=self.kinds,
            asked=asked,
            known=recall.nodes,
            background=self.fuse.background,
            store=self.store,
        )
        return walk(starts, links, limits=self.limits, mode=self.mode, seed=recall.question.seed)
