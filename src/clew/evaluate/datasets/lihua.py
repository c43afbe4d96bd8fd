"""LiHua-World: a year of chats between one person and many others, and questions with the chats that answer them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from clew.documents.readers import transcript
from clew.evaluate.data import Dataset, Passage, Query, passage_of
from clew.evaluate.datasets.card import Card
from clew.evaluate.datasets.folder import Asked, counted
from clew.evaluate.datasets.record import Record
from clew.types import Message

CARD = Card(
    name="lihua",
    title="LiHua-World",
    licence="MIT",
    source="make chats.jsonl, one {file, text} a line, of the chat files of https://github.com/HKUDS/MiniRAG (folder "
    "dataset/LiHua-World), and put query_set.json beside it.",
    folder="lihua_world",
    files=("chats.jsonl", "query_set.json"),
    levels=("session",),
    parts={"dev": "first 300 questions", "test": "the other questions", "all": "all questions"},
)
DEV_QUESTIONS = 300
UNANSWERABLE = "Null"
_STAMP = re.compile(r"(\d{8}_\d\d):?(\d\d)")


def load(asked: Asked) -> Dataset:
    """Return chats as passages, all in one space.

    Evidence is every time stamp that names a chat.
    """
    chats = tuple(_chats(asked))
    known = {chat.id for chat in chats}
    unknown: list[str] = []
    questions = list(asked.folder.mapping(asked.folder.one("query_set.json")))
    queries = [
        _query(name, question, known, unknown)
        for name, question in asked.split(questions, dev=DEV_QUESTIONS)
    ]
    notes = counted(len(unknown), "questions without evidence that names a chat", unknown)
    return asked.dataset(queries, passages=chats, notes=notes)


def _chats(asked: Asked) -> Iterator[Passage]:
    seen: set[str] = set()
    for chat in asked.folder.records(asked.folder.one("chats.jsonl")):
        id = PurePosixPath(chat.new("file", seen)).stem
        talk = transcript.conversation(chat.text("text"))
        if talk is None or talk.time is None:
            raise chat.wrong(
                "text",
                "is not a line such as 'Time: 20260924_20:00' above lines such as 'LiHua: Hello'",
            )
        said = [Message(turn.text, speaker=turn.speaker, time=talk.time) for turn in talk.turns]
        yield passage_of(said, id=id, time=talk.time, keys={"session": id})


def _query(name: str, question: Record, known: set[str], unknown: list[str]) -> Query:
    category, evidence = question.text("type"), question.text("evidence")
    cited = [f"{day}{minute}" for day, minute in _STAMP.findall(evidence)]
    found = {chat: 1 for chat in cited if chat in known}
    if category != UNANSWERABLE and len(found) < max(1, len(cited)):
        unknown.append(name)
    relevant = {"session": found} if found else {}
    return Query(id=name, text=question.text("question"), category=category, relevant=relevant)
