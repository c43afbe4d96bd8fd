"""Chunks end where the subject changes: units are embedded once, and cuts fall between those that say different things (U3)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from clew.ingest.chunkers.blocks import described, given_blocks, row_of
from clew.ingest.chunkers.distances import best_cuts, distances
from clew.ingest.chunkers.html_blocks import html_blocks
from clew.ingest.chunkers.markdown_blocks import markdown_blocks
from clew.ingest.chunkers.messages import transcript_blocks
from clew.ingest.chunkers.packing import Choose, Cut, chunks_of, pack, strongest
from clew.ingest.chunkers.port import DEFAULT_OPTIONS, Boundary, Chunk, ChunkOptions, Embed, TokenCounter, Unit
from clew.ingest.chunkers.row import Level, Row
from clew.ingest.chunkers.tokens import estimate

_INSIDE = -3.0  # the gain of a cut inside a unit: worse than any between units, so that only size forces it
_FINDERS = {"conversation": transcript_blocks, "markdown": markdown_blocks, "html": html_blocks}


@dataclass(frozen=True, slots=True)
class Semantic:
    """Cuts between sentences, messages or blocks where the distance in meaning is large.

    `embed` turns texts into vectors, one row each; it is asked once for each text. A distance above
    `semantic_threshold` is significant. Where none is in reach of the largest size, the strongest is taken.
    """

    embed: Embed = field(repr=False)
    count: TokenCounter = field(default=estimate, repr=False)

    @property
    def name(self) -> str:
        """The name by which it is chosen."""
        return "semantic"

    @property
    def formats(self) -> frozenset[str]:
        """Those whose units it finds itself; any other text is cut between sentences."""
        return frozenset({"text", *_FINDERS})

    def chunk(
        self, text: str, *, format: str = "text", options: ChunkOptions = DEFAULT_OPTIONS, units: Sequence[Unit] | None = None
    ) -> tuple[Chunk, ...]:
        """Return pieces of one subject each, as far as their sizes allow."""
        blocks = given_blocks(text, units) if units else _FINDERS[format](text) if format in _FINDERS else []
        row = row_of(text, blocks, count=self.count, options=options) if blocks else self._sentences(text, options)
        if not len(row):
            return ()
        apart = distances(self.embed([text[start:end].strip() for start, end in zip(row.starts, row.ends, strict=True)]))
        return chunks_of(row, pack(row, _at_changes(row, apart)), described([block.unit for block in blocks]))

    def _sentences(self, text: str, options: ChunkOptions) -> Row:
        row = Row(text, count=self.count, options=options)
        row.add_sentences(0, len(text))
        return row


def _at_changes(row: Row, apart: Sequence[float]) -> Choose:
    """Return the choice of the cuts that are best for the whole text."""
    options = row.options
    gains = [distance - options.semantic_threshold if _between_units(row, at) else _INSIDE for at, distance in enumerate(apart)]
    room = options.max_tokens - options.overlap_tokens
    cuts = best_cuts(gains, row.sums, least=options.min_tokens, target=min(options.target_tokens, room), most=room)

    def choose(row: Row, first: int, room: int) -> Cut:
        last = cuts[bisect_right(cuts, first)]
        if row.size(first, last) > room and last > first + 1:
            return strongest(row, first, room)
        if last < len(row) and gains[last] > 0:
            return Cut(last, Boundary.SEMANTIC)
        structural = last == len(row) or row.levels[last] <= Level.ITEM
        return Cut(last, Boundary.STRUCTURAL if structural else Boundary.SIZE_LIMIT)

    return choose


def _between_units(row: Row, at: int) -> bool:
    """Tell whether a boundary lies between two units: blocks, or in plain text sentences."""
    if row.owners[-1] or row.owners[0]:
        return at > 0 and row.owners[at] != row.owners[at - 1]
    return row.levels[at] <= Level.SENTENCE
