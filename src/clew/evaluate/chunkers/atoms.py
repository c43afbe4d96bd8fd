"""A text as a row of words and signs with their sizes: what a chunker may put together and never needs to cut."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import accumulate

from clew.evaluate.chunkers.port import count_tokens
from clew.words import words


class Atoms:
    """The words and signs of a text in order, with running sums of their sizes.

    Sizes add up, but not where a word had to be cut: its pieces join with each other and with what follows in ways
    of their own. `fits` counts again there.
    """

    def __init__(self, text: str, *, largest: int) -> None:
        """Take a text apart; a word larger than `largest` becomes several atoms."""
        atoms = list(_atoms(text, largest))
        self.text = text
        self.starts = [start for start, _, _ in atoms]
        self.ends = [end for _, end, _ in atoms]
        self._sums = [0, *accumulate(size for _, _, size in atoms)]
        self._adds_up = all(count_tokens(word) <= largest for word in words(text))

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.starts)

    def fits(self, first: int, last: int, size: int) -> bool:
        """Tell whether the atoms from `first` up to and without `last` are at most `size` together."""
        if self._sums[last] - self._sums[first] > size:
            return False
        return self._adds_up or count_tokens(self.text[slice(*self.span(first, last))]) <= size

    def reach(self, first: int, size: int) -> int:
        """Return up to which atom a stretch from `first` may go; at least one further."""
        last = bisect_right(self._sums, self._sums[first] + size) - 1
        while last > first + 1 and not self.fits(first, last, size):
            last -= 1
        return max(first + 1, last)

    def back(self, last: int, size: int) -> int:
        """Return from which atom on the atoms before `last` are at most `size` together."""
        return bisect_left(self._sums, self._sums[last] - size)

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Return the offsets of a stretch."""
        return self.starts[first], self.ends[last - 1]

    def gap(self, at: int) -> str:
        """Return what stands before an atom: white space or nothing."""
        return self.text[self.ends[at - 1] : self.starts[at]]


def _atoms(text: str, largest: int) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and size of every word and sign."""
    at = 0
    for word in words(text):
        start = text.index(word, at)  # exact: nothing between two words can begin a word
        yield from _signs(text, at, start)
        at = start + len(word)
        size = count_tokens(word)
        yield from [(start, at, size)] if size <= largest else _cut(word, start, largest)
    yield from _signs(text, at, len(text))


def _cut(word: str, start: int, largest: int) -> Iterator[tuple[int, int, int]]:
    """Yield a long word in pieces that fit: a letter counts two at most."""
    step = largest // 2
    for at in range(0, len(word), step):
        piece = word[at : at + step]
        yield start + at, start + at + len(piece), count_tokens(piece)


def _signs(text: str, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    return ((at, at + 1, 1) for at in range(start, end) if not text[at].isspace())
