"""A text as a row of pieces with their sizes.

What a chunker may put together and has no need to cut.

A piece begins behind a boundary of some strength. Blocks (paragraphs, messages, functions …) that
fit are one piece; larger ones fall apart into lines, lines into sentences, clauses, words and at
last letters, so that every piece fits.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from itertools import accumulate, islice, repeat

from clew.documents.chunkers.port import (
    ChunkOptions,
    RunCounts,
    Sums,
    TokenCounter,
    has_dropped_space,
    run_places,
)
from clew.text.sentences import Splitter, clauses, letters, paragraphs, sentences, words

# few: what is longer is taken apart at once, not counted twice; packing puts it together again
CHARACTERS_A_TOKEN = 4
_RUN_START = re.compile(r"\s*+(?=\S)")
_NEXT_RUN = re.compile(r"\S*+\s++(?=\S)")
_SUMMED = 2048  # letters; running sums do not pay for shorter texts


class Level(IntEnum):
    """How strong a boundary is; smaller is stronger.

    From LINE on, a cut there has no reason but size.
    """

    SECTION = 0  # ends a chunk as soon as it has its least size
    BLOCK = 1
    ITEM = 2  # of a list, a class, a message: stands for itself, but not as much as a block
    LINE = 3
    SENTENCE = 4
    CLAUSE = 5
    WORD = 6
    LETTER = 7


_ITEM = Level.ITEM  # to read a member from its class takes longer than to compare it
_PARTS: dict[Level, Splitter] = {
    Level.SENTENCE: sentences,
    Level.CLAUSE: clauses,
    Level.WORD: words,
    Level.LETTER: letters,
}


class Row:
    """The pieces of a text in order, with running sums of their sizes."""

    def __init__(self, text: str, *, count: TokenCounter, options: ChunkOptions) -> None:
        self.text, self.options = text, options
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.levels = bytearray()
        """The `Level` of each piece, as bytes: a level is found among many at once."""
        self.owners: list[int] = []
        """The number of the block that each piece belongs to."""
        self.sums = [0]
        self.adds_up = False
        self._running: Sums | None = None
        self.count: TokenCounter = count
        self.run_size: TokenCounter = count
        """Counts a text without white space."""
        if isinstance(count, RunCounts) and not has_dropped_space(text):
            self.adds_up, self.count, self.run_size = True, count.plain, count.run
            self._running = count.sums(text) if len(text) >= _SUMMED else None
        # a chunk that begins inside another needs room for that
        self._inner = options.max_tokens - options.overlap_tokens

    def __len__(self) -> int:
        """Return how many pieces there are."""
        return len(self.starts)

    def add(self, start: int, end: int, size: int, level: Level, owner: int) -> None:
        """Append a piece of a known size."""
        self.starts.append(start)
        self.ends.append(end)
        self.levels.append(level)
        self.owners.append(owner)
        self.sums.append(self.sums[-1] + size)

    def add_all(
        self, places: Sequence[int], sizes: Sequence[int], level: Level, owners: Iterable[int]
    ) -> None:
        """Append pieces from place to place, all at once."""
        self.starts += places[:-1]
        self.ends += places[1:]
        self.levels += bytes((level,)) * len(sizes)
        self.owners += owners
        self.sums += islice(accumulate(sizes, initial=self.sums[-1]), 1, None)

    def largest(self, level: Level) -> int:
        """Return how large a piece behind a boundary may be.

        Where a chunk would overlap the one before, that needs room.
        """
        return self.options.max_tokens if level <= _ITEM else self._inner

    def add_block(
        self,
        start: int,
        end: int,
        level: Level = Level.BLOCK,
        owner: int = 0,
        parts: Splitter | None = None,
    ) -> None:
        """Append a block: whole where it fits, else by its `parts` (items of a list, rows of a table), else by its lines."""
        size = self.span(start, end)
        if size <= self.largest(level):
            if not self.is_blank(start, end):
                self.add(start, end, size, level, owner)
        elif parts is None:
            self.add_lines(start, end, level, owner)
        else:
            for first, last in parts(self.text, start, end):
                self.add_block(first, last, level, owner)
                level = Level.ITEM

    def add_paragraphs(
        self, start: int, end: int, level: Level = Level.BLOCK, owner: int = 0
    ) -> None:
        """Append a stretch by its paragraphs.

        Small ones whole, others by their lines, for the packing to keep together.
        """
        large = self.options.target_tokens * CHARACTERS_A_TOKEN
        measure = self._measure(start, end)
        for first, last in paragraphs(self.text, start, end):
            if last - first > large:
                self.add_lines(first, last, level, owner, blank=Level.BLOCK)
            elif (size := measure(first, last)) > self.largest(level):
                self.add_lines(first, last, level, owner)
            elif not self.is_blank(first, last):
                self.add(first, last, size, level, owner)
            level = Level.BLOCK

    def add_lines(
        self,
        start: int,
        end: int,
        level: Level = Level.BLOCK,
        owner: int = 0,
        *,
        blank: Level = Level.ITEM,
    ) -> None:
        """Append a stretch line by line; what follows a blank line begins at the level `blank`."""
        long = self._inner * CHARACTERS_A_TOKEN
        measure = self._measure(start, end)
        line_level, largest = Level.LINE, self.largest(level)
        for line in self.text[start:end].splitlines(keepends=True):
            behind = start + len(line)
            if line.isspace():
                level = min(level, blank)
                largest = self.largest(level)
            else:
                if len(line) <= long and (size := measure(start, behind)) <= largest:
                    self.add(start, behind, size, level, owner)
                else:
                    self._add_parts(start, behind, level, owner, Level.SENTENCE)
                level, largest = line_level, self._inner
            start = behind

    def add_sentences(self, start: int, end: int, owner: int = 0) -> None:
        """Append a stretch sentence by sentence, however small they are."""
        for at, last in paragraphs(self.text, start, end):
            lines = self.text[at:last].splitlines(keepends=True)
            for line, behind in zip(lines, accumulate(map(len, lines), initial=at), strict=False):
                level = Level.BLOCK if behind == at else Level.LINE
                self._add_each(
                    sentences(self.text, behind, behind + len(line)), level, owner, Level.SENTENCE
                )

    def add_words(self, start: int, end: int, owner: int = 0) -> None:
        """Append a stretch word by word, all those between two that are too large at once if their sizes are known."""
        if self._running is None or self._measure(start, end) != self.whole:
            self._add_each(words(self.text, start, end), Level.WORD, owner, Level.WORD)
            return
        places, sizes = run_places(self.text, self._running, start, end)
        done = 0
        for at in (
            [at for at, size in enumerate(sizes) if size > self._inner]
            if max(sizes, default=0) > self._inner
            else ()
        ):
            self.add_all(
                places[done : at + 1], sizes[done:at], Level.WORD, repeat(owner, at - done)
            )
            self._add_parts(places[at], places[at + 1], Level.WORD, owner, Level.LETTER)
            done = at + 1
        self.add_all(places[done:], sizes[done:], Level.WORD, repeat(owner, len(sizes) - done))

    def _add_parts(self, start: int, end: int, level: Level, owner: int, within: Level) -> None:
        """Append a stretch that is too large, cut at the boundaries of the level `within` or weaker ones."""
        parts = list(_PARTS[within](self.text, start, end))
        if len(parts) == 1 and within < Level.LETTER:
            self._add_parts(start, end, level, owner, Level(within + 1))
        else:
            self._add_each(parts, level, owner, within)

    def _add_each(
        self, parts: Iterable[tuple[int, int]], level: Level, owner: int, within: Level
    ) -> None:
        """Append the parts that fit, and what the others fall apart into."""
        for start, end in parts:
            if self.is_blank(start, end):
                continue
            size = self.span(start, end)
            if size <= self._inner or end - start == 1:
                self._note_join(start)
                self.add(start, end, size, level, owner)
            else:
                self._add_parts(start, end, level, owner, Level(min(within + 1, Level.LETTER)))
            level = within

    def _note_join(self, start: int) -> None:
        if start and not self.text[start - 1].isspace():
            self.adds_up = False

    def size(self, first: int, last: int) -> int:
        """Return the size of the pieces from `first` up to and without `last`, if sizes add up."""
        return self.sums[last] - self.sums[first]

    def reach(self, first: int, size: int) -> int:
        """Return up to which piece a stretch from `first` may go to be at most `size`."""
        return bisect_right(self.sums, self.sums[first] + size, lo=first) - 1

    def least(self, first: int, size: int) -> int:
        """Return up to which piece a stretch from `first` must go to be at least `size`.

        One past the end if it cannot.
        """
        return max(first + 1, bisect_left(self.sums, self.sums[first] + size, lo=first))

    def span(self, start: int, end: int) -> int:
        """Return the size of any stretch of the text.

        One that begins or ends inside a run is counted.
        """
        if self._parts_runs(start) and self._parts_runs(end):
            return self.whole(start, end)
        return self.count(self.text[start:end])

    def whole(self, start: int, end: int) -> int:
        """Return the size of a stretch that is known to begin and end at white space, a little sooner."""
        running = self._running
        return (
            self.count(self.text[start:end]) if running is None else running[end] - running[start]
        )

    def _measure(self, start: int, end: int) -> Callable[[int, int], int]:
        """Return the quickest way to size the lines or paragraphs of a stretch."""
        return self.whole if self._parts_runs(start) and self._parts_runs(end) else self.span

    def last_runs(self, floor: int, cut: int, size: int) -> int | None:
        """Return where the last whole runs behind `floor` begin that are at most `size` together.

        None if it must be counted.
        """
        if self._running is None or not self._parts_runs(cut):
            return None
        at = bisect_left(self._running, self._running[cut] - size, floor, cut)
        found = (
            _RUN_START.match(self.text, at, cut)
            if self._parts_runs(at)
            else _NEXT_RUN.match(self.text, at, cut)
        )
        return found.end() if found else cut

    def _parts_runs(self, at: int) -> bool:
        text = self.text
        return at in (0, len(text)) or text[at - 1].isspace() or text[at].isspace()

    def is_blank(self, start: int, end: int) -> bool:
        """Tell whether a stretch holds white space alone, or nothing."""
        return start == end or (self.text[start].isspace() and self.text[start:end].isspace())

    def fits(self, start: int, end: int) -> bool:
        """Tell whether a stretch of the text is within the largest size."""
        return self.span(start, end) <= self.options.max_tokens
