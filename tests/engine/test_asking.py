"""What a recall asks of its store: no more than it needs, and by the thread that has the time."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest

import clew
from clew.engine import models as vectors
from clew.models.vectors import HashingEmbedder
from clew.settings import load
from clew.store.memory import MemoryStore
from clew.testing import FixedClock
from clew.types import Filter, Node, NodeId, Ranking, Signals


class WatchedStore(MemoryStore):
    """Notes which nodes were read, and by which thread words were searched."""

    def __init__(self) -> None:
        super().__init__()
        self.read: Counter[NodeId] = Counter()
        self.searched_by: list[str] = []

    def get(self, ids: Sequence[NodeId]) -> dict[NodeId, Node]:
        self.read.update(ids)
        return super().get(ids)

    def signals(self, ids: Sequence[NodeId]) -> dict[NodeId, Signals]:
        before = self.read.copy()  # this store looks them up by `get`; no text is read
        found = super().signals(ids)
        self.read = before
        return found

    def sparse(self, terms: Sequence[str], where: Filter, *, limit: int) -> Ranking:
        self.searched_by.append(threading.current_thread().name)
        return super().sparse(terms, where, limit=limit)


@pytest.fixture
def watched() -> Iterator[tuple[clew.Clew, WatchedStore]]:
    store = WatchedStore()
    with clew.Clew(
        store=store, embedder=HashingEmbedder(), settings=load().settings, clock=FixedClock()
    ) as memory:
        memory.remember_many(
            [
                f"Locker {number} on floor {number % 3} belongs to team {number * 7}"
                for number in range(30)
            ],
            near=False,
        )
        yield memory, store


def test_a_recall_reads_each_memory_once(watched: tuple[clew.Clew, WatchedStore]) -> None:
    memory, store = watched
    store.read.clear()
    answer = memory.recall("Who has the locker on floor 2?", k=10, track=False)
    assert len(answer.hits) == 10
    assert {hit.id for hit in answer.hits} <= store.read.keys()
    assert set(store.read.values()) == {1}


def test_after_a_question_that_was_embedded_at_once_words_are_searched_by_the_caller(
    watched: tuple[clew.Clew, WatchedStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, store = watched
    monkeypatch.setattr(vectors, "QUICK_SECONDS", math.inf)  # however slow the machine
    memory.recall("locker", track=False)
    store.searched_by.clear()
    memory.recall("locker on floor 1", track=False)
    assert set(store.searched_by) == {threading.current_thread().name}
