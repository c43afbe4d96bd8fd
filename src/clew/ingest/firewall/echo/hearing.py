"""Does a text say anything beyond what was returned? Each clause must be a run of words of one returned text, but for words of wrapping.

What passes by its words must also repeat the returned texts in full, sign by sign (`verbatim.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from clew.ingest.firewall.echo.returned import GRAM, Place, Shelf, Source
from clew.ingest.firewall.echo.spoken import clauses, sentences, spoken
from clew.ingest.firewall.echo.verbatim import repeated
from clew.ingest.firewall.echo.wrapping import EXCLUDING, EXPLAINED_SIGN, TURNING, WRAPPING, named_ids, unwrapped, without_lead
from clew.types import NodeId
from clew.words import STOP_WORDS, folded, words

MOST_PLACES = 8  # of one run of words that are followed: what stands in more places is a phrase
MOST_SHORT = 64  # clauses of one or two words
MOST_FRESH = 3  # words of its own that an echo may have, however long it is


@dataclass(frozen=True, slots=True)
class Echo:
    """A text that says what was returned: the share of its words that were, and the memories they came from."""

    share: float
    ids: tuple[NodeId, ...]


@dataclass(slots=True)
class _Heard:
    """What has been heard of a text so far."""

    covered: int = 0
    fresh: list[str] = field(default_factory=list)
    sources: dict[int, Source] = field(default_factory=dict)
    """The returned texts that hold the longest run of a clause, by identity: to hash a text takes as long as to read it."""
    short: list[list[str]] = field(default_factory=list)
    """Clauses of too few words to be found by themselves: headings, the rest after a full stop that ended no sentence."""


def echo_of(
    text: str, *, title: str = "", space: str, returned: Shelf, share: float, without: frozenset[NodeId] = frozenset()
) -> Echo | None:
    """Return of which memories a text is the echo, or None for a text with something of its own; `without` are memories that count no more.

    Its words must be theirs by at least `share`, but for the wrapping; and what it adds must be no number, name or negation.
    """
    if not returned.holds_any(spoken(text), space) and EXPLAINED_SIGN not in text:  # as nearly all: nothing of it was returned
        return None
    bare, explained = unwrapped(text)
    bare = without_lead(bare)
    heard = _Heard()
    for clause in (clause for sentence in sentences(bare) for clause in clauses(sentence)):
        if not _listen(clause, space, returned, without, heard):
            return None
    if not heard.covered:
        return Echo(1.0, named_ids(text)) if explained and not spoken(bare) else None
    if not all(_placed(said, heard) for said in heard.short):
        return None
    sources = repeated(text, bare, heard.sources.values(), added=heard.fresh)
    if not sources or not _is_titled(title, sources):
        return None
    found = heard.covered / (heard.covered + len(heard.fresh))
    return Echo(found, tuple(dict.fromkeys(source.id for source in sources))) if found >= share and len(heard.fresh) <= MOST_FRESH else None


def _listen(clause: str, space: str, returned: Shelf, without: frozenset[NodeId], heard: _Heard) -> bool:
    """Take a clause into account; False where it says something new."""
    said = spoken(clause)
    start, length, sources = _longest(said, space, returned, without)
    own = [word for word in (*said[:start], *said[start + length :]) if word not in WRAPPING]
    if not length:
        if all(word in STOP_WORDS and word not in TURNING for word in own):  # "Based on what you told me" alone
            return True
        heard.short += [said]
        return len(said) < GRAM and len(heard.short) <= MOST_SHORT
    if any(word in TURNING or word in EXCLUDING or not word.isalpha() for word in own) or _names(clause, own):
        return False
    heard.covered += length
    heard.fresh += own
    heard.sources |= {id(source): source for source in sources}
    return True


def _longest(said: Sequence[str], space: str, returned: Shelf, without: frozenset[NodeId]) -> tuple[int, int, list[Source]]:
    """Return where the longest run of a returned text begins in a clause, how long it is, and which texts hold it."""
    start = longest = 0
    sources: list[Source] = []
    at = 0
    while at + GRAM <= len(said):
        reached = at
        for place in islice(returned.places(said[at : at + GRAM], space, without), MOST_PLACES):
            length = _run(said, at, place)
            reached = max(reached, at + length - GRAM)
            if length > longest:
                start, longest, sources = at, length, []
            if length == longest and start == at:
                sources.append(place.source)
        at = reached + 1
    return start, longest, sources


def _run(said: Sequence[str], at: int, place: Place) -> int:
    words_there = place.source.words
    length = 0
    while at + length < len(said) and place.at + length < len(words_there) and said[at + length] == words_there[place.at + length]:
        length += 1
    return length


def _placed(said: Sequence[str], heard: _Heard) -> bool:
    """Tell whether the memories that are heard hold these few words in a row, and count the words as heard."""
    wanted = f" {' '.join(said)} "
    if not any(wanted in f" {' '.join(source.words)} " for source in heard.sources.values()):
        return False
    heard.covered += len(said)
    return True


def _names(clause: str, own: Sequence[str]) -> bool:
    """Tell whether what a clause adds has a name in it: a capital that no sentence's beginning explains."""
    added = set(own)
    return any(word[0].isupper() and folded(word) in added for word in words(clause)[1:])


def _is_titled(title: str, sources: Iterable[Source]) -> bool:
    """Tell whether a title says nothing that the returned texts do not."""
    known = {word for source in sources for word in source.words}
    return all(word in known or word in WRAPPING for word in spoken(title))
