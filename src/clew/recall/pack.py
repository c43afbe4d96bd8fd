"""What fits into the answer?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from clew.ports import Store
from clew.recall.explain import explanation
from clew.recall.state import Hit, Recall, Rejection
from clew.words import token_estimate


@dataclass(frozen=True, slots=True)
class Pack:
    """Keep the best k that fit the token budget, fetch them, and say in a sentence why each is there."""

    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Set the final hits; what the budget shut out is counted as rejected."""
        budget, k = recall.question.budget_tokens, recall.question.k
        kept: list[Hit] = []
        shut_out: list[Rejection] = []
        spent = 0
        for hit in self._fetched(recall.hits, k):
            tokens = token_estimate(hit.text) if budget else 0
            if spent + tokens > budget > 0:
                shut_out.append(
                    Rejection(id=hit.id, stage="pack", reason="budget_tokens", value=float(spent + tokens), limit=float(budget))
                )
                continue
            spent += tokens
            kept.append(replace(hit, explanation=explanation(hit)))
            if len(kept) == k:
                break
        return replace(recall, hits=tuple(kept), rejected=recall.rejected + tuple(shut_out))

    def _fetched(self, hits: tuple[Hit, ...], size: int) -> Iterator[Hit]:
        """Yield the hits with their memories, fetched a page at a time; one that is gone meanwhile drops out."""
        for at in range(0, len(hits), size):
            page = hits[at : at + size]
            nodes = self.store.get([hit.id for hit in page])
            yield from (replace(hit, node=nodes[hit.id]) for hit in page if hit.id in nodes)
