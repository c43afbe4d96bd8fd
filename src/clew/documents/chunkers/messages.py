"""Who says what in a plain transcript?

Known are `Alice: …`, `User:` and `**Alice**: …`, each also behind a time such as `[2024-03-01
10:00]` or `2024-03-01 10:00 -`. Everything up to the next speaker is the message.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from clew.documents.chunkers.blocks import Block, described, given_blocks
from clew.documents.chunkers.pieces import Level
from clew.documents.chunkers.port import (
    DEFAULT_OPTIONS,
    Chunk,
    ChunkOptions,
    TokenCounter,
    Unit,
    estimate,
)
from clew.documents.chunkers.recursive import Recursive
from clew.text.speakers import speaker_labels

# a longer silence ends a conversation; a judgement, not a measurement
SESSION_GAP = timedelta(hours=1)


def transcript_blocks(text: str) -> list[Block]:
    r"""Return the messages of a transcript in order; none if nobody speaks in it.

    >>> [(block.unit.speaker, block.unit.start) for block in transcript_blocks("Ann: Hi!\nBob: Hello,\nNote: all.\nAnn: Bye")]
    [('Ann', 0), ('Bob', 9), ('Ann', 32)]
    """
    labels = list(speaker_labels(text))
    ends = [start for start, _, _ in labels[1:]] + [len(text)]
    return session_blocks(
        [
            Unit(start, end, speaker, time)
            for (start, speaker, time), end in zip(labels, ends, strict=False)
        ]
    )


def session_blocks(units: list[Unit]) -> list[Block]:
    """Return messages as blocks; one after a long silence begins a new section."""
    blocks = []
    before: datetime | None = None
    for unit in units:
        later = unit.time is not None and before is not None and unit.time - before > SESSION_GAP
        blocks.append(Block(unit, Level.SECTION if later else Level.BLOCK))
        before = unit.time or before
    return blocks


# Each message is a chunk of its own: what one says and what the other answers are found apart.


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
                yield replace(
                    chunk,
                    start=start + chunk.start,
                    end=start + chunk.end,
                    context=context,
                    path=path,
                )
