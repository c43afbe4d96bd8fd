"""Which stretches of a text could be somebody's name? Every run of words that begins like one, as a key to look up."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from clew.graph.entities.key import entity_key
from clew.graph.entities.lexicon import PARTICLES, is_common

MOST_WORDS = 8  # of a name: one title in two hundred of an encyclopaedia is longer
MOST_PHRASES = 2048  # of a text: what a long one names at its end tells less of it
SHORTEST = 3  # letters of a name of one word; in scripts other than ours one may say it all
_WORD = re.compile(r"[^\s–—,;:()\[\]\"“”«»]+")
_ARTICLES = frozenset(("the", "a", "an"))
_JOINTS = _ARTICLES | {"of", "and", "or", "in", "on", "at", "by", "to", "for", "from", "with", "as", "is", "was"}  # no name ends so
_INSIDE = _JOINTS | PARTICLES


class Phrase(NamedTuple):
    """Words `first` to `last` of a text, as a key."""

    first: int
    last: int
    key: str


def phrases(text: str, *, cased: bool = True) -> tuple[Phrase, ...]:
    """Return the keys of the runs of words that may be names; `cased` where names are written with capitals or digits.

    A question may be typed all in lower case: without `cased` every word may begin a name.

    >>> [phrase.key for phrase in phrases("they met Marie Curie's friend")]
    ['marie', 'marie curie', 'curie']
    >>> [phrase.key for phrase in phrases("who directed titanic", cased=False)][-1]
    'titanic'
    """
    found: list[Phrase] = []
    for phrase in _runs(text, cased=cased):
        found.append(phrase)
        if len(found) == MOST_PHRASES:
            break
    return tuple(found)


def _runs(text: str, *, cased: bool) -> Iterator[Phrase]:
    words = _WORD.findall(text)
    for first, word in enumerate(words):
        if cased and not _is_capital(word):
            continue
        begin = entity_key(word)
        if not begin or begin in _ARTICLES:
            continue
        if (len(begin) >= SHORTEST or not begin.isascii()) and not is_common(begin):
            yield Phrase(first, first, begin)
        yield from _longer(words, first, begin, cased=cased)


def _longer(words: list[str], first: int, begin: str, *, cased: bool) -> Iterator[Phrase]:
    for last in range(first + 1, min(first + MOST_WORDS, len(words))):
        word = words[last]
        key = entity_key(word)
        if cased and not _is_capital(word) and key not in _INSIDE and is_common(key):
            return  # where names have capitals, a word that English writes small ends them
        begin = f"{begin} {key}" if key else begin
        if key and key not in _JOINTS:
            yield Phrase(first, last, begin)


def _is_capital(word: str) -> bool:
    """Tell whether a word begins like a name: with a capital, a digit, or a letter of a script that has no capitals."""
    return not word[0].islower() and (word[0].isalnum() or word[1:2].isupper())


def spotted(candidates: Collection[Phrase], known: Collection[str]) -> tuple[str, ...]:
    """Return the known keys among the candidates, in reading order; the longest one at a place wins, and none overlaps another.

    >>> spotted(phrases("In New York City Hall"), {"new york", "new york city", "city hall"})
    ('new york city',)
    """
    names = sorted((phrase for phrase in candidates if phrase.key in known), key=lambda phrase: (phrase.first, -phrase.last))
    taken, end = [], -1
    for phrase in names:
        if phrase.first > end:
            taken.append(phrase.key)
            end = phrase.last
    return tuple(dict.fromkeys(taken))
