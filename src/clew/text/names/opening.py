"""Find the subject of a text without a title, in its heading or its first words.

"The Salt Meadow is a film by Marta Ruiz." is about The Salt Meadow. A text says so itself: by a
line of its own above the rest, or by a name at its very beginning, perhaps with something in
brackets or between commas behind it, and then "is" or "was".
"""

from __future__ import annotations

import re
from typing import NamedTuple

from clew.text.names.lexicon import DATES, PARTICLES, TITLES, is_common
from clew.text.words import STOP_WORDS, fold

MAX_CHARACTERS = 80  # characters of a heading, or of a name with which a text begins
MAX_WORDS = 10
MIN_CAPITALISED = (
    2  # words with capitals that a name has beside others without: "Atout cœur à Tokyo"
)
MAX_PERSON_WORDS = 5  # words of a person's name
MAX_DISTANCE_TO_VERB = (
    400  # characters from the beginning to "is": dates and other names stand between
)
_SIGNS = frozenset("=<>{}[];|\\")  # of code and tables, which have no headings
_NO_HEADING = (".", "!", "?", ":", ";", ",", "…", "。", "！", "？", "：")
_BULLET = re.compile(r"(?:[-*+•>#|]+|\d{1,3}[.)])\s")
_MARKS = "\"'“”„‘’«»‹›*_` "
_ARTICLES = ("", "the", "a", "an")
_NOT_SUBJECT_SUFFIXES = (":", "'s ", "’s ", "' ", "’ ")  # behind a name
_JOINTS = PARTICLES | {
    *("a an and as at by for from in into nor of off on or over the to up with without".split()),
    *(
        "à au aux das de dei del della der des di do dos du e el en et la las le les los nach "
        "og til und von y zu zum zur".split()
    ),
}
_SINGULAR, _PLURAL = ("is", "was"), ("are", "were")
_VERB = rf"(?:{'|'.join((*_SINGULAR, *_PLURAL))})\b"
_BRACKETS = re.compile(r"(?<!\s)\s*+\((?:[^()]|\([^()]*+\))*+\)")
_BRACKETS_MARK = "\x00"  # stands for what is in brackets
_NAME = re.compile(
    rf"[^\n(),;:{_BRACKETS_MARK}]{{1,{MAX_CHARACTERS}}}?(?=\s*[,{_BRACKETS_MARK}]|\s+{_VERB})"
)
_VERB_PATTERN = re.compile(rf"\b(?P<verb>{_VERB})")
_END = re.compile(r"[;!?\n]|[a-z\d]{2}\.\s")  # of a sentence; initials and "St." end none
_CALLED = re.compile(
    r"\b(?:(?:better|best|also|commonly|professionally|formerly|popularly|usually|simply) "
    r")?(?:known|called|credited|referred to)"
    r"(?: \w+ly)?(?: as)? (?P<name>[^,.;:()\n]{2,60}?)(?=\s*[,.;()]| (?:is|was|or|and)\b)"
)


_SENSE = re.compile(r"(?<!\s)\s*+\([^()]++\)$")
_GREETINGS = frozenset("dear hi hello hey todo note notes fyi ps nb update summary status".split())
_INITIAL_OR_NAME = re.compile(r"[^\W\d_a-z](?:\.|[^\W\d_A-Z]+)")


class Opening(NamedTuple):
    """What a text is about by its own words, and what else that is called there.

    No name where the text does not say.
    """

    name: str = ""
    others: tuple[str, ...] = ()
    heading: bool = False
    """Whether it stands above the text, as a title does."""


NO_OPENING = Opening()


def read_opening(text: str) -> Opening:
    r"""Return what a text is about by its own heading or beginning.

    >>> read_opening("The Salt Meadow is a film by Marta Ruiz.").name, read_opening("Halcyon\nThe staging server, rebuilt in May.").name
    ('The Salt Meadow', 'Halcyon')
    >>> read_opening("Marta Ines Ruiz (born 1960), better known as Tita, was a director.").others
    ('Marta Ruiz', 'Tita')
    >>> [read_opening(text).name for text in ("The deploy is broken.", "Anna, Bob and Eva were there.", "Anna, your cat is ill.")]
    ['', '', '']
    """
    if text.lstrip(_MARKS)[:1].islower():  # as no heading and no name begins
        return NO_OPENING
    heading = _heading(text)
    return Opening(heading, heading=True) if heading else _described_name(text)


def begins_with(text: str, start: int, end: int) -> bool:
    """Tell whether a text begins with the name at this place.

    Before a colon it is who speaks, and in the genitive whose something is.

    >>> begins_with("The Halcyon cluster", 4, 11), begins_with("In Porto", 3, 8), begins_with("Anna: hello", 0, 4), begins_with("Anna's cat", 0, 4)
    (True, False, False, False)
    """  # noqa: E501
    return (
        not text.startswith(_NOT_SUBJECT_SUFFIXES, end)
        and text[:start].strip(_MARKS).casefold() in _ARTICLES
    )


def _heading(text: str) -> str:
    """Return the first line where it stands above the rest as a heading does."""
    first, _, rest = text.partition("\n")
    first, below = first.strip(), rest.strip()
    if (
        not below
        or len(first) > MAX_CHARACTERS
        or first.endswith(_NO_HEADING)
        or ": " in first
        or _BULLET.match(first)
        or _SIGNS & {*first}
    ):
        return ""
    if len(below.partition("\n")[0]) <= len(first):  # a list of lines, or a poem
        return ""
    bare = first.strip(_MARKS)
    name = _SENSE.sub("", bare)
    # "Speed (1994 film)" says itself that it is one; "Status update" and "Dear Anna" stand above
    # many texts and name none.
    named = name != bare or (is_name(name) and fold(name.split()[0]) not in _GREETINGS)
    return first if named and len(first.split()) <= MAX_WORDS else ""


def _described_name(text: str) -> Opening:
    """Return the name with which a text begins, if it goes on to say what that is."""
    beginning = _BRACKETS.sub(_BRACKETS_MARK, text[:MAX_DISTANCE_TO_VERB])
    start = len(beginning) - len(beginning.lstrip(_MARKS))
    found = _NAME.match(beginning, start)
    if found is None or not is_name(name := found[0].partition(" or ")[0].strip(_MARKS)):
        return NO_OPENING
    verb = _verb(beginning, found.end())
    if verb is None:
        return NO_OPENING
    called = (each["name"].strip(_MARKS) for each in _CALLED.finditer(text[:MAX_DISTANCE_TO_VERB]))
    others = (_short_person_name(name), *(each for each in called if is_name(each)))
    return Opening(name, tuple(dict.fromkeys(each for each in others if each and each != name)))


def _verb(beginning: str, at: int) -> re.Match[str] | None:
    """Return the verb that says what the name before `at` is.

    Right behind it, or behind an aside that is closed.

    "Anna, your cat is ill" is not about Anna, and "Anna, Bob and Eva were there" not about her
    alone.
    """
    for found in _VERB_PATTERN.finditer(beginning, at):
        between = beginning[at : found.start()]
        if _END.search(between):
            return None
        if not between.strip(_MARKS) or between.rstrip(_MARKS)[-1] in (",", _BRACKETS_MARK):
            return None if "," in between and found["verb"] in _PLURAL else found
    return None


def is_name(name: str) -> bool:
    """Tell whether words at the beginning of a text are written as a name is.

    One word alone must not be a common one.
    """
    words = [word.strip(_MARKS) for word in name.split()]
    telling = [(word, fold(word)) for word in words if fold(word) not in _JOINTS]
    first, plain = telling[0] if telling else ("", "")
    if len(words) > MAX_WORDS or not first[:1].isalnum() or first[0].islower():
        return False
    small = [folding for word, folding in telling if word[:1].islower()]
    if small and (len(telling) - len(small) < MIN_CAPITALISED or any(map(is_common, small))):
        return False
    if len(telling) == 1:
        return not (is_common(plain) or plain in DATES or plain in STOP_WORDS or plain.isdigit())
    return len(telling) > 2 or plain not in STOP_WORDS


def _short_person_name(name: str) -> str:
    """Return the first and the last word of a person's whole name, by which most speak of them.

    Nothing of other names.
    """
    words = name.split()
    if words and fold(words[0].rstrip(".")) in TITLES:
        words = words[1:]
    plain = 2 < len(words) <= MAX_PERSON_WORDS and all(
        _INITIAL_OR_NAME.fullmatch(word) for word in words
    )
    return (
        f"{words[0]} {words[-1]}"
        if plain and words[0].isalpha() and fold(words[0]) not in STOP_WORDS
        else ""
    )
