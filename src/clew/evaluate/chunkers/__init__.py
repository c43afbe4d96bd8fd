"""How can a text be cut? The product's chunkers and an outside peer's, with one unit of size and equal budgets for all."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from clew.documents.chunkers import recursive
from clew.documents.chunkers.blocks import Html, Markdown
from clew.documents.chunkers.code import Code
from clew.documents.chunkers.messages import Conversation
from clew.documents.chunkers.port import Chunk, Embed
from clew.documents.chunkers.port import Chunker as ProductChunker
from clew.documents.chunkers.semantic import Semantic
from clew.documents.chunkers.structural import Structural
from clew.errors import InputError
from clew.evaluate.chunkers.chonkie import Chonkie
from clew.evaluate.chunkers.cutting import CHUNK, cut
from clew.evaluate.chunkers.port import Chunker, Sized, count_tokens

__all__ = [
    "CHUNK",
    "NAMES",
    "Chonkie",
    "Chunk",
    "Chunker",
    "Fixed",
    "Recursive",
    "Sized",
    "chunker",
    "count_tokens",
    "cut",
]

Fixed = partial(Sized, recursive.Fixed())
Recursive = partial(Sized, recursive.Recursive())

_OURS: dict[str, Callable[[], ProductChunker]] = {
    "fixed": recursive.Fixed,
    "recursive": recursive.Recursive,
    "markdown": Markdown,
    "conversation": Conversation,
    "html": Html,
    "code": Code,
    "structural": Structural,
}
NAMES = (*_OURS, "semantic", "chonkie-recursive", "chonkie-code")


def chunker(name: str, *, size: int, overlap: int = 0, embed: Embed | None = None) -> Chunker:
    """Return a chunker by name, with its budget in tokens of `count_tokens`.

    `semantic` needs a function that embeds.

    >>> chunker("recursive", size=200).name
    'recursive-200'
    """
    if name in _OURS:
        return Sized(_OURS[name](), size, overlap)
    if name == "semantic":
        return Sized(_semantic(embed), size, overlap)
    if name not in NAMES:
        raise InputError("chunker", name, "is not a chunker", f"Use one of {', '.join(NAMES)}.")
    if overlap:
        raise InputError(
            "overlap",
            overlap,
            f"is not something that {name} does",
            "Use 0, or one of our own chunkers.",
        )
    return Chonkie(size, name.removeprefix("chonkie-"))


def _semantic(embed: Embed | None) -> Semantic:
    if embed is None:
        raise InputError(
            "chunker",
            "semantic",
            "needs a model, and there is none",
            "Name one with model.embedder, or use another chunker.",
        )
    return Semantic(embed)
