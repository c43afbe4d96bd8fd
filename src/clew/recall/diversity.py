"""Diversify hits over documents, sessions and titles: penalise each further hit of one group."""

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
DEPTH = 30  # hits that are diversified, independent of k: the answer for k is a prefix of the answer for any larger k


def group_of(node: Node) -> str | None:
    """Return the group of a hit: its session if it is a chat message, else its document, else its title."""
    return (node.parent if node.context else node.root) or node.parent or node.title or None


def repeats(hits: Sequence[Hit], groups: Mapping[NodeId, str | None], *, penalty: float, most: int = DEPTH) -> dict[NodeId, int]:
    """Return for each hit the number of better hits of its group, at most `most`, if each of them costs `penalty`.

    Greedy: the next hit is the one with the best score after its penalty.

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
        if due > count:  # stale entry: more hits of its group were taken since it was queued
            heapreplace(queue, (penalty * due - hit.score, place, due, hit))
            continue
        heappop(queue)
        found[hit.id] = due
        if group is not None:
            taken[group] += 1
    return found


@dataclass(frozen=True, slots=True)
class Diversity:
    """Penalise each further hit of one session, document or title by another `weight`; code is ranked by `code` instead."""

    weight: float
    code: Callable[[Recall], Recall] | None
    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Add the component `repeat`, or the code components, and sort the hits by score."""
        hits, when = LazyHits.of(recall.hits), recall.when
        if when is not None and (when.latest or when.earliest or when.alone):  # the question asks for a chronological order
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
