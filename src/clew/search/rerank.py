"""Rerank the best hits with a cross-encoder.

A cross-encoder reads question and text together, but knows nothing of sections, links and times,
which earlier stages do. So its scores are normalised to the range of the hits' own scores and
blended with them. The rerank component is never negative, so a hit below the rerank depth cannot
overtake one above it. A hit reached along a link answers together with the hit at the start of the
path ("Where was the director of … born?"), so it gets the higher rerank score of the two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from clew.ports import Store
from clew.search.score import with_components
from clew.search.state import Component, Hit, LazyHits, Recall, with_nodes
from clew.text.gist import embedded_text, with_title
from clew.types import Node

RERANK = "rerank"

Read: TypeAlias = Callable[[str, Sequence[str]], tuple[Sequence[float] | None, tuple[str, ...]]]
"""Score texts by how well they answer a question; returns None and a note if that fails."""


def add_rerank_scores(
    hits: Sequence[Hit], scores: Sequence[float], *, weight: float
) -> dict[str, Hit]:
    """Add the rerank component: order by (1 − weight)·own + weight·rerank, both min–max normalised.

    Stored as the sum own + rerank · weight/(1 − weight) · (best own − worst own), which gives the
    same order. If all own scores are equal, the rerank score alone decides.

    >>> hits = [Hit(id, own, {}, {"semantic": Component(own, 1.0)}) for id, own in (("a", 0.9), ("b", 0.8), ("c", 0.5))]
    >>> found = add_rerank_scores(hits, [-4.0, 6.0, 1.0], weight=0.5)
    >>> {id: round(hit.score, 3) for id, hit in found.items()}, found["b"].components["rerank"].value
    ({'a': 0.9, 'b': 1.2, 'c': 0.7}, 1.0)
    """
    spread = max(hit.score for hit in hits) - min(hit.score for hit in hits)
    low, high = min(scores), max(scores)
    share = weight / (1.0 - weight) * (spread or 1.0)
    if low == high:
        return {}
    parts = (Component((score - low) / (high - low), share) for score in scores)
    return {
        hit.id: with_components(hit, {RERANK: part}) for hit, part in zip(hits, parts, strict=True)
    }


def share_along_paths(hits: Sequence[Hit], scores: Sequence[float]) -> list[float]:
    """Raise the score of a hit reached along a path to that of the hit where the path starts.

    >>> from clew.search.state import Hop
    >>> film, born = Hit("film", 0.9, {}), Hit("born", 0.5, {}, path=(Hop("film", "NAMES", 1.0, "born", 0.8),))
    >>> share_along_paths([film, born, Hit("other", 0.4, {})], [3.0, -8.0, -2.0])
    [3.0, 3.0, -2.0]
    """
    known = {hit.id: score for hit, score in zip(hits, scores, strict=True)}
    return [
        max(score, known.get(hit.path[0].source, score)) if hit.path else score
        for hit, score in zip(hits, scores, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Rerank:
    """Rescore the best `depth` hits with a reranker and blend its scores in with `weight`."""

    model: str
    depth: int
    weight: float
    store: Store = field(repr=False, compare=False)
    read: Read = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Add the component `rerank` to the best hits and sort all by score.

        Add a note if the reranker fails.
        """
        hits = LazyHits.of(recall.hits)
        if not hits or not hits[0].components:
            return recall
        recall = with_nodes(recall, hits.ids(self.depth), store=self.store)
        best = [hit for hit in hits[: self.depth] if hit.id in recall.nodes]
        if len(best) < 2:  # nothing to reorder
            return recall
        scores, notes = self.read(
            recall.question.text, [_rerank_text(recall.nodes[hit.id]) for hit in best]
        )
        if scores is None:
            return replace(recall, notes=(*recall.notes, *notes))
        moved = hits.with_replaced(
            add_rerank_scores(best, share_along_paths(best, scores), weight=self.weight)
        )
        return replace(recall, hits=moved, reranked=len(best), notes=(*recall.notes, *notes))


def _rerank_text(node: Node) -> str:
    """Return the text that the node's vector is made from.

    Of a chat with an assistant, the user's part.
    """
    return with_title(node.title, embedded_text(node.kind, node.text))
