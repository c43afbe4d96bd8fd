"""Paragraphs where they fit, else lines, else sentences, else words.

The usual way to cut a text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from clew.documents.chunkers.packing import as_one, chunks_of, pack
from clew.documents.chunkers.pieces import Row
from clew.documents.chunkers.port import (
    DEFAULT_OPTIONS,
    Chunk,
    ChunkOptions,
    TokenCounter,
    Unit,
    estimate,
)

PLAIN_FORMATS = frozenset({"text"})


@dataclass(frozen=True, slots=True)
class Recursive:
    r"""Fills chunks up to the target and ends them at the strongest boundary within reach.

    >>> options = ChunkOptions(min_tokens=2, target_tokens=8, max_tokens=8, overlap_tokens=0)
    >>> [chunk.text for chunk in Recursive().chunk("One two three.\n\nFour five. Six seven eight nine ten.", options=options)]
    ['One two three.', 'Four five.', 'Six seven eight nine ten.']
    """

    count: TokenCounter = field(default=estimate, repr=False)

    @property
    def name(self) -> str:
        """The name by which it is chosen."""
        return "recursive"

    @property
    def formats(self) -> frozenset[str]:
        """Plain text; the others have no structure to it."""
        return PLAIN_FORMATS

    def chunk(
        self,
        text: str,
        *,
        format: str = "text",  # noqa: ARG002 - the same for every format
        options: ChunkOptions = DEFAULT_OPTIONS,
        units: Sequence[Unit] | None = None,  # noqa: ARG002 - it asks for no structure
    ) -> tuple[Chunk, ...]:
        """Return pieces that end between paragraphs where they can."""
        whole = as_one(text, count=self.count, options=options)
        if whole is not None:
            return whole
        return cut(Row(text, count=self.count, options=options))


def cut(row: Row) -> tuple[Chunk, ...]:
    """Return the pieces of an empty row's text."""
    row.add_paragraphs(0, len(row.text))
    return chunks_of(row, pack(row))


# Windows of equal size: the chunker that every other one must beat.


@dataclass(frozen=True, slots=True)
class Fixed:
    """Cuts every `target_tokens`, between words.

    Each chunk begins with the last `overlap_tokens` of the one before.
    """

    count: TokenCounter = field(default=estimate, repr=False)

    @property
    def name(self) -> str:
        """The name by which it is chosen."""
        return "fixed"

    @property
    def formats(self) -> frozenset[str]:
        """Plain text: it knows of no structure."""
        return frozenset({"text"})

    def chunk(
        self,
        text: str,
        *,
        format: str = "text",  # noqa: ARG002 - the same for every format
        options: ChunkOptions = DEFAULT_OPTIONS,
        units: Sequence[Unit] | None = None,  # noqa: ARG002 - it asks for no structure
    ) -> tuple[Chunk, ...]:
        """Return windows that end between words."""
        whole = as_one(text, count=self.count, options=options)
        if whole is not None:
            return whole
        row = Row(text, count=self.count, options=options)
        row.add_words(0, len(text))
        return chunks_of(row, pack(row))
