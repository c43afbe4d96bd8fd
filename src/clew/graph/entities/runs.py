"""Names of one word or several: which capitalised stretches belong together."""

from __future__ import annotations

from collections.abc import Iterator

from clew.graph.entities.lexicon import (
    DATES,
    EPITHETS,
    FUNCTION_WORDS,
    GIVEN,
    INNER,
    MONTHS,
    NAME_HEADS,
    ORG_HEADS,
    PARTICLES,
    PLACES,
    TITLES,
    is_common,
)
from clew.graph.entities.reading import Reading, Run
from clew.graph.entities.stretch import Shape
from clew.graph.entities.trimming import trimmed

MAX_WORDS = 8  # of a name; "United Nations Educational, Scientific …" is known by its start
_LARGE = (Shape.CAPITAL, Shape.ACRONYM)
_AWARDED = frozenset(("prize", "award", "medal", "center", "centers", "centre", "institute", "society", "foundation", "council", "office"))
_YEARS = range(1000, 2051)


def runs(reading: Reading) -> Iterator[Run]:
    """Yield the names of a text in order, without leading articles, openers, titles, and without dates.

    >>> from clew.graph.entities.reading import read
    >>> reading = read("Then Dr. Ludwig van Beethoven left the University of Oxford on Monday, 3 May.")
    >>> [" ".join(run.words(reading)) for run in runs(reading)]
    ['ludwig van beethoven', 'university of oxford']
    """
    passed = -1
    for i in reading.telling:
        if i <= passed or reading.stretches[i].shape is Shape.CODED or _merely_opens(reading, i):
            continue
        passed = _reach(reading, i)
        if found := trimmed(reading, Run(i, passed, opening=reading.begins(i))):
            yield found


def _merely_opens(reading: Reading, i: int) -> bool:
    """Tell a "The" or "She" before a small word: the usual capital, seen quickly."""
    if reading.words[i] not in FUNCTION_WORDS or reading.words[i] in GIVEN or i + 1 >= len(reading.stretches):
        return False
    return not reading.stretches[i + 1].tells and reading.words[i + 1] not in PARTICLES


def listed(reading: Reading, one: Run, other: Run) -> bool:
    """Tell whether two names stand in one list, with a comma or an "and" between: they are of one kind."""
    apart = other.first - one.last
    if apart == 2:
        return reading.words[one.last + 1] in ("and", "or", "und", "et", "y") and not reading.stretches[one.last].bound
    return apart == 1 and reading.text[reading.ends[one.last] : reading.starts[other.first]] == ", "


def _reach(reading: Reading, first: int) -> int:
    """Return the last stretch of the name that begins here."""
    last = first
    while last - first < MAX_WORDS and reading.goes_on(last):
        step = _step(reading, first, last)
        if not step:
            break
        last += step
    return last


def _step(reading: Reading, first: int, last: int) -> int:
    """Return by how many stretches a name goes on: a further word, small ones with a large one behind, or a number."""
    shape, word = reading.stretches[last + 1].shape, reading.words[last + 1]
    if reading.words[last] == "i" and last > first and word != "of":
        return 0  # "World War I. It"
    if shape in _LARGE:
        return int(word != "i" or _is_numeral(reading, last + 1))
    if shape is Shape.LOWER and word not in INNER:
        return 0
    if shape is Shape.NUMBER:
        return int(_takes_number(reading, first, last))
    small = 1
    while small <= 2 and reading.goes_on(last + small) and _joins(reading, first, last, small):
        if reading.stretches[last + small + 1].shape in _LARGE:
            return small + 1
        small += 1
    return 0


def _is_numeral(reading: Reading, i: int) -> bool:
    """Tell the first of a name from somebody who speaks: "Otto I of", "World War I." and "Anna I think"."""
    return not reading.goes_on(i) or reading.words[i + 1] == "of" or reading.ends[i] - reading.starts[i] > 1


def _joins(reading: Reading, first: int, last: int, small: int) -> bool:
    """Tell whether the small word belongs inside a name: "van", "of the", "the Great", "Ministry of Food and Agriculture"."""
    word, after = reading.words[last + small], reading.words[last + small + 1]
    if word == "of":
        return not (first == last and reading.begins(first) and _is_loose(reading.words[last])) and reading.words[last] not in DATES
    if word in PARTICLES:
        return True
    if word == "the":
        return after in EPITHETS or reading.words[first] in GIVEN if small == 1 else reading.words[last + small - 1] == "of"
    if word == "and":
        head = first + (reading.words[first] == "the")
        return reading.words[head] in ORG_HEADS and reading.words[head + 1] in ("of", "for")
    if word in ("for", "in"):
        return reading.words[last] in _AWARDED and after not in PLACES
    return reading.text[reading.starts[last + small] : reading.ends[last + small]] == "&"


def _is_loose(word: str) -> bool:
    """Tell a common word that merely begins a sentence from one that may begin a name: "Shares of Acme", "Bank of England"."""
    return is_common(word) and word not in NAME_HEADS and word not in TITLES


def _takes_number(reading: Reading, first: int, last: int) -> bool:
    """Tell whether a number is part of the name: "Apollo 11", not "May 3", "Paris 1968" or "Anna 3 times"."""
    before, number = reading.words[last], int(reading.words[last + 1])
    if before in DATES or before in GIVEN or before in PLACES or number in _YEARS:
        return False
    return not (first == last and is_common(before)) and reading.words[last + 2] not in MONTHS
