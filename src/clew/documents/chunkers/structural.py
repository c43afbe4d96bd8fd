"""Which chunker knows a format? What an import uses unless told otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from clew.documents.chunkers.blocks import Html, Markdown
from clew.documents.chunkers.code import Code
from clew.documents.chunkers.messages import Conversation
from clew.documents.chunkers.port import (
    DEFAULT_OPTIONS,
    Chunk,
    Chunker,
    ChunkOptions,
    TokenCounter,
    Unit,
    estimate,
)
from clew.documents.chunkers.recursive import Recursive


def chunker_for(format: str, *, count: TokenCounter = estimate) -> Chunker:
    """Return the chunker that knows a format; plain text and unknown formats get the recursive one.

    >>> [chunker_for(format).name for format in ("markdown", "html", "python", "text", "cobol")]
    ['markdown', 'html', 'code', 'recursive', 'recursive']
    """
    return next((each for each in _known(count) if format in each.formats), Recursive(count))


def _known(count: TokenCounter) -> tuple[Chunker, ...]:
    return Conversation(count), Markdown(count), Html(count), Code(count)


@dataclass(frozen=True, slots=True)
class Structural:
    """Hands each text to the chunker of its format."""

    count: TokenCounter = field(default=estimate, repr=False)

    @property
    def name(self) -> str:
        """The name by which it is chosen."""
        return "structural"

    @property
    def formats(self) -> frozenset[str]:
        """All formats that some chunker knows."""
        return frozenset({"text"}).union(*(each.formats for each in _known(self.count)))

    def chunk(
        self,
        text: str,
        *,
        format: str = "text",
        options: ChunkOptions = DEFAULT_OPTIONS,
        units: Sequence[Unit] | None = None,
    ) -> tuple[Chunk, ...]:
        """Return what the format's own chunker makes of a text."""
        return chunker_for(format, count=self.count).chunk(
            text, format=format, options=options, units=units
        )
