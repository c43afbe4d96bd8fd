"""One look at a text, shared by all judgements: its lines, its sentences, and what their words tell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from clew.ingest.idle import telling_words
from clew.ingest.quality.lexicon import FUNCTION_WORDS
from clew.ingest.quality.piece import BINDING, LONG, LONG_LETTERS, Piece, pieces

PROSE = frozenset({"", "text", "markdown", "html", "conversation", "pdf", "docx"})
"""Formats of running text; any other name is taken for a language of code or data."""

PLAIN = bytes(code for code in range(128) if chr(code).isspace() or chr(code).isalnum())
"""The letters, digits and white space of ASCII: what is left without them are signs."""
_TAG = re.compile(r"<[a-zA-Z/!][^<>]{0,400}>")
_ADDRESS = re.compile(r"\w+://\S+")
_WIDE_END = re.compile("(?<=[。！？])(?=[^。！？」』”’）)\\s])")
_BULLET = re.compile(r"\s*(?:[-*+•·‣◦▪–—>#|]+|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s+")
# A line is code when it begins as no sentence does, or ends with a sign or holds an operator or call that no sentence has.
_CODE_START = re.compile(
    r"\s*(?:[}\])]|//|/\*|#!|#include|@\w|\$\s|>>>\s)"
    r"|\s*(?:def|class|fn|func|public|private|static|const|let|var|async|elif|else:|try:|except|finally:|return|yield|raise)\b.*[:({;=]"
    r"|\s*(?:import \w[\w.]*(?: as \w+)?|from [\w.]+ import .*|return [\w.]+|package [\w.]+)$"
    r"|(?:sudo |git |docker |kubectl |pip |npm |curl |cd |ls |SELECT |INSERT |UPDATE |DELETE |CREATE |ALTER )"
)
_CODE_SIGNS = (*";{}[(=>&|", "::", "</")  # one of these is in all that the next expression finds, and looked for first: it is cheap
_CODE_INSIDE = re.compile(
    r"[;{}\[(]\s*$|\w\([^()]*\)\s*:?$|[^=!<>]=[^=>\s]|\s[=!:+|&]{1,2}=\s|\s=\s|=>|->|::|&&|\|\||</\w|;\s*(?:do|done|then|fi)\b"
)
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
    code = format not in PROSE or is_code(lines)
    specifics: dict[str, float] = {}
    told_words = telling_words(plain) - FUNCTION_WORDS
    units = tuple([_unit(found, told_words, specifics) for found in _units(plain, code=code)])
    sizes, telling, told, damaged, *_ = zip(*units, strict=True) if units else ((),) * len(Unit._fields)
    return Reading(
        text=text,
        plain=plain,
        signs=_signs(text),
        lines=lines,
        units=units,
        words=sum(sizes),
        telling=telling[0] if len(telling) == 1 else frozenset().union(*telling),
        told=sum(told),
        specific=sum(specifics.values()),
        characters=len("".join(plain.split())),
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


def is_code(lines: tuple[str, ...]) -> bool:
    """Tell code, shell sessions and data from running text by the ends, beginnings and signs of its lines.

    >>> is_code(("def area(r):", "    return 3.14 * r ** 2")), is_code(("The area is 3.14 r squared.",))
    (True, False)
    """
    return bool(lines) and sum(map(_is_code_line, lines)) >= CODE_LINES * len(lines)


def _is_code_line(line: str) -> bool:
    """Judge a line by its beginning; an address is full of signs and no code."""
    start = _ADDRESS.sub("", line[:200]) if "://" in line else line[:200]
    if _CODE_START.match(start) is not None:
        return True
    return any(map(start.__contains__, _CODE_SIGNS)) and _CODE_INSIDE.search(start) is not None


def _unit(found: list[str | Piece], telling: frozenset[str], specifics: dict[str, float]) -> Unit:
    """Return the sum of a sentence's stretches, and note what is specific in it.

    A capital makes a name where no sentence begins, and before a colon.
    """
    first, last = found[0], found[-1]
    if isinstance(first, Piece) and (weight := first.amid if first.label else first.specific):
        specifics[first.core] = weight
    words = [each for each in found if isinstance(each, str)]
    specifics.update([(word, LONG) for word in words if len(word) >= LONG_LETTERS])
    told = [word for word in words if word in telling]
    if len(words) == len(found):
        return Unit(len(words), frozenset(told), len(told), 0, closed=False, binding=not BINDING.isdisjoint(words))
    others = [each for each in found if isinstance(each, Piece)]
    specifics.update([(each.core, each.amid) for each in others[first is others[0] :] if each.amid])
    told += [word for each in others for word in each.telling]
    return Unit(
        words=len(words) + sum([each.words for each in others]),
        telling=frozenset(told),
        told=len(told),
        damaged=sum([each.damaged for each in others]),
        closed=isinstance(last, Piece) and last.ends,
        binding=not BINDING.isdisjoint(words) or any(each.binding for each in others),
    )


def _units(text: str, *, code: bool) -> Iterator[list[str | Piece]]:
    """Yield the stretches of each sentence; a line that goes on in small letters belongs to the one before, but not in code."""
    held: list[str | Piece] = []
    for line in (text if text.isascii() else _WIDE_END.sub(" ", text)).splitlines():
        bullet = _BULLET.match(line)
        stretches = (line[bullet.end() :] if bullet else line).split()
        if held and (code or bullet or not stretches or not stretches[0][0].islower()):
            yield held
            held = []
        found = pieces(stretches)
        begin = 0
        for end in () if code else [at for at, each in enumerate(found, start=1) if isinstance(each, Piece) and each.ends]:
            yield held + found[begin:end]
            held, begin = [], end
        held += found[begin:]
    if held:
        yield held
