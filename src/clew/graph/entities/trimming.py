"""What is no part of a name though it stands in capitals beside it: openers, titles, articles, dates."""

from __future__ import annotations

import re

from clew.graph.entities.lexicon import (
    DATES,
    DEEDS,
    DEMONYMS,
    FUNCTION_WORDS,
    GIVEN,
    INNER,
    NAME_HEADS,
    ORG_ENDS,
    PARTICLES,
    PLACES,
    TITLES,
    WEEKDAYS,
    is_common,
)
from clew.graph.entities.reading import Reading, Run
from clew.graph.entities.stretch import Shape

SHOUTED = 3  # so many words in capitals are a shout, a heading or a table, not acronyms
_OFFICES = TITLES - {"lord", "lady"}
_ARTICLES = ("the", "a", "an", "i")
_TRIMMED = INNER | TITLES | FUNCTION_WORDS
_LOOSE = WEEKDAYS | {"the", "a", "and"}
_EMPTY = DEMONYMS | DATES | FUNCTION_WORDS
_ORDINAL = re.compile(r"\d{1,3}(?:st|nd|rd|th)")


def trimmed(reading: Reading, run: Run) -> Run | None:
    """Take away what is no part of the name, until what is left begins and ends with a word of its own."""
    if run.last - run.first >= SHOUTED - 1 and _is_shouted(reading, run):
        return None
    while run.first <= run.last and (run.opening or reading.words[run.first] in _TRIMMED):
        before, run = run, _behind_opener(reading, run)
        if run is before:
            break
    while run.last >= run.first and reading.words[run.last] in _LOOSE and _ends_loose(reading, run):
        run = run._replace(last=run.last - 1)
    if run.first > run.last or (_tells_nothing(reading, run.first) and _is_nothing(reading, run)):
        return None
    return _with_ordinal(reading, run) if reading.words[run.first - 1][:1].isdigit() else run


def _with_ordinal(reading: Reading, run: Run) -> Run:
    """Take in the number before a name of several words: "20th Century Fox"."""
    before = run.first - 1
    ordinal = before >= 0 and run.first < run.last and reading.goes_on(before) and _ORDINAL.fullmatch(reading.words[before])
    return run._replace(first=before) if ordinal and not run.titled else run


def _behind_opener(reading: Reading, run: Run) -> Run:
    """Return a run without its first word where that is no part of the name, else the very same run."""
    word, lone = reading.words[run.first], run.first == run.last
    after = reading.words[run.first + 1]
    if word in INNER and reading.stretches[run.first].shape is Shape.LOWER:
        return run._replace(first=run.first + 1)
    if word in TITLES and (lone or not (after in ORG_ENDS or reading.words[run.last] in ORG_ENDS)):
        office = after != "of" or word in _OFFICES
        return run._replace(first=run.first + 1, titled=after != "of", opening=False) if office else run
    filler = word in FUNCTION_WORDS and (run.opening or lone or word in _ARTICLES) and not (word in GIVEN and after in DEEDS)
    if filler or (run.opening and (word in WEEKDAYS or (not lone and _is_stray(reading, run)))):
        return run._replace(first=run.first + 1, opening=False)
    return run


def _is_stray(reading: Reading, run: Run) -> bool:
    """Tell whether a common word only begins the sentence: "Customer Acme Corp", but "Lake Tahoe" and "Seven Samurai"."""
    words = run.words(reading)
    if words[0] in GIVEN:
        return is_common(words[0]) and words[1] in PLACES  # "Hope Tokyo treats you well"
    return is_common(words[0]) and words[0] not in NAME_HEADS and words[1] not in PARTICLES and not is_common(words[1])


def _ends_loose(reading: Reading, run: Run) -> bool:
    word = reading.words[run.last]
    return word in ("the", "a", "and") or (run.last > run.first and word in WEEKDAYS and not is_common(reading.words[run.last - 1]))


def _is_shouted(reading: Reading, run: Run) -> bool:
    if any(len(word) < 2 for word in run.words(reading)):
        return False
    return reading.text[reading.starts[run.first] : reading.ends[run.last]].isupper()


def _is_nothing(reading: Reading, run: Run) -> bool:
    """Tell whether nothing but dates, peoples, languages, letters or numbers is left."""
    return all(_tells_nothing(reading, i) for i in range(run.first, run.last + 1))


def _tells_nothing(reading: Reading, i: int) -> bool:
    word = reading.words[i]
    if word not in _EMPTY:
        return (len(word) < 2 and word not in "cr") or word.isdigit()
    return word in DEMONYMS or _is_date(reading, i) or _is_filler(reading, i)


def _is_date(reading: Reading, i: int) -> bool:
    """Tell months and days of the week; "Jan" is one beside a number and a name elsewhere."""
    if reading.words[i] != "jan":
        return reading.words[i] in DATES
    return reading.words[i - 1][:1].isdigit() or reading.words[i + 1][:1].isdigit()


def _is_filler(reading: Reading, i: int) -> bool:
    word = reading.words[i]
    return word in FUNCTION_WORDS and not (word in GIVEN and reading.words[i + 1] in DEEDS)
