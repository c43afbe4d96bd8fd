"""Which vectors does a node want, from which text is each made, and may the store take them?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import numpy as np

from clew.errors import ModelMismatchError
from clew.ports import Embedder, EmbedRole, ModelInfo, SpannedText, Store, SupportsTokens
from clew.text.gist import embedded_text, leading_words, trailing_words, with_title
from clew.text.words import content_hash
from clew.token_codes import CODED_KINDS, pack
from clew.types import QUESTIONS, Embedding, Kind, Node, NodeId, Role, Vectors

# Under which key is a small unit also found? Its own words amid those around it.
#
# A turn such as "Yes, last Sunday!" says nothing by itself; with the turn before it, it answers a
# question. The key
# holds the unit and its neighbours, is embedded and indexed beside the unit, and is never served.
# Units that fill
# most of a vector by themselves have none.

# on each side: best on the dev part of LoCoMo, where one was worse and three diluted
# (docs/evaluation.md)
NEIGHBOURS = 2


def is_message(node: Node) -> bool:
    """Tell whether a node is a message that `remember_conversation` kept.

    Its section is the outermost node.
    """
    return node.kind is Kind.CHUNK and node.parent is not None and node.parent == node.root


def context_keys(texts: Sequence[str], *, room: int, neighbours: int = NEIGHBOURS) -> list[str]:
    r"""Return the key of each unit of one section, in order.

    Empty where a unit leaves no room for its neighbours.

    `room` is what a key may hold in characters: a unit of more than half of it stands for itself.

    >>> context_keys(["Do you run?", "Yes, on Sundays!", "Nice."], room=100, neighbours=1)
    ['Do you run?\nYes, on Sundays!', 'Do you run?\nYes, on Sundays!\nNice.', 'Yes, on Sundays!\nNice.']
    >>> context_keys(["alone"], room=100)
    ['']
    """
    return [_key(texts, at, room, neighbours) for at in range(len(texts))]


def own_span(key: str, own: str) -> tuple[int, int] | None:
    r"""Return where in a key the unit itself stands, between line breaks; None where it does not.

    Of several places the one nearest to the middle: a key has about as much before the unit as
    after it.

    >>> own_span("Do you run?\nYes.\nEvery day?\nYes.\nNice.", "Yes.")
    (12, 16)
    """
    places: list[tuple[int, int]] = []
    at = key.find(own) if own else -1
    while at >= 0:
        end = at + len(own)
        if key[at - 1 : at] in ("", "\n") and key[end : end + 1] in ("", "\n"):
            places.append((at, end))
        at = key.find(own, at + 1)
    return min(places, key=lambda place: abs(sum(place) - len(key)), default=None)


def _key(texts: Sequence[str], at: int, room: int, neighbours: int) -> str:
    own = texts[at]
    left = (room - len(own)) // 2
    if len(own) * 2 > room:
        return ""
    before = "\n".join(texts[max(0, at - neighbours) : at])
    after = "\n".join(texts[at + 1 : at + 1 + neighbours])
    around = (
        trailing_words(before, max(left, 2 * left - len(after))),
        own,
        leading_words(after, max(left, 2 * left - len(before))),
    )
    return "\n".join(part for part in around if part) if before or after else ""


# whose token vectors are in memory before they are packed: 25 MB at 384 dimensions
TEXTS_AT_ONCE = 64


class Embedded(NamedTuple):
    """One vector per text, or None without a model, notes that every answer must carry, and token codes."""

    vectors: Vectors | None
    notes: tuple[str, ...] = ()
    codes: Sequence[bytes | None] = ()
    """One for each text, None for a plain one; empty where the model gives no tokens or none are
    kept.
    """

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
        some = [
            SpannedText(each, ()) if isinstance(each, str) else each
            for each in sources[at : at + TEXTS_AT_ONCE]
        ]
        found = embedder.embed_tokens(some, role=EmbedRole.PASSAGE)
        check_token_dimension(embedder, found.tokens)
        vectors.append(found.vectors)
        codes += [
            pack(tokens) if each.spans else None
            for each, tokens in zip(some, found.tokens, strict=True)
        ]
    return Embedded(np.concatenate(vectors), codes=codes)


def check_token_dimension(embedder: Embedder, tokens: Sequence[Vectors]) -> None:
    """Refuse token vectors that are not as long as the model's text vectors.

    A store keeps one dimension for a model.
    """
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
    """Return what is embedded of new memories.

    What they say, with its tokens, and the questions that they answer.
    """
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
        """What is given to the model.

        A node has one set of token codes, made where it is read amid its neighbours if it is.
        """
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
        return (
            self.node.content_hash if self.role is Role.CONTENT else content_hash(self.node.context)
        )


def wanted(
    nodes: Sequence[Node], questions: Mapping[NodeId, Sequence[str]] = MappingProxyType({})
) -> Iterator[Wanted]:
    """Yield every vector that the nodes should have.

    Of what they say, of that amid their neighbours, of what they answer.
    """
    for node in nodes:
        yield Wanted(
            node, Role.CONTENT, with_title(node.title, embedded_text(node.kind, node.text))
        )
        if node.context:
            yield Wanted(node, Role.CONTEXT, with_title(node.title, node.context))
        yield from (
            Wanted(node, role, text)
            for role, text in zip(QUESTIONS, questions.get(node.id, ()), strict=False)
        )


def made(
    needed: Sequence[Wanted], found: Iterable[tuple[Vectors, bytes | None]]
) -> list[Embedding]:
    """Return the vectors that were wanted, with their token codes, as a store keeps them."""
    return [
        Embedding(
            node=each.node.id, role=each.role, text_hash=each.text_hash, vector=vector, tokens=codes
        )
        for each, (vector, codes) in zip(needed, found, strict=True)
    ]


def agree_on_model(store: Store, ours: ModelInfo) -> None:
    """Make our model the store's if it has none yet; refuse to mix its vectors with another's.

    Belongs into the writing transaction.
    """
    held = store.model()
    if held is None:
        store.activate(ours)
    elif held.id != ours.id:
        raise ModelMismatchError(
            f"The store holds vectors of {held.id}, not of {ours.id}. Set model.embedder to {held.id}, or run: clew reembed",
            held=held.id,
            offered=ours.id,
        )
