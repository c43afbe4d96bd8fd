"""The tour of `clew demo`: what is stored, offered and asked, and what comes of it. The view is in `views.tour`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from importlib.resources import files
from itertools import groupby
from time import perf_counter
from typing import Any

from clew.engine import Clew
from clew.recall.state import Recall
from clew.surface import payload
from clew.words import terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A text offered to the firewall, and what it shows."""

    what: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A recall and what to look at in its answer; `also` asks the same under other options, to compare."""

    title: str
    lesson: str
    query: str
    options: dict[str, Any] = field(default_factory=dict)
    also: dict[str, Any] = field(default_factory=dict)
    explain: bool = False
    k: int = 3


OFFERS = (
    Offer(what="chatter", text="ok, thanks a lot!"),
    Offer(what="the same again", text="Refunds over 500 euros need a second   person's approval in the back office."),
    Offer(what="the same, written otherwise", text="The refunds over 500 euros need a second person's approval in the back office!"),
)


def questions(now: datetime) -> tuple[Question, ...]:
    """Return what the tour asks."""
    since = (now - timedelta(days=60)).date().isoformat()
    return (
        Question(
            title="By meaning",
            lesson="The answer shares no word with the question; a vector of what both say finds it.",
            query="Why does RAM consumption climb steadily?",
            explain=True,
            k=1,
        ),
        Question(
            title="By words",
            lesson="A rare identifier means nothing to a model; the word index finds it exactly.",
            query="E4012",
            explain=True,
            k=1,
        ),
        Question(
            title="Filtered",
            lesson=f"Decisions since {since} only. Filters work inside the search, so they never starve it.",
            query="what was decided about the API and the regions?",
            options={"where": {"category": "decision", "since": since}},
        ),
        Question(
            title="Weighed",
            lesson="The same question twice: by relevance, then with the preset for what is new.",
            query="problems of the booking form",
            options={"preset": "semantic", "where": {"tags": ["frontend"]}},
            also={"preset": "recent", "where": {"tags": ["frontend"]}},
        ),
        Question(
            title="On a budget",
            lesson="At most 60 tokens, and no cosine below 0.6; what is held back is counted, not hidden.",
            query="how do we change the database safely?",
            options={"budget_tokens": 60, "min_similarity": 0.6},
            k=10,
        ),
        Question(
            title="Another space",
            lesson="Spaces never mix: work is not asked, however well it would fit.",
            query="what must not go into the cake?",
            options={"where": {"space": "home"}},
            k=1,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question with its answer, and the one to compare with."""

    question: Question
    answer: Recall
    other: Recall | None = None

    @property
    def shared_words(self) -> tuple[str, ...]:
        """The terms that the question and the best hit have in common."""
        best = terms(self.answer.hits[0].text) if self.answer.hits else ()
        return tuple(sorted(set(self.answer.terms) & set(best)))


class Hand:
    """A clock whose hand can be set: what an agent learned it told on that day, not all of it today."""

    def __init__(self) -> None:
        self.at: datetime | None = None

    def __call__(self) -> datetime:
        """Return the moment that it is set to, or now."""
        return self.at or datetime.now(UTC)


class Tour:
    """Fills a store and asks it, step by step."""

    def __init__(self, clew: Clew, clock: Hand, now: datetime) -> None:
        self._clew = clew
        self._clock = clock
        self._now = now

    @cached_property
    def memories(self) -> list[dict[str, Any]]:
        """What the agent of a small team learned; ages become dates before now."""
        import yaml  # noqa: PLC0415 - only the tour reads it

        listed = yaml.safe_load(files("clew.surface.cli").joinpath("demo_memories.yaml").read_text(encoding="utf-8"))
        return [
            {**{key: value for key, value in each.items() if key != "age"}, "valid_from": self._now - timedelta(days=each["age"])}
            for each in listed
        ]

    def store(self) -> tuple[list[dict[str, Any]], float]:
        """Remember them all; return the outcomes and the seconds it took."""
        began = perf_counter()
        outcomes = []
        for day, told in groupby(sorted(self.memories, key=_day), key=_day):
            self._clock.at = day
            outcomes += self._clew.remember_many(list(told), near=False, source="clew demo")
        self._clock.at = None
        return [payload.outcome(each) for each in outcomes], perf_counter() - began

    def offer(self) -> Iterator[tuple[Offer, dict[str, Any]]]:
        """Offer texts that are not worth a new memory."""
        for each in OFFERS:
            yield each, payload.outcome(self._clew.remember(each.text, near=True, source="clew demo"))

    def ask(self) -> Iterator[Asked]:
        """Ask the questions; nothing is counted as an access, so that comparisons are fair."""
        for each in questions(self._now):
            answer = self._clew.recall(each.query, k=each.k, track=False, **each.options)
            other = self._clew.recall(each.query, k=each.k, track=False, **each.also) if each.also else None
            yield Asked(question=each, answer=answer, other=other)


def _day(memory: Mapping[str, Any]) -> datetime:
    day: datetime = memory["valid_from"]
    return day
