"""Detect small talk: text without content words.

The lists are in idle.toml: English, with the commonest thanks and greetings of a few other
languages. A word that is not listed tells something: text in a language or script we do not know is
never idle.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files

from clew.text.words import (
    MAX_CACHED_CHARACTERS,
    STOP_WORDS,
    WORD_CACHE_SIZE,
    fold,
    plain_words,
    words,
)

_LISTS = tomllib.loads(
    files("clew.memories").joinpath("small_talk.toml").read_text(encoding="utf-8")
)
CHATTER_WORDS, AMOUNTS, SALUTATIONS, LIGHT_WORDS, META_WORDS, PLACEHOLDERS = (
    frozenset(_LISTS[name].split())
    for name in ("chatter", "amounts", "salutes", "light", "about_talk", "placeholders")
)
# Framed by spaces, so that a phrase is found as whole words only.
META_PHRASES, PLACEHOLDER_PHRASES = (
    tuple(f" {' '.join(phrase.split())} " for phrase in _LISTS[name].split("|"))
    for name in ("markers", "blanks")
)

_WITHOUT_CONTENT = STOP_WORDS | CHATTER_WORDS | LIGHT_WORDS | {""}
_WEAK_WORDS = AMOUNTS | META_WORDS

_LAUGH = r"(?:b?w?a?(?:ha|he|hi|ho|hu|ja|je|lo|xd)){2,}[hl]?"
_LAUGHTER = re.compile(_LAUGH)
_LAUGH_STARTS = frozenset("bwahjlx")  # what laughter begins with
_ELONGATED = re.compile(r"(.)\1{2,}")
# of words with a space around each: what all that `_is_drawn` knows has
_DRAWN_OUT = re.compile(rf"(.)\1\1| {_LAUGH} ")
_SENTENCE = re.compile(r"[.!?…\n]+")


def sentences(text: str) -> list[str]:
    """Return the pieces between full stops that hold any word.

    >>> sentences("Sure! Here it is… 👍")
    ['Sure', ' Here it is']
    """
    return [piece for piece in _SENTENCE.split(text) if any(words(piece))]


def is_chatter(text: str) -> bool:
    """Tell whether a text is made of chatter and stop words, or of no words at all.

    >>> is_chatter("Ok, thanks a lot!!"), is_chatter("👍 ..."), is_chatter("Port 5432 is open")
    (True, True, False)
    """
    if has_plain_content(text):
        return False
    said = _spoken_words(text)
    return all(_is_idle(word) or word in AMOUNTS for word in said) and (
        not said or any(_is_chatter_word(word) for word in said)
    )


def is_meta_talk(sentence: str) -> bool:
    """Tell whether a sentence only talks about the conversation.

    >>> is_meta_talk("Let me know if you have any questions"), is_meta_talk("Let me know if the build breaks")
    (True, False)
    """
    said = _spoken_words(sentence)
    return all(
        _is_idle(word) or word in LIGHT_WORDS or word in META_WORDS for word in said
    ) and _has_phrase(said, META_PHRASES)


def is_placeholder(text: str) -> bool:
    """Tell whether a text only stands where a text should be.

    >>> is_placeholder("This is just a test message 2"), is_placeholder("The test message is an empty string")
    (True, False)
    """
    said = plain_words(text)
    return all(
        word in PLACEHOLDERS or word in STOP_WORDS or word.isdigit() for word in said
    ) and _has_phrase(said, PLACEHOLDER_PHRASES)


def has_plain_content(text: str) -> bool:
    """Tell whether one word alone shows that a text is not small talk.

    >>> has_plain_content("Thanks, the server is down"), has_plain_content("Thanks a lot, Joanna, any questions?")
    (True, False)
    """
    said = words(text)
    # a telling word that is written small, as in most
    if text.isascii() and not (content_words(text) - _WEAK_WORDS).isdisjoint(said):
        return True
    return any(map(_is_plain_content, said))


def content_words(text: str) -> frozenset[str]:
    """Return the different words that tell something: no stop words, chatter or light words.

    Remembered as `plain_words` are.

    >>> sorted(content_words("Okay, I think that the server is down again"))
    ['server']
    """
    return (
        _content_words_cached(text) if len(text) <= MAX_CACHED_CHARACTERS else _content_words(text)
    )


def _content_words(text: str) -> frozenset[str]:
    said = {*plain_words(text)} - _WITHOUT_CONTENT
    # one look at all words, as most neither laugh nor say a letter three times
    if _DRAWN_OUT.search(f" {' '.join(said)} ") is None:
        return frozenset(said)
    return frozenset([word for word in said if not _is_drawn_out(word)])


_content_words_cached = lru_cache(maxsize=512)(_content_words)
clear_text_cache = _content_words_cached.cache_clear


def _has_phrase(said: Sequence[str], phrases: Sequence[str]) -> bool:
    plain = f" {' '.join(said)} "
    return any(phrase in plain for phrase in phrases)


def _spoken_words(text: str) -> list[str]:
    """Return the folded words without names that only speak to someone: "Thanks, Joanna"."""
    spoken = [(word, fold(word)) for word in words(text)]
    before = ("", *(plain for _, plain in spoken))
    return [
        plain
        for (word, plain), previous in zip(spoken, before, strict=False)
        if not (previous in SALUTATIONS and word.istitle() and not _is_idle(plain))
    ]


@lru_cache(maxsize=WORD_CACHE_SIZE)
def is_content_word(word: str) -> bool:
    """Tell whether a folded word is more than a stop word, chatter or light."""
    return word not in _WITHOUT_CONTENT and not _is_drawn_out(word)


@lru_cache(maxsize=WORD_CACHE_SIZE)
def _is_plain_content(word: str) -> bool:
    plain = fold(word)
    return is_content_word(plain) and not word.istitle() and plain not in _WEAK_WORDS


def _is_idle(word: str) -> bool:
    return word in STOP_WORDS or _is_chatter_word(word)


def _is_chatter_word(word: str) -> bool:
    """Tell whether a word is chatter, also when it is drawn out: "yesss", "coool"."""
    return word in CHATTER_WORDS or _is_drawn_out(word)


def _is_drawn_out(word: str) -> bool:
    """Tell whether a word is laughter or drawn-out chatter."""
    if word[:1] in _LAUGH_STARTS and _LAUGHTER.fullmatch(word):
        return True
    if len({*word}) > len(word) - 2:  # as most: no letter stands there three times
        return False
    return _ELONGATED.search(word) is not None and (
        _ELONGATED.sub(r"\1", word) in CHATTER_WORDS
        or _ELONGATED.sub(r"\1\1", word) in CHATTER_WORDS
    )
