"""Read every time expression, superlative and event in a query."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from clew.text.dates.grammar import HEADS, LEADS, NamedTime, bounds, by_head, head_at
from clew.text.dates.grammar import find_named_time as named
from clew.text.dates.periods import Acceptance, accept_always, word_after, word_before
from clew.text.dates.values import Clock, Event, Relation, TimeSpan, UnclearError, When
from clew.text.dates.vocabulary import PARTS_OF_DAY, Pattern, pattern

Wish: TypeAlias = Literal["latest", "current", "earliest"]
"""What holds now is the latest as well; `current` says which way it was asked for."""

_DETERMINERS = frozenset(
    "the my our his her their your its a an this that in at of on for very".split()
)
_EVENT_NOUNS = (
    "time|meeting|call|conversation|message|visit|trip|vacation|session|chat|e-?mail|update|"
    "version|release|commit|deploy(?:ment)?|appointment|"
    "check-?up|review|report|entry|note|backup|run|build|incident|outage|decision|order|"
    "purchase|payment|invoice|known|book|movie|film|concert|"
    "conference|interview|exam|test|game|match|race|workout|dinner|lunch|party|holiday|sprint|"
    "standup|workshop|class|lesson"
)
_NOT_CURRENT = frozenset(
    "directory working thread process index frame flow line node loop iteration element "
    "transformer density".split()
)
_LIVING_BEINGS = frozenset(
    "person people man men woman women boy girl child children kid kids brother sister "
    "sibling siblings son daughter cousin uncle aunt "
    "grandson granddaughter grandchild nephew niece friend friends member members colleague "
    "employee user customer player student twin "
    "dog cat pet horse tree trees animal living age".split()
)
_WORD_BEFORE = re.compile(r"([^\W\d_]{1,24})\s{1,3}$")
_AUXILIARY = re.compile(r"\b(?:did|have|has|had|was|were|do|does|is|are)\b", re.IGNORECASE)
_ACTOR = re.compile(r"(?:\b(?i:i|we|you|he|she|they|it)|\b[A-Z]\w{1,24})\s{1,3}$")
_WHO = re.compile(r"\bwho(?:['’]s|se)?\b", re.IGNORECASE)
_ORDINAL_NOUNS = frozenset("place prize class aid name names person half order thing".split())
_REACH = 48
# characters before a word in which "who" may ask for it; a long text is not read again for each of
# its words
_ASKED_WITHIN = 300
# no noun that is the latest
_PREPOSITIONS = frozenset(("", *"of in on at by from for to with about and or regarding".split()))
_OF_BEING = frozenset("is are was were be been s me us".split())
_THE = re.compile(r"\bthe\s{1,3}$", re.IGNORECASE)
_ACTION = re.compile(
    r"\b(?i:did|do|does|have|has|had)\s{1,3}(?:(?i:i|we|you|he|she|they|it)|[A-Z]\w{0,24})\b"
)
_CHOICE = re.compile(r"[,:]\s{1,3}[^,:?]{1,80}\sor\s[^,:?]{1,80}\??\s{0,3}$")


@dataclass(frozen=True, slots=True)
class Mark:
    """A way to ask for the latest or the earliest."""

    wish: Wish
    heads: frozenset[str]
    pattern: Pattern
    accepts: Acceptance = accept_always


def _is_deadline(match: re.Match[str]) -> bool:
    return match.string[max(0, match.start() - 7) : match.start()].lower() == "at the "


def _is_choice(match: re.Match[str]) -> bool:
    """Tell whether things are named behind the words, of which one is to be chosen.

    "…, the abbey or the mill?".
    """
    return _CHOICE.search(match.string, match.end()) is not None


def _has_actor(match: re.Match[str]) -> bool:
    """Tell whether somebody is said before to have done something: "did we meet"."""
    return _ACTION.search(match.string, max(0, match.start() - _REACH), match.start()) is not None


def _is_adverbial(match: re.Match[str]) -> bool:
    """Tell "was formed the earliest" from "the earliest note" and "did we meet last"."""
    if word_after(match).lower() not in _PREPOSITIONS or _has_actor(match):
        return False
    the = _THE.search(match.string, max(0, match.start() - _REACH), match.start())
    found = _WORD_BEFORE.search(match.string, 0, the.start() if the else match.start())
    return found is not None and found.start() > 0 and found.group(1).lower() not in _OF_BEING


def _is_superlative(match: re.Match[str], lead: str) -> bool:
    """Reject "at the latest", "was formed the earliest" and "the oldest, the abbey or the mill?"."""
    del lead
    return not (_is_deadline(match) or _is_choice(match) or _is_adverbial(match))


def _is_about_things(match: re.Match[str], lead: str) -> bool:
    """Doubt "my oldest brother" and "who is the oldest?": people are old by their age."""
    return (
        _is_superlative(match, lead)
        and word_after(match).lower() not in _LIVING_BEINGS
        and not _asks_who(match)
    )


def _asks_who(match: re.Match[str]) -> bool:
    return (
        _WHO.search(match.string, max(0, match.start() - _ASKED_WITHIN), match.start()) is not None
    )


def _is_current(match: re.Match[str], lead: str) -> bool:
    """Doubt "current directory" and "electric current"."""
    del lead
    return word_after(match).lower() not in _NOT_CURRENT | {"", "of"}


def _is_now(match: re.Match[str], lead: str) -> bool:
    """Doubt "from now", "now that", and "what now?", which asks for help."""
    del lead
    return word_before(match) not in ("from", "by", "what") and word_after(match).lower() != "that"


def _has_no_determiner(match: re.Match[str], lead: str) -> bool:
    """Take the noun along where no article would be left without it: "as you said last time"."""
    del lead
    return word_before(match) not in _DETERMINERS


def _is_adverb(match: re.Match[str], lead: str) -> bool:
    """Accept "did I last see" and "did Ann first meet", not "did the last" or "win first place"."""
    del lead
    around = match.string[max(0, match.start() - _REACH) : match.start()]
    verb = word_after(match)
    acted = _ACTOR.search(around) is not None and _AUXILIARY.search(around) is not None
    return acted and verb[:1].islower() and verb not in _ORDINAL_NOUNS


def _is_first_time(match: re.Match[str], lead: str) -> bool:
    """Doubt "was launched for the first time"; take it where somebody did it."""
    del lead
    return not match.string[max(0, match.start() - 8) : match.start()].lower().endswith(
        "for the "
    ) or _has_actor(match)


def _is_not_rank(match: re.Match[str], lead: str) -> bool:
    """Take "my first visit", not "first class"."""
    return word_after(match).lower() not in _ORDINAL_NOUNS and _is_first_time(match, lead)


def _mark(wish: Wish, heads: str, source: str, accepts: Acceptance = accept_always) -> Mark:
    return Mark(wish, frozenset(heads.split()), pattern(source), accepts)


MARKS = by_head(
    (
        _mark("latest", "latest newest most", "latest|newest|most recent(?:ly)?", _is_superlative),
        _mark(
            "current",
            "currently nowadays presently these",
            "currently|nowadays|presently|these days",
        ),
        _mark(
            "current",
            "right at as up to",
            "right now|at the moment|at present|as of (?:now|today)|up[ -]to[ -]date|up to "
            "now|to date",
        ),
        _mark("current", "current", "current", _is_current),
        _mark("current", "now", "now", _is_now),
        _mark("latest", "last", "last time", _has_no_determiner),
        _mark("latest", "last", f"last(?= (?:{_EVENT_NOUNS})s?\\b)"),
        _mark("latest", "last", "last", _is_adverb),
        _mark("earliest", "earliest", "earliest", _is_superlative),
        _mark("earliest", "oldest", "oldest", _is_about_things),
        _mark("earliest", "initially originally at", "initially|originally|at first"),
        _mark("earliest", "first very", "(?:very )?first(?= time)", _is_first_time),
        _mark("earliest", "first", f"first(?= (?:{_EVENT_NOUNS})s?\\b)", _is_not_rank),
        _mark("earliest", "first", "first", _is_adverb),
    )
)

_TIME_QUESTION = re.compile(
    r"\b(?:when(?:['’]s| (?:did|do|does|was|were|is|are|will|has|have|had|can|should|would))"
    r"|(?:what|which) (?:date|day|time|year|month|week|season)"
    r"|how long (?:ago|since|has it been)|since when|how many (?:days|weeks|months|years) "
    r"(?:ago|has|have))\b",
    re.IGNORECASE,
)


def asks_for_time(text: str) -> bool:
    """Return whether a question wants a time as its answer.

    >>> asks_for_time("When did we move?"), asks_for_time("What broke when we moved?")
    (True, False)
    """
    return _TIME_QUESTION.search(text) is not None


def mark_at(text: str, at: int, head: str) -> tuple[Wish, int] | None:
    """Return what is wished for at an offset, and where the words end."""
    for mark in MARKS.get(head, ()):
        match = mark.pattern.match(text, at)
        if match and mark.accepts(match, ""):
            return mark.wish, match.end()
    return None


EVENT_HEADS: dict[str, Relation] = {
    "before": "before",
    "prior": "before",
    "after": "after",
    "since": "since",
    "until": "until",
    "till": "until",
    "during": "in",
}
_PHRASAL = frozenset("look looks looked looking named".split())  # "look after", "named after"
_SUBJECTS = frozenset("i we you he she they it the my our your his her their a an".split())
_CLAUSE_WORDS = 8  # enough to know the event by; the rest of the sentence is the question again
_EVENT = re.compile(r"(?:prior\s{1,3}to|[^\W\d_]{1,6})\s{1,3}(?P<subject>[^\W\d_]{1,40})")
_CLAUSE = re.compile(rf"[^\s.?!,;:]+(?:[^\S\n]{{1,3}}[^\s.?!,;:]+){{0,{_CLAUSE_WORDS}}}")


def event_at(text: str, at: int) -> int | None:
    """Return where the words end that place a question by an event, such as "before we moved"."""
    match = _EVENT.match(text, at)
    if match is None:
        return None
    if word_before(match) in _PHRASAL and text[at : at + 5].lower() == "after":
        return None
    subject = match["subject"]
    known = (
        subject.lower() in _SUBJECTS
        or subject[0].isupper()
        or (subject.endswith("ing") and subject not in PARTS_OF_DAY)
    )
    clause = _CLAUSE.match(text, at) if known else None
    return clause.end() if clause and clause.end() > match.end() - 1 else None


SOFT_RULE = "recently"
_TOKEN = re.compile(r"[^\W\d_]+|\d+")
# a word right behind one of these is a part of something else
_JOINING_SIGNS = frozenset("./\\@#$€£%:&=~+-_")
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


def read_times(text: str, clock: Clock) -> When:
    """Return the time that a question speaks of, every word of it looked at."""
    said = _drop_soft(_join_ranges(list(find_pieces(text, clock)), text))
    cuts = tuple(
        _cut_offsets(text, piece) for piece in said if piece.span or piece.wish or piece.soft
    )
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


def find_pieces(text: str, clock: Clock) -> Iterator[Piece]:
    """Yield what each place in a text says about time, in order and without overlap."""
    done = 0
    for token in _TOKEN.finditer(text):
        at = token.start()
        if at < done or (at and (text[at - 1] in _JOINING_SIGNS or text[at - 1].isalnum())):
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
        return _resolve(text, one, clock)
    last = event_at(text, at) if head in EVENT_HEADS else None
    if last is None:
        return None
    words, relation = text[at:last], EVENT_HEADS[head]
    event = Event(words, words[len(head) :].strip(), at, last, relation)
    # "during our trip last year" is itself last year; "before our trip last year" may be any time
    # before.
    return Piece(
        at, at + len(head) if head == "during" else last, relation, unresolved=words, event=event
    )


def _resolve(text: str, one: NamedTime, clock: Clock) -> Piece:
    """Return the span of a named time, or the words and why not where no calendar has it."""
    words = text[one.first : one.last]
    try:
        start, end = bounds(one, clock)
    except UnclearError as unclear:
        return Piece(one.first, one.last, one.relation, unresolved=f"{words} ({unclear})")
    except (ValueError, OverflowError):
        return Piece(one.first, one.last, one.relation, unresolved=f"{words} (not in the calendar)")
    return Piece(
        one.first,
        one.last,
        one.relation,
        TimeSpan(start, end, words, one.first, one.last, one.rule, one.relation),
    )


def _join_ranges(said: list[Piece], text: str) -> list[Piece]:
    """Join "after March" and "before June" into one span instead of two open ones."""
    joined: list[Piece] = []
    for piece in said:
        both = _join_pair(joined[-1], piece, text) if joined else None
        joined[-1:] = [both] if both else [*joined[-1:], piece]
    return joined


def _drop_soft(said: list[Piece]) -> list[Piece]:
    """Let soft words yield to a time that is named: "recently, in May 2022" is May 2022."""
    if all(piece.span is None or piece.span.rule == SOFT_RULE for piece in said):
        return said
    return [
        replace(piece, span=None, soft=True)
        if piece.span and piece.span.rule == SOFT_RULE
        else piece
        for piece in said
    ]


def _join_pair(left: Piece, right: Piece, text: str) -> Piece | None:
    one, other = left.span, right.span
    if one is None or other is None or not _JOINT.fullmatch(text, left.last, right.first):
        return None
    if (
        one.end is not None
        or other.start is not None
        or one.start is None
        or other.end is None
        or one.start > other.end
    ):
        return None
    whole = TimeSpan(
        one.start, other.end, text[left.first : right.last], left.first, right.last, "between"
    )
    return replace(left, last=right.last, relation="in", span=whole)


def _cut_offsets(text: str, piece: Piece) -> tuple[int, int]:
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
