"""A text as tokens that know their place: where they lie, whether a sentence begins there, whether the next one goes on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from clew.graph.entities.stretch import Shape, Stretch, stretch

# Brackets, quotation marks, commas and dashes stand between stretches: a name does not go on behind them.
_STRETCH = re.compile(r"[^\s,;()\[\]{}<>\"“”„«»‹›—–…|`*、。，：；！？「」『』《》（）]+")
BEYOND = 4  # stretches around a name that rules look at
_TAG = re.compile(r"<[^<>]*>")


@dataclass(frozen=True, slots=True)
class Reading:
    """The stretches of a text and where each begins and ends, those that may name something, and the words written small.

    `words` go on with a few empty ones, so that a name's neighbours can be asked for at both ends of the text.
    """

    text: str
    words: list[str]
    stretches: list[Stretch]
    starts: list[int]
    ends: list[int]
    telling: list[int]
    small: frozenset[str]

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
    found = list(_STRETCH.finditer(plain))
    stretches = [stretch(match[0]) for match in found]
    words = [piece.word for piece in stretches]
    return Reading(
        text=plain,
        words=words + [""] * BEYOND,
        stretches=stretches,
        starts=[match.start() for match in found],
        ends=[match.end() for match in found],
        telling=[i for i, piece in enumerate(stretches) if piece.tells],
        small=frozenset([piece.word for piece in stretches if not piece.tells]),
    )
