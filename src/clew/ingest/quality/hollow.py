"""Texts that say nothing whatever their length: what the gates at commit would turn away, and chatter behind a speaker's name."""

from __future__ import annotations

import re

from clew.ingest.idle import is_chatter
from clew.ingest.quality.reading import Reading
from clew.ingest.substance import MAX_PERIOD, idle_talk, keyboard_mash, no_words, placeholder, repeated

FEW_TELLING = 12  # different words; idle talk with more of them has not been seen, and long texts need not be read again
FEWEST_CHARACTERS = 6  # a shorter text has few letters without being noise: "Why?"
FEW_DETAILS = 2.5  # idle talk names nobody but the speaker and one other
_SPEAKER = re.compile(r"^[ \t]*[^\W\d_][\w .'’-]{0,30}:\s+", re.MULTILINE)
_OPENING = 40  # characters: enough to see a placeholder


def is_noise(reading: Reading) -> bool:
    """Tell whether there is nothing to read at all: no words, the same over and over, runs of keys, broken letters.

    >>> from clew.ingest.quality.reading import read
    >>> is_noise(read("asdf jkl asdf jkl asdf jkl")), is_noise(read("Haha yeah totally!"))
    (True, False)
    """
    if len(reading.telling) > FEW_TELLING or reading.code:
        return False
    if 2 * reading.damaged > reading.characters:
        return len(reading.telling) < MAX_PERIOD  # a sentence about a hash is short beside it
    if len(reading.telling) > MAX_PERIOD and any(unit.binding for unit in reading.units):
        return False  # no rule can object: one looks for up to three words, the others for none and for runs of keys
    if no_words(reading.plain):
        return True
    return reading.characters >= FEWEST_CHARACTERS and any(rule(reading.plain) is not None for rule in (repeated, keyboard_mash))


def is_idle(reading: Reading) -> bool:
    """Tell whether a text holds nothing that someone could want to recall, however well it is put.

    >>> from clew.ingest.quality.reading import read
    >>> is_idle(read("Anna: Haha yeah totally!")), is_idle(read("Anna: Haha, Toby ate the cake!"))
    (True, False)
    """
    if not reading.telling or placeholder(reading.plain[:_OPENING]) is not None:
        return True
    if len(reading.telling) > FEW_TELLING or reading.specific > FEW_DETAILS or reading.code:
        return False
    said = _SPEAKER.sub("", reading.plain)
    return is_chatter(said) or idle_talk(said) is not None
