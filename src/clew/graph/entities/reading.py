"""A text as tokens that know their place: where they lie, whether a sentence begins there, whether the next one goes on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from clew.graph.entities.stretch import Shape, Stretch, stretch
from clew.graph.entities.unspaced import SCRIPTS, UNSHAPED, dominant

# Brackets, quotation marks, commas and dashes stand between stretches: a name does not go on behind them.
_BETWEEN = r"\s,;()\[\]{}<>\"“”„«»‹›—–…|`*、。，：；！？「」『』《》（）"
_STRETCH = re.compile(f"[^{_BETWEEN}]+")
_BY_SCRIPT = re.compile(f"[{SCRIPTS}]+|[^{_BETWEEN}{SCRIPTS}]+")  # "用Redis搭建" names Redis
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
    found, stretches = _cut(plain)
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


def _cut(text: str) -> tuple[list[re.Match[str]], list[Stretch]]:
    """Return where the stretches lie and what each is; where a script writes no spaces, it is cut from the others."""
    if text.isascii() or not UNSHAPED.search(text):
        found = list(_STRETCH.finditer(text))
        return found, [stretch(match[0]) for match in found]
    found, most = list(_BY_SCRIPT.finditer(text)), dominant(text)
    made = ((match, stretch(match[0])) for match in found)
    return found, [
        piece._replace(tells=False) if UNSHAPED.match(match[0]) and (most or _amid(text, match)) else piece for match, piece in made
    ]


def _amid(text: str, match: re.Match[str]) -> bool:
    """Tell whether a letter stands right before or behind: what is cut from other words is a part of a sentence, not a name."""
    return any(beside.isalnum() for beside in (text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]))
