"""From a row of pieces to chunks: full where it must, whole where it can."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from clew.documents.chunkers.pieces import CHARACTERS_A_TOKEN, Level, Row
from clew.documents.chunkers.port import (
    Boundary,
    Chunk,
    ChunkOptions,
    RunCounts,
    TokenCounter,
    has_dropped_space,
)
from clew.text.sentences import grapheme_boundary

# Where does the next chunk begin when the last one had to end for its size? A little inside it.

_SENTENCE_START = re.compile(r"\n\s*+|[.!?…][\"'”’»)\]]*+\s++|[。！？｡]++[”’」』）]*+\s*+")
OVERLAP_CHARACTERS_A_TOKEN = 8  # how far back to look: more than the words of most languages need


def overlap_start(row: Row, start: int, cut: int) -> int:
    """Return where the last `overlap_tokens` before `cut` begin, after `start`.

    `cut` itself if nothing fits.

    A line or sentence that begins there and holds half of the size is preferred to a word.
    """
    text, size, count = row.text, row.options.overlap_tokens, row.count
    floor = max(start + 1, cut - size * OVERLAP_CHARACTERS_A_TOKEN)
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


def _first_fitting(
    text: str, places: Sequence[int], cut: int, *, size: int, count: TokenCounter
) -> int | None:
    """Return the first place from which the text up to the cut is small enough.

    Sizes shrink from place to place.
    """
    first = bisect_left(places, -size, key=lambda place: -count(text[place:cut]))
    return places[first] if first < len(places) else None


def _inside_a_word(text: str, floor: int, cut: int, *, size: int, count: TokenCounter) -> int:
    """Return a place between letters, where the last word alone is too large."""
    at = _first_fitting(text, range(max(floor, cut - size), cut), cut, size=size, count=count)
    return (
        next(
            (place for place in range(at, cut) if grapheme_boundary(text, floor, place) == place),
            cut,
        )
        if at is not None
        else cut
    )


class Span(NamedTuple):
    """A chunk in the making.

    The pieces from `first` up to and without `last`, and where its text begins and ends.
    """

    first: int
    last: int
    start: int
    end: int
    boundary: Boundary


class Cut(NamedTuple):
    """Up to which piece a chunk goes, and why no further."""

    last: int
    boundary: Boundary


# to read a member from its class takes as long as a call
_STRUCTURAL, _SIZE_LIMIT = Boundary.STRUCTURAL, Boundary.SIZE_LIMIT
_SECTION, _ITEM, _LEVELS = Level.SECTION, Level.ITEM, tuple(map(int, Level))

Choose: TypeAlias = Callable[[Row, int, int], Cut]
"""From the row, the first piece and the room in tokens to the cut."""

Describe: TypeAlias = Callable[[Sequence[int]], tuple[str, tuple[str, ...]]]
"""From the numbers of the blocks that a chunk holds to its context and path."""


def strongest(row: Row, first: int, room: int) -> Cut:
    """Cut at the first section past the least size, else at the last of the strongest boundaries up to the target.

    A block that would be torn at the target may go on up to the largest size.
    """
    options, total = row.options, len(row)
    low, most = row.least(first, options.min_tokens), row.reach(first, room)
    section = row.levels.find(_SECTION, low, most + 1)
    if section >= 0:
        return Cut(section, _STRUCTURAL)
    overlap = options.max_tokens - room
    goal = max(first + 1, min(row.reach(first, max(1, options.target_tokens - overlap)), most))
    if goal == total or (most == total and row.size(goal, total) < options.min_tokens):
        return Cut(total, _STRUCTURAL)
    last = _last_strongest(row, low, goal)
    if last is None or row.levels[last] > _ITEM:
        block = _first_item(row, max(low, goal), most) or (total if most == total else None)
        if block is not None:
            return Cut(block, _STRUCTURAL)
    return _named(row, max(goal, min(low, most)) if last is None else last)


def _last_strongest(row: Row, low: int, high: int) -> int | None:
    """Return the last of the strongest boundaries from `low` to `high`."""
    for level in _LEVELS:
        at = row.levels.rfind(level, low, high + 1)
        if at >= 0:
            return at
    return None


def _first_item(row: Row, low: int, high: int) -> int | None:
    """Return the first boundary from `low` to `high` of an item or anything stronger."""
    found = [row.levels.find(level, low, high + 1) for level in range(_ITEM + 1)]
    return min((at for at in found if at >= 0), default=None)


def _named(row: Row, last: int) -> Cut:
    structural = last == len(row) or row.levels[last] <= _ITEM
    return Cut(last, _STRUCTURAL if structural else _SIZE_LIMIT)


def pack(row: Row, choose: Choose = strongest) -> list[Span]:
    """Put the pieces together, in order.

    Small chunks join a neighbour where the largest size allows.
    """
    spans: list[Span] = []
    first = 0
    while first < len(row):
        start = _start(row, first, spans)
        room = row.options.max_tokens - (
            row.span(start, row.starts[first]) if start < row.starts[first] else 0
        )
        span = _within(row, first, start, choose(row, first, room))
        first = span.last
        joined = _joined(row, spans[-1], span) if spans else None
        if joined:
            spans[-1] = joined
        else:
            spans.append(span)
    return spans


def _start(row: Row, first: int, spans: Sequence[Span]) -> int:
    """Return where a chunk begins.

    At its first letter, or inside the one before if that ended for its size.
    """
    start = _letter(row, row.starts[first])
    if not spans or spans[-1].boundary is not _SIZE_LIMIT or not row.options.overlap_tokens:
        return start
    before = spans[-1]
    return min(start, _letter(row, overlap_start(row, before.start, before.end)))


def _within(row: Row, first: int, start: int, cut: Cut) -> Span:
    """Return the span of a cut, made shorter until it fits where sizes do not add up."""
    end = _end(row, cut.last)
    if row.adds_up or row.fits(start, end):
        return Span(first, cut.last, start, end, cut.boundary)
    low, high = first + 1, cut.last
    while low < high:  # the most pieces that fit
        middle = (low + high + 1) // 2
        low, high = (middle, high) if row.fits(start, _end(row, middle)) else (low, middle - 1)
    body = _letter(row, row.starts[first])
    while start < body and not row.fits(start, _end(row, low)):
        start = _letter(row, (start + body + 1) // 2)  # less overlap rather than too much text
    return Span(
        first,
        low,
        start,
        _end(row, low),
        cut.boundary if low == cut.last else _named(row, low).boundary,
    )


def _letter(row: Row, at: int) -> int:
    """Return the first place from `at` on that is not white space."""
    while row.text[at].isspace():
        at += 1
    return at


def _end(row: Row, last: int) -> int:
    end = row.ends[last - 1]
    while row.text[end - 1].isspace():
        end -= 1
    return end


def _joined(row: Row, before: Span, span: Span) -> Span | None:
    """Return two neighbours as one, if one of them is too small alone and both fit together."""
    least = row.options.min_tokens
    if min(row.size(before.first, before.last), row.size(span.first, span.last)) >= least:
        return None
    if min(
        row.span(before.start, before.end), row.span(span.start, span.end)
    ) >= least or not row.fits(before.start, span.end):
        return None
    return Span(before.first, span.last, before.start, span.end, span.boundary)


def as_one(text: str, *, count: TokenCounter, options: ChunkOptions) -> tuple[Chunk, ...] | None:
    """Return a text as one chunk, or none if it is blank, where it is small enough that nothing could cut it; else None.

    That is below the target, where all sizes add up: then no row is needed to know it.
    """
    inner = options.max_tokens - options.overlap_tokens
    if (
        len(text) > inner * CHARACTERS_A_TOKEN
        or not isinstance(count, RunCounts)
        or has_dropped_space(text)
    ):
        return None
    if count.plain(text) > min(options.target_tokens, inner):
        return None
    body = text.strip()
    start = text.find(body)
    return (
        (Chunk(text=body, start=start, end=start + len(body), index=0, boundary=_STRUCTURAL),)
        if body
        else ()
    )


def chunks_of(
    row: Row, spans: Sequence[Span], describe: Describe | None = None
) -> tuple[Chunk, ...]:
    """Return the chunks of spans, numbered in order, each with its context."""
    made = []
    for index, span in enumerate(spans):
        context, path = describe(row.owners[span.first : span.last]) if describe else ("", ())
        text = row.text[span.start : span.end]
        made.append(
            Chunk(
                text=text,
                start=span.start,
                end=span.end,
                index=index,
                boundary=span.boundary,
                context=context,
                path=path,
            )
        )
    return tuple(made)
