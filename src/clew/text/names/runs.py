"""Join capitalised tokens into names of one or several words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clew.text.names.lexicon import (
    DATES,
    DEEDS,
    DEMONYMS,
    EPITHETS,
    FUNCTION_WORDS,
    GIVEN,
    INNER,
    MONTHS,
    NAME_HEADS,
    ORG_ENDS,
    ORG_HEADS,
    PARTICLES,
    PLACES,
    TITLES,
    WEEKDAYS,
    is_common,
)
from clew.text.names.spans import Run, Shape, TokenizedText

MIN_SHOUTED_WORDS = 3  # so many words in capitals are a shout, a heading or a table, not acronyms
_OFFICES = TITLES - {"lord", "lady"}
_ARTICLES = ("the", "a", "an", "i")
_TRIMMED = INNER | TITLES | FUNCTION_WORDS
_LOOSE = WEEKDAYS | {"the", "a", "and"}
_EMPTY = DEMONYMS | DATES | FUNCTION_WORDS
_ORDINAL = re.compile(r"\d{1,3}(?:st|nd|rd|th)")


def trim_run(reading: TokenizedText, run: Run) -> Run | None:
    """Remove words that are not part of the name from both ends of a run."""
    if run.last - run.first >= MIN_SHOUTED_WORDS - 1 and _is_shouted(reading, run):
        return None
    while run.first <= run.last and (run.opening or reading.words[run.first] in _TRIMMED):
        before, run = run, _drop_first(reading, run)
        if run is before:
            break
    while run.last >= run.first and reading.words[run.last] in _LOOSE and _ends_loose(reading, run):
        run = run._replace(last=run.last - 1)
    if run.first > run.last or (_tells_nothing(reading, run.first) and _is_nothing(reading, run)):
        return None
    return _with_ordinal(reading, run) if reading.words[run.first - 1][:1].isdigit() else run


def _with_ordinal(reading: TokenizedText, run: Run) -> Run:
    """Take in the number before a name of several words: "20th Century Fox"."""
    before = run.first - 1
    ordinal = (
        before >= 0
        and run.first < run.last
        and reading.goes_on(before)
        and _ORDINAL.fullmatch(reading.words[before])
    )
    return run._replace(first=before) if ordinal and not run.titled else run


def _drop_first(reading: TokenizedText, run: Run) -> Run:
    """Return a run without its first word if that is not part of the name, else the same run."""
    word, lone = reading.words[run.first], run.first == run.last
    after = reading.words[run.first + 1]
    if word in INNER and reading.stretches[run.first].shape is Shape.LOWER:
        return run._replace(first=run.first + 1)
    if word in TITLES and (lone or not (after in ORG_ENDS or reading.words[run.last] in ORG_ENDS)):
        office = after != "of" or word in _OFFICES
        return (
            run._replace(first=run.first + 1, titled=after != "of", opening=False)
            if office
            else run
        )
    filler = (
        word in FUNCTION_WORDS
        and (run.opening or lone or word in _ARTICLES)
        and not (word in GIVEN and after in DEEDS)
    )
    if filler or (run.opening and (word in WEEKDAYS or (not lone and _is_stray(reading, run)))):
        return run._replace(first=run.first + 1, opening=False)
    return run


def _is_stray(reading: TokenizedText, run: Run) -> bool:
    """Tell whether a common word only begins the sentence.

    "Customer Acme Corp", but "Lake Tahoe" and "Seven Samurai".
    """
    words = run.words(reading)
    if words[0] in GIVEN:
        return is_common(words[0]) and words[1] in PLACES  # "Hope Tokyo treats you well"
    return (
        is_common(words[0])
        and words[0] not in NAME_HEADS
        and words[1] not in PARTICLES
        and not is_common(words[1])
    )


def _ends_loose(reading: TokenizedText, run: Run) -> bool:
    word = reading.words[run.last]
    return word in ("the", "a", "and") or (
        run.last > run.first and word in WEEKDAYS and not is_common(reading.words[run.last - 1])
    )


def _is_shouted(reading: TokenizedText, run: Run) -> bool:
    if any(len(word) < 2 for word in run.words(reading)):
        return False
    return reading.text[reading.starts[run.first] : reading.ends[run.last]].isupper()


def _is_nothing(reading: TokenizedText, run: Run) -> bool:
    """Tell whether nothing but dates, peoples, languages, letters or numbers is left."""
    return all(_tells_nothing(reading, i) for i in range(run.first, run.last + 1))


def _tells_nothing(reading: TokenizedText, i: int) -> bool:
    word = reading.words[i]
    if word not in _EMPTY:
        return (len(word) < 2 and word not in "cr") or word.isdigit()
    return word in DEMONYMS or _is_date(reading, i) or _is_filler(reading, i)


def _is_date(reading: TokenizedText, i: int) -> bool:
    """Tell months and days of the week; "Jan" is one beside a number and a name elsewhere."""
    if reading.words[i] != "jan":
        return reading.words[i] in DATES
    return reading.words[i - 1][:1].isdigit() or reading.words[i + 1][:1].isdigit()


def _is_filler(reading: TokenizedText, i: int) -> bool:
    word = reading.words[i]
    return word in FUNCTION_WORDS and not (word in GIVEN and reading.words[i + 1] in DEEDS)


MAX_WORDS = 8  # of a name; "United Nations Educational, Scientific …" is known by its start
_CAPITALISED = (Shape.CAPITAL, Shape.ACRONYM)
_HEADS_WITH_FOR = frozenset(
    """
    prize award medal center centers centre institute society foundation council office
    """.split()
)
_YEARS = range(1000, 2051)


def name_runs(reading: TokenizedText) -> Iterator[Run]:
    """Yield the names of a text in order, without articles, openers, titles and dates.

    >>> from clew.text.names.spans import tokenize_text
    >>> reading = tokenize_text("Then Dr. Ludwig van Beethoven left the University of Oxford on Monday, 3 May.")
    >>> [" ".join(run.words(reading)) for run in name_runs(reading)]
    ['ludwig van beethoven', 'university of oxford']
    """
    passed = -1
    for i in reading.telling:
        if (
            i <= passed
            or reading.stretches[i].shape is Shape.CODED
            or _is_capitalised_filler(reading, i)
        ):
            continue
        passed = _last_token(reading, i)
        if found := trim_run(reading, Run(i, passed, opening=reading.begins(i))):
            yield found


def _is_capitalised_filler(reading: TokenizedText, i: int) -> bool:
    """Tell a "The" or "She" before a small word: the usual capital, seen quickly."""
    if (
        reading.words[i] not in FUNCTION_WORDS
        or reading.words[i] in GIVEN
        or i + 1 >= len(reading.stretches)
    ):
        return False
    return not reading.stretches[i + 1].tells and reading.words[i + 1] not in PARTICLES


def are_listed(reading: TokenizedText, one: Run, other: Run) -> bool:
    """Tell whether two names stand in one list, with a comma or an "and" between.

    They are of one kind.
    """
    apart = other.first - one.last
    if apart == 2:
        return (
            reading.words[one.last + 1] in ("and", "or", "und", "et", "y")
            and not reading.stretches[one.last].bound
        )
    return apart == 1 and reading.text[reading.ends[one.last] : reading.starts[other.first]] == ", "


def _last_token(reading: TokenizedText, first: int) -> int:
    """Return the last stretch of the name that begins here."""
    last = first
    while last - first < MAX_WORDS and reading.goes_on(last):
        step = _step(reading, first, last)
        if not step:
            break
        last += step
    return last


def _step(reading: TokenizedText, first: int, last: int) -> int:
    """Return by how many stretches a name goes on.

    A further word, small ones with a large one behind, or a number.
    """
    shape, word = reading.stretches[last + 1].shape, reading.words[last + 1]
    if reading.words[last] == "i" and last > first and word != "of":
        return 0  # "World War I. It"
    if shape in _CAPITALISED:
        return int(word != "i" or _is_numeral(reading, last + 1))
    if shape is Shape.LOWER and word not in INNER:
        return 0
    if shape is Shape.NUMBER:
        return int(_takes_number(reading, first, last))
    small = 1
    while small <= 2 and reading.goes_on(last + small) and _joins(reading, first, last, small):
        if reading.stretches[last + small + 1].shape in _CAPITALISED:
            return small + 1
        small += 1
    return 0


def _is_numeral(reading: TokenizedText, i: int) -> bool:
    """Tell the first of a name from somebody who speaks.

    "Otto I of", "World War I." and "Anna I think".
    """
    return (
        not reading.goes_on(i)
        or reading.words[i + 1] == "of"
        or reading.ends[i] - reading.starts[i] > 1
    )


def _joins(reading: TokenizedText, first: int, last: int, small: int) -> bool:
    """Tell whether the small word belongs inside a name.

    "van", "of the", "the Great", "Ministry of Food and Agriculture".
    """
    word, after = reading.words[last + small], reading.words[last + small + 1]
    if word == "of":
        return (
            not (first == last and reading.begins(first) and _is_loose(reading.words[last]))
            and reading.words[last] not in DATES
        )
    if word in PARTICLES:
        return True
    if word == "the":
        return (
            after in EPITHETS or reading.words[first] in GIVEN
            if small == 1
            else reading.words[last + small - 1] == "of"
        )
    if word == "and":
        head = first + (reading.words[first] == "the")
        return reading.words[head] in ORG_HEADS and reading.words[head + 1] in ("of", "for")
    if word in ("for", "in"):
        return reading.words[last] in _HEADS_WITH_FOR and after not in PLACES
    return reading.text[reading.starts[last + small] : reading.ends[last + small]] == "&"


def _is_loose(word: str) -> bool:
    """Tell a common word that merely begins a sentence from one that may begin a name.

    "Shares of Acme", "Bank of England".
    """
    return is_common(word) and word not in NAME_HEADS and word not in TITLES


def _takes_number(reading: TokenizedText, first: int, last: int) -> bool:
    """Tell whether a number is part of the name.

    "Apollo 11", not "May 3", "Paris 1968" or "Anna 3 times".
    """
    before, number = reading.words[last], int(reading.words[last + 1])
    if before in DATES or before in GIVEN or before in PLACES or number in _YEARS:
        return False
    return not (first == last and is_common(before)) and reading.words[last + 2] not in MONTHS
