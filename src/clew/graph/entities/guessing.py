"""What a name names, by the lists, by its own words, and by the words around it."""

from __future__ import annotations

from typing import NamedTuple

from clew.graph.entities.lexicon import (
    DEEDS,
    EVENT_HEADS,
    GIVEN,
    ORG_ENDS,
    ORG_HEADS,
    ORG_WORDS,
    ORGS,
    PARTICLES,
    PERSON_BEFORE,
    PLACE_BEFORE,
    PLACE_ENDS,
    PLACE_HEADS,
    PLACES,
    PROJECT_WORDS,
    RELATIONS,
    SKILLS,
    TOOLS,
    WORK_ENDS,
    WORK_WORDS,
    is_common,
)
from clew.graph.entities.reading import Reading, Run
from clew.graph.entities.stretch import Shape
from clew.graph.entities.value import EntityType

_KINDS = ((PLACES, EntityType.PLACE), (TOOLS, EntityType.TOOL), (SKILLS, EntityType.SKILL), (ORGS, EntityType.ORG))
_LISTED = {word: type for names, type in _KINDS for word in names}  # of a word in two lists the later one tells
_ARTICLES = ("a", "an", "the")
MOST_NAMES = 4  # a person is called by
_ROMAN = frozenset("ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi".split())


class Guess(NamedTuple):
    """A type, and whether it is known from a list, cued by what stands in or around the name, or merely usual."""

    type: EntityType
    known: bool = False
    cued: bool = False
    usual: bool = False


def guess(reading: Reading, run: Run) -> Guess:
    """Return what a name most likely names.

    >>> from clew.graph.entities.reading import Run, read
    >>> from clew.graph.entities.runs import runs
    >>> reading = read("Priya Nair met Acme Corp in Tirupati about Project Falcon.")
    >>> [str(guess(reading, run).type) for run in runs(reading)]
    ['PERSON', 'ORG', 'PLACE', 'PROJECT']
    """
    words = run.words(reading)
    if run.titled:
        return Guess(EntityType.PERSON, known=words[0] in GIVEN, cued=True)
    by_words = _of_several(words) if len(words) > 1 else _of_one(words[0], reading, run)
    return by_words or _around(words, reading, run) or _usual(words, reading, run)


def _of_several(words: list[str]) -> Guess | None:
    first, last, known = words[0], words[-1], False
    if first in PROJECT_WORDS:
        type = EntityType.PROJECT
    elif first in EVENT_HEADS or last in WORK_ENDS:
        type = EntityType.CONCEPT
    elif last in ORG_ENDS or (first in ORG_HEADS and first not in PLACE_HEADS):
        type = EntityType.ORG
    elif first in GIVEN or not _ROMAN.isdisjoint(words[1:]):
        type, known = EntityType.PERSON, first in GIVEN
    elif last in PLACE_ENDS or first in PLACE_HEADS or last in PLACES:
        type, known = EntityType.PLACE, last in PLACES
    else:
        return _listed(first)
    return Guess(type, known=known, cued=True)


def _listed(word: str) -> Guess | None:
    type = _LISTED.get(word)
    return Guess(type, known=True) if type else None


def _of_one(word: str, reading: Reading, run: Run) -> Guess | None:
    if word in GIVEN and word in PLACES:
        placed = reading.words[run.first - 1] in PLACE_BEFORE
        return Guess(EntityType.PLACE if placed else EntityType.PERSON, known=True)
    if reading.words[run.last + 1] in PROJECT_WORDS:
        return Guess(EntityType.PROJECT, cued=True)
    if word in GIVEN:
        return Guess(EntityType.PERSON, known=True, cued=_does(reading, run))
    return _listed(word)


def _around(words: list[str], reading: Reading, run: Run) -> Guess | None:
    found = _addressed(words, reading, run) or _beside(words, reading, run)
    return Guess(found, cued=True) if found else None


def _addressed(words: list[str], reading: Reading, run: Run) -> EntityType | None:
    """Go by words that tell the kind whatever the name looks like: "my sister Rosa", "the film Titanic"."""
    before, after = reading.words[run.first - 1], reading.words[run.last + 1]
    if run.opening and reading.stretches[run.last].label and not _has_common(words):
        return EntityType.PERSON  # whoever speaks
    if before in RELATIONS or _does(reading, run):
        return EntityType.PERSON
    if before in WORK_WORDS or after in WORK_WORDS:
        return EntityType.CONCEPT
    return EntityType.ORG if before in ORG_WORDS else None


def _beside(words: list[str], reading: Reading, run: Run) -> EntityType | None:
    """Go by prepositions, which tell something of names that are neither acronyms nor words: "with Priya", "in Tirupati"."""
    before = reading.words[run.first - 1]
    if reading.stretches[run.first].shape is Shape.ACRONYM or reading.stretches[run.first].hump or _has_common(words):
        return None
    if before in PERSON_BEFORE:
        return EntityType.PERSON
    return EntityType.PLACE if before in PLACE_BEFORE and not run.opening else None


def _does(reading: Reading, run: Run) -> bool:
    """Tell whether what follows is what people do, or who they are: "Anna wrote", "Anna's sister"."""
    if reading.stretches[run.last].bound and not reading.stretches[run.last].possessive:
        return False
    after = reading.words[run.last + 1]
    if reading.stretches[run.last].possessive:
        return after in RELATIONS
    return after in DEEDS or (after in ("was", "is", "has") and reading.words[run.last + 2] in DEEDS)


def _usual(words: list[str], reading: Reading, run: Run) -> Guess:
    """Take a few words that are none of the language for a person's name, unless an article or a number makes them a thing's."""
    piece = reading.stretches[run.first]
    thing = reading.words[run.first - 1] in _ARTICLES or words[-1].isdigit() or len(words) > MOST_NAMES
    if thing or piece.shape is Shape.ACRONYM or piece.hump or _has_common(words):
        return Guess(EntityType.CONCEPT)
    return Guess(EntityType.PERSON, usual=True)


def _has_common(words: list[str]) -> bool:
    return any(is_common(word) for word in words if word not in PARTICLES)


def defined(reading: Reading, run: Run) -> bool:
    """Tell whether the text goes on to say what the name is: "Titanic is a film"."""
    if reading.stretches[run.last].bound or reading.words[run.last + 1] not in ("is", "was", "are", "were"):
        return False
    return reading.words[run.last + 2] in _ARTICLES
