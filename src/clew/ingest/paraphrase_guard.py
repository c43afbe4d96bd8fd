"""Decide from their words whether two texts that lie near each other say the same.

Vectors hardly see what an addition or a contradiction changes: the default model gives "takes
metformin every morning" and "takes metformin every morning and omeprazole" a cosine above 0.92, and
so it does for "prefers tea to coffee" and "prefers coffee to tea". Here two texts say the same only
if they have the same words in the same order, apart from articles, punctuation, contractions and the
progressive form ("runs", "is running"). Anything else may add or change something, and in doubt both
are kept: a needless memory costs a little room, a missing one costs the answer.

The rule is measured on tests/ingest/fixtures/duplicate_pairs.yaml.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from clew.words import query_terms, terms

_IGNORED = frozenset("a an the also actually please".split())
_CONTRACTIONS = {"cannot": ("can", "not"), "can't": ("can", "not"), "won't": ("will", "not")}
_NOT = "n't"
_OPENING = "([{"
_CLOSING = ".,;:!?…。！？؟、)]}"
_QUOTES = "\"'“”‘«»"
_ENDS = frozenset(".;:!…。！")
_QUESTION_MARKS = frozenset("?？؟")
_END = "."


class _Word(NamedTuple):
    """A word without what surrounds it; `capital` is None at the start of a sentence, where it says nothing."""

    text: str
    capital: bool | None

    def matches(self, other: _Word) -> bool:
        """Tell whether both are the same word; "us" and "US" are not."""
        return self.text == other.text and (self.capital is None or other.capital is None or self.capital == other.capital)


def says_the_same(kept: str, offered: str) -> bool:
    """Tell whether a text has the words of another in the same order, and no other words.

    >>> says_the_same("The server runs Postgres 16.", "Server is running Postgres 16")
    True
    >>> says_the_same("Ann likes tea", "Ann likes green tea"), says_the_same("Ann pays Ben", "Ben pays Ann")
    (False, False)
    """
    mine, theirs = _words(kept), _words(offered)
    return len(mine) == len(theirs) and all(map(_Word.matches, mine, theirs))


def contains(offered: str, kept: str) -> bool:
    """Tell whether a text has all content words of another, by their stems, and more.

    >>> contains("Ann likes green tea", "Ann likes tea"), contains("Ben pays Ann", "Ann pays Ben")
    (True, False)
    """
    return set(query_terms(kept)) < set(query_terms(offered))


@lru_cache(maxsize=64)  # one offered text is compared with several
def _words(text: str) -> tuple[_Word, ...]:
    found: list[_Word] = []
    starts = True
    for piece in text.replace("’", "'").split():
        core, after = _stripped(piece)
        for part in _parts(core):
            word = _word(part, starts=starts)
            starts = False
            if word.text in _IGNORED and word.capital is not True:
                continue
            if _is_progressive(found, word):
                found[-1] = _Word(_third_person(terms(word.text)[0]), False)
            else:
                found.append(word)
        if mark := _mark(after):
            found.append(_Word(mark, None))
            starts = True
    while found and found[-1].text == _END:
        found.pop()
    return tuple(found)


forget_texts = _words.cache_clear


def _stripped(piece: str) -> tuple[str, str]:
    """Return a word without brackets and punctuation around it, and what followed it; quotes only around letters.

    A sign that belongs to the word stays: "-v", ".env", "C++", "10%", and the inch of 5".
    """
    core = piece.lstrip(_OPENING).rstrip(_CLOSING)
    bare = piece.lstrip(_OPENING + _QUOTES).rstrip(_CLOSING + _QUOTES)
    if bare.isalpha():
        core = bare
    if not core and not all(map(_CLOSING.__contains__, piece)):  # such as ":)"
        return piece, ""
    return core, piece[piece.rfind(core) + len(core) :] if core else piece


def _parts(core: str) -> Iterator[str]:
    if (parts := _CONTRACTIONS.get(core.lower())) is not None:
        yield from parts
    elif core.endswith(_NOT) and len(core) > len(_NOT):
        yield from (core.removesuffix(_NOT), "not")
    elif core:
        yield core


def _word(core: str, *, starts: bool) -> _Word:
    if any(map(str.isupper, core[1:])):  # an identifier or an abbreviation: every capital counts
        return _Word(core, True)
    return _Word(_inflection(core.lower()), None if starts else core[:1].isupper())


def _inflection(word: str) -> str:
    """Return the third person of a verb as the progressive form of it is written too; other words as they are.

    >>> _inflection("runs"), _inflection("makes"), _inflection("studies"), _inflection("this")
    ('run+s', 'make+s', 'studi+s', 'this')
    """
    if not (word.isascii() and word.isalpha() and word.endswith("s") and len(word) > 3):
        return word
    stem = terms(word)[0]
    bases = {word.removesuffix(ending) for ending in ("s", "es", "ies") if word.endswith(ending)}
    return _third_person(stem) if bases & {stem, stem + "e", stem.removesuffix("i")} else word


def _third_person(stem: str) -> str:
    return f"{stem}+s"


def _is_progressive(before: list[_Word], word: _Word) -> bool:
    """Tell whether a word is a verb behind "is", as in "is running"."""
    ing = word.capital is False and word.text.endswith("ing") and word.text.isascii() and word.text.isalpha()
    return ing and len(word.text) > 5 and bool(before) and before[-1].text == "is"


def _mark(after: str) -> str:
    """Return the mark that ends a sentence or a clause, if there is one: a question is no statement."""
    if not _QUESTION_MARKS.isdisjoint(after):
        return "?"
    return "" if _ENDS.isdisjoint(after) else _END
