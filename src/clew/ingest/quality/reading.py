"""One look at a text, shared by all judgements: its lines, its sentences, and what their words tell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from clew.ingest.idle import tells
from clew.ingest.quality.lexicon import FUNCTION_WORDS
from clew.ingest.quality.piece import BINDING, LONG, LONG_LETTERS, Piece, pieces

PROSE = frozenset({"", "text", "markdown", "html", "conversation", "pdf", "docx"})
"""Formats of running text; any other name is taken for a language of code or data."""

PLAIN = bytes(code for code in range(128) if chr(code).isspace() or chr(code).isalnum())
"""The letters, digits and white space of ASCII: what is left without them are signs."""
WHITE = bytes(code for code in range(128) if chr(code).isspace())
_TAG = re.compile(r"<[a-zA-Z/!][^<>]{0,400}>")
_ADDRESS = re.compile(r"(?<!\w)\w++://\S++")
_WIDE_END = re.compile("(?<=[。！？])(?=[^。！？」』”’）)\\s])")
_BULLET = re.compile(r"\s*(?:[-*+•·‣◦▪–—>#|]+|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s+")
_BEHIND_LETTER = (".", ")")  # a bullet that begins with a letter is one
# A line is code when it begins as no sentence does, or ends with a sign or holds an operator or call that no sentence has.
_CODE_START = re.compile(
    r"\s*(?:[}\])]|//|/\*|#!|#include|@\w|\$\s|>>>\s)"
    r"|\s*(?:def|class|fn|func|public|private|static|const|let|var|async|elif|else:|try:|except|finally:|return|yield|raise)\b.*[:({;=]"
    r"|\s*(?:import \w[\w.]*(?: as \w+)?|from [\w.]+ import .*|return [\w.]+|package [\w.]+)$"
    r"|(?:sudo |git |docker |kubectl |pip |npm |curl |cd |ls |SELECT |INSERT |UPDATE |DELETE |CREATE |ALTER )"
)
_CODE_SIGNS = (*";{}[(=>&|", "::", "</")  # one of these is in all that the next expression finds, and looked for first: it is cheap
_ALL_CODE_SIGNS = frozenset(";{}[(=>&|:<")  # an address has a colon: of texts without one no line holds any
_CODE_INSIDE = re.compile(
    r"[;{}\[(]\s*$|\w\([^()]*\)\s*:?$|[^=!<>]=[^=>\s]|\s[=!:+|&]{1,2}=\s|\s=\s|=>|->|::|&&|\|\||</\w|;\s*(?:do|done|then|fi)\b"
)
MAX_REMEMBERED = 200  # characters of a line that is kept at hand
REMEMBERED_LINES = 4096  # as many as a section has: each line is looked at with its document, its section and its chunk
CODE_LINES = 0.4  # share of lines from which a text is taken for code: bullet lists of settings have less, code has more


class Unit(NamedTuple):
    """A sentence, or what stands in the place of one: a list item, a heading, a line."""

    words: int
    telling: frozenset[str]
    told: int
    damaged: int
    closed: bool
    binding: bool


class Reading(NamedTuple):
    """What the judgements know of a text."""

    text: str
    plain: str
    """The text without the tags of HTML."""
    signs: frozenset[str]
    """Which characters of the text are neither letters, digits nor white space: most rules need one to find anything."""
    lines: tuple[str, ...]
    units: tuple[Unit, ...]
    words: int
    telling: frozenset[str]
    told: int
    specific: float
    characters: int
    damaged: int
    code: bool


def read(text: str, *, format: str = "text") -> Reading:
    """Return what the judgements need to know of a text, in one pass.

    >>> reading = read("Toby is my dog. He likes the park near Lake Merritt.")
    >>> len(reading.units), reading.words, sorted(reading.telling)
    (2, 11, ['dog', 'lake', 'likes', 'merritt', 'near', 'park', 'toby'])
    """
    plain = untagged(text) if format == "html" else text
    lines = tuple(line for line in plain.splitlines() if line and not line.isspace())
    signs = _signs(text)
    code = format not in PROSE or is_code(lines, signs)
    specifics: dict[str, float] = {}
    units = tuple(_units(plain, code=code, specifics=specifics))
    sizes, telling, told, damaged, *_ = zip(*units, strict=True) if units else ((),) * len(Unit._fields)
    return Reading(
        text=text,
        plain=plain,
        signs=signs,
        lines=lines,
        units=units,
        words=sum(sizes),
        telling=telling[0] if len(telling) == 1 else frozenset().union(*telling),
        told=sum(told),
        specific=sum(specifics.values()),
        characters=len(plain.encode().translate(None, WHITE)) if plain.isascii() else len("".join(plain.split())),
        damaged=sum(damaged),
        code=code,
    )


def _signs(text: str) -> frozenset[str]:
    if text.isascii():
        return frozenset(text.encode().translate(None, PLAIN).decode())
    return frozenset([each for each in set(text) if not (each.isalnum() or each.isspace())])


def untagged(text: str) -> str:
    """Return a text with a space for every tag of HTML.

    >>> untagged("<li>Home</li>").split()
    ['Home']
    """
    return _TAG.sub(" ", text)


def is_code(lines: tuple[str, ...], signs: frozenset[str] = _ALL_CODE_SIGNS) -> bool:
    """Tell code, shell sessions and data from running text by the ends, beginnings and signs of its lines; `signs` are those that it has.

    >>> is_code(("def area(r):", "    return 3.14 * r ** 2")), is_code(("The area is 3.14 r squared.",))
    (True, False)
    """
    looks = _is_code_line if not signs.isdisjoint(_ALL_CODE_SIGNS) else _begins_as_code
    return bool(lines) and sum(map(looks, lines)) >= CODE_LINES * len(lines)


def _begins_as_code(line: str) -> bool:
    return _CODE_START.match(line[:200]) is not None


def _is_code_line(line: str) -> bool:
    """Judge a line by its beginning; an address is full of signs and no code."""
    start = _ADDRESS.sub("", line[:200]) if "://" in line else line[:200]
    if _begins_as_code(start):
        return True
    return any(map(start.__contains__, _CODE_SIGNS)) and _CODE_INSIDE.search(start) is not None


class Said(NamedTuple):
    """A sentence taken apart: its plain words in small letters, its other pieces, the one it begins with, and whether its end is marked."""

    words: list[str]
    pieces: list[Piece]
    first: Piece | None
    closed: bool


def _unit(said: Said, specifics: dict[str, float]) -> Unit:
    """Return the sum of a sentence's stretches, and note what is specific in it.

    A capital makes a name where no sentence begins, and before a colon.
    """
    words, others, first, closed = said
    if first is not None and (weight := first.amid if first.label else first.specific):
        specifics[first.core] = weight
    specifics.update([(word, LONG) for word in words if len(word) >= LONG_LETTERS])
    told = [word for word in words if tells(word) and word not in FUNCTION_WORDS]
    binding = not BINDING.isdisjoint(words)
    if not others:
        return Unit(len(words), frozenset(told), len(told), 0, closed, binding)
    specifics.update([(each.core, each.amid) for each in others[first is not None :] if each.amid])
    further = [word for each in others for word in each.telling]
    return Unit(
        words=len(words) + sum([each.words for each in others]),
        telling=frozenset(told).union(further),
        told=len(told) + len(further),
        damaged=sum([each.damaged for each in others]),
        closed=closed,
        binding=binding or True in [each.binding for each in others],
    )


class _Told(NamedTuple):
    """A sentence with what it comes to and what is specific in it; no unit as long as further lines may add to it."""

    said: Said
    unit: Unit | None
    details: dict[str, float]


class _Line(NamedTuple):
    """A line taken apart: its sentences, and whether it begins a new one or goes on with the one before."""

    begins: bool
    told: list[_Told]


def _units(text: str, *, code: bool, specifics: dict[str, float]) -> Iterator[Unit]:
    """Yield the sentences and note what is specific in them; a line that goes on in small letters belongs to the one before.

    In code each line is one.
    """
    held: _Told | None = None
    for line in (text if text.isascii() else _WIDE_END.sub(" ", text)).splitlines():
        found = _remembered(line, code) if len(line) <= MAX_REMEMBERED else _line(line, code)
        if held is not None and found.begins:
            yield _noted(held, specifics)
            held = None
        for told in found.told:
            held = told if held is None else _continued(held, told.said)
            if code or held.said.closed:
                yield _noted(held, specifics)
                held = None
    if held is not None:
        yield _noted(held, specifics)


def _noted(told: _Told, specifics: dict[str, float]) -> Unit:
    """Return what a sentence comes to, and note what is specific in it."""
    if told.unit is None:
        return _unit(told.said, specifics)
    specifics.update(told.details)
    return told.unit


def _line(line: str, code: bool) -> _Line:
    bullet = None if line[:1].isalpha() and line[1:2] not in _BEHIND_LETTER else _BULLET.match(line)
    stretches = (line[bullet.end() :] if bullet else line).split()
    begins = bool(bullet) or not stretches or not stretches[0][0].islower()
    return _Line(begins, [_told(said) for said in _said(stretches, whole=code)])


def _told(said: Said) -> _Told:
    details: dict[str, float] = {}
    return _Told(said, _unit(said, details), details)


_remembered = lru_cache(maxsize=REMEMBERED_LINES)(_line)
forget_texts = _remembered.cache_clear


def _continued(held: _Told, said: Said) -> _Told:
    """Return a sentence with what the next line adds to it; in lists of its own, for a line may be remembered and go on for long."""
    before = held.said
    if held.unit is not None:
        before = Said([*before.words], [*before.pieces], before.first, before.closed)
    before.words.extend(said.words)
    before.pieces.extend(said.pieces)
    return _Told(before._replace(closed=said.closed), None, {})


def _said(stretches: list[str], *, whole: bool) -> list[Said]:
    """Return the sentences of a line, the last of them perhaps not at its end; a whole line is one."""
    said: list[Said] = []
    words: list[str] = []
    others: list[Piece] = []
    first, after = None, 0
    for place, piece in pieces(stretches):
        words += stretches[after:place]
        after = place + 1
        if not words and not others:
            first = piece
        others.append(piece)
        if piece.ends and not whole:
            said.append(Said(words, others, first, closed=True))
            words, others, first = [], [], None
    words += stretches[after:]
    if words or others:
        said.append(Said(words, others, first, closed=bool(others) and after == len(stretches) and others[-1].ends))
    return said
