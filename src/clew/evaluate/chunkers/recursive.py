"""Paragraphs where they fit, else lines, else sentences, else words: the usual way to cut a text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from clew.evaluate.chunkers.atoms import Atoms
from clew.evaluate.chunkers.port import Chunk, checked_size, pieces

PARAGRAPH, LINE, SENTENCE, WORD, ANYWHERE = range(5)
_SENTENCE_ENDS = frozenset(".!?…。！？")
_WIDE_ENDS = frozenset("。！？")  # scripts without spaces go on right behind them


@dataclass(frozen=True, slots=True)
class Recursive:
    """Cuts at the strongest separators first and joins neighbours up to `size` tokens, as LangChain's splitter does."""

    size: int

    def __post_init__(self) -> None:
        """Refuse a size that cannot be kept."""
        checked_size(self.size)

    @property
    def name(self) -> str:
        """The name with its size."""
        return f"recursive-{self.size}"

    def chunk(self, text: str, *, format: str = "text") -> tuple[Chunk, ...]:  # noqa: ARG002 - the same for every format
        """Return pieces of at most `size` tokens that together hold all that is not white space."""
        atoms = Atoms(text, largest=self.size)
        strengths = [_strength(atoms, at) for at in range(len(atoms))]
        return pieces(text, [atoms.span(*part) for part in _cut(atoms, strengths, (0, len(atoms)), self.size, PARAGRAPH)])


def _strength(atoms: Atoms, at: int) -> int:
    """Return what kind of separator stands before an atom; smaller is stronger."""
    if at == 0:
        return PARAGRAPH
    gap, before = atoms.gap(at), atoms.text[atoms.ends[at - 1] - 1]
    if "\n" in gap:
        return PARAGRAPH if gap.count("\n") > 1 else LINE
    if before in _SENTENCE_ENDS and (gap or before in _WIDE_ENDS):
        return SENTENCE
    return WORD if gap else ANYWHERE


def _cut(atoms: Atoms, strengths: list[int], part: tuple[int, int], size: int, level: int) -> list[tuple[int, int]]:
    """Return stretches that fit; what is too large at this level is cut at the next, and not joined with its neighbours."""
    done: list[tuple[int, int]] = []
    joinable = False
    for first, last in _split(strengths, part, level):
        if not atoms.fits(first, last, size):
            done += _cut(atoms, strengths, (first, last), size, level + 1)
            joinable = False
        elif joinable and atoms.fits(done[-1][0], last, size):
            done[-1] = (done[-1][0], last)
        else:
            done.append((first, last))
            joinable = True
    return done


def _split(strengths: list[int], part: tuple[int, int], level: int) -> Iterator[tuple[int, int]]:
    first, last = part
    inner = [at for at in range(first + 1, last) if strengths[at] <= level]
    return pairwise([first, *inner, last]) if first < last else iter(())
