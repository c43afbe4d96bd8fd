"""Is it true yet? A question that names no time is about now, so what will take the place of something comes behind it until then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from clew.ports import Store
from clew.recall.chronology import STEP
from clew.recall.score import with_components
from clew.recall.state import Component, Hit, LazyHits, Recall
from clew.types import NodeId

NOT_YET: Final = "not_yet"
SUPERSEDES: Final = "SUPERSEDES"


@dataclass(frozen=True, slots=True)
class NotYet:
    """Put what begins after now behind what it supersedes, where both were found; it may be ahead of all else.

    Where the question names a time, asks for the latest or for what will be, it passes untouched: then the future may be meant.
    """

    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Add the component `not_yet` to what has to stay behind, and put the hits in the order of their scores."""
        when, signals = recall.when, recall.signals
        if not signals or (when is not None and (when.ahead or when.spans or when.latest or when.earliest)):
            return recall
        hits = LazyHits.of(recall.hits)
        worths, now = hits.worths(), recall.question.where.moment
        later = [id for id in worths if id in signals and signals[id].t_valid > now]
        if not later:  # as in nearly every recall
            return recall
        before = self._replaced(later)
        found = {hit.id: hit for hit in hits if hit.id in before}
        moved: dict[NodeId, Hit] = {}
        # In the order of time: what follows on something that is itself moved stays behind that too.
        for id in sorted(before, key=lambda id: (signals[id].t_valid, id)):
            least = min((moved[old].score if old in moved else worths[old] for old in before[id] if old in worths), default=None)
            if least is not None and found[id].score >= least:
                moved[id] = with_components(found[id], {NOT_YET: Component(-1.0, found[id].score - least + STEP)})
        return replace(recall, hits=hits.exchanged(moved)) if moved else recall

    def _replaced(self, ids: list[NodeId]) -> Mapping[NodeId, list[NodeId]]:
        """Return what each of them supersedes; nothing of the others."""
        asked = set(ids)
        found: dict[NodeId, list[NodeId]] = {}
        for edge in self.store.edges(ids):
            if edge.kind == SUPERSEDES and edge.source in asked:
                found.setdefault(edge.source, []).append(edge.target)
        return found
