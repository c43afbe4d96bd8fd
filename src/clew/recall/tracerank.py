"""Multiply the relevance of hits by a factor from their history: repetition, age, related memories (TraceRank)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from clew.graph.tracerank import LIFE_DAYS, Switches, bounded, factors, reached
from clew.ports import Store
from clew.recall.score import with_components
from clew.recall.state import Component, Hit, LazyHits, Recall
from clew.types import Filter, NodeId

SEMANTIC = "semantic"
TRACERANK = "tracerank"
DEPTH = 50  # hits whose history is read, whatever k is


def multiply_relevance(hit: Hit, multiplier: float) -> Hit:
    """Multiply the relevance of a hit in its score.

    The difference is a separate component, (multiplier − 1) × the contribution of the relevance, so that the components
    still add up to the score.

    >>> hit = Hit("a", 0.5, {}, {"semantic": Component(0.5, 0.8), "recency": Component(1.0, 0.1)})
    >>> raised = multiply_relevance(hit, 1.25)
    >>> raised.components["tracerank"], round(raised.score, 9) == round(0.5 * 0.8 * 1.25 + 0.1, 9)
    (Component(value=0.25, weight=0.4), True)
    """
    return with_components(hit, {TRACERANK: Component(multiplier - 1.0, hit.components[SEMANTIC].contribution)})


@dataclass(frozen=True, slots=True)
class TraceRank:
    """Multiply the relevance of the most relevant hits by a bounded history factor; the others keep their scores."""

    switches: Switches
    least: float
    most: float
    min_relevance_share: float
    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Update and sort the scores; requires the components that `Score` sets."""
        hits = LazyHits.of(recall.hits)
        moved = self._multipliers(hits.ids(DEPTH), recall.question.where)
        if not moved:  # most memories have no history; no hit was built to find out
            return recall
        scored = [hit for hit in hits[:DEPTH] if SEMANTIC in hit.components]
        best = max((hit.components[SEMANTIC].value for hit in scored), default=0.0)
        changed = {hit.id: multiply_relevance(hit, moved[hit.id]) for hit in scored if hit.id in moved and self._reaches(hit, best)}
        return replace(recall, hits=hits.with_replaced(changed)) if changed else recall

    def _reaches(self, hit: Hit, best: float) -> bool:
        return reached(hit.components[SEMANTIC].value, best=best, share=self.min_relevance_share)

    def _multipliers(self, ids: list[NodeId], where: Filter) -> dict[NodeId, float]:
        """Return the factors that differ from 1."""
        now, at = where.known_at or where.now, where.moment
        known = self.store.evidence(ids) if ids else {}
        relevant = {id: each for id, each in known.items() if each.reinforced or each.related or each.stability in LIFE_DAYS}
        made = {id: factors(each, now=now, at=at, switches=self.switches).product for id, each in relevant.items()}
        found = {id: bounded(factor, least=self.least, most=self.most) for id, factor in made.items()}
        return {id: factor for id, factor in found.items() if factor != 1.0}
