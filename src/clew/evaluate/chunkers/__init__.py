"""How can a text be cut? One port, one unit of size, equal budgets for all."""

from __future__ import annotations

from clew.errors import InputError
from clew.evaluate.chunkers.chonkie import Chonkie
from clew.evaluate.chunkers.cutting import CHUNK, cut
from clew.evaluate.chunkers.fixed import Fixed
from clew.evaluate.chunkers.port import Chunk, Chunker, count_tokens
from clew.evaluate.chunkers.recursive import Recursive

__all__ = ["CHUNK", "NAMES", "Chonkie", "Chunk", "Chunker", "Fixed", "Recursive", "chunker", "count_tokens", "cut"]

NAMES = ("fixed", "recursive", "chonkie-recursive", "chonkie-code")


def chunker(name: str, *, size: int, overlap: int = 0) -> Chunker:
    """Return a chunker by name, with its budget in tokens of `count_tokens`; only `fixed` overlaps.

    >>> chunker("recursive", size=200).name
    'recursive-200'
    """
    if name not in NAMES:
        raise InputError("chunker", name, "is not a chunker", f"Use one of {', '.join(NAMES)}.")
    if name == "fixed":
        return Fixed(size, overlap)
    if overlap:
        raise InputError("overlap", overlap, f"is not something that {name} does", "Use 0, or the chunker fixed.")
    return Recursive(size) if name == "recursive" else Chonkie(size, name.removeprefix("chonkie-"))
