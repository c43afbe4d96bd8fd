"""Messages stay whole: a conversation is cut between them, and at a long silence first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from clew.ingest.chunkers.blocks import cut_blocks, given_blocks
from clew.ingest.chunkers.messages import session_blocks, transcript_blocks
from clew.ingest.chunkers.port import DEFAULT_OPTIONS, Chunk, ChunkOptions, TokenCounter, Unit
from clew.ingest.chunkers.recursive import Recursive
from clew.ingest.chunkers.tokens import estimate


@dataclass(frozen=True, slots=True)
class Conversation:
    r"""Never cuts inside a message unless it alone is too large; keeps speakers and times as context.

    >>> [chunk.context for chunk in Conversation().chunk("[2024-03-01 10:00] Ann: Hi!\n[2024-03-01 10:01] Bob: Hello.")]
    ['Ann, Bob · 2024-03-01T10:00:00Z – 2024-03-01T10:01:00Z']
    """

    count: TokenCounter = field(default=estimate, repr=False)

    @property
    def name(self) -> str:
        """The name by which it is chosen."""
        return "conversation"

    @property
    def formats(self) -> frozenset[str]:
        """Conversations; a text in which nobody speaks is cut as plain text."""
        return frozenset({"conversation"})

    def chunk(
        self,
        text: str,
        *,
        format: str = "conversation",
        options: ChunkOptions = DEFAULT_OPTIONS,
        units: Sequence[Unit] | None = None,
    ) -> tuple[Chunk, ...]:
        """Return runs of whole messages."""
        blocks = session_blocks([block.unit for block in given_blocks(text, units)]) if units else transcript_blocks(text)
        if not blocks:
            return Recursive(self.count).chunk(text, format=format, options=options)
        return cut_blocks(text, blocks, count=self.count, options=options)
