"""Load the best hits and keep those that fit into the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from clew.ports import Store
from clew.recall.expand import Expand
from clew.recall.explain import explanation
from clew.recall.gate import Gate
from clew.recall.overlap import SHARE, overlap_share
from clew.recall.read_cache import with_nodes
from clew.recall.state import Hit, Recall, Rejection
from clew.recall.symbol_query import empty_filter_notes
from clew.words import token_estimate


@dataclass(frozen=True, slots=True)
class Pack:
    """Load the hits with their context, keep the best k that pass, and explain each in a sentence."""

    expand: Expand | None
    gate: Gate | None
    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Set the final hits; those that fail the gate, overlap a better hit or exceed the token budget are rejected."""
        budget, k = recall.question.budget_tokens, recall.question.k
        kept: list[Hit] = []
        rejected: list[Rejection] = []
        spent = 0
        for hit in self._load_pages(recall, k):
            tokens = token_estimate(hit.context or hit.text) if budget else 0
            why = self._reject(hit, kept) or _reject_over_budget(hit, spent + tokens, budget)
            if why is not None:
                rejected.append(why)
                continue
            spent += tokens
            kept.append(hit._replace(explanation=explanation(hit)))
            if len(kept) == k:
                break
        notes = recall.notes if kept or rejected else recall.notes + empty_filter_notes(recall, store=self.store)
        return replace(recall, hits=tuple(kept), nodes={}, judge=None, rejected=recall.rejected + tuple(rejected), notes=notes)

    def _load_pages(self, recall: Recall, size: int) -> Iterator[Hit]:
        """Yield the hits with their nodes, loaded a page at a time; a hit deleted meanwhile is dropped."""
        for at in range(0, len(recall.hits), size):
            page = recall.hits[at : at + size]
            nodes = with_nodes(recall, [hit.id for hit in page], store=self.store).nodes
            found = [hit._replace(node=nodes[hit.id]) for hit in page if hit.id in nodes]
            if recall.judge is not None:
                found = [hit._replace(confidence=value) for hit, value in zip(found, recall.judge(found), strict=True)]
            yield from self.expand(found) if self.expand is not None else found

    def _reject(self, hit: Hit, kept: Sequence[Hit]) -> Rejection | None:
        if self.gate is not None and (rejection := self.gate(hit)) is not None:
            return rejection
        if hit.node is not None and (share := overlap_share(hit.node, [each.node for each in kept if each.node])) >= SHARE:
            return Rejection(id=hit.id, stage="pack", reason="overlap", value=share, limit=SHARE)
        return None


def _reject_over_budget(hit: Hit, tokens: int, budget: int) -> Rejection | None:
    if not tokens > budget > 0:
        return None
    return Rejection(id=hit.id, stage="pack", reason="budget_tokens", value=float(tokens), limit=float(budget))
