"""How large is every stretch of a text? Running sums, made for all places at once, so that nothing is counted twice.

`sums[end] - sums[start]` is the size of `text[start:end]` wherever neither place is inside a run: a text without white space.
The sums never fall: a run's size stands at letters of its own, and none is below zero.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Sums: TypeAlias = "memoryview[int]"
RunSize: TypeAlias = Callable[[str], int]
_Numbers: TypeAlias = NDArray[np.int32]
_Places: TypeAlias = NDArray[np.intp]
_Codes: TypeAlias = NDArray[np.uint8]
_Mask: TypeAlias = NDArray[np.bool_]

BLOCK = 1 << 16  # letters; what is looked at together, so that it stays in the processor's cache
LETTERS_A_TOKEN = 6  # of `token_estimate`

_BEYOND = 0x3001  # behind the last white space
_SPACES = np.array([chr(point).isspace() for point in range(_BEYOND + 1)])  # as `str.split` knows them
_FOREIGN = 0x80
_MANY = 16  # where one letter of so many is not plain, each run is looked at: quicker than to set most of them right
_RUN_END = re.compile(r"\s|\Z")
_LOWER = np.uint8(0x20)  # the bit that makes ASCII letters small


def run_sums(text: str, run: RunSize) -> Sums:
    """Return the running sums of the sizes of the runs, each by `run`."""
    return _in_blocks(text, lambda block: _of_runs(block, run))


def estimate_sums(text: str, run: RunSize) -> Sums:
    """Return the same for `token_estimate`, much sooner: `run` is asked only where words are not plain ASCII ones."""
    return _in_blocks(text, lambda block: _of_estimates(block, run))


def run_places(text: str, sums: Sums, start: int, end: int) -> tuple[list[int], list[int]]:
    """Return where the runs of a stretch begin, and where it ends, with the sizes between; the first takes the space before it.

    >>> run_places(" one three", run_sums(" one three", len), 0, 10)
    ([0, 5, 10], [3, 5])
    """
    found = [start + first + _run_starts(text[start + first : start + last]) for first, last in _blocks(text[start:end])]
    places = np.concatenate([*found, (end,)])
    if len(places) > 1:
        places[0] = start
    return places.tolist(), np.diff(np.asarray(sums)[places]).tolist()


def _run_starts(text: str) -> _Places:
    return _stretches(~_spaces(_codes(text)))[0]


def _in_blocks(text: str, sizes: Callable[[str], _Numbers]) -> Sums:
    sums = np.zeros(len(text) + 1, np.int32)
    for start, end in _blocks(text):
        block = sizes(text[start:end])
        block[0] += sums[start]
        np.cumsum(block, dtype=np.int32, out=sums[start + 1 : end + 1])
    return sums.data


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield stretches that end between runs."""
    start = 0
    while start < len(text):
        found = _RUN_END.search(text, min(start + BLOCK, len(text)))
        end = found.start() if found else len(text)
        yield start, end
        start = end


def _of_runs(text: str, run: RunSize) -> _Numbers:
    """Return the size of each run at the place of its first letter, and zeros."""
    sizes = np.zeros(len(text), np.int32)
    starts = _run_starts(text)
    sizes[starts] = np.fromiter(map(run, text.split()), np.int32, len(starts))
    return sizes


def _of_estimates(text: str, run: RunSize) -> _Numbers:
    codes = _codes(text)
    letters, spaces = _letters(codes), _spaces(codes)
    words = letters | _digits(codes)
    special = _not_plain(codes, words, letters)
    if len(special) * _MANY > len(text):
        return _of_runs(text, run)
    starts, ends = _stretches(words)
    sizes = (~(words | spaces)).astype(np.int32)
    sizes[starts] = -((starts - ends) // LETTERS_A_TOKEN)
    for first, last in _runs_at(special, spaces):
        sizes[first:last] = 0
        sizes[first] = run(text[first:last])
    return sizes


def _codes(text: str) -> _Codes:
    """Return one byte for each letter: ASCII as it is, and all others as one sign or, where they are white space, a blank."""
    if text.isascii():
        return np.frombuffer(text.encode(), np.uint8)
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    codes = points.astype(np.uint8)
    foreign = np.flatnonzero(points >= _FOREIGN)
    codes[foreign] = np.where(_SPACES[np.minimum(points[foreign], _BEYOND)], ord(" "), _FOREIGN)
    return codes


# Comparisons of bytes run on many at once; a table that is looked into letter by letter takes several times as long.


def _between(codes: _Codes, first: str, last: str) -> _Mask:
    mask: _Mask = codes - ord(first) <= ord(last) - ord(first)  # what is below the first wraps around
    return mask


def _letters(codes: _Codes) -> _Mask:
    """Return where the letters A to Z are, large or small."""
    return _between(codes | _LOWER, "a", "z")


def _digits(codes: _Codes) -> _Mask:
    """Return where the digits 0 to 9 are."""
    return _between(codes, "0", "9")


def _spaces(codes: _Codes) -> _Mask:
    mask: _Mask = (codes == ord(" ")) | _between(codes, "\t", "\r")  # the others are dropped space, and not summed
    return mask


def _stretches(mask: _Mask) -> tuple[_Places, _Places]:
    """Return where the stretches of ones begin and end."""
    padded = np.zeros(len(mask) + 2, np.bool_)
    padded[1:-1] = mask
    (edges,) = (padded[1:] != padded[:-1]).nonzero()
    return edges[::2], edges[1::2]


def _not_plain(codes: _Codes, words: _Mask, letters: _Mask) -> _Places:
    """Return the places of foreign letters, and of apostrophes inside words, which are not counted apart ("don't")."""
    inside = codes >= _FOREIGN
    inside[1:-1] |= (codes[1:-1] == ord("'")) & words[:-2] & letters[2:]
    return np.flatnonzero(inside) if inside.any() else np.zeros(0, np.intp)


def _runs_at(places: _Places, spaces: _Mask) -> Iterator[tuple[int, int]]:
    """Yield where the runs begin and end that hold these places, each once."""
    if len(places):
        starts, ends = _stretches(~spaces)
        held = np.zeros(len(starts), np.bool_)
        held[np.searchsorted(starts, places, side="right") - 1] = True
        yield from zip(starts[held].tolist(), ends[held].tolist(), strict=True)
