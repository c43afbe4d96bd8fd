"""A text as tokens that know their place: where they lie, whether a sentence begins there, whether the next one goes on."""

from __future__ import annotations

import re
from functools import cached_property
from itertools import accumulate, count
from operator import add, sub
from typing import NamedTuple

from clew.graph.entities.stretch import SMALL, Shape, Stretch, stretches
from clew.graph.entities.unspaced import SCRIPTS, UNSHAPED, dominant

# Brackets, quotation marks, commas and dashes stand between stretches: a name does not go on behind them.
_BETWEEN = r"\s,;()\[\]{}<>\"“”„«»‹›—–…|`*、。，：；！？「」『』《》（）"
_STRETCH = re.compile(f"[^{_BETWEEN}]+")
_BY_SCRIPT = re.compile(f"[{SCRIPTS}]+|[^{_BETWEEN}{SCRIPTS}]+")  # "用Redis搭建" names Redis
BEYOND = 4  # stretches around a name that rules look at
FURTHEST = 16  # stretches behind one that may name something: a name takes in less, see `clew.graph.entities.runs`
_TAG = re.compile(r"<[^<>]*>")
_ASCII_BETWEEN = bytes(32 if chr(code).isspace() or chr(code) in ',;()[]{}<>"|`*' else code for code in range(128)).ljust(256)


class Reading:
    """The stretches of a text and those that may name something; where each that a rule may look at lies is found when one does.

    `words` go on with a few empty ones, so that a name's neighbours can be asked for at both ends of the text.
    """

    def __init__(self, text: str, spelled: list[str], others: list[tuple[int, Stretch]]) -> None:
        """Take the stretches as they are spelled, and what those are that are no small words."""
        self.text = text
        self.words, self.stretches = [*spelled, *[""] * BEYOND], [SMALL] * len(spelled)
        for i, piece in others:
            self.words[i], self.stretches[i] = piece.word, piece
        self.telling = [i for i, piece in others if piece.tells]
        self._spelled = spelled

    @cached_property
    def small(self) -> frozenset[str]:
        """The words that are written small."""
        return _but(self.words[:-BEYOND], self.telling) if self.telling else frozenset()

    @property
    def starts(self) -> list[int]:
        """Where each stretch begins, up to the last that a rule may look at."""
        return self._places[0]

    @property
    def ends(self) -> list[int]:
        """Where each of them ends."""
        return self._places[1]

    @cached_property
    def _places(self) -> tuple[list[int], list[int]]:
        return _spans(self.text, self._spelled[: self.telling[-1] + FURTHEST] if self.telling else [])

    def begins(self, i: int) -> bool:
        """Tell whether a sentence, a line, a quotation or a list's entry begins with this stretch."""
        if i == 0 or self.stretches[i - 1].ends or self.stretches[i - 1].shape is Shape.SIGN:
            return True
        gap = self.text[self.ends[i - 1] : self.starts[i]]
        return gap != " " and any(sign in gap for sign in '\n"“„«')

    def goes_on(self, i: int) -> bool:
        """Tell whether the next stretch follows this one with nothing but a space between."""
        if i + 1 >= len(self.stretches) or self.stretches[i].bound:
            return False
        return self.starts[i + 1] - self.ends[i] == 1 and self.text[self.ends[i]] in " \xa0" and not self.stretches[i + 1].first


class Run(NamedTuple):
    """Stretches `first` to `last`, both of them included, that make a name; `titled` when an office or a Mr stood before it."""

    first: int
    last: int
    opening: bool
    titled: bool = False

    def words(self, reading: Reading) -> list[str]:
        """Return the folded words of the name."""
        return reading.words[self.first : self.last + 1]


def read(text: str, *, format: str = "text") -> Reading:
    """Take a text apart; the tags of HTML are passed over, offsets stay those of the text as given.

    >>> reading = read("<b>Anna</b> saw Rome.", format="html")
    >>> [reading.text[reading.starts[i]:reading.ends[i]] for i in reading.telling]
    ['Anna', 'Rome.']
    """
    plain = _TAG.sub(lambda tag: " " * len(tag[0]), text) if format == "html" else text
    return Reading(plain, *_cut(plain))


def _but(words: list[str], places: list[int]) -> frozenset[str]:
    """Return what stands in all but some places, which are overwritten: by white space, which is no word."""
    for i in places:
        words[i] = " "
    return frozenset(words) - {" "}


def _cut(text: str) -> tuple[list[str], list[tuple[int, Stretch]]]:
    """Return the stretches as they are spelled and what the others than small words are; a script without spaces is cut from the others."""
    if text.isascii():
        spelled = text.encode().translate(_ASCII_BETWEEN).decode().split()
        return spelled, stretches(spelled)
    if not UNSHAPED.search(text):
        spelled = _STRETCH.findall(text)
        return spelled, stretches(spelled)
    spelled, most = _BY_SCRIPT.findall(text), dominant(text)
    starts, ends = _spans(text, spelled)
    return spelled, [
        (i, piece._replace(tells=False) if UNSHAPED.match(spelled[i]) and (most or _amid(text, starts[i], ends[i])) else piece)
        for i, piece in stretches(spelled)
    ]


def _spans(text: str, spelled: list[str]) -> tuple[list[int], list[int]]:
    """Return where each of the stretches begins and ends: they stand in order, and nothing of them stands between two."""
    if text.startswith(" ".join(spelled)):  # as of many: with a space between each two
        lengths = [*map(len, spelled)]
        behind = [*map(add, accumulate(lengths), count())]
        return [*map(sub, behind, lengths)], behind
    starts, ends, end = [], [], 0
    for each in spelled:
        start = text.find(each, end)
        end = start + len(each)
        starts.append(start)
        ends.append(end)
    return starts, ends


def _amid(text: str, start: int, end: int) -> bool:
    """Tell whether a letter stands right before or behind: what is cut from other words is a part of a sentence, not a name."""
    return any(beside.isalnum() for beside in (text[start - 1 : start], text[end : end + 1]))
