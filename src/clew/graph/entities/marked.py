"""Terms that the writer marked: in quotation marks, as code, or called with empty brackets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from clew.graph.entities.coded import FEWEST_LETTERS, coded
from clew.graph.entities.lexicon import DATES, FUNCTION_WORDS, GIVEN, PLACES
from clew.graph.entities.unspaced import RUN, quoted
from clew.graph.entities.value import EntityType
from clew.words import STOP_WORDS, folded, words

MAX_TERM = 60  # characters between two marks
MAX_TITLE_WORDS = 8
MAX_TERM_WORDS = 4  # a longer quotation in lower case is something that was said
TITLE, TERM, CODE, CALL = 0.85, 0.77, 0.85, 0.85
_QUOTED = re.compile(
    rf"\"([^\"\n]{{2,{MAX_TERM}}})\"|“([^“”\n]{{2,{MAX_TERM}}})”|„([^„“”\n]{{2,{MAX_TERM}}})[“”]|«([^«»\n]{{2,{MAX_TERM}}})»|《([^《》\n]{{2,{MAX_TERM}}})》|『([^『』\n]{{2,{MAX_TERM}}})』"
    rf"|「([^「」\n]{{2,{MAX_TERM}}})」"
)
_TITLES = "《『"  # marks that hold titles
_BACKTICKED = re.compile(rf"`([^`\n]{{2,{MAX_TERM}}})`")
_CALLED = re.compile(r"(?<![\w.])([A-Za-z_]\w{2,60})\(\)")
_SPEECH = frozenset("i im ive id ill me my you youre your we were our us he she they dont cant its thats".split())


class Marked(NamedTuple):
    """A marked term: where it lies, without its marks."""

    start: int
    end: int
    type: EntityType
    confidence: float


def marked(text: str, *, code: bool = False) -> Iterator[Marked]:
    """Yield the marked terms of a text; in code, quotation marks hold data and are passed over.

    >>> [text[term.start:term.end] for text in ['He saw "Spirited Away" and said "I liked it", see `limit`.'] for term in marked(text)]
    ['limit', 'Spirited Away']
    """
    if "`" in text:
        yield from filter(None, (_code(text, found.start(1), found.end(1)) for found in _BACKTICKED.finditer(text)))
    if "()" in text:
        yield from (Marked(found.start(1), found.end(1), EntityType.CONCEPT, CALL) for found in _CALLED.finditer(text))
    if not code and ('"' in text or not text.isascii()):
        yield from filter(None, (_quoted(found) for found in _QUOTED.finditer(text)))


def _code(text: str, start: int, end: int) -> Marked | None:
    term = text[start:end].removesuffix("()")
    if len(term) < FEWEST_LETTERS or any(map(str.isspace, term)) or not any(map(str.isalpha, term)):
        return None
    found = coded(term)
    if found:
        return Marked(start + found.start, start + found.end, found.type, max(found.confidence, CODE))
    return Marked(start, start + len(term), EntityType.CONCEPT, CODE)


def _quoted(found: re.Match[str]) -> Marked | None:
    group = found.lastindex or 0
    term = found[group].strip(" ,")
    start = found.start(group) + found[group].find(term) if term else 0
    if RUN.search(term):
        apart = quoted(found.string, start, start + len(term), titled=found[0][0] in _TITLES)
        return None if apart is None else Marked(*apart)
    said = words(term)
    plain = [folded(word) for word in said]
    if not said or term[-1] == "." or not _SPEECH.isdisjoint(plain) or all(_says_nothing(word) for word in plain):
        return None
    large = sum(word[0].isupper() for word, low in zip(said, plain, strict=True) if low not in STOP_WORDS)
    telling = sum(low not in STOP_WORDS for low in plain)
    if said[0][0].isupper() and 2 * large > telling and len(said) <= MAX_TITLE_WORDS:
        return Marked(start, start + len(term), _kind(plain), TITLE)
    plain_term = len(said) <= MAX_TERM_WORDS and term[-1] not in "!?" and not said[0][0].isupper()
    return Marked(start, start + len(term), EntityType.CONCEPT, TERM) if plain_term else None


def _kind(plain: list[str]) -> EntityType:
    """Return what a lone listed name is; anything else in quotation marks is most likely a work or a term."""
    if len(plain) == 1 and plain[0] in GIVEN | PLACES:
        return EntityType.PERSON if plain[0] in GIVEN else EntityType.PLACE
    return EntityType.CONCEPT


def _says_nothing(word: str) -> bool:
    return word in FUNCTION_WORDS or word in DATES or word.isdigit()
