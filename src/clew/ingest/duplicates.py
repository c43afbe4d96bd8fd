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


def near_threshold(offered: Draft, settings: DuplicateSettings) -> float:
    """Return the cosine from which a memory of this category counts as said before."""
    return settings.near_threshold_by_category.get(offered.category, settings.near_threshold)


def overlap(node: Node, offered: Draft, *, at: datetime) -> bool:
    """Tell whether both can be true at one time: what ended before the offered one begins is another claim."""
    begins = offered.valid_from or at
    return (node.t_invalid is None or begins < node.t_invalid) and (offered.valid_to is None or node.t_valid < offered.valid_to)


def differ(one: str, other: str) -> bool:
    """Tell whether two texts differ in what vectors hardly see: numbers, negation, names.

    The default model gives "is enabled" and "is not enabled" a cosine of 0.99, "port 5432" and "port 5433" 0.98.

    >>> differ("Port 5432 is Postgres", "Port 5433 is Postgres"), differ("Ann likes tea", "Bob likes tea")
    (True, True)
    >>> differ("The server runs Postgres 16", "Our server is running Postgres 16")
    False
    """
    return _numbers(one) != _numbers(other) or _negations(one) != _negations(other) or bool(_names(one, other) and _names(other, one))


def _numbers(text: str) -> set[str]:
    return {word for word in words(text) if any(character.isdigit() for character in word)}


def _negations(text: str) -> int:
    return sum(folded(word) in NEGATIONS for word in words(text)) % 2


def _names(text: str, other: str) -> set[str]:
    """Return the capitalised words of a text of which the other holds no form."""
    elsewhere = set(terms(other))
    return {word for word in words(text) if word[0].isupper() and folded(word) not in STOP_WORDS and elsewhere.isdisjoint(terms(word))}
