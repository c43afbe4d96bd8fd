"""Chunks end where the subject changes.

Units are embedded once, and cuts fall between those that say different things (U3).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from clew.documents.chunkers.blocks import (
    described,
    given_blocks,
    html_blocks,
    markdown_blocks,
    row_of,
)
from clew.documents.chunkers.messages import transcript_blocks
from clew.documents.chunkers.packing import Choose, Cut, chunks_of, pack, strongest
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
from clew.types import Vectors

# Where does the subject change? Distances between neighbours in meaning, and the best way to cut at
# the large ones (U2).

# a chunk of half the target costs a quarter of it; tuned on the dev part of the Chroma chunking set
SIZE_WEIGHT = 0.02
_TOO_SMALL = 4.0  # what a chunk below the least size costs: more than two boundaries can ever bring


def distances(vectors: Vectors) -> list[float]:
    """Return 1 − cosine between each unit and the one before it; the first has none before it: 0.

    Means over several units on either side were tried on the dev part of the Chroma chunking set:
    no better.

    >>> distances(np.array([[1, 0], [1, 0], [0, 1]], np.float32))
    [0.0, 0.0, 1.0]
    """
    rows = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return [0.0, *(float(each) for each in np.round(1 - (rows[1:] * rows[:-1]).sum(axis=1), 6))]


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


# the gain of a cut inside a unit: worse than any between units, so that only size forces it
_INSIDE = -3.0
_FINDERS = {"conversation": transcript_blocks, "markdown": markdown_blocks, "html": html_blocks}


@dataclass(frozen=True, slots=True)
class Semantic:
    """Cuts between sentences, messages or blocks where the distance in meaning is large.

    `embed` turns texts into vectors, one row each; it is asked once for each text. A distance above
    `semantic_threshold` is significant. Where none is in reach of the largest size, the strongest
    is taken.
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
        row = (
            row_of(text, blocks, count=self.count, options=options)
            if blocks
            else self._sentences(text, options)
        )
        if not len(row):
            return ()
        apart = distances(
            self.embed(
                [text[start:end].strip() for start, end in zip(row.starts, row.ends, strict=True)]
            )
        )
        return chunks_of(
            row, pack(row, _at_changes(row, apart)), described([block.unit for block in blocks])
        )

    def _sentences(self, text: str, options: ChunkOptions) -> Row:
        row = Row(text, count=self.count, options=options)
        row.add_sentences(0, len(text))
        return row


def _at_changes(row: Row, apart: Sequence[float]) -> Choose:
    """Return the choice of the cuts that are best for the whole text."""
    options = row.options
    gains = [
        distance - options.semantic_threshold if _between_units(row, at) else _INSIDE
        for at, distance in enumerate(apart)
    ]
    room = options.max_tokens - options.overlap_tokens
    cuts = best_cuts(
        gains,
        row.sums,
        least=options.min_tokens,
        target=min(options.target_tokens, room),
        most=room,
    )

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
