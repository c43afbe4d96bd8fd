"""What answers the parts of a question? Things that it sets side by side are searched for one by one.

What answers one of two things has half of the question's words and is far from the meaning of the whole. So each thing is
asked for as a question of its own, by the same searches, and a hit's relevance is its own and the best that it has for a
part, in fixed shares. A question about one thing passes untouched, and costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from clew.recall.beside import answers, joined
from clew.recall.clauses import clauses
from clew.recall.state import PART, Place, Recall, Stage
from clew.types import NodeId


@dataclass(frozen=True, slots=True)
class Parts:
    """Search for each of the things that a question sets side by side, as the whole was searched for."""

    weight: float
    stages: tuple[Stage, ...] = field(repr=False, compare=False)
    """By which a question gets hits with a relevance each."""

    def __call__(self, recall: Recall) -> Recall:
        """Set the hits anew, in their new order, and what was asked for."""
        parts = clauses(recall.question.text)
        if not parts or not recall.channels:
            return recall
        best = self._best([answers(recall, part, self.stages) for part in parts])
        return replace(joined(recall, PART, best, share=self.weight), parts=parts)

    def _best(self, found: list[Mapping[NodeId, float]]) -> dict[NodeId, Place]:
        """Return for each hit its place for the part that it answers best."""
        best: dict[NodeId, Place] = {}
        for worths in found:
            for rank, (id, worth) in enumerate(worths.items(), start=1):
                if id not in best or worth > best[id].normalised:
                    best[id] = Place(rank, worth, worth, self.weight)
        return best
