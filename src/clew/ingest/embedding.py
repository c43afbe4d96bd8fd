"""Which vectors does a node want, from which text is each made, and may the store take them?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from clew.errors import ModelMismatchError
from clew.gist import embedded_text, headed
from clew.ports import ModelInfo, Store
from clew.types import QUESTIONS, Embedding, Node, NodeId, Role, Vectors
from clew.words import content_hash

Embed: TypeAlias = Callable[[Sequence[str]], tuple[Vectors | None, tuple[str, ...]]]
"""Gives one vector per text, or None without a model, and notes that every answer must carry."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One vector to be made: of which node, in which role, from which text."""

    node: Node
    role: Role
    text: str

    @property
    def text_hash(self) -> str:
        """What tells a fresh vector from a stale one."""
        if self.role in QUESTIONS:
            return content_hash(self.text)
        return self.node.content_hash if self.role is Role.CONTENT else content_hash(self.node.context)


def wanted(nodes: Sequence[Node], questions: Mapping[NodeId, Sequence[str]] = MappingProxyType({})) -> Iterator[Wanted]:
    """Yield every vector that the nodes should have: of what they say, of that amid their neighbours, of what they answer."""
    for node in nodes:
        yield Wanted(node, Role.CONTENT, headed(node.title, embedded_text(node.kind, node.text)))
        if node.context:
            yield Wanted(node, Role.CONTEXT, headed(node.title, node.context))
        yield from (Wanted(node, role, text) for role, text in zip(QUESTIONS, questions.get(node.id, ()), strict=False))


def made(needed: Sequence[Wanted], vectors: Iterable[Vectors]) -> list[Embedding]:
    """Return the vectors that were wanted, as a store keeps them."""
    return [
        Embedding(node=each.node.id, role=each.role, text_hash=each.text_hash, vector=vector)
        for each, vector in zip(needed, vectors, strict=True)
    ]


def agree_on_model(store: Store, ours: ModelInfo) -> None:
    """Make our model the store's if it has none yet; refuse to mix its vectors with another's. Belongs into the writing transaction."""
    held = store.model()
    if held is None:
        store.activate(ours)
    elif held.id != ours.id:
        raise ModelMismatchError(
            f"The store holds vectors of {held.id}, not of {ours.id}. Set model.embedder to {held.id}, or run: clew reembed",
            held=held.id,
            offered=ours.id,
        )
