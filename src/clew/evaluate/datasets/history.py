"""Memories with a history: what was said again, looked up and superseded, and what that decides."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, time

from clew.errors import InputError
from clew.evaluate.data import Dataset, Happening, Passage, Query
from clew.evaluate.datasets.card import EVERYTHING, Card
from clew.evaluate.datasets.folder import Asked
from clew.evaluate.datasets.record import Record
from clew.times import parse_time

LEVEL = "memory"
CARD = Card(
    name="history",
    title="a year of an assistant's user and of a team",
    licence="Apache-2.0 (Clew's own)",
    source=(
        "benchmarks/memories/history of Clew's repository, or a file of your own: SPACE: "
        "{memories: "
        "[{key, text, told, again: [DAY, …], used: [DAY, …], stability, supersedes, related}, …], "
        "questions: [{ask, needs: [KEY, …], decides, as_of, known_at}, …]}."
    ),
    folder="history",
    files=("memories.y*ml",),
    levels=(LEVEL,),
    parts={"test": "every question", EVERYTHING: "every question"},
)
TOLD, AGAIN, USED = "told", "again", "used"
ORDER = (TOLD, AGAIN, USED)  # within a day


def load(asked: Asked) -> Dataset:
    """Return each memory as a passage, what happened to it in order, and each question.

    A question's category is what decides it: its words, history, or the day it stands at.
    """
    passages: list[Passage] = []
    queries: list[Query] = []
    happened: list[Happening] = []
    for space, store in asked.folder.mapping(asked.folder.one(CARD.files[0])):
        keys: set[str] = set()
        for memory in store.records("memories"):
            key = f"{space}/{memory.new('key', keys)}"
            events = list(_happenings(space, key, memory))
            happened += events
            passages.append(
                Passage(
                    id=key,
                    text=memory.text("text"),
                    space=space,
                    time=events[0].at,
                    keys={LEVEL: key},
                )
            )
        queries += _queries(space, store, keys)
    ordered = sorted(happened, key=lambda each: (each.at, ORDER.index(each.kind), each.key))
    return asked.dataset(queries, passages=passages, history=ordered)


def _happenings(space: str, key: str, memory: Record) -> Iterator[Happening]:
    text = memory.text("text")
    for kind in ORDER:
        days = [memory.value[TOLD]] if kind == TOLD else memory.value.get(kind, ())
        for day in days:
            yield Happening(
                at=_moment(memory, kind, day),
                kind=kind,
                key=key,
                space=space,
                text=text,
                stability=memory.text("stability") if "stability" in memory else "unknown",
                supersedes=f"{space}/{memory.text('supersedes')}" if "supersedes" in memory else "",
                related=tuple(f"{space}/{other}" for other in memory.value.get("related", ())),
            )


def _moment(record: Record, field: str, value: object) -> datetime:
    try:
        found = parse_time(value if isinstance(value, str) else str(value), field)
    except InputError as error:
        raise record.wrong(field, "is not a day such as 2026-03-01") from error
    return datetime.combine(found.date(), time(8), UTC)


def _stands(question: Record, field: str) -> datetime | None:
    return _moment(question, field, question.value[field]) if field in question else None


def _queries(space: str, store: Record, keys: set[str]) -> Iterator[Query]:
    for number, question in enumerate(store.records("questions")):
        needs = question.texts("needs")
        if not needs or (unknown := [key for key in needs if key not in keys]):
            what = f"names {unknown[0]!r}, which is no memory" if needs else "names no memory"
            raise question.wrong("needs", what)
        yield Query(
            id=f"{space}/q{number}",
            text=question.text("ask"),
            space=space,
            category=question.text("decides"),
            relevant={LEVEL: {f"{space}/{key}": 1 for key in needs}},
            asked_at=_stands(question, "as_of"),
            known_at=_stands(question, "known_at"),
        )
