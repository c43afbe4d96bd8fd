"""Split text into paragraphs, sentences, clauses, words and letters.

A sentence ends after a full stop and a space, or right after the stop in scripts without spaces.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import TypeAlias

# From the last sign of a row on: what began at the first would look at the rest of the row from
# each of its signs.
SENTENCE_END = re.compile(r"[.!?…][\"'”’»)\]]*+(?=\s)|[。！？｡]++[”’」』）]*+|[؟।](?=\s)")
CLAUSE_END = re.compile(r"[,;:–—،](?=\s)|[，、；：]++")


def sentence_count(text: str) -> int:
    """Return how many sentences a text holds; a rest without an end is one too.

    >>> sentence_count("One. Two?! And three"), sentence_count("一。二。"), sentence_count("v1.2 of it"), sentence_count("")
    (3, 2, 1, 0)
    """
    last, found = 0, 0
    for end in SENTENCE_END.finditer(text):
        found, last = found + 1, end.end()
    return found + bool(text[last:].strip())


Splitter: TypeAlias = Callable[[str, int, int], Iterator[tuple[int, int]]]
"""From a text, a start and an end to consecutive spans that cover it."""

_BLANK_LINE = re.compile(r"\n[^\S\n]*+\n\s*+")
_RUN = re.compile(r"\S++\s*+")
# hold an emoji together
_JOINERS = frozenset("\u200d\ufe0e\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")
_STRIP_CHARACTERS = 2048  # letters
_MAX_CLUSTER = 16  # marks on one letter; a longer row of them is not writing


def paragraphs(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the spans between blank lines."""
    for blank in _BLANK_LINE.finditer(text, start, end):
        if blank.start() > start:
            yield start, blank.start()
        start = blank.end()
    if start < end:
        yield start, end


def _split_after(pattern: re.Pattern[str]) -> Splitter:
    """Return a splitter that cuts after each match and the white space behind it."""

    def parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        at = start
        for found in pattern.finditer(text, start, end):
            cut = found.end()
            while cut < end and text[cut].isspace():
                cut += 1
            if cut < end and cut > at:
                yield at, cut
                at = cut
        yield at, end

    return parts


def words(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield each word with the white space behind it."""
    at = start
    for found in _RUN.finditer(text, start, end):
        yield at, found.end()
        at = found.end()
    if at < end:
        yield at, end


def letters(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut into strips, a single strip in two; not inside what is written as one sign."""
    step = _STRIP_CHARACTERS if end - start > _STRIP_CHARACTERS else (end - start + 1) // 2
    while end - start > step:
        cut = grapheme_boundary(text, start, start + step)
        yield start, cut
        start = cut
    yield start, end


def grapheme_boundary(text: str, start: int, at: int) -> int:
    """Return the last offset up to `at` that splits neither a letter from its marks nor an emoji."""
    for place in range(at, max(start, at - _MAX_CLUSTER), -1):
        sign, before = text[place], text[place - 1]
        if not (unicodedata.combining(sign) or sign in _JOINERS or before == "\u200d"):
            return place
    return at


sentences = _split_after(SENTENCE_END)
clauses = _split_after(CLAUSE_END)
