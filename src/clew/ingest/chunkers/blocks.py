"""Blocks: what a format's own structure says must not be cut without need, and how chunks are made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from clew.errors import InputError
from clew.ingest.chunkers.packing import Describe, chunks_of, pack
from clew.ingest.chunkers.parts import Parts
from clew.ingest.chunkers.port import Chunk, ChunkOptions, TokenCounter, Unit
from clew.ingest.chunkers.row import Level, Row
from clew.times import iso


class Block(NamedTuple):
    """A unit, how strong the boundary before it is, and how to take it apart when it is too large."""

    unit: Unit
    level: Level = Level.BLOCK
    parts: Parts | None = None


def cut_blocks(text: str, blocks: Sequence[Block], *, count: TokenCounter, options: ChunkOptions) -> tuple[Chunk, ...]:
    """Return chunks of whole blocks where they fit, each with its headings, speakers and times."""
    row = row_of(text, blocks, count=count, options=options)
    return chunks_of(row, pack(row), described([block.unit for block in blocks]))


def row_of(text: str, blocks: Sequence[Block], *, count: TokenCounter, options: ChunkOptions) -> Row:
    """Return the row of pieces that blocks become; what stands between two of them goes with the first."""
    row = Row(text, count=count, options=options)
    ends = [block.unit.start for block in blocks[1:]] + [len(text)]
    row.add_paragraphs(0, blocks[0].unit.start if blocks else len(text))
    for owner, (block, end) in enumerate(zip(blocks, ends, strict=False)):
        row.add_block(block.unit.start, end, block.level, owner, block.parts)
    return row


def given_blocks(text: str, units: Sequence[Unit]) -> list[Block]:
    """Return a reader's units as blocks, or complain about what is not in the text or out of order."""
    at = 0
    for unit in units:
        if not at <= unit.start <= unit.end <= len(text):
            raise InputError(
                "units", (unit.start, unit.end), "is not behind the unit before it and inside the text", "Give units in order."
            )
        at = unit.end
    return [Block(unit) for unit in units if unit.start < unit.end]


def described(units: Sequence[Unit]) -> Describe:
    """Return the function that says where a chunk stands: its headings, who speaks and when."""

    def describe(owners: Sequence[int]) -> tuple[str, tuple[str, ...]]:
        held = [units[owner] for owner in dict.fromkeys(owners)] if units else []
        path = common_path([unit.heading for unit in held])
        speakers = ", ".join(dict.fromkeys(unit.speaker for unit in held if unit.speaker))
        return " · ".join(filter(None, (" > ".join(path), speakers, _times(held)))), path

    return describe


def common_path(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return what all paths begin with, or the first of them if they share nothing.

    >>> common_path([("Guide", "Install"), ("Guide", "Use")])
    ('Guide',)
    """
    shared: tuple[str, ...] = ()
    for names in zip(*paths, strict=False):
        if len(set(names)) > 1:
            break
        shared = (*shared, names[0])
    return shared or next(iter(paths), ())


def _times(units: Sequence[Unit]) -> str:
    moments = [iso(unit.time) for unit in units if unit.time is not None]
    return " – ".join(dict.fromkeys((min(moments), max(moments)))) if moments else ""
