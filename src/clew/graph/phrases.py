"""Yield every run of words that may be a known name, as a key to look up."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from clew.text.names.keys import entity_key
from clew.text.names.lexicon import PARTICLES, is_common
from clew.text.names.spans import SCRIPTS, UNSPACED_RUN

MAX_WORDS = 8  # of a name: one title in two hundred of an encyclopaedia is longer
MAX_PHRASES = 2048  # of a text: what a long one names at its end tells less of it
MIN_CHARACTERS = 3  # letters of a name of one word; in scripts other than ours one may say it all
MAX_UNSPACED = 16  # characters of a name in a script without spaces
_BETWEEN = r"\s–—,;:()\[\]\"“”«»"
_WORD = re.compile(f"[^{_BETWEEN}]+")
_BY_SCRIPT = re.compile(f"[{SCRIPTS}]|[^{_BETWEEN}{SCRIPTS}]+")
_ARTICLES = frozenset(("the", "a", "an"))
# no name ends so
_JOINTS = _ARTICLES | {
    "of",
    "and",
    "or",
    "in",
    "on",
    "at",
    "by",
    "to",
    "for",
    "from",
    "with",
    "as",
    "is",
    "was",
}
_INSIDE = _JOINTS | PARTICLES


class Phrase(NamedTuple):
    """Words `first` to `last` of a text, as a key."""

    first: int
    last: int
    key: str


def phrases(text: str, *, cased: bool = True) -> tuple[Phrase, ...]:
    """Return the keys of the runs of words that may be names.

    `cased` where names are written with capitals or digits.

    A question may be typed all in lower case: without `cased` every word may begin a name.

    >>> [phrase.key for phrase in phrases("they met Marie Curie's friend")]
    ['marie', 'marie curie', 'curie']
    >>> [phrase.key for phrase in phrases("who directed titanic", cased=False)][-1]
    'titanic'
    """
    found: list[Phrase] = []
    for phrase in _runs(text, cased=cased):
        found.append(phrase)
        if len(found) == MAX_PHRASES:
            break
    return tuple(found)


def _runs(text: str, *, cased: bool) -> Iterator[Phrase]:
    if not text.isascii() and UNSPACED_RUN.search(text):
        yield from _in_scripts(list(_BY_SCRIPT.finditer(text)), cased=cased)
        return
    words = _WORD.findall(text)
    for first, word in enumerate(words):
        if not cased or _is_capital(word):
            yield from _from(words, first, cased=cased)


def _in_scripts(found: Sequence[re.Match[str]], *, cased: bool) -> Iterator[Phrase]:
    """Yield the runs of a text in which a script writes no spaces.

    There every character may begin a name and end one.
    """
    words = [match[0] for match in found]
    for first, match in enumerate(found):
        if not UNSPACED_RUN.match(match[0]):
            if not cased or _is_capital(match[0]):
                yield from _from(words, first, cased=cased)
        elif not (first and _one_word(found[first - 1], match)):
            yield from _unspaced(found, first)


def _unspaced(found: Sequence[re.Match[str]], first: int) -> Iterator[Phrase]:
    """Yield the runs of characters that begin here and touch each other.

    Katakana is not cut within itself.
    """
    for last in range(first, min(first + MAX_UNSPACED, len(found))):
        after = found[last + 1] if last + 1 < len(found) else None
        touches = (
            after is not None
            and after.start() == found[last].end()
            and UNSPACED_RUN.match(after[0]) is not None
        )
        whole = (last > first or not touches) and not (
            after is not None and _one_word(found[last], after)
        )
        if whole and (key := entity_key("".join(match[0] for match in found[first : last + 1]))):
            yield Phrase(first, last, key)
        if not touches:
            return


def _one_word(one: re.Match[str], other: re.Match[str]) -> bool:
    return one.end() == other.start() and all(
        "\u30a0" < match[0] <= "\u30ff" for match in (one, other)
    )


def _from(words: list[str], first: int, *, cased: bool) -> Iterator[Phrase]:
    """Yield the runs of words that begin with this one."""
    begin = entity_key(words[first])
    if not begin or begin in _ARTICLES:
        return
    if (len(begin) >= MIN_CHARACTERS or not begin.isascii()) and not is_common(begin):
        yield Phrase(first, first, begin)
    yield from _longer(words, first, begin, cased=cased)


def _longer(words: list[str], first: int, begin: str, *, cased: bool) -> Iterator[Phrase]:
    for last in range(first + 1, min(first + MAX_WORDS, len(words))):
        word = words[last]
        if not word.isascii() and UNSPACED_RUN.match(word):
            return  # what touches a word of another script is another word
        key = entity_key(word)
        if cased and not _is_capital(word) and key not in _INSIDE and is_common(key):
            return  # where names have capitals, a word that English writes small ends them
        begin = f"{begin} {key}" if key else begin
        if key and key not in _JOINTS:
            yield Phrase(first, last, begin)


def _is_capital(word: str) -> bool:
    """Tell whether a word begins like a name.

    With a capital, a digit, or a letter of a script that has no capitals.
    """
    return not word[0].islower() and (word[0].isalnum() or word[1:2].isupper())


def find_known_names(candidates: Collection[Phrase], known: Collection[str]) -> tuple[str, ...]:
    """Return the known keys among the candidates, in reading order.

    The longest one at a place wins, and none overlaps another.

    >>> find_known_names(phrases("In New York City Hall"), {"new york", "new york city", "city hall"})
    ('new york city',)
    """
    names = sorted(
        (phrase for phrase in candidates if phrase.key in known),
        key=lambda phrase: (phrase.first, -phrase.last),
    )
    taken, end = [], -1
    for phrase in names:
        if phrase.first > end:
            taken.append(phrase.key)
            end = phrase.last
    return tuple(dict.fromkeys(taken))
