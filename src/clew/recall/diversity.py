"""Spread the answer over documents, sessions and titles: each further hit of one group is worth less."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heapreplace

from clew.ports import Store
from clew.recall.read_cache import with_nodes
from clew.recall.score import with_components
from clew.recall.state import Component, Hit, LazyHits, Recall
from clew.types import Node, NodeId

REPEAT = "repeat"
DEPTH = 30  # hits that are spread, whatever k is: the answer for k is the head of the answer for any larger k


def group_of(node: Node) -> str | None:
    """Return what a hit shares with others of its kind: its session if it is a turn, else its document, else its title."""
    return (node.parent if node.context else node.root) or node.parent or node.title or None


def repeats(hits: Sequence[Hit], groups: Mapping[NodeId, str | None], *, penalty: float, most: int = DEPTH) -> dict[NodeId, int]:
    """Return how many better hits of its group each hit comes after, at most `most`, where every one of them costs `penalty`.

    Chosen greedily: the next hit is the one with the best score after its penalty.

    >>> hits = [Hit(id, score, {}) for id, score in (("a1", 0.9), ("a2", 0.8), ("a3", 0.7), ("b1", 0.65))]
    >>> repeats(hits, {"a1": "a", "a2": "a", "a3": "a", "b1": "b"}, penalty=0.1)
    {'a1': 0, 'a2': 1, 'b1': 0, 'a3': 2}
    """
    queue = [(-hit.score, place, 0, hit) for place, hit in enumerate(hits)]
    heapify(queue)
    taken: Counter[str] = Counter()
    found: dict[NodeId, int] = {}
    while queue:
        _, place, count, hit = queue[0]
        group = groups.get(hit.id)
        due = min(taken[group], most) if group is not None else 0
        if due > count:  # more of its group were taken since it was put into the queue
            heapreplace(queue, (penalty * due - hit.score, place, due, hit))
            continue
        heappop(queue)
        found[hit.id] = due
        if group is not None:
            taken[group] += 1
    return found


@dataclass(frozen=True, slots=True)
class Diversity:
    """Let each further hit of one session, document or title cost `weight` more than the one before it; code is ranked by `code`."""

    weight: float
    code: Callable[[Recall], Recall] | None
    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Add the component `repeat` to the hits, or those of code, and sort them by score."""
        hits, when = LazyHits.of(recall.hits), recall.when
        if when is not None and (when.latest or when.earliest or when.alone):  # the question asks for an order of its own
            return recall
        if len(hits) < 2 or not hits[0].components:
            return recall
        if self.code is not None and (by_file := self.code(recall)) is not recall:
            return by_file
        return self._penalise_repeats(recall, hits) if self.weight else recall

    def _penalise_repeats(self, recall: Recall, hits: LazyHits) -> Recall:
        recall = with_nodes(recall, hits.ids(DEPTH), store=self.store)
        first = hits[:DEPTH]
        groups = {hit.id: group_of(recall.nodes[hit.id]) for hit in first if hit.id in recall.nodes}
        penalty = self.weight * recall.question.weights.semantic
        counts = repeats(first, groups, penalty=penalty)
        moved = {hit.id: with_components(hit, {REPEAT: Component(-float(counts[hit.id]), penalty)}) for hit in first if counts[hit.id]}
        return replace(recall, hits=hits.with_replaced(moved)) if moved else recall
