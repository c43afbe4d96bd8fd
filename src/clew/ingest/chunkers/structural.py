"""Which chunker knows a format? What an import uses unless told otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from clew.ingest.chunkers.code import Code
from clew.ingest.chunkers.conversation import Conversation
from clew.ingest.chunkers.html import Html
from clew.ingest.chunkers.markdown import Markdown
from clew.ingest.chunkers.port import DEFAULT_OPTIONS, Chunk, Chunker, ChunkOptions, TokenCounter, Unit
from clew.ingest.chunkers.recursive import Recursive
from clew.ingest.chunkers.tokens import estimate


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
        self, text: str, *, format: str = "text", options: ChunkOptions = DEFAULT_OPTIONS, units: Sequence[Unit] | None = None
    ) -> tuple[Chunk, ...]:
        """Return what the format's own chunker makes of a text."""
        return chunker_for(format, count=self.count).chunk(text, format=format, options=options, units=units)
