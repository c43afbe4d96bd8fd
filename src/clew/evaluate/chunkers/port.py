"""What a chunker is, and the one unit in which all of them are measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from clew.errors import InputError
from clew.words import token_estimate

SMALLEST_SIZE = 8  # below it a single long word no longer fits


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a text: `whole[start:end] == text`."""

    text: str
    start: int
    end: int
    index: int


class Chunker(Protocol):
    """Cuts a text into pieces, in order; equal texts are cut equally."""

    @property
    def name(self) -> str:
        """The name in tables, with every number that matters: `recursive-200`."""

    def chunk(self, text: str, *, format: str = "text") -> tuple[Chunk, ...]:
        """Return the pieces of a text of a format (text, markdown, python, …); none for white space."""


def count_tokens(text: str) -> int:
    """Return the size of a text: the one unit for all chunkers, ours and others'.

    >>> count_tokens("Postgres listens on port 5432.")
    8
    """
    return token_estimate(text)


def checked_size(size: int, *, overlap: int = 0) -> None:
    """Complain about a size or an overlap that no chunker can keep."""
    if size < SMALLEST_SIZE:
        raise InputError("size", size, "is too small a chunk", f"Use {SMALLEST_SIZE} tokens or more.")
    if not 0 <= overlap <= size // 2:
        raise InputError("overlap", overlap, "is not between nothing and half of the size", f"Use 0 to {size // 2} tokens.")


def pieces(text: str, ranges: list[tuple[int, int]]) -> tuple[Chunk, ...]:
    """Return the chunks at the given offsets, numbered in order."""
    return tuple(Chunk(text[start:end], start, end, n) for n, (start, end) in enumerate(ranges))
