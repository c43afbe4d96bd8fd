"""Extract entities from a text: collect mentions, merge them by key, keep the most certain."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, Protocol, runtime_checkable

from clew.errors import InputError
from clew.text.names.identifiers import MIN_LETTERS, find_identifier
from clew.text.names.keys import Entity, EntityType, entity_key, title_keys
from clew.text.names.lexicon import (
    DATES,
    FUNCTION_WORDS,
    GIVEN,
    ORG_ENDS,
    PLACE_ENDS,
    PLACES,
    RELATIONS,
    WORK_WORDS,
)
from clew.text.names.runs import are_listed, name_runs
from clew.text.names.spans import (
    LOWERCASE,
    UNSPACED_RUN,
    Run,
    TokenizedText,
    find_unspaced_names,
    read_quotation,
    tokenize_text,
)
from clew.text.names.types import (
    Guess,
    confidence,
    guess_type,
    has_only_first_capital,
    rank_end,
    repeated_confidence,
)
from clew.text.words import STOP_WORDS, fold, words


class Mention(NamedTuple):
    """One place where something is named."""

    start: int
    end: int
    type: EntityType
    confidence: float


def merge_mentions(text: str, mentions: Iterable[Mention], *, least: float) -> list[Entity]:
    """Make one entity of all mentions with one key, if it is sure enough.

    The surest of them tells name, type and place.
    """
    groups: dict[str, list[Mention]] = {}
    for mention in mentions:
        groups.setdefault(entity_key(text[mention.start : mention.end]), []).append(mention)
    surest = ((key, _surest(group), len(group)) for key, group in groups.items() if key)
    weighed = (
        (key, best, repeated_confidence(best.confidence, mentions))
        for key, best, mentions in surest
    )
    return [
        Entity(text[best.start : best.end], key, best.type, sure, best.start, best.end)
        for key, best, sure in weighed
        if sure >= least
    ]


def _surest(group: list[Mention]) -> Mention:
    return (
        group[0]
        if len(group) == 1
        else min(group, key=lambda mention: (-mention.confidence, mention.start))
    )


def select_entities(found: list[Entity], *, limit: int) -> tuple[Entity, ...]:
    """Return the surest entities, best first, ties in reading order, then by key."""
    if not found:
        return ()
    return tuple(
        sorted(
            _without_parts(found), key=lambda entity: (-entity.confidence, entity.start, entity.key)
        )[:limit]
    )


def _without_parts(found: list[Entity]) -> list[Entity]:
    """Leave out a lone name that can only be one of the people named in full.

    "Curie" beside "Marie Curie".
    """
    owners: dict[str, set[str]] = {}
    for entity in found:
        if entity.type is EntityType.PERSON and " " in entity.key:
            for part in entity.key.split():
                owners.setdefault(part, set()).add(entity.key)
    return [
        entity
        for entity in found
        if not (entity.type is EntityType.PERSON and len(owners.get(entity.key, ())) == 1)
        or " " in entity.key
    ]


SUBJECT_CONFIDENCE = 0.99
MAX_TITLE = 200  # characters: a longer one is a first line, which names nothing as a whole
_PARENTHESIS = re.compile(r"^(.*\S)\s*\(([^()]*)\)\s*$", re.DOTALL)


class _Sense(NamedTuple):
    words: frozenset[str]
    type: EntityType


# What a parenthesis says a title is: "(1997 film)", "(politician)".
_SENSES = (
    _Sense(WORK_WORDS, EntityType.CONCEPT),
    _Sense(ORG_ENDS | {"band", "magazine", "newspaper"}, EntityType.ORG),
    _Sense(frozenset(("software", "library", "framework", "tool", "program")), EntityType.TOOL),
    _Sense(frozenset(("language",)), EntityType.SKILL),
    _Sense(
        RELATIONS
        | {
            "artist",
            "musician",
            "bishop",
            "king",
            "queen",
            "born",
            "cricketer",
            "footballer",
            "officer",
        },
        EntityType.PERSON,
    ),
    _Sense(PLACE_ENDS, EntityType.PLACE),
)


def title_entity(title: str, text: str) -> Entity | None:
    """Return the entity that a title names, found in the text where the text has it as written.

    >>> film = title_entity("Titanic (1997 film)", "Titanic is a film.")
    >>> film.name, film.key, film.aliases, str(film.type), film.start, film.end
    ('Titanic', 'titanic', ('titanic 1997 film',), 'CONCEPT', 0, 7)
    """
    if not title:
        return None
    title = " ".join(title.split())
    keys = title_keys(title) if len(title) <= MAX_TITLE else ()
    if not keys:
        return None
    split = _PARENTHESIS.match(title)
    name, sense = (split[1], split[2]) if split else (title, "")
    start = _find_name(name, text)
    place = (name, start, start + len(name)) if start >= 0 else (title, 0, 0)
    return Entity(
        place[0], keys[0], _title_type(name, sense), SUBJECT_CONFIDENCE, *place[1:], keys[1:]
    )


def _find_name(name: str, text: str) -> int:
    """Return where a text has a name as a whole word, or -1; where no spaces are written, anywhere.

    >>> _find_name("Anna", "Annabel saw Anna"), _find_name("東京タワー", "昨日東京タワーへ行った"), _find_name("Redis", "我们用Redis")
    (12, 2, 3)
    """
    start, size = text.find(name), len(name)
    while start >= 0 and (
        _same_word(text[start - 1 : start], name[0])
        or _same_word(text[start + size : start + size + 1], name[-1])
    ):
        start = text.find(name, start + size)
    return start


def _same_word(neighbour: str, edge: str) -> bool:
    if not neighbour.isascii() and (UNSPACED_RUN.match(neighbour) or UNSPACED_RUN.match(edge)):
        return False
    return neighbour.isalnum() or neighbour == "_"


def _title_type(name: str, sense: str) -> EntityType:
    said = {fold(word) for word in words(sense)}
    for meant in _SENSES:
        if said & meant.words:
            return meant.type
    reading = tokenize_text(name.partition(",")[0])
    if not reading.stretches:
        return EntityType.CONCEPT
    if len(reading.stretches) == 1 and (code := reading.stretches[0].code):
        return code.type
    return guess_type(reading, Run(0, len(reading.stretches) - 1, opening=False)).type


MAX_TERM = 60  # characters between two marks
MAX_TITLE_WORDS = 8
MAX_TERM_WORDS = 4  # a longer quotation in lower case is something that was said
TITLE_CONFIDENCE, TERM_CONFIDENCE, CODE_CONFIDENCE, CALL_CONFIDENCE = 0.85, 0.77, 0.85, 0.85
_QUOTATION = re.compile(
    rf"\"([^\"\n]{{2,{MAX_TERM}}})\"|“([^“”\n]{{2,{MAX_TERM}}})”|"
    rf"„([^„“”\n]{{2,{MAX_TERM}}})[“”]|«([^«»\n]{{2,{MAX_TERM}}})»|"
    rf"《([^《》\n]{{2,{MAX_TERM}}})》|『([^『』\n]{{2,{MAX_TERM}}})』"
    rf"|「([^「」\n]{{2,{MAX_TERM}}})」"
)
_TITLES = "《『"  # marks that hold titles
_BACKTICKS = re.compile(rf"`([^`\n]{{2,{MAX_TERM}}})`")
_CALL = re.compile(r"(?<![\w.])([A-Za-z_]\w{2,60})\(\)")
_SPEECH = frozenset(
    "i im ive id ill me my you youre your we were our us he she they dont cant its thats".split()
)


class Marked(NamedTuple):
    """A marked term: where it lies, without its marks."""

    start: int
    end: int
    type: EntityType
    confidence: float


def marked_terms(text: str, *, code: bool = False) -> Iterator[Marked]:
    """Yield the marked terms of a text; in code, quotation marks hold data and are passed over.

    >>> [text[term.start:term.end] for text in ['He saw "Spirited Away" and said "I liked it", see `limit`.'] for term in marked_terms(text)]
    ['limit', 'Spirited Away']
    """  # noqa: E501
    if "`" in text:
        yield from filter(
            None,
            (
                _backticked_term(text, found.start(1), found.end(1))
                for found in _BACKTICKS.finditer(text)
            ),
        )
    if "()" in text:
        yield from (
            Marked(found.start(1), found.end(1), EntityType.CONCEPT, CALL_CONFIDENCE)
            for found in _CALL.finditer(text)
        )
    if not code and ('"' in text or not text.isascii()):
        yield from filter(None, (_quoted_term(found) for found in _QUOTATION.finditer(text)))


def _backticked_term(text: str, start: int, end: int) -> Marked | None:
    term = text[start:end].removesuffix("()")
    if len(term) < MIN_LETTERS or any(map(str.isspace, term)) or not any(map(str.isalpha, term)):
        return None
    found = find_identifier(term)
    if found:
        return Marked(
            start + found.start,
            start + found.end,
            found.type,
            max(found.confidence, CODE_CONFIDENCE),
        )
    return Marked(start, start + len(term), EntityType.CONCEPT, CODE_CONFIDENCE)


def _quoted_term(found: re.Match[str]) -> Marked | None:
    group = found.lastindex or 0
    term = found[group].strip(" ,")
    start = found.start(group) + found[group].find(term) if term else 0
    if UNSPACED_RUN.search(term):
        apart = read_quotation(
            found.string, start, start + len(term), titled=found[0][0] in _TITLES
        )
        return None if apart is None else Marked(*apart)
    said = words(term)
    plain = [fold(word) for word in said]
    if (
        not said
        or term[-1] == "."
        or not _SPEECH.isdisjoint(plain)
        or all(_is_filler(word) for word in plain)
    ):
        return None
    large = sum(
        word[0].isupper() for word, low in zip(said, plain, strict=True) if low not in STOP_WORDS
    )
    telling = sum(low not in STOP_WORDS for low in plain)
    if said[0][0].isupper() and 2 * large > telling and len(said) <= MAX_TITLE_WORDS:
        return Marked(start, start + len(term), _quoted_type(plain), TITLE_CONFIDENCE)
    plain_term = len(said) <= MAX_TERM_WORDS and term[-1] not in "!?" and not said[0][0].isupper()
    return (
        Marked(start, start + len(term), EntityType.CONCEPT, TERM_CONFIDENCE)
        if plain_term
        else None
    )


def _quoted_type(plain: list[str]) -> EntityType:
    """Return what a lone listed name is.

    Anything else in quotation marks is most likely a work or a term.
    """
    if len(plain) == 1 and plain[0] in GIVEN | PLACES:
        return EntityType.PERSON if plain[0] in GIVEN else EntityType.PLACE
    return EntityType.CONCEPT


def _is_filler(word: str) -> bool:
    return word in FUNCTION_WORDS or word in DATES or word.isdigit()


MAX_ENTITIES = 10  # of a memory
MIN_CONFIDENCE = 0.75
_PROSE = frozenset(("text", "markdown", "html", "conversation"))


def extract_entities(
    text: str,
    *,
    title: str = "",
    format: str = "text",
    limit: int = MAX_ENTITIES,
    least: float = MIN_CONFIDENCE,
) -> tuple[Entity, ...]:
    """Return what a text names, surest first, then in reading order.

    At most `limit`, each at least `least` sure.

    `format` is text, markdown, html or conversation; any other name is taken for a language of
    code.

    >>> [(entity.name, str(entity.type)) for entity in extract_entities("Matt moved to Lisbon on Monday; see docs/plan.md")]
    [('docs/plan.md', 'FILE'), ('Matt', 'PERSON'), ('Lisbon', 'PLACE')]
    """
    check_limits(limit=limit, least=least)
    reading = tokenize_text(text, format=format)
    found = merge_mentions(
        text, _mentions(reading, code=format not in _PROSE, least=least), least=least
    )
    subject = title_entity(title, text) if title else None
    if subject and subject.confidence >= least:
        found = [subject, *(entity for entity in found if entity.key != subject.key)]
    return select_entities(found, limit=limit)


def check_limits(*, limit: int, least: float) -> None:
    """Refuse limits that cannot be meant."""
    if limit < 0:
        raise InputError(
            "limit",
            limit,
            "must not be negative",
            "Give how many entities a text may have, such as 10.",
        )
    if not 0 <= least <= 1:
        raise InputError(
            "least",
            least,
            "must lie between 0 and 1",
            "Give the lowest confidence to keep, such as 0.75.",
        )


def _mentions(reading: TokenizedText, *, code: bool, least: float) -> Iterator[Mention]:
    """Yield every mention, but for a lone one that is not sure enough.

    What lies inside a marked term is part of it.
    """
    terms = [Mention(*term) for term in marked_terms(reading.text, code=code)]
    if not terms and has_only_first_capital(reading, least=least):
        return
    yield from terms
    inside = _covered_positions(terms)
    apart = (
        ()
        if reading.text.isascii()
        else (Mention(*each) for each in find_unspaced_names(reading.text))
    )
    for mention in chain(_run_mentions(reading), _identifier_mentions(reading), apart):
        if mention.start not in inside:
            yield mention


def _covered_positions(terms: Iterable[Mention]) -> frozenset[int]:
    return frozenset(position for term in terms for position in range(term.start, term.end))


def _run_mentions(reading: TokenizedText) -> Iterator[Mention]:
    before: tuple[Run, Guess] | None = None
    for run in name_runs(reading):
        found = guess_type(reading, run)
        if found.usual and run.first == run.last and before and are_listed(reading, before[0], run):
            found = found._replace(type=before[1].type)
        before = run, found
        start = reading.starts[run.first] + reading.stretches[run.first].first
        end = (
            reading.ends[run.last]
            if reading.stretches[run.last] is LOWERCASE
            else reading.starts[run.last] + reading.stretches[run.last].last
        )
        sure = confidence(reading, run, found)
        yield Mention(start, end, found.type, sure)
        if found.type is EntityType.PERSON and (behind := rank_end(reading.text, end)) > end:
            yield Mention(start, behind, EntityType.PERSON, sure)


def _identifier_mentions(reading: TokenizedText) -> Iterator[Mention]:
    for i in reading.telling:
        piece = reading.stretches[i]
        if piece.code:
            start = reading.starts[i] + piece.first
            yield Mention(
                start + piece.code.start,
                start + piece.code.end,
                piece.code.type,
                piece.code.confidence,
            )


@runtime_checkable
class Extractor(Protocol):
    """Finds what texts name.

    For each text, in order, its entities, best first, with offsets into that text.
    """

    def extract(self, texts: Sequence[str]) -> Sequence[tuple[Entity, ...]]:
        """Return the entities of each text."""
        ...


@dataclass(frozen=True, slots=True)
class RuleExtractor:
    """The extractor that needs no model.

    >>> [[entity.name for entity in found] for found in RuleExtractor().extract(["Matt left.", "nothing"])]
    [['Matt'], []]
    """

    limit: int = MAX_ENTITIES
    least: float = MIN_CONFIDENCE
    format: str = "text"

    def __post_init__(self) -> None:
        """Refuse limits that cannot be meant when they are given, not at the first text."""
        check_limits(limit=self.limit, least=self.least)

    def extract(self, texts: Sequence[str]) -> Sequence[tuple[Entity, ...]]:
        """Return the entities of each text."""
        return [
            extract_entities(text, format=self.format, limit=self.limit, least=self.least)
            for text in texts
        ]


# of the documents; "United States", the widest key of 6,119 encyclopaedic passages, is in 3 %
MAX_GENERIC_SHARE = 0.1
MIN_DOCUMENTS = 20  # documents: in a small store a name may well be in half of them


def is_generic_key(key: str, *, holding: int, total: int) -> bool:
    """Tell whether too many documents name a key for it to connect any of them.

    An empty key always is.

    >>> is_generic_key("team", holding=400, total=1000), is_generic_key("matt joyce", holding=40, total=1000), is_generic_key("toby", holding=6, total=9)
    (True, False, False)
    """  # noqa: E501
    if not 0 <= holding <= total:
        raise InputError(
            "holding",
            holding,
            f"must lie between 0 and the {total} documents there are",
            "Count documents, not mentions.",
        )
    return not key or (holding >= MIN_DOCUMENTS and holding > MAX_GENERIC_SHARE * total)
