"""LoCoMo: long conversations, and questions whose evidence is some of their turns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby

from clew.evaluate.data import Dataset, Passage, Query, passage_of
from clew.evaluate.datasets.card import Card
from clew.evaluate.datasets.folder import Asked, counted
from clew.evaluate.datasets.record import Record
from clew.types import Message

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


CARD = Card(
    name="locomo",
    title="LoCoMo",
    licence="CC BY-NC 4.0: measure only",
    source="put locomo10.json of https://github.com/snap-research/locomo (folder data) into one folder.",
    folder="locomo",
    files=("locomo10.json",),
    levels=("turn", "session"),
    parts={"dev": "conversations 0–3", "test": "conversations 4–9", "all": "all ten conversations"},
    options={
        "audit": "leave out the questions that audit_errors.json, beside locomo10.json, lists as "
        "wrongly labelled (off)",
        "pairs": "ask about two events at once, with questions made of two of the set's own "
        "about a time (off)",
    },
)
DEV_CONVERSATIONS = 4
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop", 5: "adversarial"}
_SESSION = re.compile(r"session_(\d+)")
_TURN = re.compile(r"D\d+:\d+")
_FAULT = re.compile(r"locomo_(\d+)_qa(\d+)")


def load(asked: Asked, *, audit: bool = False, pairs: bool = False) -> Dataset:
    """Return turns as passages, one space for each conversation.

    Evidence is every turn number in the evidence texts.
    """
    conversations = list(enumerate(asked.folder.records(asked.folder.one("locomo10.json"))))
    faults = _faults(asked) if audit else frozenset()
    queries: list[Query] = []
    passages: list[Passage] = []
    unknown: list[str] = []
    spaces: set[str] = set()
    for number, conversation in asked.split(conversations, dev=DEV_CONVERSATIONS):
        conversation.new("sample_id", spaces)
        turns = tuple(_turns(conversation))
        passages += turns
        sessions = {turn.id: turn.keys["session"] for turn in turns}
        for n, question in enumerate(conversation.records("qa")):
            if (number, n) not in faults:
                queries.append(
                    _query(conversation.text("sample_id"), n, question, sessions, unknown)
                )
    notes = counted(len(unknown), "evidence turns that no conversation holds", unknown)
    return asked.dataset(paired(queries) if pairs else queries, passages=passages, notes=notes)


def _turns(conversation: Record) -> Iterator[Passage]:
    space, talk = conversation.text("sample_id"), conversation.record("conversation")
    numbers = sorted(int(found[1]) for name in talk.value if (found := _SESSION.fullmatch(name)))
    said: set[str] = set()
    for number in numbers:
        time = session_time(talk, f"session_{number}_date_time")
        keys = {"session": f"{space}/D{number}"}
        for turn in talk.records(f"session_{number}"):
            id = f"{space}/{turn.new('dia_id', said)}"
            yield passage_of(
                [_message(turn, time)],
                id=id,
                space=space,
                time=time,
                keys={"turn": id, **keys},
                section=keys["session"],
            )


def _message(turn: Record, time: datetime) -> Message:
    caption = f" [{turn.text('blip_caption')}]" if "blip_caption" in turn else ""
    return Message(f"{turn.text('text')}{caption}", speaker=turn.text("speaker"), time=time)


def session_time(talk: Record, field: str) -> datetime:
    """Return when a session was held, such as "1:56 pm on 8 May, 2023", in UTC as the set names no zone."""
    try:
        return datetime.strptime(talk.text(field), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    except ValueError as error:
        raise talk.wrong(field, "is not a time such as '1:56 pm on 8 May, 2023'") from error


def _query(
    space: str, number: int, question: Record, sessions: dict[str, str], unknown: list[str]
) -> Query:
    """Return a question with the turns it cites.

    Cited turns that do not exist are added to `unknown`.
    """
    id = f"{space}/q{number}"
    category = question.number("category")
    if category not in CATEGORIES:
        raise question.wrong("category", "is not one of 1 to 5")
    cited = [
        f"{space}/{turn}" for text in question.texts("evidence") for turn in _TURN.findall(text)
    ]
    unknown += [f"{turn} ({id})" for turn in cited if turn not in sessions]
    turns = {turn: 1 for turn in cited if turn in sessions}
    relevant = {"turn": turns, "session": {sessions[turn]: 1 for turn in turns}}
    return Query(
        id=id,
        text=question.text("question"),
        space=space,
        category=CATEGORIES[category],
        relevant=relevant,
    )


def _faults(asked: Asked) -> frozenset[tuple[int, int]]:
    """Return conversation and question number of every question that the audit lists."""
    faults = set()
    for fault in asked.folder.records(asked.folder.one("audit_errors.json")):
        found = _FAULT.fullmatch(fault.text("question_id"))
        if not found:
            raise fault.wrong("question_id", "is not of the form locomo_0_qa1")
        faults.add((int(found[1]), int(found[2])))
    return frozenset(faults)
