"""Who says what in a plain transcript?

Known are `Alice: …`, `User:` and `**Alice**: …`, each also behind a time such as `[2024-03-01
10:00]` or `2024-03-01 10:00 -`. Everything up to the next speaker is the message.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
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
from clew.times import parse_time

ROLES = frozenset(
    {"user", "assistant", "system", "human", "ai", "bot", "tool", "developer", "model"}
)
LABELS = frozenset(
    {
        "note",
        "notes",
        "ps",
        "warning",
        "todo",
        "tip",
        "example",
        "update",
        "edit",
        "summary",
        "subject",
        "re",
        "http",
        "https",
    }
)
"""What stands before a colon in a message without being a speaker."""
# a longer silence ends a conversation; a judgement, not a measurement
SESSION_GAP = timedelta(hours=1)

_CLOCK = r"\d{1,2}:\d{2}(?::\d{2})?(?:Z| ?[AaPp][Mm])?"
_TIME = rf"(?P<open>\[|\()?(?P<time>\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}}[T, ]{{1,2}}{_CLOCK})(?(open)[\])]) ?[-–—]? ?"
_NAME = r"[^\W\d_][^\n\r:*\[\]{}<>|`\"]{0,39}"
_LABEL = re.compile(
    rf"(?m)^[ \t]{{0,3}}(?:{_TIME})?(?:(?P<mark>\*\*|__)(?P<bold>{_NAME}?)(?::(?P=mark)|(?P=mark):)|(?P<plain>{_NAME}?):)(?=\s|\Z)"
)
_MAX_NAME_WORDS = 4


def transcript_blocks(text: str) -> list[Block]:
    r"""Return the messages of a transcript in order; none if nobody speaks in it.

    >>> [(block.unit.speaker, block.unit.start) for block in transcript_blocks("Ann: Hi!\nBob: Hello,\nNote: all.\nAnn: Bye")]
    [('Ann', 0), ('Bob', 9), ('Ann', 32)]
    """
    labels = list(_labels(text))
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


def _labels(text: str) -> Iterator[tuple[int, str, datetime | None]]:
    """Yield where each message begins, who speaks and when."""
    found = [
        match
        for match in _LABEL.finditer(text.replace("\r", "\n"))
        if len(_name(match).split()) <= _MAX_NAME_WORDS
    ]
    often = Counter(map(_name, found))
    # "Note: …" inside a message looks like a speaker; where two others come again and again, it is
    # none.
    settled = sum(times > 1 for times in often.values()) > 1
    for match in found:
        name = _name(match)
        if (
            match["time"]
            or match["bold"]
            or name.lower() in ROLES
            or often[name] > 1
            or not (settled or name.lower() in LABELS)
        ):
            yield match.start(), name, _moment(match["time"])


def _name(match: re.Match[str]) -> str:
    return str(match["bold"] or match["plain"] or "").strip()


def _moment(written: str | None) -> datetime | None:
    """Return a time that can be read in one way only; 03/04/24 is left alone."""
    with suppress(ValueError):
        return parse_time(" ".join(written.replace(",", " ").split()), "time") if written else None
    return None


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
