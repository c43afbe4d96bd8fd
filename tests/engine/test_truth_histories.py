"""Random histories against an oracle.

For every time asked about and every time asked at, exactly what was believed then.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import clew
from clew.engine import Clew
from clew.errors import InputError, NotFoundError
from clew.settings import Settings
from clew.settings.sections import MemorySettings
from clew.store.memory import MemoryStore
from clew.store.sqlite import segments
from clew.testing import NOW, FixedClock
from clew.types import BEGINNING, DEFAULT_SPACE, Filter

DAYS = 6  # of valid time around the first moment, and so of what is asked about
EARLY = NOW - timedelta(days=DAYS // 2)


def day(number: int) -> datetime:
    return EARLY + timedelta(days=number)


@dataclass
class Belief:
    """That a text was true in an interval, and from when to when we thought so.

    None is without end.
    """

    text: str
    begins: datetime
    ends: datetime | None
    since: datetime
    until: datetime | None = None

    def holds(self, as_of: datetime, known_at: datetime) -> bool:
        true = self.begins <= as_of and (self.ends is None or as_of < self.ends)
        return true and self.since <= known_at and (self.until is None or known_at < self.until)


@dataclass
class Fact:
    """Everything that was ever believed about one id."""

    id: str
    beliefs: list[Belief]
    successor: Fact | None = None
    forgotten: bool = False
    told: datetime | None = None
    """When it was told, for one that counts from then until somebody says otherwise: what began
    with being told has no beginning stated.
    """

    def believed(self) -> list[Belief]:
        return [belief for belief in self.beliefs if belief.until is None]

    def latest(self) -> Belief:
        return self.beliefs[-1]


@dataclass
class World:
    """The engine and the oracle side by side.

    Every step is done to both, and a refusal must be one of both.
    """

    memory: clew.Clew
    clock: FixedClock
    space: str = DEFAULT_SPACE
    facts: list[Fact] = field(default_factory=list)
    moments: set[datetime] = field(default_factory=set)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def step(self, operation: str, at: int, which: int, length: int, pause: int) -> None:
        self.clock.advance(days=pause)
        self.moments.add(self.clock())
        if operation == "assert" or not self.facts:
            # one in seven is not dated
            self.state(day(at) if at else None, day(at + length) if at and length else None)
        else:
            getattr(self, operation)(self.facts[which % len(self.facts)], day(at))

    def text(self) -> str:
        return f"Harbour log entry number {next(self.numbers)}"

    def state(self, begins: datetime | None, ends: datetime | None) -> None:
        text = self.text()
        outcome = self.memory.remember(text, valid_from=begins, valid_to=ends, near=False)
        begins = begins or self.clock()
        self.facts.append(
            Fact(str(outcome.id), [Belief(text, begins, ends, self.clock())], told=self.clock())
        )

    def supersede(self, fact: Fact, at: datetime) -> None:
        text = self.text()
        old = fact.latest()
        earlier = any(
            belief.begins < old.begins and belief.begins != belief.ends
            for belief in fact.believed()
        )
        expected = self.open(fact) and (old.begins <= at or not earlier)
        if not self.allowed(expected, lambda: self.memory.supersede(fact.id, text, valid_from=at)):
            return
        (new,) = [node for node in self.memory.versions(fact.id) if node.text == text]
        inherited = old.ends if old.ends is not None and at < old.ends else None
        self.facts.append(Fact(new.id, [Belief(text, at, inherited, self.clock())]))
        fact.successor = self.facts[-1]
        begins = self.begins(fact, at)
        ends = max(at, begins)  # what begins after its successor was never true, as is known now
        if old.ends is None or ends < old.ends:
            self.revise(fact, replace(old, begins=begins), ends)

    def invalidate(self, fact: Fact, at: datetime) -> None:
        old = fact.latest()
        begins = self.begins(fact, at)
        if self.allowed(
            self.open(fact) and begins <= at, lambda: self.memory.invalidate(fact.id, at=at)
        ):
            self.revise(fact, replace(old, begins=begins), at)

    def expire(self, fact: Fact, at: datetime) -> None:
        del at
        if self.allowed(
            bool(not fact.forgotten and fact.believed()), lambda: self.memory.expire(fact.id)
        ):
            for belief in fact.believed():
                belief.until = self.clock()

    def reassert(self, fact: Fact, at: datetime) -> None:
        old = fact.latest()
        ended = not fact.believed() or (old.ends is not None and old.ends <= at)
        if self.allowed(
            not fact.forgotten and ended, lambda: self.memory.reassert(fact.id, valid_from=at)
        ):
            fact.successor = fact.told = None
            fact.beliefs.append(Belief(old.text, at, None, self.clock()))

    def forget(self, fact: Fact, at: datetime) -> None:
        del at
        if self.allowed(
            not fact.forgotten, lambda: self.memory.forget(fact.id, only=True, tombstone=False)
        ):
            fact.forgotten = True

    def open(self, fact: Fact) -> bool:
        replaced = (
            fact.successor is not None
            and not fact.successor.forgotten
            and bool(fact.successor.believed())
        )
        return not fact.forgotten and bool(fact.believed()) and not replaced

    def begins(self, fact: Fact, at: datetime) -> datetime:
        """Return since when a fact that ends at a time was true.

        One that nobody dated, at every time before.
        """
        begins = fact.latest().begins
        return BEGINNING if at < begins and begins == fact.told else begins

    def revise(self, fact: Fact, new: Belief, ends: datetime) -> None:
        fact.latest().until = self.clock()
        fact.beliefs.append(replace(new, ends=ends, since=self.clock(), until=None))

    def allowed(self, expected: bool, change: Callable[[], object]) -> bool:
        try:
            change()
        except (InputError, NotFoundError):
            assert not expected
            return False
        assert expected
        return True

    def true(self, as_of: datetime, known_at: datetime) -> list[str]:
        kept = [fact for fact in self.facts if not fact.forgotten]
        return sorted(
            belief.text for fact in kept for belief in fact.beliefs if belief.holds(as_of, known_at)
        )

    def check(self) -> None:
        before = min(self.moments) - timedelta(hours=1)
        for known_at in (before, *sorted(self.moments), self.clock() + timedelta(hours=1)):
            for number in range(DAYS + 1):
                as_of = day(number)
                listed = self.memory.recent(
                    1000, where=Filter(space=self.space, now=NOW), as_of=as_of, known_at=known_at
                )
                assert sorted(node.text for node in listed) == self.true(as_of, known_at), (
                    number,
                    known_at,
                )

    def check_recall(self) -> None:
        """Ask for every text in words; the last moment is also asked about without saying so."""
        for known_at in self.moments:
            for as_of in (day(1), day(DAYS)):
                answer = self.memory.recall(
                    "harbour log entry", k=1000, as_of=as_of, known_at=known_at, track=False
                )
                assert sorted(hit.text for hit in answer.hits) == self.true(as_of, known_at)
        now = self.memory.recall("harbour log entry", k=1000, as_of=day(DAYS), track=False)
        assert sorted(hit.text for hit in now.hits) == self.true(day(DAYS), self.clock())


SPACES = itertools.count()
OPERATIONS = ("assert", "supersede", "supersede", "invalidate", "expire", "reassert", "forget")
# Operation, day, which fact, how many days (0: no end), days since the last step: of all
# combinations one draw a step, which is quick.
# Shuffled, for small numbers are drawn more often than others.
ALL_STEPS = list(itertools.product(OPERATIONS, range(DAYS + 1), range(6), range(4), (0, 1, 1)))
random.Random(0).shuffle(ALL_STEPS)
STEPS = st.lists(st.sampled_from(ALL_STEPS), min_size=2, max_size=9)


def lived(world: World, steps: list[tuple[Any, ...]]) -> World:
    for step in steps:
        world.step(*step)
    return world


@settings(max_examples=600, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
def test_at_every_time_the_answer_is_what_was_believed_then(steps: list[tuple[Any, ...]]) -> None:
    clock = FixedClock()
    with Clew(store=MemoryStore(), embedder=None, settings=Settings(), clock=clock) as memory:
        lived(World(memory, clock), steps).check()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("truth") / "memory.clew"


@pytest.mark.parametrize("postings_from", [segments.POSTINGS_FROM, 0], ids=["small", "as if large"])
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS)
def test_a_store_on_disk_answers_the_same_by_list_by_words_and_by_vectors(
    file: Path, postings_from: int, steps: list[tuple[Any, ...]]
) -> None:
    clock = FixedClock()
    space = f"history {next(SPACES)}"
    path = file.with_suffix(f".{postings_from}")
    with (
        patch.object(segments, "POSTINGS_FROM", postings_from),
        clew.open(
            path, model={"embedder": "hashing"}, store={"space": space}, clock=clock
        ) as memory,
    ):
        world = lived(World(memory, clock, space), steps)
        world.check()
        world.check_recall()


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.integers(0, DAYS), min_size=1, max_size=6), st.booleans())
def test_dynamic_facts_of_one_subject_follow_each_other_in_whatever_order_they_arrive(
    days: list[int], pausing: bool
) -> None:
    clock = FixedClock()
    automatic = Settings(memory=MemorySettings(auto_supersede=True))
    with Clew(store=MemoryStore(), embedder=None, settings=automatic, clock=clock) as memory:
        said: dict[int, str] = {}
        for number, begins in enumerate(days):
            clock.advance(days=int(pausing))
            said[begins] = f"The harbour gate has code number {number}"
            memory.remember(
                said[begins],
                valid_from=day(begins),
                title="Gate code",
                stability="dynamic",
                near=False,
            )
        for number in range(DAYS + 1):
            latest = max((begins for begins in said if begins <= number), default=None)
            true = [] if latest is None else [said[latest]]
            assert [node.text for node in memory.recent(as_of=day(number))] == true
        assert memory.verify() == ()
