"""End chunks at headings and where the subject changes; each unit is embedded once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from clew.documents.chunkers.blocks import (
    described,
    given_blocks,
    html_blocks,
    markdown_blocks,
    row_of,
)
from clew.documents.chunkers.messages import transcript_blocks
from clew.documents.chunkers.packing import Choose, Cut, as_one, chunks_of, pack, strongest
from clew.documents.chunkers.pieces import Level, Row
from clew.documents.chunkers.port import (
    DEFAULT_OPTIONS,
    Boundary,
    Chunk,
    ChunkOptions,
    Embed,
    TokenCounter,
    Unit,
    estimate,
)
from clew.documents.chunkers.topic_shifts import topic_shifts

# Choose the cuts of a text so that the gains of all cuts add up to the most.

# a chunk of half the target costs a quarter of it; tuned on the dev part of the Chroma chunking set
SIZE_WEIGHT = 0.02
_TOO_SMALL = 4.0  # what a chunk below the least size costs: more than two boundaries can ever bring


def _cost(size: int, least: int, target: int) -> float:
    return (_TOO_SMALL if size < least else 0.0) + SIZE_WEIGHT * (size / target - 1) ** 2


def best_cuts(
    gains: Sequence[float], sums: Sequence[int], *, least: int, target: int, most: int
) -> list[int]:
    """Return where to cut so that the gains of the cuts add up to the most, every chunk being at most `most`.

    `gains[n]` is what a cut before unit n brings: its distance less the threshold. So a significant
    boundary is cut wherever sizes allow, and where size forces a cut it falls on the strongest
    boundaries in reach. A unit larger than `most` is a chunk of its own.

    >>> best_cuts([0, -0.3, 0.2, -0.1, -0.2], [0, 10, 20, 30, 40, 50], least=10, target=30, most=30)
    [2, 5]
    """
    total = len(gains)
    best, before = [0.0] * (total + 1), [0] * (total + 1)
    low = 0
    for end in range(1, total + 1):
        while low < end - 1 and sums[end] - sums[low] > most:
            low += 1
        gain = gains[end] if end < total else 0.0
        scores = [
            best[start] - _cost(sums[end] - sums[start], least, target) for start in range(low, end)
        ]
        top = max(scores)
        best[end], before[end] = top + gain, low + scores.index(top)
    cuts = [total]
    while before[cuts[-1]]:
        cuts.append(before[cuts[-1]])
    return cuts[::-1]


_SECTION = 3.0  # the gain of a cut before a heading: only the least size prevents it
# the gain of a cut inside a unit: worse than any between units, so that only size forces it
_INSIDE = -3.0
_FINDERS = {"conversation": transcript_blocks, "markdown": markdown_blocks, "html": html_blocks}


@dataclass(frozen=True, slots=True)
class Semantic:
    """Cut before headings, and between sentences, messages or blocks where the subject changes.

    `embed` turns texts into vectors, one row each; it is called once per text. A change is
    significant when its depth is more than `semantic_threshold` standard deviations above the
    document's mean. Where none is within the largest size, the strongest is taken.
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
        self,
        text: str,
        *,
        format: str = "text",
        options: ChunkOptions = DEFAULT_OPTIONS,
        units: Sequence[Unit] | None = None,
    ) -> tuple[Chunk, ...]:
        """Return pieces of one subject each, as far as their sizes allow."""
        blocks = (
            given_blocks(text, units)
            if units
            else _FINDERS[format](text)
            if format in _FINDERS
            else []
        )
        whole = as_one(text, count=self.count, options=options) if not blocks else None
        if whole is not None:
            return whole
        row = (
            row_of(text, blocks, count=self.count, options=options)
            if blocks
            else self._sentences(text, options)
        )
        if not len(row):
            return ()
        choose = strongest if row.size(0, len(row)) <= options.min_tokens else self._at_changes(row)
        return chunks_of(row, pack(row, choose), described([block.unit for block in blocks]))

    def _sentences(self, text: str, options: ChunkOptions) -> Row:
        row = Row(text, count=self.count, options=options)
        row.add_sentences(0, len(text))
        return row

    def _at_changes(self, row: Row) -> Choose:
        """Return the choice of the cuts that are best for the whole text."""
        units = [
            row.text[start:end].strip() for start, end in zip(row.starts, row.ends, strict=True)
        ]
        gains, cuts = _cuts(
            row, topic_shifts(self.embed(units), threshold=row.options.semantic_threshold)
        )

        def choose(row: Row, first: int, room: int) -> Cut:
            last = cuts[bisect_right(cuts, first)]
            if row.size(first, last) > room and last > first + 1:
                return strongest(row, first, room)
            if last < len(row) and gains[last] > 0 and row.levels[last] != Level.SECTION:
                return Cut(last, Boundary.SEMANTIC)
            structural = last == len(row) or row.levels[last] <= Level.ITEM
            return Cut(last, Boundary.STRUCTURAL if structural else Boundary.SIZE_LIMIT)

        return choose


def _cuts(row: Row, shifts: Sequence[float]) -> tuple[list[float], list[int]]:
    """Return the gain of a cut at each place, and the cuts that are best for the whole text."""
    options = row.options
    gains = [_gain(row, at, shift) for at, shift in enumerate(shifts)]
    room = options.max_tokens - options.overlap_tokens
    target = min(options.target_tokens, room)
    return gains, best_cuts(gains, row.sums, least=options.min_tokens, target=target, most=room)


def _gain(row: Row, at: int, shift: float) -> float:
    if at and row.levels[at] == Level.SECTION:
        return _SECTION
    return shift if _between_units(row, at) else _INSIDE


def _between_units(row: Row, at: int) -> bool:
    """Tell whether a boundary lies between two units: blocks, or in plain text sentences."""
    if row.owners[-1] or row.owners[0]:
        return at > 0 and row.owners[at] != row.owners[at - 1]
    return row.levels[at] <= Level.SENTENCE
