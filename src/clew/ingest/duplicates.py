"""When two texts count as one: pure rules beside the cosine (mission V3, V4)."""

from __future__ import annotations

from datetime import datetime

from clew.ingest.draft import Draft
from clew.settings import DuplicateSettings
from clew.types import Node
from clew.words import STOP_WORDS, folded, terms, words

NEGATIONS = frozenset(
    ("not", "no", "never", "none", "without", "cannot", "cant", "dont", "doesnt", "didnt", "isnt", "arent", "wasnt", "werent", "wont")
)

# Words of one line exclude each other: a text with one of them does not say what a text with another says.
RIVALS = """
one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty ninety hundred thousand million
first second third fourth fifth last
monday tuesday wednesday thursday friday saturday sunday
january february march april may june july august september october november december
morning noon afternoon evening night
black white red green blue yellow orange purple pink brown grey gray
on off
before after during
left right
up down
above below
inside outside
increase decrease increased decreased rise rose fall fell grew shrank
enable disable enabled disabled
allow deny allowed denied forbid forbidden
start stop started stopped
open close opened closed
add remove added removed
accept reject accepted rejected
approve decline approved declined
true false
more less fewer
most least
maximum minimum max min
high low higher lower
early late earlier later
public private
internal external
always never sometimes
daily weekly monthly yearly hourly
hours minutes seconds days weeks months years
""".strip().splitlines()
_RIVALRY = {word: row for row, line in enumerate(RIVALS) for word in line.split()}


def near_threshold(offered: Draft, settings: DuplicateSettings) -> float:
    """Return the cosine from which a memory of this category counts as said before."""
    return settings.near_threshold_by_category.get(offered.category, settings.near_threshold)


def holds(node: Node, offered: Draft, *, at: datetime) -> bool:
    """Tell whether a memory is true all the time that the offered one is said to be: up to its end, or without one up to now.

    What begins later, or has ended, leaves a time of which only the offered one speaks.
    """
    begins = offered.valid_from or at
    return node.t_valid <= begins and lasts(node, offered, at=at)


def lasts(node: Node, offered: Draft, *, at: datetime) -> bool:
    """Tell whether a memory is true as long as the offered one."""
    if node.t_invalid is None:
        return True
    return offered.valid_to <= node.t_invalid if offered.valid_to else max(offered.valid_from or at, at) < node.t_invalid


def differ(one: str, other: str) -> bool:
    """Tell whether two texts differ in what vectors hardly see: numbers, negation, names and their order, words that exclude each other.

    The default model gives "is enabled" and "is not enabled" a cosine of 0.99, "port 5432" and "port 5433" 0.98.

    >>> differ("Port 5432 is Postgres", "Port 5433 is Postgres"), differ("Ann likes tea", "Bob likes tea")
    (True, True)
    >>> differ("The cache is on", "The cache is off"), differ("Then Alice reports to Bob", "Then Bob reports to Alice")
    (True, True)
    >>> differ("The server runs Postgres 16", "Our server is running Postgres 16")
    False
    """
    return (
        _numbers(one) != _numbers(other)
        or _negations(one) != _negations(other)
        or bool(_names(one, other) and _names(other, one))
        or _reversed_names(one, other)
        or _rivals(one, other)
    )


def _numbers(text: str) -> set[str]:
    return {word for word in words(text) if any(character.isdigit() for character in word)}


def _negations(text: str) -> int:
    return sum(folded(word) in NEGATIONS for word in words(text)) % 2


def _names(text: str, other: str) -> set[str]:
    """Return the capitalised words of a text of which the other holds no form."""
    elsewhere = set(terms(other))
    return {word for word in words(text) if word[0].isupper() and folded(word) not in STOP_WORDS and elsewhere.isdisjoint(terms(word))}


def _reversed_names(one: str, other: str) -> bool:
    """Tell whether the same names stand in another order: who reports to whom."""
    named = [[folded(word) for word in words(text) if word[0].isupper() and folded(word) not in STOP_WORDS] for text in (one, other)]
    return len(named[0]) > 1 and sorted(named[0]) == sorted(named[1]) and named[0] != named[1]


def _rivals(one: str, other: str) -> bool:
    """Tell whether each text has a word that excludes one of the other's."""
    mine, theirs = ({folded(word) for word in words(text)} & _RIVALRY.keys() for text in (one, other))
    return bool({_RIVALRY[word] for word in mine - theirs} & {_RIVALRY[word] for word in theirs - mine})
