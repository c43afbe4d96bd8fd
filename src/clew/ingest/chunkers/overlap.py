"""Where does the next chunk begin when the last one had to end for its size? A little inside it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from clew.ingest.chunkers.parts import whole_sign
from clew.ingest.chunkers.port import TokenCounter
from clew.ingest.chunkers.row import Row

_SENTENCE_START = re.compile(r"\n\s*+|[.!?…][\"'”’»)\]]*+\s++|[。！？｡]++[”’」』）]*+\s*+")
CHARACTERS_A_TOKEN = 8  # how far back to look: more than the words of most languages need


def overlap_start(row: Row, start: int, cut: int) -> int:
    """Return where the last `overlap_tokens` before `cut` begin, after `start`; `cut` itself if nothing fits.

    A line or sentence that begins there and holds half of the size is preferred to a word.
    """
    text, size, count = row.text, row.options.overlap_tokens, row.count
    floor = max(start + 1, cut - size * CHARACTERS_A_TOKEN)
    at = _last_words(row, floor, cut)
    if at == cut:
        return _inside_a_word(text, floor, cut, size=size, count=count)
    for sentence in _SENTENCE_START.finditer(text, max(floor - 1, at - 4), cut):
        if sentence.end() >= at:
            return sentence.end() if 2 * row.span(sentence.end(), cut) >= size else at
    return at


def _last_words(row: Row, floor: int, cut: int) -> int:
    """Return where the last words begin that are within the overlap together."""
    text, size = row.text, row.options.overlap_tokens
    if (found := row.last_runs(floor, cut, size)) is not None:
        return found
    window = text[floor:cut]
    runs = window.split()
    if window and not (window[0].isspace() or text[floor - 1].isspace()):
        del runs[0]  # the end of a word that begins further back
    kept, total = 0, 0
    for each in map(row.run_size, reversed(runs)):
        total += each
        if total > size:
            break
        kept += 1
    while kept and row.span(_nth_last(window, floor, kept), cut) > size:
        kept -= 1  # only where sizes do not add up
    return _nth_last(window, floor, kept) if kept else cut


def _nth_last(window: str, floor: int, kept: int) -> int:
    head = window.rsplit(None, kept)
    at = floor + (len(head[0]) if len(head) > kept else 0)
    return at + len(window[at - floor :]) - len(window[at - floor :].lstrip())


def _first_fitting(text: str, places: Sequence[int], cut: int, *, size: int, count: TokenCounter) -> int | None:
    """Return the first place from which the text up to the cut is small enough: sizes shrink from place to place."""
    first = bisect_left(places, -size, key=lambda place: -count(text[place:cut]))
    return places[first] if first < len(places) else None


def _inside_a_word(text: str, floor: int, cut: int, *, size: int, count: TokenCounter) -> int:
    """Return a place between letters, where the last word alone is too large."""
    at = _first_fitting(text, range(max(floor, cut - size), cut), cut, size=size, count=count)
    return next((place for place in range(at, cut) if whole_sign(text, floor, place) == place), cut) if at is not None else cut
