"""The question, from its first word to its last: which times it names, and what is left of it without them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from clew.when.grammar import HEADS, head_at
from clew.when.marks import EVENT_HEADS, MARKS, Wish, asks_for_time, event_at, mark_at
from clew.when.relations import LEADS, Named, ends, named
from clew.when.values import Clock, Event, Relation, TimeSpan, UnclearError, When

SOFT_RULE = "recently"
_TOKEN = re.compile(r"[^\W\d_]+|\d+")
_GLUE = frozenset("./\\@#$€£%:&=~+-_")  # a word right behind one of these is a part of something else
_ALL_HEADS = HEADS | frozenset(LEADS) | frozenset(MARKS) | frozenset(EVENT_HEADS)
_JOINT = re.compile(r"\s{0,3},?\s{0,3}(?:and|but)?\s{1,3}", re.IGNORECASE)
_BEFORE_SIGN = re.compile(r"(?<! ) ++(?=[?.!,;:](?:\s|$))")


@dataclass(frozen=True, slots=True)
class Piece:
    """What one place in the text says about time."""

    first: int
    last: int
    relation: Relation | None = None
    span: TimeSpan | None = None
    wish: Wish | None = None
    unresolved: str = ""
    soft: bool = False  # a word of time that says nothing beside the others
    event: Event | None = None


def read(text: str, clock: Clock) -> When:
    """Return the time that a question speaks of, every word of it looked at."""
    said = _firm(_joined(list(pieces(text, clock)), text))
    cuts = tuple(_cut(text, piece) for piece in said if piece.span or piece.wish or piece.soft)
    return When(
        rest=_without(text, cuts),
        spans=tuple(piece.span for piece in said if piece.span),
        latest=any(piece.wish in ("latest", "current") for piece in said),
        earliest=any(piece.wish == "earliest" for piece in said),
        relation=next((piece.relation for piece in said if piece.relation), None),
        unresolved=tuple(piece.unresolved for piece in said if piece.unresolved),
        asks=asks_for_time(text),
        cuts=cuts,
        events=tuple(piece.event for piece in said if piece.event),
        current=any(piece.wish == "current" for piece in said),
        ahead=clock.ahead,
    )


def pieces(text: str, clock: Clock) -> Iterator[Piece]:
    """Yield what each place in a text says about time, in order and without overlap."""
    done = 0
    for token in _TOKEN.finditer(text):
        at = token.start()
        if at < done or (at and (text[at - 1] in _GLUE or text[at - 1].isalnum())):
            continue
        head = head_at(text, at)
        piece = _piece(text, at, head, clock) if head in _ALL_HEADS else None
        if piece:
            done = piece.last
            yield piece


def _piece(text: str, at: int, head: str, clock: Clock) -> Piece | None:
    one = named(text, at, head)
    mark = mark_at(text, at, head)
    if mark and (one is None or mark[1] > one.last):
        return Piece(at, mark[1], wish=mark[0])
    if one:
        return _resolved(text, one, clock)
    last = event_at(text, at) if head in EVENT_HEADS else None
    if last is None:
        return None
    words, relation = text[at:last], EVENT_HEADS[head]
    event = Event(words, words[len(head) :].strip(), at, last, relation)
    # "during our trip last year" is itself last year; "before our trip last year" may be any time before.
    return Piece(at, at + len(head) if head == "during" else last, relation, unresolved=words, event=event)


def _resolved(text: str, one: Named, clock: Clock) -> Piece:
    """Return the span of a named time, or the words and why not where no calendar has it."""
    words = text[one.first : one.last]
    try:
        start, end = ends(one, clock)
    except UnclearError as unclear:
        return Piece(one.first, one.last, one.relation, unresolved=f"{words} ({unclear})")
    except (ValueError, OverflowError):
        return Piece(one.first, one.last, one.relation, unresolved=f"{words} (not in the calendar)")
    return Piece(one.first, one.last, one.relation, TimeSpan(start, end, words, one.first, one.last, one.rule, one.relation))


def _joined(said: list[Piece], text: str) -> list[Piece]:
    """Make one span of "after March and before June", which would otherwise hold all of time between them."""
    joined: list[Piece] = []
    for piece in said:
        both = _both(joined[-1], piece, text) if joined else None
        joined[-1:] = [both] if both else [*joined[-1:], piece]
    return joined


def _firm(said: list[Piece]) -> list[Piece]:
    """Let soft words yield to a time that is named: "recently, in May 2022" is May 2022."""
    if all(piece.span is None or piece.span.rule == SOFT_RULE for piece in said):
        return said
    return [replace(piece, span=None, soft=True) if piece.span and piece.span.rule == SOFT_RULE else piece for piece in said]


def _both(left: Piece, right: Piece, text: str) -> Piece | None:
    one, other = left.span, right.span
    if one is None or other is None or not _JOINT.fullmatch(text, left.last, right.first):
        return None
    if one.end is not None or other.start is not None or one.start is None or other.end is None or one.start > other.end:
        return None
    whole = TimeSpan(one.start, other.end, text[left.first : right.last], left.first, right.last, "between")
    return replace(left, last=right.last, relation="in", span=whole)


def _cut(text: str, piece: Piece) -> tuple[int, int]:
    """Return the offsets that go, with the comma behind words that begin the question."""
    opens = not text[: piece.first].strip() if piece.first < 8 else False
    return piece.first, piece.last + (opens and text[piece.last : piece.last + 1] == ",")


def _without(text: str, cuts: Sequence[tuple[int, int]]) -> str:
    """Return the text without what is cut, in single spaces; one without cuts stays as it is."""
    if not cuts:
        return text
    starts, stops = (0, *(last for _, last in cuts)), (*(first for first, _ in cuts), len(text))
    kept = " ".join(text[first:last] for first, last in zip(starts, stops, strict=True))
    return _BEFORE_SIGN.sub("", " ".join(kept.split()))
