"""Memories of one's own, and what they are asked: a file that anybody can write."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from clew.errors import InputError
from clew.evaluate.data import Dataset, Passage, Query
from clew.evaluate.datasets.card import EVERYTHING, Card
from clew.evaluate.datasets.folder import Asked
from clew.evaluate.datasets.record import Record
from clew.times import parse_time

LEVEL = "memory"
CARD = Card(
    name="memories",
    title="memories and questions of your own",
    licence="yours",
    source=(
        "write a file memories.yaml: SPACE: {memories: [{key: KEY, text: TEXT}, …], questions: [{ask: QUESTION, needs: [KEY, …]}, …]}; "
        "a memory may have a title and a time, a question a category (its space)."
    ),
    folder="memories",
    files=("*.y*ml",),
    levels=(LEVEL,),
    parts={"test": "every question", EVERYTHING: "every question"},
)
MINE = replace(
    CARD,
    name="mine",
    title="your own store and questions",
    source="clew eval init makes it from your store: it proposes questions, and you accept, rewrite or skip each.",
    folder="clew-eval",
)


def load(asked: Asked) -> Dataset:
    """Return each memory as a passage of its space, and each question with the memories that it needs."""
    passages: list[Passage] = []
    queries: list[Query] = []
    spaces: set[str] = set()
    for path in asked.folder.all(CARD.files[0]):
        for space, store in asked.folder.mapping(path):
            if not space.strip() or "/" in space:
                raise store.wrong("", "is no name of a space: it needs one without a slash")
            if space in spaces:
                raise store.wrong("", f"describes the space {space!r} a second time")
            spaces.add(space)
            keys: set[str] = set()
            passages += [
                _passage(space, each.new("key", keys), each) for each in store.records("memories")
            ]
            queries += _queries(space, store, keys)
    return asked.dataset(queries, passages=passages)


def _passage(space: str, key: str, memory: Record) -> Passage:
    id = f"{space}/{key}"
    title = memory.text("title") if "title" in memory else ""
    return Passage(
        id=id,
        text=_said(memory, "text"),
        title=title,
        space=space,
        time=_time(memory),
        keys={LEVEL: id},
    )


def _said(record: Record, field: str) -> str:
    text = record.text(field)
    if not text.strip():
        raise record.wrong(field, "says nothing")
    return text


def _time(memory: Record) -> datetime | None:
    if "time" not in memory:
        return None
    try:
        return parse_time(memory.value["time"], "time")
    except InputError as error:
        raise memory.wrong(
            "time", "is not a time such as 2026-03-01 or 2026-03-01T09:30:00Z"
        ) from error


def _queries(space: str, store: Record, keys: set[str]) -> Iterator[Query]:
    for number, question in enumerate(store.records("questions")):
        needs = question.texts("needs")
        if not needs:
            raise question.wrong(
                "needs", "names no memory: what nothing answers cannot be judged here"
            )
        if unknown := [key for key in needs if key not in keys]:
            raise question.wrong(
                "needs", f"names {unknown[0]!r}, which no memory of {space} has as its key"
            )
        category = question.text("category") if "category" in question else space
        relevant = {LEVEL: {f"{space}/{key}": 1 for key in needs}}
        yield Query(
            id=f"{space}/q{number}",
            text=_said(question, "ask"),
            space=space,
            category=category,
            relevant=relevant,
        )
