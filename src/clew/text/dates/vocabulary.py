"""English words for time, as numbers and as pieces of patterns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

_MONTHS = (
    "january february march april may june july august september october november december".split()
)
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_TEENS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS = "first second third fourth".split()

MONTHS = {name: number for number, name in enumerate(_MONTHS, start=1)}
SHORT_MONTHS = {name[:3]: number for name, number in MONTHS.items() if len(name) > 3} | {"sept": 9}
AMBIGUOUS_MONTHS = frozenset({"march", "april", "may", "june", "august", *SHORT_MONTHS})
"""Months that are also names or other words, and need context to be read as time."""

WEEKDAYS = {name: number for number, name in enumerate(_DAYS)}
NUMBERS = {name: number for number, name in enumerate(_TEENS, start=1)} | {
    name: 10 * n for n, name in enumerate(_TENS, start=2)
}
ORDINALS = {name: number for number, name in enumerate(_ORDINALS, start=1)} | {
    "1st": 1,
    "2nd": 2,
    "3rd": 3,
    "4th": 4,
}
VAGUE = {"couple": (2, 3), "few": (2, 5), "several": (3, 8), "some": (2, 8)}
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
DECADES = {f"{name.removesuffix('y')}ies": 10 * n for n, name in enumerate(_TENS, start=2)}
CENTURIES = {"eighteenth": 18, "nineteenth": 19, "twentieth": 20, "twenty-first": 21}
PARTS_OF_DAY = {"morning": (5, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 30)}
"""Hours of the day from and up to; a night ends at six the next morning."""

UNITS = (
    "minute",
    "hour",
    "day",
    "week",
    "fortnight",
    "month",
    "quarter",
    "year",
    "decade",
    "century",
)


def alternatives(words: Iterable[str]) -> str:
    """Return a pattern for any of the words, the longest first."""
    return "(?:" + "|".join(sorted(words, key=lambda word: (-len(word), word))) + ")"


YEAR = r"(?:1[5-9]|20)\d\d"
MONTH = alternatives([*MONTHS, *(rf"{name}\.?" for name in SHORT_MONTHS)])
WEEKDAY = alternatives(WEEKDAYS)
SEASON = alternatives(SEASONS)
PART = alternatives(PARTS_OF_DAY)
SUFFIX = "(?:st|nd|rd|th)"
LAST = "(?:last|past|previous)"
NEXT = "(?:next|coming|upcoming|following)"
WHICH = f"(?P<which>{LAST}|{NEXT}|this|current)"
YEARLY = rf"(?P<year>{YEAR})|(?P<of>last|this|next|the previous) year"
"""A year by number or from now; see `years.year_of`."""
COUNT = (
    rf"(?P<count>\d{{1,4}}|(?:an? )?(?:couple|few)(?: of)?|several|some|an?|"
    rf"{alternatives(NUMBERS)})"
)
UNIT = rf"(?P<unit>{alternatives(UNITS[:-1])})s?"

_SPACE = r"(?:(?u:\s){1,3})"
_END = r"(?u:(?!\w|[-.:/@\\=(]\w|\())(?!['’]t\b)"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression that is compiled when it is first asked.

    All together take longer than a command's start.
    """

    source: str
    ends: bool

    def match(self, text: str, at: int = 0) -> re.Match[str] | None:
        """Return what the pattern finds at an offset, if anything."""
        return _compile(self.source, self.ends).match(text, at)


@cache
def _compile(source: str, ends: bool) -> re.Pattern[str]:
    return re.compile(
        f"(?:{source.replace(' ', _SPACE)}){_END if ends else ''}", re.IGNORECASE | re.ASCII
    )


def pattern(source: str, *, ends: bool = True) -> Pattern:
    """Return a pattern in which a space is any white space and case does not count.

    It `ends` where a word does.

    All repeats are bounded, so that one try costs the same on any text.

    >>> bool(pattern("last week").match("LAST  week?")), bool(pattern("today").match("today.py"))
    (True, False)
    """
    return Pattern(source, ends)


def parse_count(written: str) -> tuple[int, int]:
    """Return the least and the most that a count means.

    >>> parse_count("3"), parse_count("a couple of"), parse_count("an")
    ((3, 3), (2, 3), (1, 1))
    """
    for word in written.lower().split():
        if word.isdigit() or word in NUMBERS:
            return (int(word) if word.isdigit() else NUMBERS[word],) * 2
        if word in VAGUE:
            return VAGUE[word]
    return (1, 1)


def month_number(written: str) -> int:
    """Return the month of a name or its short form.

    >>> month_number("Sept."), month_number("may")
    (9, 5)
    """
    name = written.lower().rstrip(".")
    return MONTHS.get(name) or SHORT_MONTHS[name]


def direction(written: str) -> str:
    """Return `last`, `this` or `next` for any word of the kind, and nothing for none."""
    word = (written or "").lower()
    if word in ("last", "past", "previous"):
        return "last"
    return "this" if word in ("this", "current") else "next" if word else ""
