"""Which memories could answer? By words and by meaning at the same time, under the whole filter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from clew.ports import Store
from clew.recall.state import DENSE, SPARSE, Recall, Rejection
from clew.types import Match, Ranking, Vectors

EmbedQuery: TypeAlias = Callable[[str], tuple[Vectors | None, tuple[str, ...]]]
"""Returns the vector of a question, or None and the reason."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Ask each channel for its best; the word search runs while the question is being embedded (mission U7)."""

    limit: int
    channels: tuple[str, ...]
    dense_floor: float
    store: Store = field(repr=False, compare=False)
    embed: EmbedQuery = field(repr=False, compare=False)
    executor: Executor = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Set the channels, and for each the score that a memory outside it has at most."""
        if DENSE not in self.channels:
            return self._with(recall, {SPARSE: self._sparse(recall)})
        words: Future[Ranking] | None = self.executor.submit(self._sparse, recall) if SPARSE in self.channels else None
        vector, notes = self.embed(recall.question.text)
        recall = replace(recall, vector=vector, notes=recall.notes + notes)
        found: dict[str, Ranking] = {}
        if words is not None:  # waited for before the scan, which takes every core there is: side by side both are slower
            found[SPARSE] = words.result()
        if vector is not None:
            found[DENSE] = self.store.dense(vector, recall.question.where, limit=self.limit)
            recall = replace(recall, notes=recall.notes + _uncovered(*self.store.coverage()))
        return self._with(recall, found)

    def _sparse(self, recall: Recall) -> Ranking:
        return self.store.sparse(recall.terms, recall.question.where, limit=self.limit)

    def _with(self, recall: Recall, found: dict[str, Ranking]) -> Recall:
        """Drop what is too far; the dense list is in order, so the cut never costs a nearer memory its place."""
        lows = {name: self._low(name, ranking) for name, ranking in found.items()}
        floor, reason = max((self.dense_floor, "dense_floor"), (recall.question.min_similarity, "min_similarity"))
        far = [_rejection(match, reason, floor) for match in found.get(DENSE, ()) if match.score < floor]
        if far:
            found[DENSE] = found[DENSE][: -len(far)]
        words, dissimilar, notes = self._similar_enough(recall, found)
        kept = {match.id for match in words}
        rejected = {rejection.id: rejection for rejection in (*dissimilar, *far) if rejection.id not in kept}
        channels = {**found, SPARSE: words} if SPARSE in found else found
        return replace(
            recall, channels=channels, lows=lows, rejected=recall.rejected + tuple(rejected.values()), notes=recall.notes + notes
        )

    def _low(self, name: str, ranking: Ranking) -> float:
        """Return the last score of a full list; of a list that holds all there is, the least a score can be."""
        least = self.dense_floor if name == DENSE else 0.0
        return max(least, ranking[-1].score) if len(ranking) == self.limit else least

    def _similar_enough(self, recall: Recall, found: Mapping[str, Ranking]) -> tuple[Ranking, list[Rejection], tuple[str, ...]]:
        """Hold word hits to `min_similarity` as well, by their exact cosine."""
        words, least = found.get(SPARSE, ()), recall.question.min_similarity
        if least <= 0 or not words:
            return words, [], ()
        if recall.vector is None:
            return words, [], ("min_similarity was not applied: without a vector of the question there is no similarity to compare.",)
        cosines = self.store.cosines(recall.vector, [match.id for match in words])
        far = [Match(match.id, cosines[match.id]) for match in words if cosines.get(match.id, least) < least]
        near = tuple(match for match in words if cosines.get(match.id, least) >= least)
        return near, [_rejection(match, "min_similarity", least) for match in far], ()


def _uncovered(vectors: int, nodes: int) -> tuple[str, ...]:
    missing = nodes - vectors
    return (f"{missing} of {nodes} memories have no vector and are found by words only: run clew reembed.",) if missing > 0 else ()


def _rejection(match: Match, reason: str, limit: float) -> Rejection:
    return Rejection(id=match.id, stage="candidates", reason=reason, value=match.score, limit=limit)
