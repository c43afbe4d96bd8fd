"""What a chunker is: the values that go in and come out, and what every one of them promises.

Promises, kept for any text: `text[start:end] == chunk.text`; no chunk is larger than `max_tokens`
by the chunker's own counter; together the chunks hold all that is not white space; starts increase;
equal texts are cut equally; white space alone gives no chunk. A chunk below `min_tokens` is joined
to a neighbour where that keeps `max_tokens`. Where a chunk ended for its size alone
(`Boundary.SIZE_LIMIT`) the next one begins inside it, by at most `overlap_tokens`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clew.errors import InputError
from clew.text.sentences import sentence_count
from clew.text.words import keywords, token_estimate
from clew.types import Vectors

TokenCounter: TypeAlias = Callable[[str], int]
Embed: TypeAlias = Callable[[list[str]], Vectors]

SMALLEST_MAX = 8  # below it a single long word no longer fits
TOPIC_WORDS = 5


class Boundary(StrEnum):
    """What ended a chunk: a change of subject, a place that the format offers, or its size alone."""

    SEMANTIC = "semantic"
    STRUCTURAL = "structural"
    SIZE_LIMIT = "size-limit"


def _within(field: str, value: float, least: float, most: float | None) -> None:
    if not value >= least or (most is not None and value > most):
        allowed = f"{least} or more" if most is None else f"{least} to {most}"
        raise InputError(
            field, value, "does not go with the other sizes of a chunk", f"Use {allowed}."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkOptions:
    """How large chunks are, in tokens of the chunker's counter."""

    min_tokens: int = 100
    target_tokens: int = 512
    max_tokens: int = 768
    overlap_tokens: int = 50
    semantic_threshold: float = 1.0

    def __post_init__(self) -> None:
        """Refuse sizes that contradict each other."""
        _within("max_tokens", self.max_tokens, SMALLEST_MAX, None)
        _within("target_tokens", self.target_tokens, 1, self.max_tokens)
        _within("min_tokens", self.min_tokens, 0, self.target_tokens)
        _within("overlap_tokens", self.overlap_tokens, 0, self.max_tokens // 2)
        _within("semantic_threshold", self.semantic_threshold, 0, 10)


DEFAULT_OPTIONS = ChunkOptions()


@dataclass(frozen=True, slots=True)
class Unit:
    """What must not be cut without need: a message, a block, a sentence."""

    start: int
    end: int
    speaker: str = ""
    time: datetime | None = None
    heading: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of a text: `whole[start:end] == text`."""

    text: str
    start: int
    end: int
    index: int
    boundary: Boundary
    context: str = ""
    """Where it stands (headings, scopes and imports, speakers); never a part of the text or its
    offsets.
    """
    path: tuple[str, ...] = ()
    """The headings or scopes around it, outermost first."""

    @property
    def sentences(self) -> int:
        """How many sentences it holds; counted when asked for, so that cutting stays quick."""
        return sentence_count(self.text)

    @property
    def topic(self) -> tuple[str, ...]:
        """What it is about: its first keywords."""
        return keywords(self.text, limit=TOPIC_WORDS)


class Chunker(Protocol):
    """Cuts a text into pieces, in order."""

    @property
    def name(self) -> str:
        """The name by which it is chosen."""

    @property
    def formats(self) -> frozenset[str]:
        """The formats whose structure it knows; any other is cut as plain text."""

    def chunk(
        self,
        text: str,
        *,
        format: str = "text",
        options: ChunkOptions = DEFAULT_OPTIONS,
        units: Sequence[Unit] | None = None,
    ) -> tuple[Chunk, ...]:
        """Return the pieces of a text.

        `units` is what its reader already knows of its structure.
        """


# How large is every stretch of a text? Running sums, made for all places at once, so that nothing
# is counted twice.
#
# `sums[end] - sums[start]` is the size of `text[start:end]` wherever neither place is inside a run:
# a text without white space.
# The sums never fall: a run's size stands at letters of its own, and none is below zero.

Sums: TypeAlias = "memoryview[int]"
RunSize: TypeAlias = Callable[[str], int]
_Numbers: TypeAlias = NDArray[np.int32]
_Places: TypeAlias = NDArray[np.intp]
_Codes: TypeAlias = NDArray[np.uint8]
_Mask: TypeAlias = NDArray[np.bool_]

BLOCK = 1 << 16  # letters; what is looked at together, so that it stays in the processor's cache
LETTERS_A_TOKEN = 6  # of `token_estimate`

_BEYOND = 0x3001  # behind the last white space
# as `str.split` knows them
_SPACES = np.array([chr(point).isspace() for point in range(_BEYOND + 1)])
_FOREIGN = 0x80
# where one letter of so many is not plain, each run is looked at: quicker than to set most of them
# right
_MANY = 16
_RUN_END = re.compile(r"\s|\Z")
_LOWER = np.uint8(0x20)  # the bit that makes ASCII letters small


def run_sums(text: str, run: RunSize) -> Sums:
    """Return the running sums of the sizes of the runs, each by `run`."""
    return _in_blocks(text, lambda block: _of_runs(block, run))


def estimate_sums(text: str, run: RunSize) -> Sums:
    """Return the same for `token_estimate`, much sooner.

    `run` is asked only where words are not plain ASCII ones.
    """
    return _in_blocks(text, lambda block: _of_estimates(block, run))


def run_places(text: str, sums: Sums, start: int, end: int) -> tuple[list[int], list[int]]:
    """Return where the runs of a stretch begin, and where it ends, with the sizes between.

    The first takes the space before it.

    >>> run_places(" one three", run_sums(" one three", len), 0, 10)
    ([0, 5, 10], [3, 5])
    """
    found = [
        start + first + _run_starts(text[start + first : start + last])
        for first, last in _blocks(text[start:end])
    ]
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
    """Return one byte for each letter.

    ASCII as it is, and all others as one sign or, where they are white space, a blank.
    """
    if text.isascii():
        return np.frombuffer(text.encode(), np.uint8)
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    codes = points.astype(np.uint8)
    foreign = np.flatnonzero(points >= _FOREIGN)
    codes[foreign] = np.where(_SPACES[np.minimum(points[foreign], _BEYOND)], ord(" "), _FOREIGN)
    return codes


# Comparisons of bytes run on many at once; a table that is looked into letter by letter takes
# several times as long.


def _between(codes: _Codes, first: str, last: str) -> _Mask:
    # what is below the first wraps around
    mask: _Mask = codes - ord(first) <= ord(last) - ord(first)
    return mask


def _letters(codes: _Codes) -> _Mask:
    """Return where the letters A to Z are, large or small."""
    return _between(codes | _LOWER, "a", "z")


def _digits(codes: _Codes) -> _Mask:
    """Return where the digits 0 to 9 are."""
    return _between(codes, "0", "9")


def _spaces(codes: _Codes) -> _Mask:
    # the others are dropped space, and not summed
    mask: _Mask = (codes == ord(" ")) | _between(codes, "\t", "\r")
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


# How large is a text? Counted word by word, each word once.

REMEMBERED_RUNS = 1 << 17  # about 15 MB
LONGEST_REMEMBERED = 64  # longer runs are addresses and blobs, which do not come again
# the fewest tokens a run can have: a vocabulary takes a blob of any length for one unknown word
CHARACTERS_A_TOKEN = 64
# str.split parts a text there; a BERT tokenizer drops them and joins what they part
DROPPED_SPACE = "\x0b\x0c\x1c\x1d\x1e\x1f\x85"
_ATOM = re.compile(r"[A-Za-z0-9]+(?:'[A-Za-z]+)?|[^A-Za-z0-9]")
_SPACE = re.compile("[ \t\n\r]+")


class RunCounts:
    """A quick counter out of a slow one that treats each run between white space alone.

    Both `token_estimate` and a BERT tokenizer do: words and signs are parted inside a run, and
    nothing reaches across a space. The counts are exactly those of the slow one, but for blobs (see
    CHARACTERS_A_TOKEN). They add up where texts meet at white space, so that a sum of counts needs
    no second look.

    >>> counts = RunCounts(token_estimate)
    >>> counts("Postgres listens on port 5432."), token_estimate("Postgres listens on port 5432.")
    (8, 8)
    """

    def __init__(self, count: TokenCounter) -> None:
        self._runs = _Runs(count)
        self.run: TokenCounter = self._runs.__getitem__
        """Counts a text without white space."""

    def __call__(self, text: str) -> int:
        """Return how many tokens a text has."""
        runs = _SPACE.split(text) if has_dropped_space(text) else text.split()
        return sum(map(self._runs.__getitem__, runs))

    def plain(self, text: str) -> int:
        """Return the same for a text without `has_dropped_space`, a little sooner."""
        return sum(map(self._runs.__getitem__, text.split()))

    def sums(self, text: str) -> Sums:
        """Return the running sums of a text without `has_dropped_space`, for all that stands between two spaces."""
        return run_sums(text, self.run)


def has_dropped_space(text: str) -> bool:
    """Tell whether a text has white space at which counts need not add up."""
    return any(map(text.__contains__, DROPPED_SPACE))


class _Runs(dict[str, int]):
    """The count of each run, filled as they turn up."""

    def __init__(self, count: TokenCounter) -> None:
        super().__init__()
        self._count = count

    def __missing__(self, run: str) -> int:
        size = max(self._count(run), len(run) // CHARACTERS_A_TOKEN)
        if len(run) <= LONGEST_REMEMBERED:
            if len(self) >= REMEMBERED_RUNS:
                self.clear()  # as good as an order of use: common words are back at once
            self[run] = size
        return size


class _Estimates(dict[str, int]):
    """The `token_estimate` of words and signs.

    A run out of them is a sum, five times as quick as one without memory.
    """

    def __missing__(self, atom: str) -> int:
        size = token_estimate(atom)
        if len(self) < REMEMBERED_RUNS:
            self[atom] = size
        return size

    def run(self, run: str) -> int:
        """Return the estimate of a text without white space."""
        return (
            sum(map(self.__getitem__, _ATOM.findall(run))) if run.isascii() else token_estimate(run)
        )


class _EstimateCounts(RunCounts):
    """Counts by `token_estimate`."""

    def __init__(self) -> None:
        super().__init__(_Estimates().run)

    def sums(self, text: str) -> Sums:
        """Return the running sums of a text without `has_dropped_space`, without a look at each of its runs."""
        return estimate_sums(text, self.run)


estimate: RunCounts = _EstimateCounts()
"""The default: about what language models count, rather too many than too few."""
