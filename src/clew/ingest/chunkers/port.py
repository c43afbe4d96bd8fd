"""What a chunker is: the values that go in and come out, and what every one of them promises.

Promises, kept for any text: `text[start:end] == chunk.text`; no chunk is larger than `max_tokens` by the chunker's own
counter; together the chunks hold all that is not white space; starts increase; equal texts are cut equally; white space
alone gives no chunk. A chunk below `min_tokens` is joined to a neighbour where that keeps `max_tokens`. Where a chunk ended
for its size alone (`Boundary.SIZE_LIMIT`) the next one begins inside it, by at most `overlap_tokens`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol, TypeAlias

from clew.errors import InputError
from clew.ingest.chunkers.sentences import sentence_count
from clew.types import Vectors
from clew.words import keywords

TokenCounter: TypeAlias = Callable[[str], int]
Embed: TypeAlias = Callable[[list[str]], Vectors]

SMALLEST_MAX = 8  # below it a single long word no longer fits
TOPIC_WORDS = 5


class Boundary(StrEnum):
    """What ended a chunk: a change of subject, a place that the format offers, or its size alone."""

    SEMANTIC = "semantic"
    STRUCTURAL = "structural"
    SIZE_LIMIT = "size-limit"


def _within(field: str, value: float, least: float, most: float | None) -> None:
    if not value >= least or (most is not None and value > most):
        allowed = f"{least} or more" if most is None else f"{least} to {most}"
        raise InputError(field, value, "does not go with the other sizes of a chunk", f"Use {allowed}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkOptions:
    """How large chunks are, in tokens of the chunker's counter (U1)."""

    min_tokens: int = 100
    target_tokens: int = 512
    max_tokens: int = 768
    overlap_tokens: int = 50
    semantic_threshold: float = 0.35

    def __post_init__(self) -> None:
        """Refuse sizes that contradict each other."""
        _within("max_tokens", self.max_tokens, SMALLEST_MAX, None)
        _within("target_tokens", self.target_tokens, 1, self.max_tokens)
        _within("min_tokens", self.min_tokens, 0, self.target_tokens)
        _within("overlap_tokens", self.overlap_tokens, 0, self.max_tokens // 2)
        _within("semantic_threshold", self.semantic_threshold, 0, 2)


DEFAULT_OPTIONS = ChunkOptions()


@dataclass(frozen=True, slots=True)
class Unit:
    """What must not be cut without need: a message, a block, a sentence."""

    start: int
    end: int
    speaker: str = ""
    time: datetime | None = None
    heading: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of a text: `whole[start:end] == text`."""

    text: str
    start: int
    end: int
    index: int
    boundary: Boundary
    context: str = ""
    """Where it stands (headings, scopes and imports, speakers); never a part of the text or its offsets."""
    path: tuple[str, ...] = ()
    """The headings or scopes around it, outermost first."""

    @property
    def sentences(self) -> int:
        """How many sentences it holds; counted when asked for, so that cutting stays quick."""
        return sentence_count(self.text)

    @property
    def topic(self) -> tuple[str, ...]:
        """What it is about: its first keywords."""
        return keywords(self.text, limit=TOPIC_WORDS)


class Chunker(Protocol):
    """Cuts a text into pieces, in order."""

    @property
    def name(self) -> str:
        """The name by which it is chosen."""

    @property
    def formats(self) -> frozenset[str]:
        """The formats whose structure it knows; any other is cut as plain text."""

    def chunk(
        self, text: str, *, format: str = "text", options: ChunkOptions = DEFAULT_OPTIONS, units: Sequence[Unit] | None = None
    ) -> tuple[Chunk, ...]:
        """Return the pieces of a text; `units` is what its reader already knows of its structure."""
