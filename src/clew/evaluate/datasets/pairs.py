"""Questions about two events, made of a set's questions about one.

Does a recall find what tells of both?
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from clew.evaluate.data import Query

ASKED = {
    "time between": "How many days passed between the day {first} and the day {second}?",
    "which first": "Which happened first, {first} or {second}?",
    "time since": "How long had it been since {first} when {second}?",
    "order": "What is the order of these events: {first}, and {second}?",
    "time before": "How many weeks before {first} did {second}?",
}
_WHEN = re.compile(r"When (did|was|is|has|had|will) (\S+) (.*[^?\n]|.)\?*+", re.IGNORECASE)


def event(question: str) -> str:
    """Return what a question asks the time of, as a clause; empty where it asks for something else.

    >>> event("When did Ann move to Bern?"), event("When was Ann hired?"), event("Where did Ann move?")
    ('Ann move to Bern', 'Ann was hired', '')
    """
    found = _WHEN.fullmatch(question.strip())
    if not found:
        return ""
    did, subject, rest = found.groups()
    return f"{subject} {rest}" if did.lower() == "did" else f"{subject} {did.lower()} {rest}"


def paired(queries: Sequence[Query]) -> list[Query]:
    """Return one question about two events for each question about one.

    With the one half of its space's list further on.
    """
    pairs: list[Query] = []
    for _, group in groupby(
        (query for query in queries if event(query.text)), key=lambda query: query.space
    ):
        told = list(group)
        for at, query in enumerate(told if len(told) > 1 else ()):
            pairs.append(_pair(query, told[(at + len(told) // 2) % len(told)], number=len(pairs)))
    return pairs


def _pair(one: Query, other: Query, *, number: int) -> Query:
    category, form = list(ASKED.items())[number % len(ASKED)]
    relevant = {level: {**one.relevant[level], **other.relevant[level]} for level in one.relevant}
    text = form.format(first=event(one.text), second=event(other.text))
    return Query(
        id=f"{one.id}+{other.id.rpartition('/')[2]}",
        text=text,
        space=one.space,
        category=category,
        relevant=relevant,
    )
