"""Which vectors does a node want, from which text is each made, and may the store take them?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import numpy as np

from clew.errors import ModelMismatchError
from clew.gist import embedded_text, headed
from clew.ingest.context import own_span
from clew.ports import Embedder, EmbedRole, ModelInfo, SpannedText, Store, SupportsTokens
from clew.token_codes import CODED_KINDS, pack
from clew.types import QUESTIONS, Embedding, Node, NodeId, Role, Vectors
from clew.words import content_hash

TEXTS_AT_ONCE = 64  # whose token vectors are in memory before they are packed: 25 MB at 384 dimensions


class Embedded(NamedTuple):
    """One vector per text, or None without a model, notes that every answer must carry, and token codes."""

    vectors: Vectors | None
    notes: tuple[str, ...] = ()
    codes: Sequence[bytes | None] = ()
    """One for each text, None for a plain one; empty where the model gives no tokens or none are kept."""

    def rows(self) -> Iterator[tuple[Vectors, bytes | None]]:
        """Yield each vector with its token codes."""
        vectors = () if self.vectors is None else self.vectors
        return zip(vectors, self.codes or repeat(None, len(vectors)), strict=True)


Source: TypeAlias = str | SpannedText
"""What a vector is made from; of a text with spans token codes are made too."""
Embed: TypeAlias = Callable[[Sequence[Source]], Embedded]


def plain(source: Source) -> str:
    """Return the text of a source."""
    return source if isinstance(source, str) else source.text


def embed_passages(embedder: Embedder, sources: Sequence[Source], *, token_codes: bool) -> Embedded:
    """Return the vectors of texts to be stored and, if wanted and the model gives them, the token codes of their spans."""
    if not token_codes or not isinstance(embedder, SupportsTokens):
        return Embedded(embedder.embed([plain(each) for each in sources], role=EmbedRole.PASSAGE))
    vectors = [np.empty((0, embedder.dimension), np.float32)]
    codes: list[bytes | None] = []
    for at in range(0, len(sources), TEXTS_AT_ONCE):
        some = [SpannedText(each, ()) if isinstance(each, str) else each for each in sources[at : at + TEXTS_AT_ONCE]]
        found = embedder.embed_tokens(some, role=EmbedRole.PASSAGE)
        check_token_dimension(embedder, found.tokens)
        vectors.append(found.vectors)
        codes += [pack(tokens) if each.spans else None for each, tokens in zip(some, found.tokens, strict=True)]
    return Embedded(np.concatenate(vectors), codes=codes)


def check_token_dimension(embedder: Embedder, tokens: Sequence[Vectors]) -> None:
    """Refuse token vectors that are not as long as the model's text vectors: a store keeps one dimension for a model."""
    for found in tokens:
        if len(found) and found.shape[1] != embedder.dimension:
            raise ModelMismatchError(
                f"The token vectors of {embedder.id} have {found.shape[1]} numbers, its text vectors {embedder.dimension}. Both must have "
                "the same: let `embed` return the normalised mean of the token vectors, or set model.token_codes to false.",
                model=embedder.id,
                tokens=found.shape[1],
                dimension=embedder.dimension,
            )


def sources_of(said: Iterable[str], questions: Iterable[str]) -> dict[str, Source]:
    """Return what is embedded of new memories: what they say, with its tokens, and the questions that they answer."""
    found: dict[str, Source] = {text: SpannedText.whole(text) for text in said}
    for text in questions:
        found.setdefault(text, text)
    return found


@dataclass(frozen=True, slots=True)
class Wanted:
    """One vector to be made: of which node, in which role, from which text."""

    node: Node
    role: Role
    text: str

    @property
    def source(self) -> Source:
        """What is given to the model. A node has one set of token codes, made where it is read amid its neighbours if it is."""
        node, text = self.node, self.text
        if node.kind not in CODED_KINDS or self.role in QUESTIONS:
            return text
        span = own_span(node.context, node.text)
        if self.role is Role.CONTENT:
            return SpannedText.whole(text) if span is None else text
        if span is None:
            return text
        before = len(text) - len(node.context)
        title = ((0, len(node.title)),) if node.title else ()
        return SpannedText(text, (*title, (before + span[0], before + span[1])))

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


def made(needed: Sequence[Wanted], found: Iterable[tuple[Vectors, bytes | None]]) -> list[Embedding]:
    """Return the vectors that were wanted, with their token codes, as a store keeps them."""
    return [
        Embedding(node=each.node.id, role=each.role, text_hash=each.text_hash, vector=vector, tokens=codes)
        for each, (vector, codes) in zip(needed, found, strict=True)
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
