"""From evidence to confidence: each sign leaves a share of the doubt, and the shares multiply (noisy or)."""

from __future__ import annotations

from clew.graph.entities.guessing import Guess, defined
from clew.graph.entities.lexicon import is_common
from clew.graph.entities.reading import Reading, Run
from clew.graph.entities.stretch import Shape

# How far each sign alone is to be trusted. Set on the calibration half of the labelled sentences in tests/graph/fixtures/entities;
# what is kept by default begins at 0.75 (mission V8).
INSIDE = 0.8  # a capital inside a sentence, on a word that is not common
INSIDE_COMMON = 0.5  # the same on a common word: "the Board"
OPENING = 0.65  # a capital where a sentence begins, on a word that is not common
OPENING_COMMON = 0.1
SEVERAL = 0.85  # several words with capitals, at least one of them not common
SEVERAL_COMMON = 0.7
ACRONYM = 0.76
KNOWN = 0.6  # listed among given names, places, organisations, tools
CUED = 0.5  # a title, a suffix, a verb, a preposition
FOREIGN = 0.35  # letters beyond ASCII: rarely a word of an English sentence
DEFINED = 0.35  # the sentence goes on to say what it is
REPEATED = 0.3  # each further mention, up to MAX_REPEATED
MAX_REPEATED = 3
WRITTEN_SMALL = 0.4  # what is left of the first sign when the text also writes the word in lower case
DIGITS = 4  # of a confidence


def confidence(reading: Reading, run: Run, found: Guess) -> float:
    """Return how sure it is that a run is a name.

    >>> from clew.graph.entities.guessing import guess
    >>> from clew.graph.entities.reading import Run, read
    >>> from clew.graph.entities.runs import runs
    >>> reading = read("Dinner was late. Then Anna told the Board.")
    >>> [confidence(reading, run, guess(reading, run)) for run in runs(reading)]
    [0.1, 0.96, 0.5]
    """
    words = run.words(reading)
    shown = _written(reading, run, words)
    if len(words) == 1 and words[0] in reading.small and not found.known:
        shown *= WRITTEN_SMALL
    name = reading.text[reading.starts[run.first] : reading.ends[run.last]]
    doubt = 1 - shown
    for sign, seen in ((KNOWN, found.known), (CUED, found.cued), (FOREIGN, not name.isascii()), (DEFINED, defined(reading, run))):
        if seen:
            doubt *= 1 - sign
    return round(1 - doubt, DIGITS)


def repeated(single: float, mentions: int) -> float:
    """Return how sure it is of a name that was met several times.

    >>> repeated(0.7, 1), repeated(0.7, 2), repeated(0.7, 9)
    (0.7, 0.79, 0.8971)
    """
    return round(1 - (1 - single) * (1 - REPEATED) ** min(mentions - 1, MAX_REPEATED), DIGITS) if mentions > 1 else single


def _written(reading: Reading, run: Run, words: list[str]) -> float:
    if len(words) > 1:
        return SEVERAL_COMMON if all(map(is_common, words)) else SEVERAL
    piece = reading.stretches[run.first]
    if piece.shape is Shape.ACRONYM:
        return ACRONYM
    if run.opening and not piece.hump:
        return OPENING_COMMON if is_common(words[0]) else OPENING
    return INSIDE_COMMON if is_common(words[0]) else INSIDE
