"""Idle talk, by its words: what people say to each other without telling anything.

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

from clew.text.words import MAX_REMEMBERED, REMEMBERED, STOP_WORDS, folded, plain_words, words

_LISTS = tomllib.loads(
    files("clew.memories").joinpath("small_talk.toml").read_text(encoding="utf-8")
)
CHATTER, AMOUNTS, SALUTES, LIGHT, ABOUT_TALK, PLACEHOLDERS = (
    frozenset(_LISTS[name].split())
    for name in ("chatter", "amounts", "salutes", "light", "about_talk", "placeholders")
)
# Framed by spaces, so that a phrase is found as whole words only.
MARKERS, BLANKS = (
    tuple(f" {' '.join(phrase.split())} " for phrase in _LISTS[name].split("|"))
    for name in ("markers", "blanks")
)

_SILENT = STOP_WORDS | CHATTER | LIGHT | {""}
_WEAK = AMOUNTS | ABOUT_TALK

_LAUGHS = r"(?:b?w?a?(?:ha|he|hi|ho|hu|ja|je|lo|xd)){2,}[hl]?"
_LAUGHTER = re.compile(_LAUGHS)
_LAUGHED = frozenset("bwahjlx")  # what laughter begins with
_ELONGATED = re.compile(r"(.)\1{2,}")
# of words with a space around each: what all that `_is_drawn` knows has
_DRAWN = re.compile(rf"(.)\1\1| {_LAUGHS} ")
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
    if tells_plainly(text):
        return False
    said = _said(text)
    return all(_is_idle(word) or word in AMOUNTS for word in said) and (
        not said or any(_is_chatter_word(word) for word in said)
    )


def is_about_talk(sentence: str) -> bool:
    """Tell whether a sentence only talks about the conversation.

    >>> is_about_talk("Let me know if you have any questions"), is_about_talk("Let me know if the build breaks")
    (True, False)
    """
    said = _said(sentence)
    return all(_is_idle(word) or word in LIGHT or word in ABOUT_TALK for word in said) and _holds(
        said, MARKERS
    )


def is_blank(text: str) -> bool:
    """Tell whether a text only stands where a text should be.

    >>> is_blank("This is just a test message 2"), is_blank("The test message is an empty string")
    (True, False)
    """
    said = plain_words(text)
    return all(
        word in PLACEHOLDERS or word in STOP_WORDS or word.isdigit() for word in said
    ) and _holds(said, BLANKS)


def tells_plainly(text: str) -> bool:
    """Tell whether one word alone takes a text out of chatter and talk about talk, as in most texts: the quick way to keep it.

    >>> tells_plainly("Thanks, the server is down"), tells_plainly("Thanks a lot, Joanna, any questions?")
    (True, False)
    """
    said = words(text)
    # a telling word that is written small, as in most
    if text.isascii() and not (telling_words(text) - _WEAK).isdisjoint(said):
        return True
    return any(map(_tells_plainly, said))


def telling_words(text: str) -> frozenset[str]:
    """Return the different words that tell something: no stop words, chatter or light words.

    Remembered as `plain_words` are.

    >>> sorted(telling_words("Okay, I think that the server is down again"))
    ['server']
    """
    return _remembered(text) if len(text) <= MAX_REMEMBERED else _telling_words(text)


def _telling_words(text: str) -> frozenset[str]:
    said = {*plain_words(text)} - _SILENT
    # one look at all words, as most neither laugh nor say a letter three times
    if _DRAWN.search(f" {' '.join(said)} ") is None:
        return frozenset(said)
    return frozenset([word for word in said if not _is_drawn(word)])


_remembered = lru_cache(maxsize=512)(_telling_words)
forget_texts = _remembered.cache_clear


def _holds(said: Sequence[str], phrases: Sequence[str]) -> bool:
    plain = f" {' '.join(said)} "
    return any(phrase in plain for phrase in phrases)


def _said(text: str) -> list[str]:
    """Return the folded words without names that only speak to someone: "Thanks, Joanna"."""
    spoken = [(word, folded(word)) for word in words(text)]
    before = ("", *(plain for _, plain in spoken))
    return [
        plain
        for (word, plain), previous in zip(spoken, before, strict=False)
        if not (previous in SALUTES and word.istitle() and not _is_idle(plain))
    ]


@lru_cache(maxsize=REMEMBERED)
def tells(word: str) -> bool:
    """Tell whether a folded word is more than a stop word, chatter or light."""
    return word not in _SILENT and not _is_drawn(word)


@lru_cache(maxsize=REMEMBERED)
def _tells_plainly(word: str) -> bool:
    plain = folded(word)
    return tells(plain) and not word.istitle() and plain not in _WEAK


def _is_idle(word: str) -> bool:
    return word in STOP_WORDS or _is_chatter_word(word)


def _is_chatter_word(word: str) -> bool:
    """Tell whether a word is chatter, also when it is drawn out: "yesss", "coool"."""
    return word in CHATTER or _is_drawn(word)


def _is_drawn(word: str) -> bool:
    """Tell whether a word is laughter or drawn-out chatter."""
    if word[:1] in _LAUGHED and _LAUGHTER.fullmatch(word):
        return True
    if len({*word}) > len(word) - 2:  # as most: no letter stands there three times
        return False
    return _ELONGATED.search(word) is not None and (
        _ELONGATED.sub(r"\1", word) in CHATTER or _ELONGATED.sub(r"\1\1", word) in CHATTER
    )
