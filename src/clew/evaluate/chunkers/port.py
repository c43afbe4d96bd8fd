"""What a chunker is here: one with its budget, so that a table can name it.

All budgets are in one unit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from clew.documents.chunkers.port import Boundary, Chunk, ChunkOptions, estimate
from clew.documents.chunkers.port import Chunker as ProductChunker
from clew.errors import InputError

SMALLEST_SIZE = 8  # below it a single long word no longer fits
# a chunk below a fifth of its budget joins a neighbour: 100 of 512, as the product has it
LEAST_SHARE = 5

count_tokens = estimate
"""The size of a text: the one unit for all chunkers, ours and others'."""


class Chunker(Protocol):
    """Cuts a text into pieces, in order; equal texts are cut equally."""

    @property
    def name(self) -> str:
        """The name in tables, with every number that matters: `recursive-200`."""

    def chunk(self, text: str, *, format: str = "text") -> tuple[Chunk, ...]:
        """Return the pieces of a text of a format (text, markdown, python, …).

        None for white space.
        """


@dataclass(frozen=True, slots=True)
class Sized:
    """One of the product's chunkers with `size` for its target and its limit, so that all have the same budget."""

    chunker: ProductChunker
    size: int
    overlap: int = 0
    options: ChunkOptions = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse a size or an overlap that cannot be kept."""
        checked_size(self.size, overlap=self.overlap)
        options = ChunkOptions(
            min_tokens=self.size // LEAST_SHARE,
            target_tokens=self.size,
            max_tokens=self.size,
            overlap_tokens=self.overlap,
        )
        object.__setattr__(self, "options", options)

    @property
    def name(self) -> str:
        """The name with size and overlap."""
        return f"{self.chunker.name}-{self.size}" + (f"-{self.overlap}" if self.overlap else "")

    def chunk(self, text: str, *, format: str = "text") -> tuple[Chunk, ...]:
        """Return the chunker's pieces within the budget."""
        return self.chunker.chunk(text, format=format, options=self.options)


def checked_size(size: int, *, overlap: int = 0) -> None:
    """Complain about a size or an overlap that no chunker can keep."""
    if size < SMALLEST_SIZE:
        raise InputError(
            "size", size, "is too small a chunk", f"Use {SMALLEST_SIZE} tokens or more."
        )
    if not 0 <= overlap <= size // 2:
        raise InputError(
            "overlap",
            overlap,
            "is not between nothing and half of the size",
            f"Use 0 to {size // 2} tokens.",
        )


def pieces(text: str, ranges: list[tuple[int, int]]) -> tuple[Chunk, ...]:
    """Return the chunks at the given offsets, numbered in order.

    A peer does not say what ended them.
    """
    return tuple(
        Chunk(text=text[start:end], start=start, end=end, index=index, boundary=Boundary.SIZE_LIMIT)
        for index, (start, end) in enumerate(ranges)
    )
