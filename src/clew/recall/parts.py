"""What answers the parts of a question? Things that it sets side by side are searched for one by one.

What answers one of two things has half of the question's words and is far from the meaning of the whole. So each thing is
asked for as a question of its own, by the same searches, and a hit's relevance is its own and the best that it has for a
part, in fixed shares. A question about one thing passes untouched, and costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from clew.recall.clauses import clauses
from clew.recall.placed import sharing
from clew.recall.state import PART, Hit, LazyHits, Place, Recall, Stage
from clew.types import NodeId
from clew.words import query_terms


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
        best = self._best([self._asked(recall, part) for part in parts])
        hits = {hit.id: hit for hit in recall.hits}
        # Nobody has compared the others with the question that a similarity was asked to.
        beside = {} if recall.question.min_similarity > 0 else {id: Hit(id, 0.0, {}) for id in best if id not in hits}
        found = [sharing(hit, {PART: best[id]} if id in best else {}, share=self.weight) for id, hit in (hits | beside).items()]
        rejected = tuple(each for each in recall.rejected if each.id not in beside)  # too far from the whole, and near to a part
        in_order = LazyHits.of(sorted(found, key=lambda hit: (-hit.score, hit.id)))
        return replace(recall, hits=in_order, rejected=rejected, parts=parts, signals=None)

    def _asked(self, recall: Recall, part: str) -> Mapping[NodeId, float]:
        """Return the relevance of what answers a part, best first."""
        question = replace(recall.question, text=part)
        asked = Recall(question=question, id=recall.id, terms=tuple(query_terms(part)), when=recall.when, there=recall.there)
        for stage in self.stages:
            asked = stage(asked)
        return LazyHits.of(asked.hits).worths()

    def _best(self, found: list[Mapping[NodeId, float]]) -> dict[NodeId, Place]:
        """Return for each hit its place for the part that it answers best."""
        best: dict[NodeId, Place] = {}
        for answers in found:
            for rank, (id, worth) in enumerate(answers.items(), start=1):
                if id not in best or worth > best[id].normalised:
                    best[id] = Place(rank, worth, worth, self.weight)
        return best
