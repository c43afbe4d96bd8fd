"""Each message is a chunk of its own: what one says and what the other answers are found apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from clew.ingest.chunkers.blocks import described, given_blocks
from clew.ingest.chunkers.messages import transcript_blocks
from clew.ingest.chunkers.port import DEFAULT_OPTIONS, Chunk, ChunkOptions, TokenCounter, Unit
from clew.ingest.chunkers.recursive import Recursive
from clew.ingest.chunkers.tokens import estimate


@dataclass(frozen=True, slots=True)
class Conversation:
    r"""Cuts between messages, and inside one that is too large; keeps speaker and time as context.

    >>> [chunk.context for chunk in Conversation().chunk("[2024-03-01 10:00] Ann: Hi!\n[2024-03-01 10:01] Bob: Hello.")]
    ['Ann · 2024-03-01T10:00:00Z', 'Bob · 2024-03-01T10:01:00Z']
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
        """Return the messages in order, however small."""
        blocks = given_blocks(text, units) if units else transcript_blocks(text)
        if not blocks:
            return Recursive(self.count).chunk(text, format=format, options=options)
        found = self._messages(text, [block.unit for block in blocks], options)
        return tuple(replace(chunk, index=index) for index, chunk in enumerate(found))

    def _messages(self, text: str, units: Sequence[Unit], options: ChunkOptions) -> Iterator[Chunk]:
        """Yield what stands before the first message, then each message with what stands behind it."""
        describe = described(units)
        ends = [unit.start for unit in units] + [len(text)]
        starts = [0, *ends[:-1]]
        for owner, (start, end) in enumerate(zip(starts, ends, strict=True), start=-1):
            context, path = describe([owner]) if owner >= 0 else ("", ())
            for chunk in Recursive(self.count).chunk(text[start:end], options=options):
                yield replace(chunk, start=start + chunk.start, end=start + chunk.end, context=context, path=path)
