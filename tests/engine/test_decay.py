"""Decay and archiving: the formula, the date it names, and a run that only archives what has faded."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clew
from clew.errors import InputError, NotFoundError
from clew.memories.decay import MAX_UPCOMING, days_to_live, decay, decay_score, fading
from clew.ports import Evidence
from clew.settings.sections import DecaySettings
from clew.store.memory import MemoryStore
from clew.testing import NOW, FixedClock, later, node
from clew.types import Event, EventKind, Kind, Node, Stability
from tests.conftest import Open

USUAL = DecaySettings()
TEXTS = (
    "The harbour crane needs new bolts",
    "Dana wants summaries as bullet points",
    "Error E4012 means a doubled berth number",
)


def test_the_missions_numbers_are_the_defaults() -> None:
    assert (USUAL.rate_per_day, USUAL.archive_below, USUAL.access_gain) == (0.1, 0.1, 0.1)


@pytest.mark.parametrize(
    ("importance", "days", "accesses", "expected"),
    [
        (0.5, 0, 0, 0.5),
        (0.5, 10, 0, 0.1839397),  # 0.5·e⁻¹
        (0.5, 10, 9, 0.2262934),  # 0.5·e⁻¹·(1 + 0.1·ln 10)
        (1.0, 0, 9, 1.0),  # 1.2302585, held at 1
        (0.0, 0, 1000, 0.0),
        (1.0, 23.0258509, 0, 0.1),  # ln 10 / 0.1 days
    ],
)
def test_the_score_is_as_worked_out_by_hand(
    importance: float, days: float, accesses: int, expected: float
) -> None:
    assert decay_score(importance, days=days, accesses=accesses, settings=USUAL) == pytest.approx(
        expected, abs=1e-7
    )


@given(
    st.floats(0.0, 1.0),
    st.integers(0, 10**6),
    st.floats(0.001, 5.0),
    st.floats(0.001, 1.0),
    st.floats(0.0, 2.0),
)
def test_the_score_crosses_the_limit_exactly_when_foretold(
    importance: float, accesses: int, rate: float, limit: float, gain: float
) -> None:
    settings = DecaySettings(rate_per_day=rate, archive_below=limit, access_gain=gain)
    lives = days_to_live(importance, accesses=accesses, settings=settings)
    strength = importance * (1 + gain * math.log(1 + accesses))
    if strength < limit:
        assert lives == 0.0
        return
    assert decay_score(
        importance, days=lives, accesses=accesses, settings=settings
    ) == pytest.approx(limit, rel=1e-9)
    assert (
        decay_score(importance, days=lives * 1.001 + 0.001, accesses=accesses, settings=settings)
        < limit
    )
    assert (
        decay_score(importance, days=lives * 0.999 - 0.001, accesses=accesses, settings=settings)
        >= limit
        or lives == 0
    )


def test_without_a_rate_or_a_limit_nothing_is_ever_forgotten() -> None:
    for never in (DecaySettings(rate_per_day=0.0), DecaySettings(archive_below=0.0)):
        assert days_to_live(0.5, accesses=0, settings=never) == math.inf
        assert (
            fading(
                node("a"), Evidence(Stability.UNKNOWN, NOW), now=NOW, settings=never
            ).forgotten_at
            is None
        )
    slow = DecaySettings(rate_per_day=1e-9)
    # beyond the calendar
    assert (
        fading(node("a"), Evidence(Stability.UNKNOWN, NOW), now=NOW, settings=slow).forgotten_at
        is None
    )


@pytest.mark.parametrize("store_kind", ["sqlite", "memory"])
def test_a_memory_goes_on_the_day_foretold_and_not_a_second_before(
    open_clew: Open, clock: FixedClock, store_kind: str
) -> None:
    memory = open_clew(":memory:" if store_kind == "memory" else None)
    id = memory.remember(TEXTS[0]).id
    (foretold,) = memory.decay().upcoming
    assert foretold.id == id
    assert foretold.score == 0.5
    assert foretold.forgotten_at is not None
    # ln 5 / 0.1
    assert (foretold.forgotten_at - NOW) / timedelta(days=1) == pytest.approx(16.0943791)
    clock.now = foretold.forgotten_at - timedelta(seconds=1)
    assert memory.decay(dry_run=False).archived == ()
    clock.advance(seconds=2)
    report = memory.decay(dry_run=False)
    assert [each.id for each in report.archived] == [id]
    assert report.archived[0].score == pytest.approx(0.1, abs=1e-6)
    assert report.upcoming == ()


def test_a_dry_run_is_the_default_and_changes_nothing(memory: clew.Clew, clock: FixedClock) -> None:
    ids = [memory.remember(text).id for text in TEXTS]
    clock.advance(days=30)
    before = [memory.get(str(id)) for id in ids], [memory.history(str(id)) for id in ids]
    report = memory.decay()
    assert report.dry_run
    assert {each.id for each in report.archived} == set(ids)
    assert ([memory.get(str(id)) for id in ids], [memory.history(str(id)) for id in ids]) == before
    assert memory.decay(dry_run=False).archived == report.archived
    assert memory.decay(dry_run=False).examined == 0


def test_what_is_archived_is_kept_logged_and_found_when_asked_for(
    memory: clew.Clew, clock: FixedClock
) -> None:
    id = str(memory.remember(TEXTS[0]).id)
    clock.advance(days=30)
    memory.decay(dry_run=False)
    node = memory.get(id)
    assert node is not None
    assert node.archived
    assert not memory.recall("harbour crane bolts").hits
    assert [
        hit.id
        for hit in memory.recall("harbour crane bolts", where={"archived": True}, track=False).hits
    ] == [id]
    last = memory.history(id)[-1]
    assert (last.kind, last.at, last.detail["archived"], last.detail["rule"]) == (
        EventKind.UPDATE,
        clock(),
        True,
        "decay",
    )
    assert last.detail["value"] == pytest.approx(0.5 * math.exp(-3))
    assert last.detail["limit"] == 0.1
    assert memory.stats()["archived"] == 1
    assert memory.verify() == ()


def test_a_protected_memory_stays_and_is_counted(memory: clew.Clew, clock: FixedClock) -> None:
    kept, gone = (str(memory.remember(text).id) for text in TEXTS[:2])
    memory.protect(kept)
    # there is no date for what is protected
    assert [each.id for each in memory.decay().upcoming] == [gone]
    clock.advance(days=300)
    report = memory.decay(dry_run=False)
    assert ([each.id for each in report.archived], report.protected, report.examined) == (
        [gone],
        1,
        2,
    )


def test_importance_accesses_and_reinforcement_put_the_day_off(
    memory: clew.Clew, clock: FixedClock
) -> None:
    plain, important, again, recalled = (
        str(memory.remember(text, importance=importance).id)
        for text, importance in zip(
            (*TEXTS, "The ferry to Brest leaves at noon"), (0.5, 0.9, 0.5, 0.5), strict=True
        )
    )
    clock.advance(days=10)
    memory.remember(TEXTS[2])
    assert [hit.id for hit in memory.recall("ferry to Brest", k=1).hits] == [recalled]
    report = memory.decay()
    assert [each.id for each in report.upcoming] == [plain, important, again, recalled]
    dates = {each.id: each.forgotten_at for each in report.upcoming}
    assert dates[important] == NOW + timedelta(days=math.log(9) / 0.1)
    assert dates[again] == later(10) + timedelta(days=math.log(5) / 0.1)
    assert dates[recalled] == later(10) + timedelta(
        days=math.log(5 * (1 + 0.1 * math.log(2))) / 0.1
    )
    clock.advance(days=8)
    assert [each.id for each in memory.decay(dry_run=False).archived] == [plain]


def test_unarchive_brings_a_memory_back_for_its_whole_time(
    memory: clew.Clew, clock: FixedClock
) -> None:
    id = str(memory.remember(TEXTS[0]).id)
    clock.advance(days=30)
    memory.decay(dry_run=False)
    back = memory.unarchive(id)
    assert not back.archived
    assert back == memory.get(id)
    assert [(event.kind, event.detail) for event in memory.history(id)[-2:]] == [
        (EventKind.UPDATE, {"archived": False}),
        (EventKind.ACCESS, {}),
    ]
    assert memory.decay(dry_run=False).archived == ()
    assert memory.recall("harbour crane bolts", track=False).hits[0].id == id
    clock.advance(days=20)
    assert [each.id for each in memory.decay().archived] == [id]


def test_restoring_what_is_not_archived_does_nothing_and_what_is_unknown_is_an_error(
    memory: clew.Clew,
) -> None:
    id = str(memory.remember(TEXTS[0]).id)
    before = memory.history(id)
    assert memory.unarchive(id) == memory.get(id)
    assert memory.history(id) == before
    with pytest.raises(NotFoundError, match="nobody"):
        memory.unarchive("nobody")


def test_a_space_and_a_day_can_be_named(memory: clew.Clew) -> None:
    here = str(memory.remember(TEXTS[0]).id)
    there = str(memory.remember(TEXTS[1], space="other").id)
    assert {each.id for each in memory.decay(now="2027-01-01").archived} == {here, there}
    assert [each.id for each in memory.decay(now="2027-01-01", space="other").archived] == [there]
    assert memory.decay(now=NOW).archived == ()
    wrongs: list[dict[str, Any]] = [{"now": "yesterday-ish"}, {"space": 7}]
    for wrong in wrongs:
        with pytest.raises(InputError):
            memory.decay(**wrong)


def test_documents_and_their_parts_do_not_fade(memory: clew.Clew, clock: FixedClock) -> None:
    memory.import_data(
        "\n\n".join(f"## Part {n}\n\n" + f"Berth {n} has bollards. " * 60 for n in range(3)),
        name="harbour.md",
    )
    assert memory.stats()["by_kind"].keys() > {"document"}
    clock.advance(days=1000)
    report = memory.decay(dry_run=False)
    assert (report.examined, report.archived) == (0, ())


class Watched(MemoryStore):
    """A store in which somebody uses a memory right before the lock for archiving is taken."""

    meanwhile: Any = staticmethod(lambda store: None)

    def transaction(self) -> Any:
        act, self.meanwhile = self.meanwhile, lambda store: None
        act(self)
        return super().transaction()


@pytest.mark.parametrize(
    "meanwhile",
    [
        lambda store: store.append([Event(node="a", kind=EventKind.ACCESS, at=later(100))]),
        lambda store: store.update("a", protected=True),
        lambda store: store.update("a", archived=True),
        lambda store: store.delete(["a"]),
    ],
    ids=["used", "protected", "archived", "forgotten"],
)
def test_what_was_used_protected_or_forgotten_meanwhile_is_left_alone(meanwhile: Any) -> None:
    store = Watched()
    store.insert([node("a"), node("b")])
    store.meanwhile = meanwhile
    report = decay(store, now=later(100), settings=USUAL, space=None, dry_run=False, batch_size=10)
    assert [each.id for each in report.archived] == ["b"]


def faded(count: int) -> Iterator[Node]:
    return (
        node(f"{n:05}", importance=(n % 90) / 100, t_created=later(-(n % 7))) for n in range(count)
    )


@pytest.mark.parametrize("batch_size", [1, 7, 1000])
def test_batches_of_any_size_give_the_same_report_as_one_look_at_everything(
    batch_size: int,
) -> None:
    store = MemoryStore()
    store.insert(list(faded(300)))
    store.update("00050", kind=Kind.CHUNK)
    store.update("00051", t_expired=NOW)
    report = decay(store, now=NOW, settings=USUAL, space=None, dry_run=False, batch_size=batch_size)
    live = [each for each in faded(300) if each.id not in ("00050", "00051")]
    scores = {
        each.id: each.importance * math.exp(-0.1 * (NOW - each.t_created).days) for each in live
    }
    gone = sorted((id for id in scores if scores[id] < 0.1), key=lambda id: (scores[id], id))
    assert [each.id for each in report.archived] == gone
    assert report.examined == 298
    soonest = sorted((id for id in scores if scores[id] >= 0.1), key=lambda id: (scores[id], id))[
        :MAX_UPCOMING
    ]
    assert [each.id for each in report.upcoming] == soonest
    dates = [each.forgotten_at for each in report.upcoming]
    assert dates == sorted(dates, key=str)


def test_a_run_that_was_cut_short_is_finished_by_the_next(
    path: Path, open_clew: Open, clock: FixedClock
) -> None:
    memory = open_clew(memory={"batch_size": 2})
    ids = {
        str(memory.remember(f"{text} on pier {n}", near=False).id)
        for n in range(3)
        for text in TEXTS
    }
    clock.advance(days=30)
    nodes, store = memory.store.nodes, memory.store

    def cut_short(space: str | None = None) -> Iterator[Node]:
        for place, each in enumerate(nodes(space)):
            if place == 5:
                raise KeyboardInterrupt
            yield each

    store.nodes = cut_short  # type: ignore[assignment, method-assign]
    with pytest.raises(KeyboardInterrupt):
        memory.decay(dry_run=False)
    store.nodes = nodes  # type: ignore[method-assign]
    assert memory.stats()["archived"] == 4
    assert len(memory.decay(dry_run=False).archived) == 5
    assert {each.id for each in store.nodes() if each.archived} == ids


def test_a_node_without_protection_is_told_the_same_date_whenever_it_is_asked() -> None:
    known = Evidence(Stability.UNKNOWN, NOW)
    first = fading(node("a"), known, now=NOW, settings=USUAL)
    second = fading(node("a"), known, now=later(9), settings=USUAL)
    assert first.forgotten_at == second.forgotten_at
    assert second.score < first.score
    assert (
        fading(replace(node("a"), protected=True), known, now=NOW, settings=USUAL).forgotten_at
        is None
    )


def test_the_earlier_intervals_of_a_memory_are_not_archived_by_themselves() -> None:
    clock = FixedClock()
    with clew.open(":memory:", model={"embedder": "none"}, clock=clock) as memory:
        id = str(memory.remember(TEXTS[0], valid_from="2024-01-01").id)
        clock.advance(days=1)
        memory.invalidate(id, at="2025-01-01")
        clock.advance(days=1)
        memory.reassert(id, valid_from="2025-06-01")
        memory.protect(id)
        clock.advance(days=2000)
        memory.decay(dry_run=False)
        assert [hit.text for hit in memory.recall("harbour crane", as_of="2024-06-01").hits] == [
            TEXTS[0]
        ]


def test_a_time_to_come_is_for_looking_ahead_alone() -> None:
    with clew.open(":memory:", model={"embedder": "none"}, clock=FixedClock()) as memory:
        id = str(memory.remember(TEXTS[0]).id)
        assert [each.id for each in memory.decay(now="2027-01-01").archived] == [id]
        with pytest.raises(InputError, match="now: is still to come"):
            memory.decay(now="2027-01-01", dry_run=False)
        assert memory.decay(now=NOW, dry_run=False).archived == ()
        assert [node.archived for node in memory.store.nodes()] == [False]
        assert [
            each.id for each in memory.decay(now="2027-01-01", dry_run=False, force=True).archived
        ] == [id]
