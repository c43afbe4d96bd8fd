"""When two texts that lie near each other still say different things, told from their words (mission V4).

Vectors hardly see what turns a statement round: the default model gives "prefers tea to coffee" and "prefers coffee to tea" a cosine of
0.996, "is enabled" and "is not enabled" 0.99. In doubt two texts differ: a needless memory costs a little room, a missing one costs the
answer. The lists are in wordings.toml; what the rules do to texts told apart by a person is in tests/ingest/test_wordings.py.
"""

from __future__ import annotations

import tomllib
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import takewhile
from typing import NamedTuple

from clew.words import REMEMBERED, STOP_WORDS, apart, folded, plain_words, terms

_LISTS: Mapping[str, str] = tomllib.loads(files("clew.ingest").joinpath("wordings.toml").read_text(encoding="utf-8"))
NEGATIONS = frozenset(map(folded, _LISTS["negations"].split()))
# Each of them excludes a word of its line, or may: whoever adds one to what was said says something new.
EXCLUDING = frozenset(f"{_LISTS['series']} {_LISTS['opposites']}".split()) - {"|"}
_FILLER = frozenset(_LISTS["filler"].split())
_QUALIFIERS = {folded(word): row for row, line in enumerate(_LISTS["qualifiers"].strip().splitlines()) for word in line.split()}
_PHRASES = tuple(tuple(f" {side.strip()} " for side in line.split("=")) for line in _LISTS["phrases"].strip().splitlines())
_PREFIXES = ("un", "dis", "in", "im", "ir", "il", "non", "counter", "anti", "de", "mis")
_SUFFIXES = ("less", "ful")
_SIGNS = frozenset("%#")
_SIGN_KINDS = frozenset(("So", "Sc", "Sm"))  # pictures, currencies and what mathematics writes
# What may join two words that stand side by side the other way round: "the light in the kitchen", "the kitchen light".
_JOINING = frozenset("of in at on for with".split())
_LEADING = _JOINING | frozenset("during since until from to by after before because if when unless under over".split())


_COUNTED = frozenset(
    "two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand million half".split()
)
_AROUND = ".,;:!?\"'()[]“”‘’«»"
_SORTS: tuple[Mapping[str, str], ...] = (
    {"am": "am", "pm": "pm"},
    {word: word for word in "must may might can could should shall will would need".split()},
    dict.fromkeys(("is", "are"), "now") | dict.fromkeys(("was", "were"), "then"),
    {"has": "has", "have": "has", "had": "had"},
    dict.fromkeys("i me my mine".split(), "I")
    | dict.fromkeys("you your yours".split(), "you")
    | dict.fromkeys("he him his".split(), "he")
    | dict.fromkeys("she her hers".split(), "she")
    | dict.fromkeys("they them their theirs".split(), "they"),
)
"""Halves of the day, what may and must be, what is and was, and who."""


def differ(one: str, other: str) -> bool:
    """Tell whether two texts differ in more than their wording.

    >>> differ("Port 5432 is Postgres", "Port 5433 is Postgres"), differ("Ann prefers tea to coffee", "Ann prefers coffee to tea")
    (True, True)
    >>> differ("The dog is friendly", "The dog is unfriendly"), differ("会議は月曜日の午前です", "会議は火曜日の午前です")
    (True, True)
    >>> differ("The server runs Postgres 16", "Our server is running Postgres 16"), differ("Ann likes tea", "Ann likes green tea")
    (False, False)
    """
    mine, theirs = _read(one), _read(other)
    return (
        mine.unspaced != theirs.unspaced
        or mine.signs != theirs.signs
        or mine.numbers != theirs.numbers
        or mine.negations != theirs.negations
        or mine.qualifiers != theirs.qualifiers
        or mine.counted != theirs.counted
        or _otherwise(mine.small, theirs.small)
        or _respelled(one, other)
        or _exclude(mine, theirs)
        or _replaced(mine, theirs)
        or _reordered(mine, theirs)
    )


class _Word(NamedTuple):
    """A telling word: as it is written small, what it may be matched by, and the small words before it."""

    plain: str
    keys: frozenset[str]
    before: tuple[str, ...]


class _Text(NamedTuple):
    """What is compared of a text."""

    plain: tuple[str, ...]
    telling: tuple[_Word, ...]
    numbers: tuple[str, ...]
    negations: int
    qualifiers: frozenset[int]
    signs: tuple[str, ...]
    unspaced: str
    counted: frozenset[str]
    """The numbers that are written as words."""
    small: tuple[tuple[str, ...], ...]
    """Of each sort of small words that change what is said, those that it has, in order."""

    @property
    def keys(self) -> frozenset[str]:
        """Return all that its telling words may be matched by."""
        return frozenset().union(*(word.keys for word in self.telling))


class _Knowledge(NamedTuple):
    """The lists by stem: where a word stands (line and side), and which wording it shares."""

    places: Mapping[str, frozenset[tuple[int, int]]]
    shared: Mapping[str, frozenset[str]]


@cache
def _knowledge() -> _Knowledge:
    """Return the lists by stem, made when a near duplicate is first looked at."""
    places: dict[str, set[tuple[int, int]]] = defaultdict(set)
    shared: dict[str, set[str]] = defaultdict(set)
    series = [line.split() for line in _LISTS["series"].strip().splitlines()]
    opposed = [line.split("|") for name in ("opposites", "contrasts", "grammar") for line in _LISTS[name].strip().splitlines()]
    same = [[line] for line in _LISTS["same"].strip().splitlines()]
    for row, sides in enumerate([*series, *opposed, *same]):
        for side, listed in enumerate(sides):
            for word in listed.split():
                places[_stem(word)].add((row, side))
                if row >= len(series):
                    shared[_stem(word)].add(f"{row}:{side}")
    return _Knowledge(
        {word: frozenset(found) for word, found in places.items()}, {word: frozenset(found) for word, found in shared.items()}
    )


@lru_cache(maxsize=REMEMBERED)
def _stem(word: str) -> str:
    return next(iter(terms(word)), folded(word))


@lru_cache(maxsize=64)  # a batch compares one text with several
def _read(text: str) -> _Text:
    spaced, unspaced = apart(text)
    said = f" {' '.join(plain_words(spaced))} "
    for phrase, word in _PHRASES:
        said = said.replace(phrase, word)
    plain = tuple(said.split())
    return _Text(
        plain,
        tuple(_telling(plain)),
        tuple(word for word in plain if any(map(str.isdigit, word))),
        sum(word in NEGATIONS for word in plain),
        frozenset(_QUALIFIERS[word] for word in plain if word in _QUALIFIERS),
        tuple(_signs(text)),
        _bare(unspaced),
        _COUNTED.intersection(plain),
        tuple(tuple(dict.fromkeys(sort[word] for word in plain if word in sort)) for sort in _SORTS),
    )


def _telling(plain: Sequence[str]) -> Iterator[_Word]:
    """Yield the words that are no stop words, negations or filler."""
    shared = _knowledge().shared
    before: list[str] = []
    for word in plain:
        if word in STOP_WORDS or word in NEGATIONS or word in _FILLER:
            before.append(word)
            continue
        yield _Word(word, shared.get(_stem(word), frozenset()) | {_stem(word)}, tuple(before))
        before.clear()


def _signs(text: str) -> Iterator[str]:
    """Yield the signs that say something, and the minus of a number."""
    for at, sign in enumerate(text):
        if sign in _SIGNS or (not sign.isalnum() and not sign.isspace() and unicodedata.category(sign) in _SIGN_KINDS):
            yield sign
        elif sign in "-−" and text[at + 1 : at + 2].isdigit() and (at == 0 or text[at - 1].isspace()):
            yield "-"


def _bare(unspaced: str) -> str:
    """Return text of scripts without spaces but for its particles."""
    said = "".join(run.rstrip(_LISTS["endings"]) for run in unspaced.split(" "))
    for particle in _LISTS["particles"].split():
        said = said.replace(particle, "")
    return said


def _otherwise(mine: Sequence[Sequence[str]], theirs: Sequence[Sequence[str]]) -> bool:
    """Tell whether both texts have small words of one sort, and others or in another order: "I owe you", "you owe me".

    >>> differ("The call is at 10 am", "The call is at 10 pm"), differ("They must not use it", "They need not use it")
    (True, True)
    """
    return any(here and there and here != there for here, there in zip(mine, theirs, strict=True))


def _respelled(one: str, other: str) -> bool:
    """Tell whether a path, a flag or a code is written otherwise: in these, capitals and order say something.

    >>> differ("Start it with the flag -v", "Start it with the flag -V"), differ("It lies in /srv/a/data", "It lies in /srv/data/a")
    (True, True)
    """
    here, there = ({word.strip(_AROUND) for word in text.split()} for text in (one, other))
    mine, theirs = here - there, there - here
    small = {word.casefold() for word in theirs}
    if any(word.casefold() in small and not word.isalpha() for word in mine):
        return True
    return any("/" in word for word in mine) and any("/" in word for word in theirs)


def _exclude(mine: _Text, theirs: _Text) -> bool:
    """Tell whether each text has a word of its own that excludes one of the other's."""
    places = _knowledge().places
    here, there = ({_stem(word) for word in text.plain} for text in (mine, theirs))
    standing: dict[int, set[int]] = defaultdict(set)
    for stem in here - there:
        for row, side in places.get(stem, ()):
            standing[row].add(side)
    return any(standing[row] - {side} for stem in there - here for row, side in places.get(stem, ()) if row in standing)


def _replaced(mine: _Text, theirs: _Text) -> bool:
    """Tell whether each text has a telling word of which the other holds no form, or one has the opposite of the other's."""
    ours, others = _own(mine, theirs), _own(theirs, mine)
    if any(_turns(word, theirs.keys) for word in ours) or any(_turns(word, mine.keys) for word in others):
        return True
    return bool(ours and others) and "".join(ours) != "".join(others)  # "data center" is "datacenter"


def _own(text: _Text, other: _Text) -> list[str]:
    keys = other.keys
    return [word.plain for word in text.telling if word.keys.isdisjoint(keys)]


def _turns(word: str, keys: frozenset[str]) -> bool:
    """Tell whether a word is one of these with a syllable that turns it round: "unfriendly", "careless"."""
    bases = [word.removeprefix(prefix) for prefix in _PREFIXES if word.startswith(prefix)]
    bases += [word.removesuffix(suffix) for suffix in _SUFFIXES if word.endswith(suffix)]
    return any(_stem(base) in keys for base in bases if len(base) > 2)  # "in" of "ink" is no prefix


def _reordered(mine: _Text, theirs: _Text) -> bool:
    """Tell whether the telling words that both have stand in another order, but for what may stand elsewhere and says the same there."""
    both = mine.keys & theirs.keys
    ours, others = (_shared(text, both) for text in (mine, theirs))
    if [key for key, _ in ours] == [key for key, _ in others]:
        return False
    start = sum(1 for _ in takewhile(lambda pair: pair[0][0] == pair[1][0], zip(ours, others, strict=False)))
    end = sum(1 for _ in takewhile(lambda pair: pair[0][0] == pair[1][0], zip(ours[start:][::-1], others[start:][::-1], strict=False)))
    moved, stayed = ours[start : len(ours) - end], others[start : len(others) - end]
    return not (_moved(moved, stayed) or _moved(stayed, moved))


def _shared(text: _Text, both: frozenset[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the words that both texts have, each where it first stands, by the one key that both have, and the words before it."""
    found: dict[str, tuple[str, ...]] = {}
    own: list[str] = []
    for word in text.telling:
        if word.keys.isdisjoint(both):
            own += [*word.before, word.plain]
            continue
        found.setdefault(min(word.keys & both), (*own, *word.before))
        own.clear()
    return _possessed(list(found.items()))


def _possessed(words: list[tuple[str, tuple[str, ...]]]) -> list[tuple[str, tuple[str, ...]]]:
    """Return "the approval of a second person" as "a second person's approval": whose it is stands before it.

    >>> _possessed([("approval", ("the",)), ("second", ("of", "a")), ("person", ())])
    [('second', ('the',)), ('person', ()), ('approval', ())]
    """
    found: list[tuple[str, tuple[str, ...]]] = []
    owning = 0  # where to put what goes on to say whose it is; 0: nowhere
    for key, before in words:
        if before[:1] == ("of",) and found:
            thing, led = found.pop()
            found += [(key, led), (thing, ())]
            owning = len(found) - 1
        elif owning and not before:
            found.insert(owning, (key, ()))
            owning += 1
        else:
            found.append((key, before))
            owning = 0
    return found


def _moved(one: Sequence[tuple[str, tuple[str, ...]]], other: Sequence[tuple[str, tuple[str, ...]]]) -> bool:
    """Tell whether the end of one is the beginning of the other and says the same there: "on Monday", "the kitchen('s) light"."""
    keys, there = [key for key, _ in one], [key for key, _ in other]
    if not keys or keys[0] not in there:
        return False
    cut = len(keys) - there.index(keys[0])
    if there != keys[cut:] + keys[:cut]:
        return False
    led, leads = one[cut][1], other[0][1]
    return _lead(led) is not None and (_lead(led) == _lead(leads) or (_lead(led) in _JOINING and not other[len(keys) - cut][1]))


def _lead(before: Sequence[str]) -> str | None:
    """Return the word that leads a phrase: "on" of "on the"."""
    return next((word for word in reversed(before) if word in _LEADING), None)
