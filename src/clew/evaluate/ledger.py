"""Answers kept on disk while a run goes on, so that an interrupted one goes on where it stopped.

A ledger belongs to one system on one corpus under one configuration and one state of the code:
change any of them and it is another ledger. Questions may come and go; each is known by what it
asks.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

import clew
from clew.evaluate.data import Query
from clew.evaluate.policies import Answer, Cost

# What turns answers into numbers, tables and screens has no part in an answer; what it searched is
# hashed by content.
UNANSWERING = (
    "surface",
    "testing",
    "ingest/readers",
    *(f"evaluate/{name}" for name in ("report", "statistics", "measures", "datasets", "chunkers")),
)


@lru_cache(maxsize=1)
def code_hash() -> str:
    """Return a name for the state of the code.

    Two runs share answers only if every line that made them is the same.
    """
    root = Path(clew.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if not name.startswith(tuple(f"{part}/" for part in UNANSWERING)):
            digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def question_key(query: Query) -> str:
    """Return the name of a question in a ledger: whatever an answer can depend on."""
    asked = json.dumps([query.id, query.space, query.text, str(query.asked_at)])
    return hashlib.sha256(asked.encode()).hexdigest()[:24]


class Ledger:
    """The answers of one system, by question; every answer is written before the next is begun."""

    def __init__(self, folder: Path, identity: Mapping[str, Any]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256(
            json.dumps({**identity, "code": code_hash()}, sort_keys=True, default=repr).encode()
        ).hexdigest()[:24]
        self._path = folder / f"{name}.answers.jsonl"
        self._answers = dict(self._read())
        self._file = self._path.open("a", encoding="utf-8")

    def _read(self) -> Iterator[tuple[str, Answer]]:
        text = (
            self._path.read_text(encoding="utf-8", errors="replace") if self._path.exists() else ""
        )
        for line in text.split("\n"):
            try:
                raw = json.loads(line)
                links = tuple((source, target) for source, target in raw["links"])
                yield (
                    raw["key"],
                    Answer(
                        ranking=tuple(raw["ranking"]),
                        hops=raw["hops"],
                        cost=Cost(**raw["cost"]),
                        links=links,
                    ),
                )
            except (
                ValueError,
                KeyError,
                TypeError,
            ):  # the line that was being written at a kill, or the empty first one
                continue

    def get(self, query: Query) -> Answer | None:
        """Return the answer to a question, if it was given before."""
        return self._answers.get(question_key(query))

    def write(self, query: Query, answer: Answer) -> None:
        """Keep an answer; it survives the death of the process."""
        key = question_key(query)
        self._answers[key] = answer
        line = {"key": key, "query": query.id, **asdict(answer)}
        # a break in front: a half line left by a kill spoils only itself
        self._file.write("\n" + json.dumps(line))
        self._file.flush()

    def close(self) -> None:
        """Release the file."""
        self._file.close()
