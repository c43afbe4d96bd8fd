"""LongMemEval: chat sessions of one user, and questions with the sessions and turns that answer them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from operator import attrgetter

from clew.errors import InputError
from clew.evaluate.data import Dataset, Passage, Query, passage_of
from clew.evaluate.datasets.card import Card
from clew.evaluate.datasets.folder import Asked, counted
from clew.evaluate.datasets.record import Record, distinct
from clew.types import Message

CARD = Card(
    name="longmemeval",
    title="LongMemEval (oracle, S or M)",
    licence="MIT",
    source="put one longmemeval_*.json of https://huggingface.co/datasets/xiaowu0162/longmemeval into a folder (JSON lines serve too).",
    folder="longmemeval_oracle",
    files=("longmemeval*.jsonl | longmemeval*.json",),
    levels=("session", "turn"),
    parts={"dev": "first 150 questions", "test": "the other questions", "all": "all questions"},
    options={
        "unit": "what a passage is: session (default) or turn",
        "pool": "search the sessions of all questions together (default); off: each question has "
        "its own haystack, as published",
        "dated": "let Clew stand at the day of each question, where later sessions are not there "
        "yet (default); off: at the end of all",
    },
)
DEV_QUESTIONS = 150
UNITS = ("session", "turn")
ABSTENTION = "_abs"
STANDING = "Clew stands at the day of each question and is not shown what was said later; the baselines know no time."
_DATE = re.compile(r"(\d{4}/\d{2}/\d{2}) \(\w+\) (\d{2}:\d{2})")


def load(asked: Asked, *, unit: str = "session", pool: bool = True, dated: bool = True) -> Dataset:
    """Return sessions or turns as passages.

    A question that must be abstained from has nothing relevant.

    Pooled, a session that several questions share is there once, with its earliest date.
    The pool holds the sessions of all questions, whichever part is asked for.
    """
    if unit not in UNITS:
        raise InputError("unit", unit, "is not a unit of LongMemEval", "Use session or turn.")
    questions = list(asked.folder.records(asked.folder.one(CARD.files[0])))
    passages: dict[str, Passage] = {}
    moved: list[str] = []
    for question in questions if pool else asked.split(questions, dev=DEV_QUESTIONS):
        for passage in _passages(question, unit=unit, pool=pool):
            known = passages.setdefault(passage.id, passage)
            if known.time != passage.time:
                moved.append(passage.id)
                passages[passage.id] = min(known, passage, key=attrgetter("time"))
    distinct(questions, "question_id")
    queries = [
        _query(question, unit=unit, pool=pool, dated=dated)
        for question in asked.split(questions, dev=DEV_QUESTIONS)
    ]
    notes = [STANDING] if dated else []
    notes += counted(
        len(moved), f"{unit}s that come again with another date; the earliest is kept", moved
    )
    return asked.dataset(
        queries,
        passages=passages.values(),
        levels=CARD.levels[: UNITS.index(unit) + 1],
        notes=notes,
    )


def _passages(question: Record, *, unit: str, pool: bool) -> Iterator[Passage]:
    space = "default" if pool else question.text("question_id")
    before = "" if pool else f"{space}/"
    dates = question.texts("haystack_dates")
    for n, (id, turns) in enumerate(_sessions(question)):
        time = _time(question, f"haystack_dates[{n}]", dates[n])
        said = [Message(turn.text("content"), role=turn.text("role"), time=time) for turn in turns]
        if unit == "session":
            yield passage_of(said, id=before + id, space=space, time=time, keys={"session": id})
            continue
        for number, message in enumerate(said):
            keys = {"session": id, "turn": f"{id}#{number}"}
            yield passage_of(
                [message],
                id=before + keys["turn"],
                space=space,
                time=time,
                keys=keys,
                section=before + id,
            )


def _sessions(question: Record) -> Iterator[tuple[str, tuple[Record, ...]]]:
    ids, sessions = question.texts("haystack_session_ids"), question.values("haystack_sessions")
    if not len(ids) == len(sessions) == len(question.values("haystack_dates")):
        raise question.wrong(
            "haystack_session_ids", "has another length than haystack_sessions or haystack_dates"
        )
    for n, (id, turns) in enumerate(zip(ids, sessions, strict=True)):
        if not isinstance(turns, list):
            raise question.wrong(f"haystack_sessions[{n}]", "is not a list")
        path = f"haystack_sessions[{n}]"
        yield (
            id,
            tuple(Record.of(turn, question.place, f"{path}[{i}].") for i, turn in enumerate(turns)),
        )


def _query(question: Record, *, unit: str, pool: bool, dated: bool) -> Query:
    id = question.text("question_id")
    abstains = id.endswith(ABSTENTION)
    return Query(
        id=id,
        text=question.text("question"),
        space="default" if pool else id,
        category=question.text("question_type") + (ABSTENTION if abstains else ""),
        relevant={} if abstains else _relevant(question, unit=unit),
        asked_at=_evening(_time(question, "question_date", question.text("question_date")))
        if dated
        else None,
    )


def _relevant(question: Record, *, unit: str) -> dict[str, dict[str, int]]:
    sessions = dict(_sessions(question))
    if absent := [id for id in question.texts("answer_session_ids") if id not in sessions]:
        raise question.wrong(
            "answer_session_ids", f"names {absent[0]}, which is not in haystack_session_ids"
        )
    relevant = {"session": dict.fromkeys(question.texts("answer_session_ids"), 1)}
    if unit == "turn":
        turns = (
            (f"{id}#{n}", turn)
            for id, session in sessions.items()
            for n, turn in enumerate(session)
        )
        relevant["turn"] = {key: 1 for key, turn in turns if turn.value.get("has_answer")}
    return relevant


def _evening(asked: datetime) -> datetime:
    """Return the end of a day.

    The set keeps the order of days, and one answer in ten is of the question's day and a later
    hour.
    """
    return asked.replace(hour=23, minute=59, second=59)


def _time(question: Record, field: str, value: str) -> datetime:
    """Return a moment such as "2023/05/28 (Sun) 19:47" in UTC, as the set names no zone."""
    try:
        return datetime.strptime(_DATE.sub(r"\1 \2", value), "%Y/%m/%d %H:%M").replace(tzinfo=UTC)
    except ValueError as error:
        raise question.place.wrong(
            field, value, "is not a time such as '2023/05/28 (Sun) 19:47'"
        ) from error
