"""Chunks of HTML source end between block elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from clew.ingest.chunkers.blocks import cut_blocks, given_blocks
from clew.ingest.chunkers.html_blocks import html_blocks
from clew.ingest.chunkers.port import DEFAULT_OPTIONS, Chunk, ChunkOptions, TokenCounter, Unit
from clew.ingest.chunkers.tokens import estimate


@dataclass(frozen=True, slots=True)
class Html:
    """Ends a chunk before a heading as soon as it has its least size; texts are exact slices of the source, tags and all.

    >>> [(chunk.text, chunk.context) for chunk in Html().chunk("<h1>Guide</h1><p>Use <b>pip</b>.</p>")]
    [('<h1>Guide</h1><p>Use <b>pip</b>.</p>', 'Guide')]
    """

    count: TokenCounter = field(default=estimate, repr=False)

    @property
    def name(self) -> str:
        """The name by which it is chosen."""
        return "html"

    @property
    def formats(self) -> frozenset[str]:
        """HTML."""
        return frozenset({"html"})

    def chunk(
        self,
        text: str,
        *,
        format: str = "html",  # noqa: ARG002 - it reads every text as HTML
        options: ChunkOptions = DEFAULT_OPTIONS,
        units: Sequence[Unit] | None = None,
    ) -> tuple[Chunk, ...]:
        """Return pieces that end between blocks, with the path of their headings."""
        blocks = given_blocks(text, units) if units else html_blocks(text)
        return cut_blocks(text, blocks, count=self.count, options=options)
