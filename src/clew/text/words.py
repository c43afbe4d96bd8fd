"""Analyse text into words and index terms, for the index and for queries alike.

Terms are what is indexed: case and accents folded, English words stemmed, CJK and Thai text cut
into overlapping pairs (they write no spaces), identifiers whole and by their parts: `getUserName`,
`get_user_name` and `get-user-name` have one whole and the same parts. Changing what `terms` returns
changes what is in every index: raise ANALYSER_VERSION with it, and stores rebuild their words on
the next opening.
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import filterfalse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from Stemmer import Stemmer

ANALYSER_VERSION = 3
# How soon a repeated word of the question stops counting. nDCG@10 for each word once, k3 = 2, 4, 8,
# 16 and no limit: CACM 44.0, 47.2,
# 47.5, 48.1, 47.8, 47.7; SciFact test 69.3, 69.4, 69.2, 69.2, 69.2, 69.1; CoSQA, 2Wiki, HotpotQA
# and LoCoMo move by 0.2 at most.
K3 = 8.0

# Letters and digits of any script, with the vowel signs that Indic and Arabic scripts write as
# marks.
_WORD = re.compile(
    r"(?:[^\W_]|[\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963\u0966-\u0dff\u0e31-\u0e4e])+(?:['’][^\W\d_]+)?"
)
_ASCII_WORD = re.compile(
    "[A-Za-z0-9]+(?:'[A-Za-z]+)?"
)  # the same where there are no other letters: one class is read in a third of the time
# all but letters and digits: a space
_ASCII_WORD_CHARACTERS = bytes(
    code if code < 128 and chr(code).isalnum() else 32 for code in range(256)
)
_ASCII_LOWER = _ASCII_WORD_CHARACTERS.lower()
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_ACCENTS = re.compile("[\u0300-\u036f]+")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_FIGURES = re.compile(r"[a-z]+|\d+")
# how identifiers, versions and paths are joined, and rarely anything else
_JOINER = re.compile(r"[-_./][^\W_]")
_COMPOUND = re.compile(r"(?<![\w'’])[^\W_]+(?:(?:_+|[-./])[^\W_]+)+")
_LETTER_JOINER = re.compile(r"(?<!\d)[-_./]+|[-_./]+(?!\d)")
_DIGIT_JOINER = re.compile(r"[-_/]+")
_MIN_PART = 3  # shorter parts of an identifier ("to" in "toString") are noise
_MIN_STEMMED = 4  # Snowball leaves shorter words alone in all but a few cases
# words whose reading is kept at hand, here and elsewhere: most of what a store says, some 5 MB a
# rule
WORD_CACHE_SIZE = 1 << 15
# characters of a text whose words are kept at hand for a while: a longer one is a document
MAX_CACHED_CHARACTERS = 4096
_MAX_WORD_CHARACTERS = (
    64  # a longer run of letters is a hash or a blob: its start identifies it well enough
)

STOP_WORDS = frozenset(
    """
    a about above after again against all also am an and any are as at be because been before being
    below between both but by can could did do does doing don dont down during each else few for
    from further had has have having he her here hers herself him himself his how i if in into is
    isnt it its itself just let may me might more most must my myself no nor not now of off on once
    only or other our ours ourselves out over own please same shall she should so some such tell
    than that the their theirs them themselves then there these they this those through to too under
    until up us very was we were what when where which while who whom whose why will with would you
    your yours yourself yourselves
    """.split()
)


@lru_cache(maxsize=512)
def words(text: str) -> tuple[str, ...]:
    """Return the words of a text as written, in order, without what stands between them.

    Remembered for a while: on its way into a store a text is looked at by half a dozen rules.

    >>> words("Matt's café — naïve_case")
    ("Matt's", 'café', 'naïve', 'case')
    """
    if not text.isascii():
        return tuple(_WORD.findall(text))
    if "'" in text:
        return tuple(_ASCII_WORD.findall(text))
    # as most are: a quarter of the expression's time
    return tuple(text.encode().translate(_ASCII_WORD_CHARACTERS).decode().split())


def plain_words(text: str) -> tuple[str, ...]:
    """Return the folded words of a text in order.

    Those of a memory are remembered for a while, as several rules ask.

    >>> plain_words("Müller’s café")
    ('muller', 'cafe')
    """
    return _plain_words_cached(text) if len(text) <= MAX_CACHED_CHARACTERS else _plain_words(text)


def _plain_words(text: str) -> tuple[str, ...]:
    if text.isascii() and "'" not in text:  # as most are: to fold is to lower
        return tuple(text.encode().translate(_ASCII_LOWER).decode().split())
    return tuple(map(fold, words(text)))


_plain_words_cached = lru_cache(maxsize=512)(_plain_words)


def clear_text_caches() -> None:
    """Empty the caches that hold whole texts."""
    words.cache_clear()
    _plain_words_cached.cache_clear()


def terms(text: str) -> list[str]:
    """Return the index terms of a text, repeats included.

    Those of its words in order, and behind them its compounds as wholes.

    >>> terms("The databases were migrated: getUserName")
    ['the', 'databas', 'were', 'migrat', 'getusernam', 'get', 'user', 'name']
    >>> terms("get_user_name in v1.2.3"), terms("数据库 Café")
    (['get', 'user', 'name', 'in', 'v1', '2', '3', 'getusernam', 'v1.2.3'], ['数据', '据库', 'cafe'])
    """
    return [*word_terms(text), *_compounds(text)]


def word_terms(text: str) -> list[str]:
    """Return the terms of a text's words, without those of its compounds.

    >>> word_terms("user-name E4012")
    ['user', 'name', 'e4012', '4012']
    """
    return [term for word in words(text) for term in _terms_of(word)]


def query_terms(text: str, *, compounds: bool = True) -> list[str]:
    """Return the terms of a query in order, repeats included, without stop words if others remain.

    >>> query_terms("What is the database?"), query_terms("to be or not to be")
    (['databas'], ['to', 'be', 'or', 'not', 'to', 'be'])
    """
    telling = [
        term for word in words(text) if fold(word) not in STOP_WORDS for term in _terms_of(word)
    ]
    return [*(telling or word_terms(text)), *(_compounds(text) if compounds else ())]


def idf(rows: int, holding: int) -> float:
    """Return the inverse document frequency of a term that `holding` of all `rows` hold.

    ln(1 + (N − n + 0.5) / (n + 0.5)) is Lucene's variant, which is never below zero.

    >>> round(idf(1000, 1), 3), round(idf(10, 9), 3), idf(10, 10) > 0
    (6.503, 0.147, True)
    """
    return math.log(1.0 + (rows - holding + 0.5) / (holding + 0.5))


def query_weight(count: int) -> float:
    """Return the weight of a term that a query repeats `count` times: qf·(k3 + 1) / (qf + k3).

    >>> query_weight(1), query_weight(2), query_weight(1000) < K3 + 1
    (1.0, 1.8, True)
    """
    return count * (K3 + 1.0) / (count + K3)


def keywords(text: str, *, limit: int) -> tuple[str, ...]:
    """Return the most frequent content words of a text, ties in reading order.

    >>> keywords("Postgres is slow; tune Postgres vacuum", limit=2)
    ('postgres', 'slow')
    """
    said = [*filterfalse(STOP_WORDS.__contains__, plain_words(text))]
    counts = dict.fromkeys(said, 0)  # not a Counter, which asks what it was given
    telling = [word for word in counts if len(word) > 2 and not word.isdigit()]
    if len(counts) < len(said):  # some are said again
        for word in said:
            counts[word] += 1
        # `most_common` keeps a heap, which takes longer
        telling.sort(key=counts.__getitem__, reverse=True)
    return tuple(telling[: max(0, limit)])


@lru_cache(maxsize=WORD_CACHE_SIZE)
def _terms_of(word: str) -> tuple[str, ...]:
    plain = fold(word)[:_MAX_WORD_CHARACTERS]
    if not word.isascii():  # folding may have brought in signs and spaces: "⑴" becomes "(1)"
        return tuple(term for piece in words(plain) for term in _terms_of_piece(piece))
    if word.isalpha() and (word.islower() or word.isupper() or word.istitle()):  # as most
        return (_stem(plain),)
    parts = (
        _FIGURES.findall(plain)
        if word.islower() or word.isupper()
        else [part.lower() for part in _CAMEL.findall(word)]
    )
    return tuple(
        dict.fromkeys(map(_stem, (plain, *(part for part in parts if len(part) >= _MIN_PART))))
    )


def _compounds(text: str) -> list[str]:
    """Return the wholes of what is joined by hyphens, underscores, dots or slashes.

    Of a path also those of its segments.

    >>> _compounds("INC-4999 of 2026-05-07 is in src/clew/user_name.py")
    ['inc4999', '2026.05.07', 'usernamepi', 'srcclewusernamepi']
    """
    # Most pieces are letters alone: to look for compounds in the others takes a fifth of the time
    # that it takes in the text.
    pieces = [piece for piece in text.split() if not piece.isalnum() and _JOINER.search(piece)]
    return [
        term
        for piece in pieces
        for compound in _COMPOUND.findall(piece)
        for term in _compound_terms(compound)
    ]


@lru_cache(maxsize=WORD_CACHE_SIZE)
def _compound_terms(compound: str) -> tuple[str, ...]:
    segments = (
        [part for part in compound.split("/") if _JOINER.search(part)] if "/" in compound else []
    )
    # Between figures a joint tells numbers apart: "v1.2.3" is not "v12.3".
    found = (
        _DIGIT_JOINER.sub(".", _LETTER_JOINER.sub("", fold(each))) for each in (*segments, compound)
    )
    # scripts without spaces have no wholes
    return tuple(_stem(each[:_MAX_WORD_CHARACTERS]) for each in found if each.isascii())


def _terms_of_piece(piece: str) -> Iterator[str]:
    return iter((_stem(piece),)) if piece.isascii() else _bigrams(piece)


@lru_cache(maxsize=WORD_CACHE_SIZE)
def fold(word: str) -> str:
    """Return a word without case, accents, possessive and apostrophe.

    >>> fold("Müller’s"), fold("don't"), fold("İ")
    ('muller', 'dont', 'i')
    """
    word = word.casefold()
    if not word.isascii():
        word = unicodedata.normalize(
            "NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", word))
        ).replace("’", "'")
    return word.removesuffix("'s").replace("'", "")


def _bigrams(word: str) -> Iterator[str]:
    """Cut the runs of scripts that write no spaces into overlapping pairs; leave the rest whole."""
    position = 0
    for run in _UNSPACED.finditer(word):
        if run.start() > position:
            yield word[position : run.start()]
        characters = run.group()
        yield from (characters[i : i + 2] for i in range(max(1, len(characters) - 1)))
        position = run.end()
    if position < len(word):
        yield word[position:]


def split_unspaced(text: str) -> tuple[str, str]:
    """Split a text into its words of scripts with spaces and its runs of scripts without.

    >>> split_unspaced("Redisのキャッシュ is cold")
    ('Redis  is cold', 'のキャッシュ')
    """
    return (
        (text, "")
        if text.isascii()
        else (_UNSPACED.sub(" ", text), " ".join(_UNSPACED.findall(text)))
    )


def _stem(word: str) -> str:
    return (
        str(_english_stemmer().stemWord(word))
        if len(word) >= _MIN_STEMMED and word.isalpha()
        else word
    )


@lru_cache(maxsize=1)
def _english_stemmer() -> Stemmer:
    from Stemmer import Stemmer  # noqa: PLC0415 - a command without words need not load it

    return Stemmer("english", 0)  # no cache of its own: `_terms_of` remembers whole words


def normalise(text: str) -> str:
    r"""Return the text in NFC with white space in order.

    Single spaces, at most one blank line, nothing at the ends.

    Lines keep how far they are indented against the others: code and nested lists say something by
    it.

    >>> normalise("  two   spaces \t\r\n\r\n\r\n  next "), normalise("  if a:\n    b()\n  c()")
    ('two spaces\n\nnext', 'if a:\n  b()\nc()')
    """
    # Most texts are one line, and a command that stores nothing needs none of it
    from textwrap import dedent  # noqa: PLC0415

    lines = [
        _indent(line) + " ".join(line.split())
        for line in unicodedata.normalize("NFC", text).splitlines()
    ]
    return re.sub(r"\n{3,}", "\n\n", dedent("\n".join(lines))).strip()


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def content_hash(text: str) -> str:
    """Return the identity of a text: equal for texts that differ in white space only."""
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:32]


def sentence_list(items: Sequence[str]) -> str:
    """Join items as a person would.

    >>> sentence_list(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(filter(None, (", ".join(items[:-1]), items[-1]))) if items else ""


_ASCII_WORDS_AND_SPACES = bytes(
    code for code in range(128) if chr(code).isspace() or chr(code).isalnum()
)
_SIGN = re.compile(r"[^\w\s]|_")


def token_estimate(text: str) -> int:
    """Return about how many tokens a language model counts, rather too many than too few.

    A word is one token for every started six letters, everything else one a character but for
    spaces.

    >>> token_estimate("Postgres listens on port 5432."), token_estimate("数据库")
    (8, 3)
    """
    said = words(text)
    signs = (
        len(text.encode().translate(None, _ASCII_WORDS_AND_SPACES))
        if text.isascii()
        else len(_SIGN.findall(text))
    )
    return signs + sum([(len(word) + 5) // 6 if word.isascii() else len(word) for word in said])
