"""The golden corpus: what an assistant was told, what it is asked, and how it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import yaml

import clew
from clew.search.state import Hit
from clew.testing import FixedClock

FILE = Path(__file__).with_name("corpus.yaml")
K = 5
PLAIN: Mapping[str, Any] = {"spread": {"enabled": False}, "recall": {"times": False}}
"""What turns a recall into the best k by words and meaning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, every memory that its answer needs, and what should bring them in."""

    ask: str
    needs: tuple[str, ...]
    by: str
    without: tuple[str, ...] = ()
    first: bool = False
    """Whether the one memory that it needs must come first, as where the latest is asked for."""

    def answered(self, keys: Sequence[str]) -> bool:
        """Tell whether these memories are an answer.

        All that is needed, and nothing that no longer holds.
        """
        found = keys[:1] if self.first else keys
        return set(self.needs) <= set(found) and not set(self.without) & set(keys)


@dataclass(frozen=True, slots=True)
class Answer:
    """What was recalled for a question, best first, under the keys of the corpus."""

    asked: Asked
    hits: Mapping[str, Hit]

    @property
    def full(self) -> bool:
        """Whether the question is answered."""
        return self.asked.answered(list(self.hits))


@dataclass(frozen=True, slots=True)
class Told:
    """A Clew that was told the corpus, and the keys of the corpus."""

    clew: clew.Clew
    ids: Mapping[str, str]
    questions: tuple[Asked, ...]

    def answers(self) -> dict[str, Answer]:
        """Ask every question without leaving a trace, so that their order does not matter.

        By what was asked.
        """
        keys = {id: key for key, id in self.ids.items()}
        recalls = {asked: self.clew.recall(asked.ask, k=K, track=False) for asked in self.questions}
        return {
            asked.ask: Answer(asked, {keys[hit.id]: hit for hit in answer.hits})
            for asked, answer in recalls.items()
        }


def told(path: Path, **options: Any) -> Told:
    """Tell a new Clew the whole corpus, each memory on its day, and let the clock stand at the day of the questions."""
    corpus = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    clock = FixedClock()
    opened = clew.open(path, clock=clock, **options)
    ids: dict[str, str] = {}
    for memory in sorted(corpus["memories"], key=lambda memory: memory["at"]):
        clock.now = _noon(memory["at"])
        ids[memory["key"]] = _tell(opened, memory, ids)
    clock.now = _noon(corpus["now"])
    return Told(opened, ids, tuple(_asked(question) for question in corpus["questions"]))


def _tell(opened: clew.Clew, memory: Mapping[str, Any], ids: Mapping[str, str]) -> str:
    if "supersedes" in memory:
        outcome = opened.supersede(ids[memory["supersedes"]], memory["text"])
    else:
        outcome = opened.remember(
            memory["text"], title=memory.get("title", ""), near=memory.get("near", True)
        )
    # a family's facts differ in more than their words
    assert outcome.outcome == "inserted", f"{memory['key']} became {outcome}"
    return str(outcome.id)


def _asked(question: Mapping[str, Any]) -> Asked:
    lists = {name: tuple(question.get(name, ())) for name in ("needs", "without")}
    return Asked(
        ask=question["ask"], by=question["by"], first=question.get("first", False), **lists
    )


def _noon(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
