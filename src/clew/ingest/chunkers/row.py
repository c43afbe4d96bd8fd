"""A text as a row of pieces with their sizes: what a chunker may put together and has no need to cut.

A piece begins behind a boundary of some strength. Blocks (paragraphs, messages, functions …) that fit are one piece;
larger ones fall apart into lines, lines into sentences, clauses, words and at last letters, so that every piece fits.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from enum import IntEnum
from itertools import accumulate

from clew.ingest.chunkers.parts import Parts, clauses, letters, paragraphs, sentences, words
from clew.ingest.chunkers.port import ChunkOptions, TokenCounter
from clew.ingest.chunkers.tokens import RunCounts, has_dropped_space

_CHARACTERS_A_TOKEN = 4  # few: what is longer is taken apart at once, not counted twice; packing puts it together again


class Level(IntEnum):
    """How strong a boundary is; smaller is stronger. From LINE on, a cut there has no reason but size."""

    SECTION = 0  # ends a chunk as soon as it has its least size
    BLOCK = 1
    ITEM = 2  # of a list, a class, a message: stands for itself, but not as much as a block
    LINE = 3
    SENTENCE = 4
    CLAUSE = 5
    WORD = 6
    LETTER = 7


_PARTS: dict[Level, Parts] = {Level.SENTENCE: sentences, Level.CLAUSE: clauses, Level.WORD: words, Level.LETTER: letters}


class Row:
    """The pieces of a text in order, with running sums of their sizes."""

    def __init__(self, text: str, *, count: TokenCounter, options: ChunkOptions) -> None:
        self.text, self.options = text, options
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.levels: list[Level] = []
        self.owners: list[int] = []
        """The number of the block that each piece belongs to."""
        self.sums = [0]
        self.adds_up = False
        self.count: TokenCounter = count
        self.run_size: TokenCounter = count
        """Counts a text without white space."""
        if isinstance(count, RunCounts) and not has_dropped_space(text):
            self.adds_up, self.count, self.run_size = True, count.plain, count.run
        self._inner = options.max_tokens - options.overlap_tokens  # a chunk that begins inside another needs room for that

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

    def largest(self, level: Level) -> int:
        """Return how large a piece behind a boundary may be: where a chunk would overlap the one before, that needs room."""
        return self.options.max_tokens if level <= Level.ITEM else self._inner

    def add_block(self, start: int, end: int, level: Level = Level.BLOCK, owner: int = 0, parts: Parts | None = None) -> None:
        """Append a block: whole where it fits, else by its `parts` (items of a list, rows of a table), else by its lines."""
        block = self.text[start:end]
        size = self.count(block)
        if size <= self.largest(level):
            if block and not block.isspace():
                self.add(start, end, size, level, owner)
        elif parts is None:
            self.add_lines(start, end, level, owner)
        else:
            for first, last in parts(self.text, start, end):
                self.add_block(first, last, level, owner)
                level = Level.ITEM

    def add_paragraphs(self, start: int, end: int, level: Level = Level.BLOCK, owner: int = 0) -> None:
        """Append a stretch by its paragraphs: small ones whole, others by their lines, for the packing to keep together."""
        large = self.options.target_tokens * _CHARACTERS_A_TOKEN
        for first, last in paragraphs(self.text, start, end):
            if last - first > large:
                self.add_lines(first, last, level, owner, blank=Level.BLOCK)
            else:
                self.add_block(first, last, level, owner)
            level = Level.BLOCK

    def add_lines(self, start: int, end: int, level: Level = Level.BLOCK, owner: int = 0, *, blank: Level = Level.ITEM) -> None:
        """Append a stretch line by line; what follows a blank line begins at the level `blank`."""
        count, long = self.count, self._inner * _CHARACTERS_A_TOKEN
        for line in self.text[start:end].splitlines(keepends=True):
            size = count(line) if len(line) <= long else None
            if line.isspace():
                level = min(level, blank)
            else:
                if size is not None and size <= self.largest(level):
                    self.add(start, start + len(line), size, level, owner)
                else:
                    self._add_parts(start, start + len(line), level, owner, Level.SENTENCE)
                level = Level.LINE
            start += len(line)

    def add_sentences(self, start: int, end: int, owner: int = 0) -> None:
        """Append a stretch sentence by sentence, however small they are."""
        for at, last in paragraphs(self.text, start, end):
            lines = self.text[at:last].splitlines(keepends=True)
            for line, behind in zip(lines, accumulate(map(len, lines), initial=at), strict=False):
                level = Level.BLOCK if behind == at else Level.LINE
                self._add_each(sentences(self.text, behind, behind + len(line)), level, owner, Level.SENTENCE)

    def add_words(self, start: int, end: int, owner: int = 0) -> None:
        """Append a stretch word by word."""
        self._add_each(words(self.text, start, end), Level.WORD, owner, Level.WORD)

    def _add_parts(self, start: int, end: int, level: Level, owner: int, within: Level) -> None:
        """Append a stretch that is too large, cut at the boundaries of the level `within` or weaker ones."""
        parts = list(_PARTS[within](self.text, start, end))
        if len(parts) == 1 and within < Level.LETTER:
            self._add_parts(start, end, level, owner, Level(within + 1))
        else:
            self._add_each(parts, level, owner, within)

    def _add_each(self, parts: Iterable[tuple[int, int]], level: Level, owner: int, within: Level) -> None:
        """Append the parts that fit, and what the others fall apart into."""
        for start, end in parts:
            part = self.text[start:end]
            if part.isspace():
                continue
            size = self.count(part)
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
        """Return up to which piece a stretch from `first` must go to be at least `size`; one past the end if it cannot."""
        return max(first + 1, bisect_left(self.sums, self.sums[first] + size, lo=first))

    def fits(self, start: int, end: int) -> bool:
        """Tell whether a stretch of the text is within the largest size, by counting it."""
        return self.count(self.text[start:end]) <= self.options.max_tokens
