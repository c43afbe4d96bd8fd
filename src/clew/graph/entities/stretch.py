"""What one stretch of a text is by itself, remembered: a text repeats most of its stretches."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from clew.graph.entities.coded import Coded, coded
from clew.graph.entities.lexicon import FILE_NAMES, PLAIN_TOOLS, TITLES, TOOLS, plain
from clew.graph.entities.value import EntityType
from clew.words import REMEMBERED

MAX_REMEMBERED = 64  # characters: longer stretches are links and blobs, which do not come again
_LEAD = "'’‘¿¡!?:=&%$^+·•"
_TRAIL = ".:!?'’‘=…%"
_POSSESSIVE = re.compile(r"['’]s?$")
_ABBREVIATED = frozenset(("inc", "corp", "ltd", "bros", "co", "jr", "sr", "st", "mt", "no", "vs", "vol", "ca", "dept", "univ"))
_KEEPS_STOP = frozenset(("inc", "corp", "ltd", "bros", "jr", "sr"))
_PREFIXED = re.compile(r"(?:d|l|de|al|el|an|O|D|L)['’-](?=[^\W\d_a-z])")
_HUMP = re.compile(r"[a-z][A-Z]")
_ACRONYM = re.compile(r"[A-Z][A-Z0-9&]{1,7}s?|[A-Z]\d{1,3}|(?:[A-Z]\.)+[A-Z]|\d{2,4}[A-Z]{1,2}")
_COMPOUND_TAIL = re.compile(r"-[a-z]+$")
_CJK = re.compile("[\u3400-\u9fff\uac00-\ud7af]{2,4}")
_NUMBER = re.compile(r"\d{1,5}")


_MEANT = PLAIN_TOOLS | FILE_NAMES  # small words that are names


class Shape(Enum):
    """How a stretch is written."""

    LOWER = 0
    CAPITAL = 1
    ACRONYM = 2
    NUMBER = 3
    CODED = 4
    SIGN = 5


class Stretch(NamedTuple):
    """A stretch without white space: where its core lies, how it is written, and how it stands in a sentence."""

    first: int
    last: int
    word: str
    shape: Shape
    tells: bool = False  # it may be a name, or a part of one
    ends: bool = False
    bound: bool = False  # something stands behind the core, so that no name goes on
    possessive: bool = False
    hump: bool = False
    label: bool = False
    code: Coded | None = None


SMALL = Stretch(0, 0, "", Shape.LOWER)
"""Any plain word in small letters, as most are: it is its own word, and no rule finds more in it."""


def stretches(texts: list[str]) -> list[tuple[int, Stretch]]:
    """Return what each stretch is, with its place; but for those that are SMALL.

    >>> (_, dr), (_, matts), (place, done), (_, http) = stretches(["Dr.", "Matt's", "dog", "done.", "HTTP"])
    >>> dr.ends, matts.word, matts.possessive, place, done.ends, http.shape
    (False, 'matt', True, 3, True, <Shape.ACRONYM: 2>)
    """
    return [
        (place, _remembered(text) if len(text) <= MAX_REMEMBERED else _stretch(text))
        for place, text in enumerate(texts)
        if not (text.isalpha() and text.islower() and text.isascii()) or text in _MEANT
    ]


def _stretch(text: str) -> Stretch:
    first, last = len(text) - len(text.lstrip(_LEAD)), len(text.rstrip(_TRAIL))
    if first >= last:
        return Stretch(0, 0, "", Shape.SIGN, ends=text[-1:] in ".!?:", bound=True)
    core, tail = text[first:last], text[last:]
    found = coded(core)
    if found:
        return Stretch(first, last, core, Shape.CODED, tells=True, ends=_ends(tail), bound=bool(tail), label=":" in tail, code=found)
    if core.islower() and core.isalpha():
        return _lower(core, first, last, tail)
    return _written(core, first, last, tail)


_remembered = lru_cache(maxsize=REMEMBERED)(_stretch)


def _lower(core: str, first: int, last: int, tail: str) -> Stretch:
    if core in PLAIN_TOOLS:
        kind = EntityType.SKILL if core in ("python", "javascript", "typescript", "golang") else EntityType.TOOL
        found = Coded(0, len(core), kind, 0.8)
        return Stretch(first, last, core, Shape.CODED, tells=True, ends=_ends(tail), bound=bool(tail), code=found)
    word = core if core.isascii() else plain(core)
    return Stretch(first, last, word, Shape.LOWER, ends=_ends(tail), bound=bool(tail), label=":" in tail)


def _written(core: str, first: int, last: int, tail: str) -> Stretch:
    if core.isascii() and core.isalpha() and core.istitle():  # as most: a word with a capital, and nothing joined to it
        return _standing(core, first, last, tail, Shape.CAPITAL)
    shape = _shape(core)
    owner = _POSSESSIVE.search(core) if shape is not Shape.LOWER else None
    if owner and owner.start() > 0:
        core, last = core[: owner.start()], last - len(owner[0])
        shape = _shape(core)
    elif shape is Shape.CAPITAL and (compound := _COMPOUND_TAIL.search(core)):  # "Berlin-based"
        core, last, owner = core[: compound.start()], last - len(compound[0]), compound
    return _standing(core, first, last, tail, shape, owned=bool(owner), hump=_HUMP.search(core) is not None)


def _standing(core: str, first: int, last: int, tail: str, shape: Shape, *, owned: bool = False, hump: bool = False) -> Stretch:
    """Return a stretch by how it stands before what follows it: a stop behind an abbreviation ends nothing."""
    word = core.lower() if core.isascii() and core.isalpha() else plain(core)
    stop = tail[:1] == "."
    abbreviated = stop and (word in TITLES or word in _ABBREVIATED or len(core) == 1 or (shape is Shape.ACRONYM and "." in core))
    if stop and (word in _KEEPS_STOP or (shape is Shape.ACRONYM and "." in core)):
        last += 1
    ends = _ends(tail) and not (abbreviated and len(tail) == 1)
    bound = owned or (bool(tail) and not (abbreviated and len(tail) == 1))
    return Stretch(first, last, word, shape, shape in (Shape.CAPITAL, Shape.ACRONYM), ends, bound, owned, hump, ":" in tail)


def _shape(core: str) -> Shape:
    if _NUMBER.fullmatch(core):
        return Shape.NUMBER
    if _ACRONYM.fullmatch(core):
        return Shape.ACRONYM
    letter = core[_PREFIXED.match(core).end()] if _PREFIXED.match(core) else core[0]  # type: ignore[union-attr]
    if letter.isupper() or letter.istitle() or _CJK.fullmatch(core) or (not core.islower() and core.lower() in TOOLS):  # iPhone
        return Shape.CAPITAL
    return Shape.LOWER if any(map(str.isalpha, core)) else Shape.SIGN


def _ends(tail: str) -> bool:
    return bool(tail) and any(sign in tail for sign in ".!?:…")
