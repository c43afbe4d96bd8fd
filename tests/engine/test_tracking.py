"""Accesses: only what was returned, damped, behind the caller's back, and never in the way."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import datetime

import pytest

import clew
from clew.engine import tracking
from clew.engine.tracking import AccessTracker
from clew.errors import StoreBusyError, StoreFullError
from clew.settings import load
from clew.store.memory import MemoryStore
from clew.testing import NOW, FixedClock, later
from clew.types import EventKind, NodeId
from tests.conftest import Open
from tests.waiting import LONG_SECONDS, wait_until

COFFEE = [
    "The coffee machine on the second floor is broken",
    "Anna is in charge of coffee on Monday",
    "Coffee beans are ordered from the roastery",
]


def accesses(memory: clew.Clew) -> list[int]:
    memory.stats()  # writes what waits
    return [node.accesses for node in sorted(memory.recent(), key=lambda node: node.id)]


def test_only_what_was_returned_is_counted(memory: clew.Clew) -> None:
    memory.remember_many(COFFEE)
    answer = memory.recall("coffee machine", k=1)
    assert len(answer.channels["sparse"]) == 3
    assert accesses(memory) == [1, 0, 0]
    assert [event.kind for event in memory.history(answer.hits[0].id)] == [
        EventKind.ADD,
        EventKind.ACCESS,
    ]


def test_a_second_recall_within_the_hour_does_not_count(
    memory: clew.Clew, clock: FixedClock
) -> None:
    memory.remember(COFFEE[0])
    counts = []
    for minutes in (0, 59, 1, 59, 1):
        clock.advance(minutes=minutes)
        memory.recall("coffee")
        counts += accesses(memory)
    assert counts == [1, 1, 2, 2, 3]


def test_tracking_is_off_on_request(memory: clew.Clew, open_clew: Open) -> None:
    memory.remember_many(COFFEE)
    memory.recall("coffee", track=False)
    assert accesses(memory) == [0, 0, 0]
    silent = open_clew(access={"track": False})
    silent.recall("coffee")
    assert accesses(silent) == [0, 0, 0]
    silent.recall("coffee machine", k=1, track=True)
    assert accesses(silent) == [1, 0, 0]


def test_listing_and_looking_do_not_count(memory: clew.Clew) -> None:
    outcome = memory.remember(COFFEE[0])
    memory.recent()
    memory.get(str(outcome.id))
    memory.history(str(outcome.id))
    assert accesses(memory) == [0]


def test_closing_writes_what_waits(open_clew: Open) -> None:
    memory = open_clew(access={"flush_seconds": 3600})
    memory.remember_many(COFFEE)
    memory.recall("coffee")
    memory.close()
    memory.close()
    assert accesses(open_clew()) == [1, 1, 1]


class SlowStore(MemoryStore):
    """Does not count an access before it is allowed to."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.allowed = threading.Event(), threading.Event()
        self.threads: list[str] = []

    def touch(self, ids: Sequence[NodeId], at: datetime, *, min_interval_seconds: float) -> int:
        self.threads.append(threading.current_thread().name)
        self.asked.set()
        self.allowed.wait()
        return super().touch(ids, at, min_interval_seconds=min_interval_seconds)


def test_a_slow_store_does_not_delay_a_recall() -> None:
    store = SlowStore()
    settings = load(overrides={"access": {"flush_seconds": 0.0}}).settings
    with clew.Clew(store=store, embedder=None, settings=settings, clock=FixedClock()) as memory:
        memory.remember_many(COFFEE)
        first = memory.recall("coffee machine", k=1)
        store.asked.wait()
        # returns although the first access is still being written
        assert len(memory.recall("coffee").hits) == 3
        store.allowed.set()
        assert accesses(memory) == [1, 1, 1]
    assert first.hits[0].text == COFFEE[0]
    assert store.threads[0] == "clew-accesses"


class BusyStore(MemoryStore):
    def touch(self, ids: Sequence[NodeId], at: datetime, *, min_interval_seconds: float) -> int:
        raise StoreBusyError("The file was locked for 30 s.")


def test_an_access_that_cannot_be_counted_is_reported_and_costs_no_answer() -> None:
    with clew.Clew(
        store=BusyStore(), embedder=None, settings=load().settings, clock=FixedClock(NOW)
    ) as memory:
        memory.remember(COFFEE[0])
        assert memory.recall("coffee").hits
        assert memory.stats()["tracking_failure"] == "The file was locked for 30 s."


class FullStore(MemoryStore):
    """Has no room for one of the pieces."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[NodeId] = []

    def touch(self, ids: Sequence[NodeId], at: datetime, *, min_interval_seconds: float) -> int:
        if "a" in ids:
            raise StoreFullError("No space left.")
        self.written += ids
        return len(ids)


def test_one_piece_that_cannot_be_counted_does_not_take_the_others_with_it() -> None:
    store = FullStore()
    counting = AccessTracker(
        store, load(overrides={"access": {"flush_seconds": 3600.0, "batch": 2}}).settings.access
    )
    counting.record(["a", "b", "c", "d", "e"], NOW, space="default")
    counting.flush()
    assert store.written == ["c", "d", "e"]
    assert counting.failure == "No space left."  # though the last piece could be counted
    counting.close()


class LockedStore(MemoryStore):
    """Is held by another process until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.locked = True
        self.asked = 0
        self.written: list[NodeId] = []

    def touch(self, ids: Sequence[NodeId], at: datetime, *, min_interval_seconds: float) -> int:
        self.asked += 1
        if self.locked:
            raise StoreBusyError("The file was locked for 30 s.")
        self.written += ids
        return len(ids)


def test_what_a_lock_was_in_the_way_of_is_counted_after_it() -> None:
    store = LockedStore()
    counting = AccessTracker(
        store, load(overrides={"access": {"flush_seconds": 3600.0, "batch": 2}}).settings.access
    )
    counting.record(["a", "b", "c"], NOW, space="default")
    counting.flush()
    assert store.asked == 1  # what is in the way of one piece is in the way of the next
    counting.record(["d"], NOW, space="default")
    store.locked = False
    counting.flush()
    assert sorted(store.written) == ["a", "b", "c", "d"]
    assert counting.failure is None
    counting.close()


def test_the_writer_comes_back_to_what_a_callers_flush_could_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tracking, "PATIENCE_SECONDS", 0.0)
    store = LockedStore()
    counting = AccessTracker(
        store, load(overrides={"access": {"flush_seconds": 0.0}}).settings.access
    )
    counting.record(["a"], NOW, space="default")
    counting.flush()
    store.locked = False
    wait_until(lambda: store.written == ["a"])
    counting.close()


def test_a_store_that_stays_locked_is_not_asked_over_and_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tracking, "PATIENCE_SECONDS", LONG_SECONDS)
    store = LockedStore()
    counting = AccessTracker(
        store, load(overrides={"access": {"flush_seconds": 0.0, "batch": 1}}).settings.access
    )
    counting.record(["a", "b", "c"], NOW, space="default")
    wait_until(lambda: store.asked > 0)
    wait_until(lambda: bool(counting._condition._waiters) or store.asked > 1)  # type: ignore[attr-defined]  # the writer rests
    assert store.asked == 1
    counting.close()


def test_a_store_that_stays_locked_does_not_fill_the_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tracking, "BATCHES_KEPT", 2)
    store = LockedStore()
    counting = AccessTracker(
        store, load(overrides={"access": {"flush_seconds": 3600.0, "batch": 2}}).settings.access
    )
    for number in range(20):
        counting.record([f"n{number}"], NOW, space="default")
        counting.flush()
    store.locked = False
    counting.close()
    assert sorted(store.written) == ["n0", "n1", "n2", "n3"]


class FailingStore(MemoryStore):
    def touch(self, ids: Sequence[NodeId], at: datetime, *, min_interval_seconds: float) -> int:
        raise OSError("The cable is out.")


def test_an_error_that_no_store_should_raise_is_reported_and_ends_nothing() -> None:
    counting = AccessTracker(
        FailingStore(), load(overrides={"access": {"flush_seconds": 3600.0}}).settings.access
    )
    counting.record(["a"], NOW, space="default")
    counting.flush()
    assert counting.failure == "OSError: The cable is out."
    counting.close()


def test_what_was_counted_is_told_once_for_each_space_and_nothing_else() -> None:
    told: list[tuple[str, list[NodeId], datetime]] = []
    settings = load(overrides={"access": {"flush_seconds": 3600.0, "batch": 2}}).settings.access
    counting = AccessTracker(
        FullStore(), settings, publish=lambda space, ids, at: told.append((space, list(ids), at))
    )
    counting.record(["a", "b"], NOW, space="work")  # cannot be counted
    counting.record(["c", "d"], later(1), space="work")
    counting.record(["e"], NOW, space="home")
    counting.record(["f"], later(2), space="work")
    counting.flush()
    counting.flush()
    assert told == [("home", ["e"], NOW), ("work", ["c", "d", "f"], later(2))]
    counting.close()


def test_the_same_memory_twice_in_a_batch_is_one_access(memory: clew.Clew) -> None:
    memory.remember(COFFEE[0])
    for _ in range(5):
        memory.recall("coffee")
    assert accesses(memory) == [1]


class CountingStore(MemoryStore):
    """Tells how many accesses it was given at once."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []
        self.asked = threading.Event()

    def touch(self, ids: Sequence[NodeId], at: datetime, *, min_interval_seconds: float) -> int:
        self.sizes.append(len(ids))
        self.asked.set()
        return super().touch(ids, at, min_interval_seconds=min_interval_seconds)


def tracker(store: CountingStore, **settings: float) -> AccessTracker:
    return AccessTracker(
        store,
        load(
            overrides={"access": {"flush_seconds": 3600.0, "batch": 4, **settings}}
        ).settings.access,
    )


def test_a_full_batch_waits_for_a_pause_and_is_written_in_pieces(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tracking, "PAUSE_SECONDS", 3600.0)
    monkeypatch.setattr(tracking, "PATIENCE_SECONDS", 3600.0)
    store = CountingStore()
    counting = tracker(store)
    for at in range(5):
        counting.record([f"n{at}", f"m{at}"], NOW, space="default")
    assert store.sizes == []  # somebody has asked within the hour
    counting.close()
    assert store.sizes == [4, 4, 2]


@pytest.mark.parametrize("impatient", ["PAUSE_SECONDS", "PATIENCE_SECONDS"])
def test_a_full_batch_is_written_after_a_pause_or_when_none_comes(
    impatient: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracking, "PAUSE_SECONDS", 3600.0)
    monkeypatch.setattr(tracking, "PATIENCE_SECONDS", 3600.0)
    monkeypatch.setattr(tracking, impatient, 0.0)
    store = CountingStore()
    counting = tracker(store)
    counting.record(["a", "b"], NOW, space="default")
    assert store.sizes == []
    counting.record(["c", "d"], NOW, space="default")
    store.asked.wait()
    counting.close()
    assert store.sizes == [4]
