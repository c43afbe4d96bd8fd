"""Guess the type of a name from word lists and context, and how certain the name is."""

from __future__ import annotations

import re
from typing import NamedTuple

from clew.text.names.keys import EntityType
from clew.text.names.lexicon import (
    DEEDS,
    EVENT_HEADS,
    GIVEN,
    KNOWN,
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
from clew.text.names.spans import LOWERCASE, Run, Shape, TokenizedText

_KINDS = (
    (PLACES, EntityType.PLACE),
    (TOOLS, EntityType.TOOL),
    (SKILLS, EntityType.SKILL),
    (ORGS, EntityType.ORG),
)
# of a word in two lists the later one tells
_TYPE_OF_WORD = {word: type for names, type in _KINDS for word in names}
_ARTICLES = ("a", "an", "the")
MAX_PERSON_WORDS = 4  # a person is called by
_ROMAN = frozenset("ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi".split())


class Guess(NamedTuple):
    """A type, and the evidence for it: a list, the context, or merely the default."""

    type: EntityType
    known: bool = False
    cued: bool = False
    usual: bool = False


def guess_type(reading: TokenizedText, run: Run) -> Guess:
    """Return what a name most likely names.

    >>> from clew.text.names.spans import Run, tokenize_text
    >>> from clew.text.names.runs import name_runs
    >>> reading = tokenize_text("Priya Nair met Acme Corp in Tirupati about Project Falcon.")
    >>> [str(guess_type(reading, run).type) for run in name_runs(reading)]
    ['PERSON', 'ORG', 'PLACE', 'PROJECT']
    """
    words = run.words(reading)
    if run.titled:
        return Guess(EntityType.PERSON, known=words[0] in GIVEN, cued=True)
    by_words = _type_of_words(words) if len(words) > 1 else _type_of_word(words[0], reading, run)
    return by_words or _type_by_context(words, reading, run) or _default_type(words, reading, run)


def _type_of_words(words: list[str]) -> Guess | None:
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
        return _listed_type(first)
    return Guess(type, known=known, cued=True)


def _listed_type(word: str) -> Guess | None:
    type = _TYPE_OF_WORD.get(word)
    return Guess(type, known=True) if type else None


def _type_of_word(word: str, reading: TokenizedText, run: Run) -> Guess | None:
    if word in GIVEN and word in PLACES:
        placed = reading.words[run.first - 1] in PLACE_BEFORE
        return Guess(EntityType.PLACE if placed else EntityType.PERSON, known=True)
    if reading.words[run.last + 1] in PROJECT_WORDS:
        return Guess(EntityType.PROJECT, cued=True)
    if word in GIVEN:
        return Guess(EntityType.PERSON, known=True, cued=_does_what_people_do(reading, run))
    return _listed_type(word)


def _type_by_context(words: list[str], reading: TokenizedText, run: Run) -> Guess | None:
    found = _type_by_neighbour(words, reading, run) or _type_by_preposition(words, reading, run)
    return Guess(found, cued=True) if found else None


def _type_by_neighbour(words: list[str], reading: TokenizedText, run: Run) -> EntityType | None:
    """Go by words that tell the kind whatever the name looks like.

    "my sister Rosa", "the film Titanic".
    """
    before, after = reading.words[run.first - 1], reading.words[run.last + 1]
    if run.opening and reading.stretches[run.last].label and not _has_common(words):
        return EntityType.PERSON  # whoever speaks
    if before in RELATIONS or _does_what_people_do(reading, run):
        return EntityType.PERSON
    if before in WORK_WORDS or after in WORK_WORDS:
        return EntityType.CONCEPT
    return EntityType.ORG if before in ORG_WORDS else None


def _type_by_preposition(words: list[str], reading: TokenizedText, run: Run) -> EntityType | None:
    """Go by prepositions, which tell something of names that are neither acronyms nor words.

    "with Priya", "in Tirupati".
    """
    before = reading.words[run.first - 1]
    if (
        reading.stretches[run.first].shape is Shape.ACRONYM
        or reading.stretches[run.first].hump
        or _has_common(words)
    ):
        return None
    if before in PERSON_BEFORE:
        return EntityType.PERSON
    return EntityType.PLACE if before in PLACE_BEFORE and not run.opening else None


def _does_what_people_do(reading: TokenizedText, run: Run) -> bool:
    """Tell whether what follows is what people do, or who they are.

    "Anna wrote", "Anna's sister".
    """
    if reading.stretches[run.last].bound and not reading.stretches[run.last].possessive:
        return False
    after = reading.words[run.last + 1]
    if reading.stretches[run.last].possessive:
        return after in RELATIONS
    return after in DEEDS or (
        after in ("was", "is", "has") and reading.words[run.last + 2] in DEEDS
    )


def _default_type(words: list[str], reading: TokenizedText, run: Run) -> Guess:
    """Return PERSON for a few uncommon words, CONCEPT after an article or with a number."""
    piece = reading.stretches[run.first]
    thing = (
        reading.words[run.first - 1] in _ARTICLES
        or words[-1].isdigit()
        or len(words) > MAX_PERSON_WORDS
    )
    if thing or piece.shape is Shape.ACRONYM or piece.hump or _has_common(words):
        return Guess(EntityType.CONCEPT)
    return Guess(EntityType.PERSON, usual=True)


def _has_common(words: list[str]) -> bool:
    return any(is_common(word) for word in words if word not in PARTICLES)


def is_defined(reading: TokenizedText, run: Run) -> bool:
    """Tell whether the text goes on to say what the name is: "Titanic is a film"."""
    if reading.stretches[run.last].bound or reading.words[run.last + 1] not in (
        "is",
        "was",
        "are",
        "were",
    ):
        return False
    return reading.words[run.last + 2] in _ARTICLES


# How far each sign alone is to be trusted. Set on the calibration half of the labelled sentences in
# tests/graph/fixtures/entities;
# MIN_CONFIDENCE is 0.75.
INSIDE = 0.8  # a capital inside a sentence, on a word that is not common
INSIDE_COMMON = 0.5  # the same on a common word: "the Board"
OPENING = 0.65  # a capital where a sentence begins, on a word that is not common
OPENING_COMMON = 0.1
SEVERAL = 0.85  # several words with capitals, at least one of them not common
SEVERAL_COMMON = 0.7
ACRONYM = 0.76
KNOWN_CONFIDENCE = 0.6  # listed among given names, places, organisations, tools
CUED = 0.5  # a title, a suffix, a verb, a preposition
FOREIGN = 0.35  # letters beyond ASCII: rarely a word of an English sentence
DEFINED = 0.35  # the sentence goes on to say what it is
REPEATED_MENTION = 0.3  # each further mention, up to MAX_REPEATED
MAX_REPEATED_MENTIONS = 3
# what is left of the first sign when the text also writes the word in lower case
LOWERCASE_FACTOR = 0.4
DIGITS = 4  # of a confidence


def confidence(reading: TokenizedText, run: Run, found: Guess) -> float:
    """Return the probability that a run is a name, its signs combined by noisy-or.

    >>> from clew.text.names.types import guess_type
    >>> from clew.text.names.spans import Run, tokenize_text
    >>> from clew.text.names.runs import name_runs
    >>> reading = tokenize_text("Dinner was late. Then Anna told the Board.")
    >>> [confidence(reading, run, guess_type(reading, run)) for run in name_runs(reading)]
    [0.1, 0.96, 0.5]
    """
    words = run.words(reading)
    shown = _confidence_by_spelling(reading, run, words)
    if len(words) == 1 and words[0] in reading.small and not found.known:
        shown *= LOWERCASE_FACTOR
    name = reading.text[reading.starts[run.first] : reading.ends[run.last]]
    doubt = 1 - shown
    for sign, seen in (
        (KNOWN_CONFIDENCE, found.known),
        (CUED, found.cued),
        (FOREIGN, not name.isascii()),
        (DEFINED, is_defined(reading, run)),
    ):
        if seen:
            doubt *= 1 - sign
    return round(1 - doubt, DIGITS)


def repeated_confidence(single: float, mentions: int) -> float:
    """Return the confidence of a name that was mentioned several times.

    >>> repeated_confidence(0.7, 1), repeated_confidence(0.7, 2), repeated_confidence(0.7, 9)
    (0.7, 0.79, 0.8971)
    """
    return (
        round(
            1 - (1 - single) * (1 - REPEATED_MENTION) ** min(mentions - 1, MAX_REPEATED_MENTIONS),
            DIGITS,
        )
        if mentions > 1
        else single
    )


def _confidence_by_spelling(reading: TokenizedText, run: Run, words: list[str]) -> float:
    if len(words) > 1:
        return SEVERAL_COMMON if all(map(is_common, words)) else SEVERAL
    piece = reading.stretches[run.first]
    if piece.shape is Shape.ACRONYM:
        return ACRONYM
    if run.opening and not piece.hump:
        return OPENING_COMMON if is_common(words[0]) else OPENING
    return INSIDE_COMMON if is_common(words[0]) else INSIDE


_CUES = DEEDS | PROJECT_WORDS | WORK_WORDS | {"is", "was", "are", "were", "has"}
"""What may follow the first word of a text and make it more likely a name."""


def has_only_first_capital(reading: TokenizedText, *, least: float) -> bool:
    """Tell whether a text's only candidate is its first word, with its capital as only evidence.

    The rules would find the same, each by lists of its own: this is what `guess_type` and `confidence`
    come to.

    >>> from clew.text.names.spans import tokenize_text
    >>> texts = ("Deploy the service", "Anna likes it", "Titanic is a film", "Falcon project plans", "Deploy Redis")
    >>> [has_only_first_capital(tokenize_text(text), least=0.75) for text in texts]
    [True, False, False, False, False]
    """
    if reading.telling != [0] or least <= OPENING or not reading.text.isascii():
        return False
    first = reading.stretches[0]
    if (
        first.shape is not Shape.CAPITAL
        or first.hump
        or first.possessive
        or first.label
        or reading.words[0] in KNOWN
    ):
        return False
    return len(reading.stretches) == 1 or (
        reading.stretches[1] is LOWERCASE and reading.words[1] not in _CUES
    )


_RANK = (
    r"Arch(?:duke|duchess|bishop)|Baron(?:ess|et)?|Bishop|Burgrave|Count(?:ess)?|Duke|Duchess|"
    r"Earl|Elector|Emperor|Empress|Infant[ae]"
    r"|King|Queen|Landgrav(?:e|ine)|Lord|Lady|Margrav(?:e|ine)|Marquess|Prince(?:ss)?|Sultan|"
    r"Tsar|Viscount(?:ess)?"
)
_NAME = r"[^\W\d_a-z][\w'’-]{0,40}"
_RANK_SUFFIX = re.compile(
    rf", (?:\d{{1,3}}(?:st|nd|rd|th) )?(?:Grand |Holy Roman |Hereditary |Crown "
    rf")?(?:{_RANK})(?: {_NAME}){{0,2}}"
    rf"(?: of (?:the )?{_NAME}(?: {_NAME})?)?"
)


def rank_end(text: str, end: int) -> int:
    """Return where the rank ends that follows a name ending here; the same place where none does.

    >>> text = "Otto I, Count of Nassau was a son of Anna, who wrote."
    >>> text[:rank_end(text, 6)], rank_end(text, 41)
    ('Otto I, Count of Nassau', 41)
    """
    if not text.startswith(", ", end):
        return end
    found = _RANK_SUFFIX.match(text, end)
    return found.end() if found and (" of " in found[0] or found[0].count(" ") > 1) else end
