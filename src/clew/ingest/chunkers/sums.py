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
_Mask: TypeAlias = NDArray[np.bool_]

BLOCK = 1 << 16  # letters; what is looked at together, so that it stays in the processor's cache
LETTERS_A_TOKEN = 6  # of `token_estimate`

_SPACES = [chr(point) for point in range(0x3001) if chr(point).isspace()]  # as `str.split` knows them
_FOREIGN_SPACES = np.array([ord(each) for each in _SPACES if not each.isascii()], np.uint32)
_FOREIGN = 0x80
_MANY = 16  # where one letter of so many is not plain, each run is looked at: quicker than to set most of them right
_RUN_END = re.compile(r"\s|\Z")


def _table(holds: Callable[[str], bool]) -> bytes:
    return bytes(point < _FOREIGN and holds(chr(point)) for point in range(256))


_IS_SPACE = _table(str.isspace)
_IS_WORD = _table(str.isalnum)
_IS_SIGN = _table(lambda letter: not (letter.isspace() or letter.isalnum()))
_LETTERS = np.frombuffer(_table(str.isalpha), np.bool_)


def run_sums(text: str, run: RunSize) -> Sums:
    """Return the running sums of the sizes of the runs, each by `run`."""
    return _in_blocks(text, lambda block: _of_runs(block, run))


def estimate_sums(text: str, run: RunSize) -> Sums:
    """Return the same for `token_estimate`, much sooner: `run` is asked only where words are not plain ASCII ones."""
    return _in_blocks(text, lambda block: _of_estimates(block, run))


def _in_blocks(text: str, sizes: Callable[[str], _Numbers]) -> Sums:
    sums = np.zeros(len(text) + 1, np.int32)
    for start, end in _blocks(text):
        np.cumsum(sizes(text[start:end]), dtype=np.int32, out=sums[start + 1 : end + 1])
        sums[start + 1 : end + 1] += sums[start]
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
    starts, _ = _stretches(~_mask(_codes(text), _IS_SPACE))
    sizes[starts] = np.fromiter(map(run, text.split()), np.int32, len(starts))
    return sizes


def _of_estimates(text: str, run: RunSize) -> _Numbers:
    codes = _codes(text)
    words = _mask(codes, _IS_WORD)
    special = _not_plain(codes, words)
    if len(special) * _MANY > len(text):
        return _of_runs(text, run)
    starts, ends = _stretches(words)
    sizes = _mask(codes, _IS_SIGN).astype(np.int32)
    sizes[starts] = -((starts - ends) // LETTERS_A_TOKEN)
    for first, last in _runs_at(special, codes):
        sizes[first:last] = 0
        sizes[first] = run(text[first:last])
    return sizes


def _codes(text: str) -> bytes:
    """Return one byte for each letter: ASCII as it is, and all others as one sign or, where they are white space, a blank."""
    if text.isascii():
        return text.encode()
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    codes = points.astype(np.uint8)
    foreign = np.flatnonzero(points >= _FOREIGN)
    codes[foreign] = np.where(np.isin(points[foreign], _FOREIGN_SPACES), ord(" "), _FOREIGN)
    return codes.tobytes()


def _mask(codes: bytes, table: bytes) -> _Mask:
    return np.frombuffer(codes.translate(table), np.bool_)


def _stretches(mask: _Mask) -> tuple[_Places, _Places]:
    """Return where the stretches of ones begin and end."""
    padded = np.zeros(len(mask) + 2, np.bool_)
    padded[1:-1] = mask
    edges = np.flatnonzero(padded[1:] != padded[:-1])
    return edges[::2], edges[1::2]


def _not_plain(codes: bytes, words: _Mask) -> _Places:
    """Return the places of foreign letters, and of apostrophes inside words, which are not counted apart ("don't")."""
    letters = np.frombuffer(codes, np.uint8)
    quotes = np.flatnonzero(letters[1:-1] == ord("'")) + 1
    inside = quotes[words[quotes - 1] & _LETTERS[letters[quotes + 1]]]
    return np.concatenate((inside, np.flatnonzero(letters >= _FOREIGN)))


def _runs_at(places: _Places, codes: bytes) -> Iterator[tuple[int, int]]:
    """Yield where the runs begin and end that hold these places, each once."""
    if len(places):
        starts, ends = _stretches(~_mask(codes, _IS_SPACE))
        held = np.zeros(len(starts), np.bool_)
        held[np.searchsorted(starts, places, side="right") - 1] = True
        yield from zip(starts[held].tolist(), ends[held].tolist(), strict=True)
