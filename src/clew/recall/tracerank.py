"""Does what happened to a memory speak for it? TraceRank as a factor on the relevance in a score (V14, V17)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from clew.graph.tracerank import Switches, bounded, factors, reached
from clew.ports import Evidence, Store
from clew.recall.score import with_components
from clew.recall.state import Component, Hit, Recall
from clew.types import Filter, NodeId

SEMANTIC = "semantic"
TRACERANK = "tracerank"


def multiplied(hit: Hit, multiplier: float) -> Hit:
    """Return a hit whose relevance counts so many times in its score.

    What the factor adds or takes is a component of its own, (multiplier − 1) × what the relevance contributes, so that
    the components still add up to the score.

    >>> hit = Hit("a", 0.5, {}, {"semantic": Component(0.5, 0.8), "recency": Component(1.0, 0.1)})
    >>> raised = multiplied(hit, 1.25)
    >>> raised.components["tracerank"], round(raised.score, 9) == round(0.5 * 0.8 * 1.25 + 0.1, 9)
    (Component(value=0.25, weight=0.4), True)
    """
    return with_components(hit, {TRACERANK: Component(multiplier - 1.0, hit.components[SEMANTIC].contribution)})


@dataclass(frozen=True, slots=True)
class TraceRank:
    """Multiply the relevance of the most relevant hits by what happened to them, within bounds; the others keep their scores."""

    switches: Switches
    least: float
    most: float
    min_relevance_share: float
    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Set the scores anew, in their new order; needs the components that the score has left."""
        hits = tuple(recall.hits)
        best = max((hit.components[SEMANTIC].value for hit in hits if SEMANTIC in hit.components), default=0.0)
        relevant = [hit.id for hit in hits if self._reaches(hit, best)]
        if not relevant:
            return recall
        known = self.store.evidence(relevant)
        acted = [self._ranked(hit, known, recall.question.where) for hit in hits]
        return replace(recall, hits=tuple(sorted(acted, key=lambda hit: (-hit.score, hit.id))))

    def _reaches(self, hit: Hit, best: float) -> bool:
        return SEMANTIC in hit.components and reached(hit.components[SEMANTIC].value, best=best, share=self.min_relevance_share)

    def _ranked(self, hit: Hit, known: Mapping[NodeId, Evidence], where: Filter) -> Hit:
        if hit.id not in known:
            return hit
        made = factors(known[hit.id], now=where.known_at or where.now, at=where.moment, switches=self.switches)
        return multiplied(hit, bounded(made.product, least=self.least, most=self.most))
