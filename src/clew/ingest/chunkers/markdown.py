"""Headings begin chunks; fences, tables and lists stay whole where they fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from clew.ingest.chunkers.blocks import cut_blocks, given_blocks
from clew.ingest.chunkers.markdown_blocks import markdown_blocks
from clew.ingest.chunkers.port import DEFAULT_OPTIONS, Chunk, ChunkOptions, TokenCounter, Unit
from clew.ingest.chunkers.tokens import estimate


@dataclass(frozen=True, slots=True)
class Markdown:
    r"""Ends a chunk before a heading as soon as it has its least size; the headings above are its context.

    >>> [(chunk.text, chunk.context) for chunk in Markdown().chunk("# Guide\n\n## Install\n\nUse pip.")]
    [('# Guide\n\n## Install\n\nUse pip.', 'Guide')]
    """

    count: TokenCounter = field(default=estimate, repr=False)

    @property
    def name(self) -> str:
        """The name by which it is chosen."""
        return "markdown"

    @property
    def formats(self) -> frozenset[str]:
        """Markdown."""
        return frozenset({"markdown"})

    def chunk(
        self,
        text: str,
        *,
        format: str = "markdown",  # noqa: ARG002 - it reads every text as Markdown
        options: ChunkOptions = DEFAULT_OPTIONS,
        units: Sequence[Unit] | None = None,
    ) -> tuple[Chunk, ...]:
        """Return pieces that end between blocks, with the path of their headings."""
        blocks = given_blocks(text, units) if units else markdown_blocks(text)
        return cut_blocks(text, blocks, count=self.count, options=options)
