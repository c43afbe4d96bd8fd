"""Detect an echo: a text that only repeats what recall returned.

Each clause must be a run of words of one returned text, except for wrapping words, and the whole
must repeat the returned texts in full, character by character.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice

from clew.memories.draft import Draft
from clew.memories.duplicates import holds, lasts, same_speaker, same_times, says_the_same
from clew.memories.firewall.recalled_texts import (
    EXCLUDING,
    EXPLAINED_SIGN,
    GRAM,
    NEGATING,
    WRAPPING,
    Place,
    Source,
    SpaceTexts,
    clauses,
    comparable_words,
    named_ids,
    sentences,
    served_text,
    strip_lead,
    strip_rendering,
)
from clew.ports import Store
from clew.settings import FirewallSettings
from clew.text.words import STOP_WORDS, fold, normalise, sentence_list, words
from clew.types import Kind, Node, NodeId, Outcome, OutcomeKind

# Check that an echo repeats returned texts in full, sign by sign, with nothing but wrapping around
# them.
#
# Words alone do not tell "-20" from "20", "C#" from "C", or "Tom thinks the roof is safe" from "The
# roof
# is safe", and a part may say something else than the whole. A text that differs in anything but
# white
# space, the style of quotation marks and the marks at its end says something new.

_STRAIGHT_QUOTES = str.maketrans("“”„«»‘’", '"""""' + "''")
_OPENING = "([{\"':：，、"  # what may stand right before a repeated text
_WIDE_CLOSING = (
    "。！？，、；：|"  # what may stand right behind it, without a space before the next word
)
_CLOSING = ".,;:!?…)]}\"'" + _WIDE_CLOSING
_ENCLOSING = "()[]{}\"'|"
_PUNCTUATION = _OPENING + _CLOSING
_ENDS = ".,;:!?…。！？"
_ARTICLES = ("the ", "a ", "an ")
_MAX_ARTICLE = 4
# where the same text is looked for in another: each is compared word by word
MAX_VERBATIM_PLACES = 16
_SEPARATORS = frozenset("- – — -- --- | • · * → ▸ > /".split())
_ROLES = frozenset("user assistant system human ai bot tool developer model q a".split())
_WRAPPING = WRAPPING | (STOP_WORDS - NEGATING)


def repeated_sources(
    text: str, bare: str, sources: Iterable[Source], *, added: Iterable[str] = ()
) -> list[Source] | None:
    """Return which returned texts a text repeats in full; None if it says anything besides.

    `bare` is the text without what Clew draws around a hit, and `added` are words of its own that
    it may have.
    """
    whole, rest = served_text(text), _normalise(bare)
    found = [(source, span) for source in sources if (span := _span(source.text, whole, rest))]
    titles = [
        span for source, _ in found if source.title and (span := _span(source.title, whole, rest))
    ]
    allowed = _WRAPPING | frozenset(added)
    others = _pieces_outside(rest, [*(span for _, span in found), *titles])
    return (
        [source for source, _ in found]
        if all(_is_wrapping(piece, allowed) for piece in others)
        else None
    )


def _span(source: str, whole: str, bare: str) -> tuple[int, int] | None:
    """Return where a returned text stands in a bare one.

    None unless the whole text has its numbers, bullets and lines too.
    """
    tidied = normalise(source)
    kept = tidied in whole if "\n" in tidied else _find(_normalise(tidied), _normalise(whole))
    return _find(_normalise(strip_rendering(tidied)[0]), bare) if kept else None


def _normalise(text: str) -> str:
    return " ".join(text.translate(_STRAIGHT_QUOTES).split())


def _find(said: str, text: str) -> tuple[int, int] | None:
    """Return the span of one text in another, ignoring the case of its first letter.

    >>> _find("The door is locked.", "You said: the door is locked!")
    (10, 29)
    >>> _find("The dose is 5", "The dose is 5.5"), _find("It is on.", "It is on?")
    (None, None)
    """
    core = said.rstrip(_ENDS) or said
    at = 0
    for _ in range(MAX_VERBATIM_PLACES):
        at = text.find(core[1:], at + 1)
        if at < 0:
            break
        begin, end = at - 1, at - 1 + len(core)
        stop, after = _end_of(_ENDS, text, end), _end_of(_CLOSING, text, end)
        bounded = after == len(text) or text[after].isspace() or text[after - 1] in _WIDE_CLOSING
        if bounded and _may_begin(text, begin) and says_the_same(said, text[begin:stop]):
            return begin, after
    return None


def _may_begin(text: str, at: int) -> bool:
    """Tell whether a repeated text may begin at a place.

    Not inside a word, and not behind an article, which would belong to it.
    """
    before = text[max(0, at - _MAX_ARTICLE) : at]
    return (
        not before
        or (before[-1].isspace() and not before.casefold().endswith(_ARTICLES))
        or before[-1] in _OPENING
    )


def _end_of(marks: str, text: str, at: int) -> int:
    while at < len(text) and text[at] in marks:
        at += 1
    return at


def _pieces_outside(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[str]:
    """Yield the pieces of a text between spaces that no span covers."""
    at = 0
    for begin, end in (*sorted(spans), (len(text), len(text))):
        yield from text[at:begin].split()
        at = max(at, end)


def _is_wrapping(piece: str, allowed: frozenset[str]) -> bool:
    """Tell whether a piece says nothing: a word of wrapping, a bullet or a quotation mark.

    But no symbol, option or role.

    >>> [_is_wrapping(each, _WRAPPING) for each in ("told", "me:", "•", "-i", ".", "🔥", "US", "assistant:")]
    [True, True, True, False, False, False, False, False]
    """
    core = piece.strip(_PUNCTUATION)
    if not core:
        return all(map(_ENCLOSING.__contains__, piece))
    if core in _SEPARATORS:
        return True
    if (core.isupper() and len(core) > 1) or not (core[0].isalnum() and core[-1].isalnum()):
        return False
    is_turn = core.casefold() in _ROLES and piece.endswith(":")
    return not is_turn and all(word in allowed for word in comparable_words(core))


MAX_PLACES = 8  # of one run of words that are followed: what stands in more places is a phrase
MAX_SHORT = 64  # clauses of one or two words
MAX_FRESH = 3  # words of its own that an echo may have, however long it is


@dataclass(frozen=True, slots=True)
class Echo:
    """A text that says what was returned.

    The share of its words that were, and the memories they came from.
    """

    share: float
    ids: tuple[NodeId, ...]


@dataclass(slots=True)
class _Coverage:
    """What has been heard of a text so far."""

    covered: int = 0
    fresh: list[str] = field(default_factory=list)
    sources: dict[int, Source] = field(default_factory=dict)
    """The returned texts that hold the longest run of a clause, by identity: to hash a text takes
    as long as to read it.
    """
    short: list[list[str]] = field(default_factory=list)
    """Clauses of too few words to be found by themselves: headings, the rest after a full stop that
    ended no sentence.
    """


def find_echo(
    text: str,
    *,
    title: str = "",
    space: str,
    returned: SpaceTexts,
    share: float,
    without: frozenset[NodeId] = frozenset(),
) -> Echo | None:
    """Return of which memories a text is the echo, or None for a text with something of its own.

    `without` are memories that count no more.

    Its words must be theirs by at least `share`, but for the wrapping; and what it adds must be no
    number, name or negation.
    """
    # as nearly all: nothing of it was returned
    if not returned.holds_any(comparable_words(text), space) and EXPLAINED_SIGN not in text:
        return None
    bare, explained = strip_rendering(text)
    bare = strip_lead(bare)
    heard = _Coverage()
    for clause in (clause for sentence in sentences(bare) for clause in clauses(sentence)):
        if not _cover_clause(clause, space, returned, without, heard):
            return None
    if not heard.covered:
        return Echo(1.0, named_ids(text)) if explained and not comparable_words(bare) else None
    if not all(_cover_short(said, heard) for said in heard.short):
        return None
    sources = repeated_sources(text, bare, heard.sources.values(), added=heard.fresh)
    if not sources or not _is_titled(title, sources):
        return None
    found = heard.covered / (heard.covered + len(heard.fresh))
    return (
        Echo(found, tuple(dict.fromkeys(source.id for source in sources)))
        if found >= share and len(heard.fresh) <= MAX_FRESH
        else None
    )


def _cover_clause(
    clause: str, space: str, returned: SpaceTexts, without: frozenset[NodeId], heard: _Coverage
) -> bool:
    """Take a clause into account; False where it says something new."""
    said = comparable_words(clause)
    start, length, sources = _longest_run(said, space, returned, without)
    own = [word for word in (*said[:start], *said[start + length :]) if word not in WRAPPING]
    if not length:
        # "Based on what you told me" alone
        if all(word in STOP_WORDS and word not in NEGATING for word in own):
            return True
        heard.short += [said]
        return len(said) < GRAM and len(heard.short) <= MAX_SHORT
    if any(
        word in NEGATING or word in EXCLUDING or not word.isalpha() for word in own
    ) or _adds_name(clause, own):
        return False
    heard.covered += length
    heard.fresh += own
    heard.sources |= {id(source): source for source in sources}
    return True


def _longest_run(
    said: Sequence[str], space: str, returned: SpaceTexts, without: frozenset[NodeId]
) -> tuple[int, int, list[Source]]:
    """Return start and length of a clause's longest returned run, and the texts that hold it."""
    start = longest = 0
    sources: list[Source] = []
    at = 0
    while at + GRAM <= len(said):
        reached = at
        for place in islice(returned.places(said[at : at + GRAM], space, without), MAX_PLACES):
            length = _run_length(said, at, place)
            reached = max(reached, at + length - GRAM)
            if length > longest:
                start, longest, sources = at, length, []
            if length == longest and start == at:
                sources.append(place.source)
        at = reached + 1
    return start, longest, sources


def _run_length(said: Sequence[str], at: int, place: Place) -> int:
    words_there = place.source.words
    length = 0
    while (
        at + length < len(said)
        and place.at + length < len(words_there)
        and said[at + length] == words_there[place.at + length]
    ):
        length += 1
    return length


def _cover_short(said: Sequence[str], heard: _Coverage) -> bool:
    """Tell whether a covered text holds these words in a row, and count them as covered."""
    wanted = f" {' '.join(said)} "
    if not any(wanted in f" {' '.join(source.words)} " for source in heard.sources.values()):
        return False
    heard.covered += len(said)
    return True


def _adds_name(clause: str, own: Sequence[str]) -> bool:
    """Tell whether what a clause adds has a name in it.

    A capital that no sentence's beginning explains.
    """
    added = set(own)
    return any(word[0].isupper() and fold(word) in added for word in words(clause)[1:])


def _is_titled(title: str, sources: Iterable[Source]) -> bool:
    """Tell whether a title says nothing that the returned texts do not."""
    known = {word for source in sources for word in source.words}
    return all(word in known or word in WRAPPING for word in comparable_words(title))


RULE = "echo"
# each leaves out memories that are gone or have ended since; what is still heard then is rare
# enough to be stored
MAX_ATTEMPTS = 4


def find_live_echo(
    draft: Draft, store: Store, returned: SpaceTexts, *, share: float, now: datetime
) -> Echo | None:
    """Return of which live memories a draft is the echo.

    What was forgotten, expired or ended since may be said again.
    """
    gone: frozenset[NodeId] = frozenset()
    for _ in range(MAX_ATTEMPTS):
        with returned.lock:
            echo = find_echo(
                draft.text,
                title=draft.title,
                space=draft.space,
                returned=returned,
                share=share,
                without=gone,
            )
        if echo is None:
            return None
        nodes = store.get(echo.ids)
        dead = {id for id in echo.ids if id not in nodes or not _holds(nodes[id], draft, now)}
        if not dead:
            return echo
        gone |= dead
    return None


def echo_outcome(echo: Echo, settings: FirewallSettings) -> Outcome:
    """Return the outcome of an echo.

    Of one memory it is that memory's near duplicate, of several it is rejected and names them.
    """
    one = echo.ids[0] if len(echo.ids) == 1 else None
    named = f": {sentence_list(echo.ids)}" if echo.ids else ""
    return Outcome(
        outcome=OutcomeKind.REJECTED if one is None else OutcomeKind.NEAR_DUPLICATE,
        id=one,
        rule=RULE,
        value=round(echo.share, 4),
        limit=settings.echo_share,
        canonical_id=next(iter(echo.ids), None),
        notes=(
            f"Clew itself returned this lately{named}. Nothing was stored; to keep it all the "
            f"same use on_duplicate insert.",
        ),
    )


def _holds(node: Node, draft: Draft, now: datetime) -> bool:
    """Tell whether a memory still says it.

    When a passage of a file began is when the file was written, which says nothing here.
    """
    still = holds if node.kind is Kind.MEMORY else lasts
    alive = node.space == draft.space and node.t_expired is None and not node.archived
    return (
        alive
        and same_speaker(node, draft)
        and same_times(node, draft)
        and still(node, draft, at=now)
    )
