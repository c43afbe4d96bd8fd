"""Add neighbouring chunks to short chunks as context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from clew.ports import Store
from clew.recall.state import Hit
from clew.types import Kind, Node, NodeId
from clew.words import words


@dataclass(frozen=True, slots=True)
class Expand:
    """Sets the context of short chunks: their title and neighbouring chunks as one text."""

    below_words: int
    reach: int
    store: Store = field(repr=False, compare=False)

    def __call__(self, hits: Sequence[Hit]) -> list[Hit]:
        """Return the hits, with context for those that are short chunks."""
        short = [hit.id for hit in hits if self._is_short(hit)]
        if not short:
            return list(hits)
        around = self.store.neighbours(short, reach=self.reach)
        return [self._add_context(hit, around) if hit.id in around else hit for hit in hits]

    def _is_short(self, hit: Hit) -> bool:
        node = hit.node
        return node is not None and node.kind is Kind.CHUNK and node.root is not None and len(words(node.text)) < self.below_words

    def _add_context(self, hit: Hit, around: Mapping[NodeId, Sequence[Node]]) -> Hit:
        combined = join_chunks(around[hit.id])
        return hit._replace(context=combined) if hit.node is not None and combined != hit.node.text else hit


def join_chunks(nodes: Sequence[Node]) -> str:
    """Join neighbouring chunks under their title into one text without repeating overlaps."""
    parts: list[str] = []
    end = 0
    for node in nodes:
        fresh = max(0, end - (node.start or 0)) if parts else 0
        parts.append(node.text[fresh:])
        end = max(end, node.end or 0)
    title = nodes[0].title if nodes else ""
    text = "\n\n".join(part.strip() for part in parts if part.strip())
    return f"{title}\n\n{text}" if title else text
