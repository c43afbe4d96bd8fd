"""Read a clause of a text: its subject, what it says of it, its numbers, and whether it denies it.

Rules on words alone, linear in the length of the text; what cannot be read as a statement compares
as a bag of words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from clew.memories.conflicts import lexicon as lex
from clew.text.words import STOP_WORDS, fold, word_terms

MOST_CLAUSES = 12
LONGEST_MONTH = 31
MOST_WORDS = 60  # of a clause: a longer one is no plain statement
_FIGURE = re.compile(r"\d[\d.,]*\Z")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(am|pm)?\Z")
_JOINED = re.compile(r"(\d[\d.,]*)([a-z%°€]{1,5})\Z")
_ENDS = ".!?;\n"
_STRIPPED = "\"'“”„‘’«»()[]{}*`,:;.!?"


class Number(NamedTuple):
    """A number of a clause; two are compared only if they count the same."""

    value: float
    family: str
    """What it measures: a family of units, "clock", "date", "year", "ordinal", or "" for a plain
    number.
    """
    before: str
    after: str
    """The content words beside a plain number, by their stems."""
    written: str


@dataclass(slots=True)
class Word:
    """A word with its index term, or a number where `number` is given."""

    written: str
    plain: str
    stem: str
    named: bool
    """Whether it is written as a name: with a capital inside a sentence, or as an identifier."""
    number: Number | None = None
    stops: bool = False
    """Whether a comma follows."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What a clause says."""

    text: str
    subject: frozenset[str]
    content: frozenset[str]
    """Stems of all words that carry meaning; the numbers of the subject and identifiers too."""
    written: dict[str, str] = field(hash=False)
    """How each stem is written, in the order of the clause."""
    named: frozenset[str]
    numbers: tuple[Number, ...]
    negated: bool
    denied: str
    """The stem of the first word that a negation denies."""
    words: frozenset[str]
    """All words in lower case, function words too."""
    when: frozenset[str]
    """The words of time that the clause begins with: "in March"."""
    possessive: bool
    """Whether the subject is an attribute of something: "the studio's rent", "the colour of the
    logo".
    """
    locations: frozenset[str]
    """Stems behind a preposition of place."""
    verb: str = ""
    event: bool = False
    """Whether it tells what somebody did, without saying who: "parked the car"."""


@lru_cache(maxsize=512)
def statements(text: str) -> tuple[Statement, ...]:
    """Return the statements of a text, in order.

    >>> [(each.negated, sorted(each.subject)) for each in statements("Paul has no dog, but the cat is 7.")]
    [(True, ['paul']), (False, ['cat'])]
    """
    return tuple(filter(None, (_statement(words) for words in _clauses(text))))


clear_text_caches = statements.cache_clear


def first_person(text: str) -> bool:
    """Tell whether a text is said by somebody of themselves.

    Then it counts for its speaker alone.
    """
    return any(word in lex.FIRST_PERSON for each in statements(text) for word in each.words)


def _clauses(text: str) -> Iterator[list[str]]:
    """Yield the pieces of each clause between white space, the first clauses only."""
    found: list[str] = []
    count = 0
    for line in text.splitlines():
        for piece in line.split():
            if fold(piece.strip(_STRIPPED)) == "but" and found:
                yield found
                found, count = [], count + 1
                continue
            found.append(piece)
            if piece[-1] in _ENDS and not _abbreviates(piece):
                yield found
                found, count = [], count + 1
            if count == MOST_CLAUSES:
                return
        if found:
            yield found
            found, count = [], count + 1


def _abbreviates(piece: str) -> bool:
    return piece.lower() in (
        "dr.",
        "mr.",
        "mrs.",
        "ms.",
        "st.",
        "a.m.",
        "p.m.",
        "e.g.",
        "i.e.",
        "no.",
        "prof.",
        "etc.",
    )


def _statement(pieces: Sequence[str]) -> Statement | None:
    if len(pieces) > MOST_WORDS:
        return None
    words = _numbered([word for piece in pieces for word in _words(piece)])
    for word, behind in pairwise(words):
        if word.plain in lex.OUTWARD and (
            _carries(behind) or behind.number or behind.plain in lex.DETERMINERS
        ):
            word.stem = ""  # a preposition: "on the shelf" is not "on"
    if words:
        words[0].named = words[0].named and _is_marked(words[0].written)
    lead = _lead(words, pieces)
    when, rest = words[:lead], words[lead:]
    verb = _verb(rest)
    rest = _core(rest, verb)
    subject = rest[:verb] if verb is not None else rest[:3]
    content = {each.stem: each for each in rest if _carries(each)}
    tied = {each.stem for each in subject if _carries(each) and each.plain not in lex.LIGHT} | {
        _key(each.number) for each in subject if each.number
    }
    pronouns = {each.plain for each in subject if each.plain in lex.PRONOUNS}
    if not content:
        return None
    counted = tuple(each.number for each in rest[len(subject) :] if each.number)
    plain = frozenset(each.plain for each in words)
    possessive = any(
        each.written.endswith(("'s", "’s", "s'", "s’")) or each.plain in ("of", "von")
        for each in subject
    )
    return Statement(
        text=" ".join(pieces),
        subject=frozenset(tied or pronouns),
        content=frozenset(content) | {_key(each.number) for each in subject if each.number},
        written={stem: each.written for stem, each in content.items()},
        named=frozenset(stem for stem, each in content.items() if each.named),
        numbers=counted,
        negated=sum(map(_denies, rest)) % 2 == 1,
        denied=_denied(rest),
        words=plain,
        when=frozenset(each.stem for each in when if _carries(each))
        | {_key(each.number) for each in when if each.number},
        possessive=possessive,
        locations=_located(rest),
        verb="" if verb is None else rest[verb].plain,
        event=_is_event(rest[0].plain),
    )


def _key(number: Number) -> str:
    return f"#{number.value:g}"


def _carries(word: Word) -> bool:
    plain = word.plain
    if (
        word.number is not None
        or plain in lex.NEGATIONS
        or plain in lex.CONTRACTED
        or plain in lex.DETERMINERS
    ):
        return False
    return (
        bool(word.stem)
        and (plain in lex.STATES or plain not in STOP_WORDS)
        and plain not in lex.COPULAS
    )


def _words(piece: str) -> Iterator[Word]:
    core = piece.strip(_STRIPPED)
    if not core:
        return
    *rest, last = _parts(core)
    yield from rest
    last.stops = piece.endswith(",")
    yield last


def _parts(core: str) -> Iterator[Word]:
    if core[0] in "$€£" and len(core) > 1:
        yield _word(core[1:])
        yield _word(core[0])
    elif (joined := _JOINED.match(core.lower())) and joined[2] in lex.UNITS:
        yield _word(joined[1])
        yield _word(joined[2])
    else:
        yield _word(core)


def _word(core: str) -> Word:
    plain = fold(core)
    found = word_terms(core)
    stem = plain if len(found) != 1 else found[0]
    return Word(core, plain, stem, core[:1].isupper() or _is_marked(core))


def _is_marked(core: str) -> bool:
    """Tell whether a word is an identifier or an abbreviation, whose form says that it is a name."""
    return (
        any(sign in core[1:-1] for sign in "-_./")
        or any(map(str.isupper, core[1:]))
        or any(map(str.isdigit, core))
    )


def _numbered(words: list[Word]) -> list[Word]:
    """Return the words with numbers read, together with their units, months and halves of the day."""
    found: list[Word] = []
    place = 0
    while place < len(words):
        number, used = _number(*_three(words, place))
        if number is None:
            found.append(words[place])
            place += 1
            continue
        before = next((each.stem for each in reversed(found) if _carries(each)), "")
        behind = next(
            (each.stem for each in words[place + used : place + used + 2] if _carries(each)), ""
        )
        written = " ".join(each.written for each in words[place : place + used])
        if _is_year(number, found[-1].plain if found else ""):
            number = number._replace(family="year")
        read = number._replace(before=before, after=behind, written=written)
        found.append(Word(written, "", "", False, read, words[place + used - 1].stops))
        place += used
    return found


def _three(words: Sequence[Word], place: int) -> tuple[Word, Word, Word]:
    nothing = Word("", "", "", False)
    first, second, third = (*words[place : place + 3], nothing, nothing)[:3]
    return first, second, third


def _is_year(number: Number, previous: str) -> bool:
    year = number.family == "" and number.value.is_integer() and 1900 <= number.value <= 2100
    return year and previous in ("in", "since", "of", "from", "until", "by", "im", "seit")


# One for each way to write it
def _number(word: Word, after: Word, third: Word) -> tuple[Number | None, int]:  # noqa: PLR0911
    """Return the number that begins at a word, and how many words it takes."""
    following = after.plain or after.written
    if word.plain == "half":
        return _half(following, third)
    if word.plain in lex.FIXED:
        return _plain(*lex.FIXED[word.plain]), 1
    half = following.replace(".", "") if following.replace(".", "") in ("am", "pm") else ""
    if clock := _CLOCK.match(word.written.lower()):
        return _clock(int(clock[1]), int(clock[2]), clock[3] or half), 1 if clock[
            3
        ] or not half else 2
    value = _value(word.plain)
    if value is None:
        day = _value(following) if word.plain in lex.MONTHS else None
        dated = day is not None and 1 <= day <= LONGEST_MONTH
        return (
            (_plain(lex.MONTHS[word.plain] * 100 + (day or 0), "date"), 2) if dated else (None, 1)
        )
    if half:
        return _clock(int(value), 0, half), 2
    if following in lex.MONTHS:
        return _plain(lex.MONTHS[following] * 100 + value, "date"), 2
    unit = after.written.lower()
    return (_measured(value, unit), 2) if unit in lex.UNITS else (_plain(value), 1)


def _half(following: str, third: Word) -> tuple[Number | None, int]:
    """Return "half an hour" and "half past seven"."""
    if following in ("a", "an") and third.plain in lex.UNITS:
        return _measured(0.5, third.plain), 3
    hour = _value(third.plain) if following == "past" else None
    return (None, 1) if hour is None else (_clock(int(hour), 30, ""), 3)


def _clock(hour: int, minutes: int, half: str) -> Number:
    late = 12 if half == "pm" and hour < 12 else 0
    early = -12 if half == "am" and hour == 12 else 0
    return _plain((hour + late + early) * 60 + minutes, "clock")


def _plain(value: float, family: str = "") -> Number:
    return Number(value, family, "", "", "")


def _measured(value: float, unit: str) -> Number:
    family, factor = lex.UNITS[unit]
    return _plain(value * factor, family)


def _value(plain: str) -> float | None:
    if plain in lex.NUMBER_WORDS:
        return float(lex.NUMBER_WORDS[plain])
    if not _FIGURE.match(plain) or len(plain) > 18:
        return None
    plain = plain.rstrip(".,")
    head, comma, tail = plain.rpartition(",")
    if comma and (len(tail) != 3 or "." in head):
        return None if "," in head else _float(f"{head}.{tail}")
    return _float(plain.replace(",", ""))


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:  # a version such as 1.2.3
        return None


def _lead(words: Sequence[Word], pieces: Sequence[str]) -> int:
    """Return how many words at the beginning say when the rest is true."""
    if not words or words[0].plain not in lex.LEADS:
        return 0
    said = 0
    for place, word in enumerate(words[1:], start=1):
        starts = (
            word.plain in lex.DETERMINERS
            or word.plain in lex.PRONOUNS
            or (word.named and word.plain not in lex.TIMES)
        )
        if said and starts and word.plain not in lex.MONTHS:
            return place
        said += bool(_carries(word) or word.number)
        if place < len(pieces) and pieces[place].endswith(",") and said:
            return place + 1
    return 0


def _verb(words: Sequence[Word]) -> int | None:
    """Return where the verb of a clause is.

    The first word that can be one and has something before it.
    """
    something = False
    for place, word in enumerate(words):
        previous = words[place - 1] if place else None
        after_determiner = previous is not None and (
            previous.plain in lex.DETERMINERS or previous.written.endswith(("'s", "’s"))
        )
        known = (
            word.plain in lex.AUXILIARIES or word.plain in lex.SINGLE or word.plain in lex.MULTIPLE
        )
        is_verb = known or (
            previous is not None and previous.plain in lex.PRONOUNS and _carries(word)
        )
        if is_verb and not after_determiner and (something or word.plain in lex.EVENTS):
            return place
        something = (
            something
            or _carries(word)
            or word.number is not None
            or word.plain in lex.PRONOUNS
            or word.plain == "there"
        )
    return None


def _core(words: list[Word], verb: int | None) -> list[Word]:
    """Return a clause without what is added to it behind a comma or a word that begins a reason."""
    for place, word in enumerate(words):
        if verb is not None and place > verb + 1 and word.plain in lex.SUBORDINATE:
            return words[:place]
        if verb is not None and place > verb and word.stops:
            return words[: place + 1]
    return words


def _is_event(plain: str) -> bool:
    return plain in lex.EVENTS or (
        plain.endswith("ed") and (plain in lex.SINGLE or plain in lex.MULTIPLE)
    )


def _denies(word: Word) -> bool:
    return word.plain in lex.NEGATIONS or word.plain in lex.CONTRACTED


def _denied(words: Sequence[Word]) -> str:
    place = next((place for place, word in enumerate(words) if _denies(word)), None)
    if place is None:
        return ""
    return next(
        (
            word.stem
            for word in words[place + 1 :]
            if _carries(word) and word.plain not in lex.LIGHT
        ),
        "",
    )


def _located(words: Sequence[Word]) -> frozenset[str]:
    found: set[str] = set()
    open_ = False
    for word in words:
        if word.plain in (
            "in",
            "at",
            "on",
            "under",
            "near",
            "behind",
            "beside",
            "im",
            "am",
            "below",
            "above",
            "inside",
        ):
            open_ = True
        elif open_ and _carries(word):
            found.add(word.stem)
    return frozenset(found)
