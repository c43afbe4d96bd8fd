"""Windows of equal size: the chunker that every other one must beat."""

from __future__ import annotations

from dataclasses import dataclass

from clew.evaluate.chunkers.atoms import Atoms
from clew.evaluate.chunkers.port import Chunk, checked_size, pieces


@dataclass(frozen=True, slots=True)
class Fixed:
    """Cuts every `size` tokens, between words; each chunk begins with the last `overlap` tokens of the one before."""

    size: int
    overlap: int = 0

    def __post_init__(self) -> None:
        """Refuse a size or an overlap that cannot be kept."""
        checked_size(self.size, overlap=self.overlap)

    @property
    def name(self) -> str:
        """The name with size and overlap."""
        return f"fixed-{self.size}" + (f"-{self.overlap}" if self.overlap else "")

    def chunk(self, text: str, *, format: str = "text") -> tuple[Chunk, ...]:  # noqa: ARG002 - the same for every format
        """Return windows of at most `size` tokens that together hold all that is not white space."""
        atoms = Atoms(text, largest=self.size)
        ranges = []
        first = last = 0
        while last < len(atoms):
            last = atoms.reach(first, self.size)
            ranges.append(atoms.span(first, last))
            first = max(first + 1, atoms.back(last, self.overlap))
        return pieces(text, ranges)
