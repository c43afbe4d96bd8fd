"""The four parts of quality, each a formula over one reading of a text, each from 0 to 1."""

from __future__ import annotations

import math
import re
from itertools import pairwise

from clew.ingest.quality.reading import PLAIN, Reading, Unit

HALF_SUBSTANCE = 3  # different telling words at which substance is a half: "Postgres listens on port 6543" has four
WORDS_A_DETAIL = 20  # one detail in twenty words makes a text half specific
FEWEST_WORDS = 3  # shorter units are headings, menu entries, exclamations
FRAGMENT_WORDS = 5  # shorter units without a full stop or a binding word are fragments
LONG_SENTENCE = 40  # words: plain-language guides ask for 15 to 25 on average; statutes reach 60 and can still be read
CONNECTED = 0.3  # how much of coherence is connection; the rest is whole sentences
LETTERS = 0.7  # share of letters and digits from which a text is plain; prose has 0.95, a list of prices 0.8
SIGNS = 0.1  # share from which runs of one sign are looked for; they count twice: "!!!!", "-----"
_RUN = re.compile(r"([^\w\s])\1{3,}")
_SIGN = re.compile(r"[^\w\s\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff\u0e30-\u0e4f]")  # vowel signs are no signs


def substance(reading: Reading) -> float:
    """Return how much is told: different telling words, less where a text says the same over and over.

    By Heaps' law (Heaps 1978) n words of a natural text hold at least about the root of n different ones.
    """
    told = len(reading.telling)
    if not told:
        return 0.0
    return told**2 / (told**2 + HALF_SUBSTANCE**2) * min(1.0, told / math.sqrt(reading.told))


def specificity(reading: Reading, *, title: Reading | None = None) -> float:
    """Return how much is pinned down: names, numbers, identifiers and rare words for the length of the text.

    A title names what its text is about, so its details count, not its length.
    """
    details = reading.specific + (title.specific if title else 0.0)
    return details / (details + 1 + reading.words / WORDS_A_DETAIL)


def coherence(reading: Reading) -> float:
    """Return how far a text hangs together: whole sentences, connected, not repeated.

    Neighbours are connected when they share a telling word, the simplest form of the entity grid (Barzilay & Lapata 2008),
    or when the second takes up the first by a word that binds. Code is judged by repetition alone.
    """
    if not reading.units:
        return 0.0
    fresh = _fresh(reading)
    if reading.code:
        return fresh
    whole = sum(unit.words for unit in reading.units if is_whole(unit)) / max(1, reading.words)
    return fresh * ((1 - CONNECTED) * whole + CONNECTED * _connected(reading.units))


def clarity(reading: Reading) -> float:
    """Return how well a text can be read: no blobs or broken letters, words rather than signs, sentences that end.

    Code is full of signs and has no sentences: there only what is damaged counts.
    """
    if not reading.characters:
        return 0.0
    readable = 1 - reading.damaged / reading.characters
    if reading.code:
        return readable
    signs = _signs(reading.plain)
    runs = sum(len(run[0]) for run in _RUN.finditer(reading.plain)) if signs >= SIGNS * reading.characters else 0
    letters = 1 - min(reading.characters, signs + runs) / reading.characters
    longest = reading.words / max(1, len(reading.units)) / LONG_SENTENCE
    return readable * min(1.0, letters / LETTERS) * (1 / max(1.0, longest))


def _signs(text: str) -> int:
    """Count the characters that are neither words nor white space."""
    return len(text.encode().translate(None, PLAIN + b"_")) if text.isascii() else len(_SIGN.findall(text))


def is_whole(unit: Unit) -> bool:
    """Tell a sentence from a fragment: enough words, and an end, or length, or a word that binds."""
    return unit.words >= FEWEST_WORDS and (unit.closed or unit.words >= FRAGMENT_WORDS or unit.binding)


def _connected(units: tuple[Unit, ...]) -> float:
    pairs = [not before.telling.isdisjoint(after.telling) or after.binding for before, after in pairwise(units)]
    return sum(pairs) / len(pairs) if pairs else 1.0


def _fresh(reading: Reading) -> float:
    """Return the share of units that were not said before."""
    said = [unit.telling for unit in reading.units if unit.telling]
    return len(set(said)) / len(said) if said else 0.0
