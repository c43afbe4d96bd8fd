"""Do larger units vote? A section that answers the question lifts the chunks in it (U5).

"Yes, last Sunday!" answers only in its conversation, and a clause only in its contract. Sections are searched as the
chunks are, and brought to the same scale; a chunk's relevance is then its own and its section's, in fixed shares: the
section's is larger for a chunk without a context key, most often a long one, which nothing else finds by its surroundings. What
stands in no section keeps its own relevance whole, so that memories and chunks compare.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from clew.ports import Store
from clew.recall.fetch import covered
from clew.recall.placed import sharing
from clew.recall.sections import sections
from clew.recall.state import SECTION, SPARSE, Hit, Place, Recall
from clew.types import NodeId, Signals


def lifted(hit: Hit, section: Place) -> Hit:
    """Return a hit with its section's place among its channels, the others' shares reduced by as much.

    >>> hit = Hit("a", 0.5, {"dense": Place(1, 0.7, 1.0, 0.5)})
    >>> raised = lifted(hit, Place(1, 0.9, 1.0, 0.2))
    >>> round(raised.score, 3), raised.channels["dense"].weight
    (0.6, 0.4)
    """
    return sharing(hit, {SECTION: section}, share=section.weight)


@dataclass(frozen=True, slots=True)
class Lift:
    """Give every chunk a share of its section's relevance; does nothing where no section was found."""

    weight: float
    weight_long: float
    """The share for a chunk without a context key."""
    limit: int
    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Set the hits anew, in their new order."""
        if not (self.weight or self.weight_long) or not recall.hits or not covered(recall, store=self.store).sections:
            return recall
        sections = self._sections(recall)
        if not sections:  # nobody voted: to take a share from chunks alone would only put them behind memories
            return recall
        signals = self.store.signals([hit.id for hit in recall.hits])
        hits = [self._raised(hit, signals.get(hit.id), sections) for hit in recall.hits]
        return replace(recall, hits=tuple(sorted(hits, key=lambda hit: (-hit.score, hit.id))), signals=signals)

    def _sections(self, recall: Recall) -> dict[NodeId, Place]:
        """Return the place of every section that was found, by the channels that found the hits."""
        terms = recall.terms if SPARSE in recall.channels else ()
        found = sections(self.store, recall.question.where, terms=terms, limit=self.limit)
        return {id: Place(rank, score, score, 0.0) for rank, (id, score) in enumerate(found, start=1)}

    def _raised(self, hit: Hit, known: Signals | None, sections: Mapping[NodeId, Place]) -> Hit:
        if known is None or known.parent is None:
            return hit
        weight = self.weight if known.keyed else self.weight_long
        voted = sections.get(known.parent) or Place(None, 0.0, 0.0, weight)
        return lifted(hit, voted._replace(weight=weight)) if weight else hit
