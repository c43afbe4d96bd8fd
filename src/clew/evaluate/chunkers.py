"""How can a text be cut? The product's chunkers and an outside peer's, in one unit of size with equal budgets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import Any, Protocol

from clew.documents.chunkers import recursive
from clew.documents.chunkers.blocks import Html, Markdown
from clew.documents.chunkers.code import Code
from clew.documents.chunkers.messages import Conversation
from clew.documents.chunkers.port import Boundary, Chunk, ChunkOptions, Embed, estimate
from clew.documents.chunkers.port import Chunker as ProductChunker
from clew.documents.chunkers.semantic import Semantic
from clew.documents.chunkers.structural import Structural
from clew.documents.tree import SECTION_CHUNKS
from clew.errors import InputError, ModelMissingError
from clew.evaluate.data import Dataset, Document, Passage, Query

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

SMALLEST_SIZE = 8  # below it a single long word no longer fits
LEAST_SHARE = (
    5  # a chunk below a fifth of its budget joins a neighbour: 100 of 512, as the product has it
)

count_tokens = estimate
"""The size of a text: the one unit for all chunkers, ours and others'."""


class Chunker(Protocol):
    """Cuts a text into pieces, in order; equal texts are cut equally."""

    @property
    def name(self) -> str:
        """The name in tables, with every number that matters: `recursive-200`."""

    def chunk(self, text: str, *, format: str = "text") -> tuple[Chunk, ...]:
        """Return the pieces of a text of a format (text, markdown, python, …).

        None for white space.
        """


@dataclass(frozen=True, slots=True)
class Sized:
    """One of the product's chunkers with `size` for its target and its limit, so that all have the same budget."""

    chunker: ProductChunker
    size: int
    overlap: int = 0
    options: ChunkOptions = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse a size or an overlap that cannot be kept."""
        checked_size(self.size, overlap=self.overlap)
        options = ChunkOptions(
            min_tokens=self.size // LEAST_SHARE,
            target_tokens=self.size,
            max_tokens=self.size,
            overlap_tokens=self.overlap,
        )
        object.__setattr__(self, "options", options)

    @property
    def name(self) -> str:
        """The name with size and overlap."""
        return f"{self.chunker.name}-{self.size}" + (f"-{self.overlap}" if self.overlap else "")

    def chunk(self, text: str, *, format: str = "text") -> tuple[Chunk, ...]:
        """Return the chunker's pieces within the budget."""
        return self.chunker.chunk(text, format=format, options=self.options)


def checked_size(size: int, *, overlap: int = 0) -> None:
    """Complain about a size or an overlap that no chunker can keep."""
    if size < SMALLEST_SIZE:
        raise InputError(
            "size", size, "is too small a chunk", f"Use {SMALLEST_SIZE} tokens or more."
        )
    if not 0 <= overlap <= size // 2:
        raise InputError(
            "overlap",
            overlap,
            "is not between nothing and half of the size",
            f"Use 0 to {size // 2} tokens.",
        )


def pieces(text: str, ranges: list[tuple[int, int]]) -> tuple[Chunk, ...]:
    """Return the chunks at the given offsets, numbered in order.

    A peer does not say what ended them.
    """
    return tuple(
        Chunk(text=text[start:end], start=start, end=end, index=index, boundary=Boundary.SIZE_LIMIT)
        for index, (start, end) in enumerate(ranges)
    )


CHUNK = "chunk"
"""The level at which a passage is relevant when it shares characters with a span of the answer."""


def cut(dataset: Dataset, chunker: Chunker) -> Dataset:
    """Return the dataset with its documents cut into passages `<document>#<n>`, which inherit the document's keys.

    Where the questions have spans the result has the level `chunk` in front: there, the passages
    that overlap a span are the relevant ones, each known by its own id.
    """
    if not dataset.documents:
        raise InputError(
            "dataset",
            dataset.name,
            "has passages of its own and nothing to cut",
            "Use it without a chunker.",
        )
    passages = tuple(
        passage for document in dataset.documents for passage in _passages(document, chunker)
    )
    if not any(query.spans for query in dataset.queries):
        return replace(dataset, documents=(), passages=passages)
    pieces = defaultdict(list)
    for passage in passages:
        pieces[passage.document].append(passage)
    queries = tuple(_judged(query, pieces) for query in dataset.queries)
    return replace(
        dataset, documents=(), passages=passages, queries=queries, levels=(CHUNK, *dataset.levels)
    )


def _passages(document: Document, chunker: Chunker) -> Iterator[Passage]:
    for chunk in chunker.chunk(document.text, format=document.format):
        yield Passage(
            id=f"{document.id}#{chunk.index}",
            text=chunk.text,
            title=document.title,
            space=document.space,
            document=document.id,
            start=chunk.start,
            end=chunk.end,
            time=document.time,
            keys=document.keys,
            section=f"{document.id}/{chunk.index // SECTION_CHUNKS}",
            format=document.format,
        )


def _judged(query: Query, pieces: Mapping[str, Sequence[Passage]]) -> Query:
    overlapping = {
        passage.id: 1
        for span in query.spans
        for passage in pieces.get(span.document, ())
        if passage.start < span.end and span.start < passage.end
    }
    return replace(query, relevant={**query.relevant, CHUNK: overlapping})


KINDS = ("recursive", "code")
LANGUAGES = frozenset(
    {"python", "java"}
)  # formats that the code chunker gets; others go to the recursive one


@dataclass(frozen=True, slots=True)
class Chonkie:
    """Cuts with chonkie, which counts with `count_tokens`.

    A piece over the budget is cut further, as our own would be.

    Its last resort (cutting a long word by a tokenizer's tokens) is left out for the same reason.
    The code chunker is told the language; it guesses nothing and downloads nothing.
    """

    size: int
    kind: str = "recursive"
    _made: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse a kind that chonkie does not have here, or a size that cannot be kept."""
        checked_size(self.size)
        if self.kind not in KINDS:
            raise InputError(
                "kind",
                self.kind,
                "is not a chunker of chonkie that is compared here",
                f"Use {' or '.join(KINDS)}.",
            )

    @property
    def name(self) -> str:
        """The name with kind and size."""
        return f"chonkie-{self.kind}-{self.size}"

    def chunk(self, text: str, *, format: str = "text") -> tuple[Chunk, ...]:
        """Return chonkie's pieces with offsets that hold.

        Pieces of white space only are dropped.
        """
        language = format if self.kind == "code" and format in LANGUAGES else ""
        if language not in self._made:
            self._made[language] = _code(self.size, language) if language else _recursive(self.size)
        found = (
            _placed(text, [piece.text for piece in self._made[language].chunk(text)])
            if text.strip()
            else iter(())
        )
        return pieces(
            text, [part for start, end in found for part in _within(text, start, end, self.size)]
        )


def _recursive(size: int) -> Any:
    chonkie = _library("chonkie")
    levels = [
        level for level in chonkie.RecursiveRules().levels if level.delimiters or level.whitespace
    ]
    return chonkie.RecursiveChunker(
        tokenizer=count_tokens, chunk_size=size, rules=chonkie.RecursiveRules(levels=levels)
    )


def _code(size: int, language: str) -> Any:
    _library("tree_sitter_language_pack")
    try:
        return _library("chonkie").CodeChunker(
            tokenizer=count_tokens, chunk_size=size, language=language
        )
    # later versions of its grammar package download on first use, and raise what they like
    except Exception as error:
        raise ModelMissingError(
            f"chonkie's code chunker cannot be used: {error}. Install the versions that carry "
            f"their grammars: pip install 'clew[eval]'",
            library="chonkie",
        ) from error


def _library(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise ModelMissingError(
            f"chonkie is not installed ({error}). Install it with: pip install 'clew[eval]'",
            library="chonkie",
        ) from error


def _placed(text: str, parts: list[str]) -> Iterator[tuple[int, int]]:
    """Yield where each piece stands.

    Its own offsets count bytes in some versions, so they are not used.
    """
    at = 0
    for part in parts:
        start = text.find(part, at)
        if start < 0:
            raise InputError(
                "chonkie",
                part,
                "returned a piece that is not in the text",
                "Install the version of clew[eval].",
            )
        at = start + len(part)
        if part.strip():
            yield start, at


def _within(text: str, start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    if count_tokens(text[start:end]) <= size:
        return iter(((start, end),))
    return iter(
        [
            (start + chunk.start, start + chunk.end)
            for chunk in Sized(recursive.Fixed(), size).chunk(text[start:end])
        ]
    )


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
