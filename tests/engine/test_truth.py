"""Supersede, invalidate, expire, reassert: what is true since when, and since when we know it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

import clew
from clew.errors import InputError, NotFoundError, ProtectedError
from clew.types import BEGINNING, EventKind, Node
from tests.conftest import Open

if TYPE_CHECKING:
    from clew.testing import FixedClock

PARIS = "Alice lives in Paris beside the canal"
BERLIN = "Alice lives in Berlin beside the park"
QUESTION = "where does Alice live"


@pytest.fixture
def paris(memory: clew.Clew, clock: FixedClock) -> str:
    """Remembered on 1 March 2026 as true since 2020; a day has passed."""
    id = memory.remember(
        PARIS,
        valid_from="2020-01-01",
        title="Alice's home",
        category="fact",
        tags=["people"],
        importance=0.8,
    ).id
    clock.advance(days=1)
    return str(id)


def day(year: int) -> datetime:
    return datetime(year, 1, 1, tzinfo=UTC)


def texts(memory: clew.Clew, as_of: str | None = None, known_at: str | None = None) -> list[str]:
    """What is recalled and what is listed, which must be the same."""
    listed = sorted(node.text for node in memory.recent(as_of=as_of, known_at=known_at))
    recalled = memory.recall(
        QUESTION, as_of=as_of, known_at=known_at, track=False, preset="balanced"
    )
    assert sorted(hit.text for hit in recalled.hits) == listed
    return listed


def test_a_superseded_memory_ends_where_the_new_one_begins(memory: clew.Clew, paris: str) -> None:
    outcome = memory.supersede(paris, BERLIN, valid_from="2024-01-01")
    assert outcome.outcome == "inserted"
    assert texts(memory) == [BERLIN]
    assert texts(memory, as_of="2023-12-31") == [PARIS]
    assert texts(memory, as_of="2024-01-01") == [BERLIN]
    assert texts(memory, as_of="2019-01-01") == []


def test_what_was_believed_before_stays_recallable(memory: clew.Clew, paris: str) -> None:
    memory.supersede(paris, BERLIN, valid_from="2024-01-01")
    assert texts(memory, as_of="2025-01-01", known_at="2026-03-01T12:00") == [PARIS]
    assert texts(memory, as_of="2025-01-01", known_at="2026-03-02T12:00") == [BERLIN]
    assert texts(memory, as_of="2025-01-01", known_at="2026-03-01T11:59") == []


def test_the_new_memory_is_about_the_same_as_the_old_unless_told_otherwise(
    memory: clew.Clew, paris: str
) -> None:
    memory.protect(paris)
    new = memory.get(str(memory.supersede(paris, BERLIN, importance=0.3, source="a letter").id))
    assert new is not None
    assert (new.title, new.category, new.tags, new.importance, new.source) == (
        "Alice's home",
        "fact",
        ("people",),
        0.3,
        "a letter",
    )
    assert new.protected
    assert new.t_valid == memory.now()


def test_the_old_memory_keeps_its_id_its_key_and_its_accesses(
    memory: clew.Clew, clock: FixedClock
) -> None:
    id = str(memory.remember(PARIS, idempotency_key="home").id)
    memory.recall(QUESTION)
    assert [event.kind for event in memory.history(id)] == [EventKind.ADD, EventKind.ACCESS]
    clock.advance(days=1)
    assert memory.invalidate(id).idempotency_key == "home"
    kept = memory.get(id)
    assert kept is not None
    assert (kept.accesses, kept.t_created, kept.t_invalid) == (1, clock(), clock())
    assert memory.remember("Something else altogether", idempotency_key="home").id == id


def test_versions_have_the_vectors_of_the_memory_without_a_model(
    memory: clew.Clew, paris: str, open_clew: Open
) -> None:
    memory.close()
    with open_clew(model={"embedder": "none"}) as without:
        without.invalidate(paris, at="2024-01-01")
        vectors = without.store.embeddings([node.id for node in without.versions(paris)])
    assert len(vectors) == 2
    assert (vectors[0].vector == vectors[1].vector).all()


def test_an_invalidated_memory_is_true_until_then(memory: clew.Clew, paris: str) -> None:
    assert memory.invalidate(paris, at="2022-01-01").t_invalid == day(2022)
    assert texts(memory) == []
    assert texts(memory, as_of="2021-06-01") == [PARIS]
    assert texts(memory, as_of="2022-01-01") == []
    assert texts(memory, as_of="2022-01-01", known_at="2026-03-01T18:00") == [PARIS]


def test_an_end_said_again_is_corrected_and_said_twice_changes_nothing(
    memory: clew.Clew, paris: str, clock: FixedClock
) -> None:
    memory.invalidate(paris, at="2022-01-01")
    before = memory.history(paris)
    assert memory.invalidate(paris, at="2022-01-01").t_invalid == day(2022)
    assert memory.history(paris) == before
    clock.advance(days=1)
    memory.invalidate(paris, at="2023-01-01")
    assert texts(memory, as_of="2022-06-01") == [PARIS]
    assert texts(memory, as_of="2022-06-01", known_at="2026-03-02T18:00") == []


def test_an_expired_memory_was_believed_until_now_and_is_so_of_no_time(
    memory: clew.Clew, paris: str, clock: FixedClock
) -> None:
    assert memory.expire(paris).t_expired == clock()
    assert texts(memory, as_of="2023-01-01") == []
    assert texts(memory, as_of="2023-01-01", known_at="2026-03-02T11:59") == [PARIS]


def test_a_memory_is_true_again_and_the_gap_stays(
    memory: clew.Clew, paris: str, clock: FixedClock
) -> None:
    memory.invalidate(paris, at="2022-01-01")
    clock.advance(days=1)
    assert memory.reassert(paris, valid_from="2024-01-01").id == paris
    found = {year: texts(memory, as_of=f"{year}-06-01") for year in (2019, 2021, 2023, 2025)}
    assert found == {2019: [], 2021: [PARIS], 2023: [], 2025: [PARIS]}
    assert texts(memory, as_of="2025-06-01", known_at="2026-03-02T18:00") == []


def test_what_was_disbelieved_can_be_believed_again(
    memory: clew.Clew, paris: str, clock: FixedClock
) -> None:
    memory.expire(paris)
    clock.advance(days=1)
    memory.reassert(paris, valid_from="2021-01-01")
    assert texts(memory, as_of="2025-01-01") == [PARIS]
    assert texts(memory, as_of="2020-06-01") == []
    assert texts(memory, as_of="2025-01-01", known_at="2026-03-02T13:00") == []


def test_expiring_a_memory_with_two_intervals_expires_both(memory: clew.Clew, paris: str) -> None:
    memory.invalidate(paris, at="2022-01-01")
    memory.reassert(paris, valid_from="2024-01-01")
    memory.expire(paris)
    assert texts(memory, as_of="2021-01-01") == texts(memory, as_of="2025-01-01") == []


def test_an_earlier_interval_can_be_changed_by_its_own_id_but_not_into_the_next(
    memory: clew.Clew, paris: str, clock: FixedClock
) -> None:
    memory.invalidate(paris, at="2022-01-01")
    memory.reassert(paris, valid_from="2024-01-01")
    clock.advance(days=1)
    earlier = next(
        node for node in memory.versions(paris) if node.id != paris and node.t_expired is None
    )
    memory.invalidate(earlier.id, at="2021-01-01")
    assert texts(memory, as_of="2021-06-01") == []
    assert texts(memory, as_of="2025-06-01") == [PARIS]
    with pytest.raises(InputError, match="from when it is true again"):
        memory.invalidate(earlier.id, at="2024-06-01")


def test_a_fact_that_arrives_late_is_believed_from_its_arrival(
    memory: clew.Clew, paris: str
) -> None:
    memory.remember(
        "Alice lived in Rome above a bakery", valid_from="2010-01-01", valid_to="2019-12-31"
    )
    assert texts(memory, as_of="2015-01-01") == ["Alice lived in Rome above a bakery"]
    assert texts(memory, as_of="2015-01-01", known_at="2026-03-02T11:00") == []


def test_a_plan_is_superseded_from_its_beginning(memory: clew.Clew, paris: str) -> None:
    plan = str(memory.remember("Alice moves to Madrid for a new job", valid_from="2027-01-01").id)
    new = memory.get(str(memory.supersede(plan, "Alice moves to Lisbon for a new job").id))
    assert new is not None
    assert new.t_valid == day(2027)
    assert texts(memory, as_of="2028-01-01") == [PARIS, "Alice moves to Lisbon for a new job"]


def test_the_id_of_a_version_leads_to_the_memory(memory: clew.Clew, paris: str) -> None:
    memory.invalidate(paris, at="2022-01-01")
    version = memory.recall(QUESTION, as_of="2023-01-01", known_at="2026-03-01T18:00").hits[0].node
    assert version is not None
    assert version.root == paris
    assert memory.history(version.id) == memory.history(paris)
    assert memory.versions(version.id) == memory.versions(paris)
    assert memory.protect(version.id).id == paris
    with pytest.raises(ProtectedError):
        memory.forget(version.id)
    with pytest.raises(InputError, match=f"Change the fact itself: {paris}"):
        memory.invalidate(version.id, at="2023-01-01")
    assert memory.forget(version.id, force=True).ids == (paris,)
    assert memory.stats()["nodes"] == 0


def test_a_memory_is_shown_as_it_was_or_what_stood_in_its_place(
    memory: clew.Clew, paris: str
) -> None:
    berlin = str(memory.supersede(paris, BERLIN, valid_from="2024-01-01").id)

    def shown(id: str, **times: str) -> str | None:
        node: Node | None = memory.get(id, **times)
        return None if node is None else node.text

    assert (
        shown(paris)
        == shown(paris, as_of="2023-01-01")
        == shown(berlin, as_of="2023-01-01")
        == PARIS
    )
    assert shown(paris, as_of="2025-01-01") == shown(berlin, as_of="2025-01-01") == BERLIN
    assert shown(berlin, as_of="2025-01-01", known_at="2026-03-01T18:00") == PARIS
    assert shown(paris, as_of="2019-01-01") is None


def test_the_chain_of_versions_is_in_the_order_of_valid_time(
    memory: clew.Clew, paris: str, clock: FixedClock
) -> None:
    berlin = str(memory.supersede(paris, BERLIN, valid_from="2024-01-01").id)
    clock.advance(days=1)
    rome = str(
        memory.supersede(berlin, "Alice lives in Rome above a bakery", valid_from="2025-01-01").id
    )
    for id in (paris, berlin, rome):
        assert [(node.text.split()[3], node.t_expired is None) for node in memory.versions(id)] == [
            ("Paris", False),
            ("Paris", True),
            ("Berlin", False),
            ("Berlin", True),
            ("Rome", True),
        ]
    assert [(edge.source, edge.target) for edge in memory.store.edges([berlin])] == [
        (berlin, paris),
        (rome, berlin),
    ]


def test_forgetting_a_memory_forgets_its_versions_and_changes_no_other(
    memory: clew.Clew, paris: str
) -> None:
    berlin = str(memory.supersede(paris, BERLIN, valid_from="2024-01-01").id)
    before = memory.get(berlin)
    memory.forget(paris, only=True)
    assert memory.get(berlin) == before
    assert memory.versions(berlin) == (before,)
    assert texts(memory, as_of="2025-01-01", known_at="2026-03-01T18:00") == []
    assert [event.kind for event in memory.history(paris)] == [EventKind.FORGET]


def test_what_superseded_a_memory_can_be_forgotten_without_bringing_it_back(
    memory: clew.Clew, paris: str
) -> None:
    berlin = str(memory.supersede(paris, BERLIN, valid_from="2024-01-01").id)
    memory.forget(berlin)
    assert texts(memory) == []
    assert texts(memory, as_of="2023-01-01") == [PARIS]
    # nothing stands in its place any more
    memory.supersede(paris, "Alice lives in Rome above a bakery", valid_from="2025-01-01")
    assert texts(memory, as_of="2024-06-01") == []


def test_a_rejected_text_supersedes_nothing(memory: clew.Clew, paris: str) -> None:
    assert memory.supersede(paris, "ok").outcome == "rejected"
    assert texts(memory) == [PARIS]
    assert len(memory.history(paris)) == 1


def test_a_retry_under_the_same_key_supersedes_once(memory: clew.Clew, paris: str) -> None:
    first = memory.supersede(paris, BERLIN, idempotency_key="move")
    again = memory.supersede(paris, BERLIN, idempotency_key="move")
    assert (again.outcome, again.id) == ("exact_duplicate", first.id)
    assert len(memory.history(paris)) == 2


def test_a_failure_half_way_leaves_everything_as_it_was(
    memory: clew.Clew, paris: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = list(memory.store.nodes())

    def broken(*_: object) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr(memory.store, "link", broken)
    with pytest.raises(OSError, match="disk"):
        memory.supersede(paris, BERLIN)
    assert list(memory.store.nodes()) == before


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            lambda memory, id: memory.supersede(id, BERLIN, valid_to="2019-01-01"),
            "valid_to: must be after",
        ),
        (lambda memory, id: memory.supersede(id, PARIS), "text: is what"),
        (lambda memory, id: memory.supersede(id, BERLIN, space="other"), "space: is not that of"),
        (lambda memory, id: memory.supersede(id, BERLIN, colour="red"), "memory: is not known"),
        (
            lambda memory, id: memory.invalidate(id, at="2019-01-01"),
            "at: is before 2020-01-01T00:00:00Z",
        ),
        (lambda memory, id: memory.invalidate(id, at="yesterday"), "at: is not a moment"),
        (lambda memory, id: memory.reassert(id), "id: is true without end already"),
    ],
)
def test_what_cannot_be_is_refused_with_the_way_out(
    memory: clew.Clew, paris: str, change: object, problem: str
) -> None:
    before = list(memory.store.nodes())
    with pytest.raises(InputError) as refused:
        change(memory, paris)  # type: ignore[operator]
    assert refused.value.message.startswith(problem)
    assert list(memory.store.nodes()) == before


def test_what_is_over_is_refused_with_the_way_out(memory: clew.Clew, paris: str) -> None:
    berlin = str(memory.supersede(paris, BERLIN, valid_from="2024-01-01").id)
    for change in (
        lambda: memory.supersede(paris, "Alice lives in Rome"),
        lambda: memory.invalidate(paris),
    ):
        with pytest.raises(InputError, match=f"was superseded by {berlin}"):
            change()
    with pytest.raises(InputError, match="until when"):
        memory.reassert(paris, valid_from="2023-01-01")
    memory.expire(berlin)
    for again in (memory.expire, memory.invalidate):
        with pytest.raises(InputError, match=f"believed no longer .* clew reassert {berlin}"):
            again(berlin)


def test_an_unknown_id_and_a_part_of_a_document_are_refused(memory: clew.Clew) -> None:
    memory.import_data("# Harbour\n\nThe crane stands at berth nine.\n", name="harbour.md")
    (part,) = memory.recall("crane berth").hits
    for change in (
        memory.invalidate,
        memory.expire,
        memory.reassert,
        lambda id: memory.supersede(id, BERLIN),
    ):
        with pytest.raises(NotFoundError):
            change("nobody")
        with pytest.raises(InputError, match="of an imported file"):
            change(part.id)


def test_a_clock_that_went_back_is_refused(
    memory: clew.Clew, paris: str, clock: FixedClock
) -> None:
    clock.advance(days=-30)
    for change in (memory.invalidate, memory.expire, lambda id: memory.supersede(id, BERLIN)):
        with pytest.raises(InputError, match="clock: is before 2026-03-01T12:00:00Z"):
            change(paris)
    assert texts(memory, as_of="2025-01-01") == [PARIS]


def test_two_openings_of_one_store_cannot_both_supersede(
    memory: clew.Clew, paris: str, open_clew: Open
) -> None:
    other = open_clew()
    berlin = other.supersede(paris, BERLIN).id
    with pytest.raises(InputError, match=f"superseded by {berlin}"):
        memory.supersede(paris, "Alice lives in Rome above a bakery")
    assert texts(memory) == [BERLIN]


def test_histories_survive_export_and_load(memory: clew.Clew, paris: str, open_clew: Open) -> None:
    memory.supersede(paris, BERLIN, valid_from="2024-01-01")
    with open_clew(":memory:") as copy:
        copy.load(memory.export())
        assert copy.versions(paris) == memory.versions(paris)
        assert texts(copy, as_of="2025-01-01", known_at="2026-03-01T18:00") == [PARIS]
        copy.forget(paris, only=True)
        assert [node.text for node in copy.store.nodes()] == [BERLIN]


def test_a_changed_store_is_sound(memory: clew.Clew, paris: str) -> None:
    berlin = str(memory.supersede(paris, BERLIN, valid_from="2024-01-01").id)
    memory.invalidate(berlin, at="2025-01-01")
    memory.reassert(berlin)
    memory.expire(berlin)
    assert memory.verify() == ()


DYNAMIC: dict[str, Any] = {
    "title": "Staging port",
    "category": "fact",
    "stability": "dynamic",
    "near": False,
}


def test_nothing_supersedes_by_itself_unless_it_is_set(memory: clew.Clew) -> None:
    for port in (5433, 6000):
        memory.remember(f"The staging database listens on port {port}", **DYNAMIC)
    assert len(memory.recent()) == 2


@pytest.mark.parametrize(
    ("fields", "replaced"),
    [
        ({}, True),
        ({"title": "staging  PORT"}, True),
        ({"title": "Production port"}, False),
        ({"title": ""}, False),
        ({"category": "plan"}, False),
        ({"stability": "static"}, False),
    ],
)
def test_set_to_it_a_dynamic_memory_supersedes_the_one_with_its_subject(
    open_clew: Open, clock: FixedClock, fields: dict[str, str], replaced: bool
) -> None:
    memory = open_clew(memory={"auto_supersede": True})
    memory.remember_many(["The staging database listens on port 5433"], **DYNAMIC)
    clock.advance(days=1)
    outcome = memory.remember("The staging database listens on port 6000", **{**DYNAMIC, **fields})
    assert len(memory.recent()) == (1 if replaced else 2)
    assert any("supersedes" in note for note in outcome.notes) is replaced


def test_by_itself_nothing_is_superseded_where_two_have_the_subject(open_clew: Open) -> None:
    with open_clew() as plain:
        for port in (5433, 6000):
            plain.remember(f"The staging database listens on port {port}", **DYNAMIC)
    memory = open_clew(memory={"auto_supersede": True})
    memory.remember("The staging database listens on port 7000", **DYNAMIC)
    assert len(memory.recent()) == 3


def test_what_begins_after_its_successor_was_never_true_as_is_known_now(
    memory: clew.Clew, paris: str
) -> None:
    outcome = memory.supersede(paris, BERLIN, valid_from="2019-01-01")
    assert [node.id for node in memory.recent(as_of="2019-06-01")] == [outcome.id]
    assert [node.id for node in memory.recent(as_of="2021-06-01")] == [outcome.id]
    assert PARIS in [node.text for node in memory.versions(paris)]


def test_what_was_said_to_begin_later_never_was_true_and_the_outcome_tells(
    memory: clew.Clew, paris: str
) -> None:
    (note,) = memory.supersede(paris, BERLIN, valid_from="2019-01-01").notes
    assert (
        note
        == f"{paris} was to begin at 2020-01-01T00:00:00Z, which is later: as is known now, it never was true."
    )


def test_a_memory_told_without_a_beginning_was_true_until_it_is_superseded_however_early(
    memory: clew.Clew, clock: FixedClock
) -> None:
    paris = str(memory.remember(PARIS).id)  # on 1 March 2026
    clock.advance(days=1)
    assert texts(memory, as_of="2023-12-31") == []
    outcome = memory.supersede(paris, BERLIN, valid_from="2024-01-01")
    assert outcome.notes == (
        f"Since when {paris} was true was never said: it was until 2024-01-01T00:00:00Z, and at every time before.",
    )
    assert texts(memory, as_of="2023-12-31") == texts(memory, as_of="1950-01-01") == [PARIS]
    assert texts(memory, as_of="2024-01-01") == texts(memory) == [BERLIN]
    assert texts(memory, as_of="2023-12-31", known_at="2026-03-01T13:00") == [], (
        "what was believed before stays as it was"
    )
    assert texts(memory, as_of="2026-03-02", known_at="2026-03-01T13:00") == [PARIS]
    told = memory.history(paris)[-1]
    assert (told.kind, told.detail["was_from"]) == (EventKind.SUPERSEDE, "2026-03-01T12:00:00Z")
    assert memory.verify() == ()


def test_a_memory_told_without_a_beginning_may_have_ended_before_it_was_told(
    memory: clew.Clew, clock: FixedClock
) -> None:
    paris = str(memory.remember(PARIS).id)
    clock.advance(days=1)
    ended = memory.invalidate(paris, at="2024-01-01")
    assert (ended.t_valid, ended.t_invalid) == (BEGINNING, day(2024))
    assert (texts(memory), texts(memory, as_of="2023-12-31")) == ([], [PARIS])
    assert memory.history(paris)[-1].detail["was_from"] == "2026-03-01T12:00:00Z"
    memory.invalidate(paris, at="2022-01-01")
    assert (texts(memory, as_of="2023-12-31"), texts(memory, as_of="2021-12-31")) == ([], [PARIS])
    memory.reassert(paris, valid_from="2025-01-01")
    assert (texts(memory), texts(memory, as_of="2024-12-31")) == ([PARIS], [])
    assert memory.verify() == ()


def test_what_took_the_place_of_another_or_holds_again_begins_where_it_was_put(
    memory: clew.Clew, paris: str
) -> None:
    berlin = memory.supersede(paris, BERLIN).id
    with pytest.raises(InputError, match="became true"):
        memory.invalidate(str(berlin), at="2025-01-01")
    memory.invalidate(str(berlin))
    memory.reassert(paris)
    with pytest.raises(InputError, match="became true"):
        memory.invalidate(paris, at="2019-01-01")


def test_a_question_is_not_dated_by_what_has_no_beginning(memory: clew.Clew) -> None:
    moved = str(memory.remember("Alice moved to the canal with two cats").id)
    memory.invalidate(moved, at="2024-01-01")
    answer = memory.recall(
        "what happened yesterday, before Alice moved?", as_of="2023-06-01", track=False
    )
    assert "before Alice moved" in answer.trace["time"]["unresolved"]


def test_what_takes_the_place_of_an_ended_fact_ends_with_it(memory: clew.Clew) -> None:
    old = str(memory.remember(PARIS, valid_from="2024-01-01", valid_to="2025-01-01").id)
    new = memory.get(str(memory.supersede(old, BERLIN, valid_from="2024-06-01").id))
    assert new is not None
    assert new.t_invalid == datetime(2025, 1, 1, tzinfo=UTC)


def test_half_a_character_is_removed_from_a_new_text_and_noted(
    memory: clew.Clew, paris: str
) -> None:
    outcome = memory.supersede(paris, "\ud800 lone surrogate in a text of words")
    assert "Removed 1 control character: U+D800 (1)." in outcome.notes
    node = memory.get(str(outcome.id))
    assert node is not None
    assert node.text == "lone surrogate in a text of words"


def test_a_memory_that_says_the_new_text_already_takes_the_place_itself(memory: clew.Clew) -> None:
    old = memory.remember("The patient takes metformin every morning.")
    more = "The patient takes metformin every morning and omeprazole."
    new = memory.remember(more, near=False)
    outcome = memory.supersede(str(old.id), more)
    assert (outcome.outcome, outcome.rule, outcome.id) == ("exact_duplicate", "same_text", new.id)
    assert memory.stats()["nodes"] == 2
    ended = memory.get(str(old.id))
    assert ended is not None
    assert ended.t_invalid is not None
    assert [hit.id for hit in memory.recall("metformin").hits] == [new.id]
    assert old.id in [event.detail.get("supersedes") for event in memory.history(str(new.id))]


def test_fields_of_the_new_text_are_never_dropped_for_a_memory_that_is_there(
    memory: clew.Clew,
) -> None:
    old = memory.remember("The patient takes metformin every morning.")
    more = "The patient takes metformin every morning and omeprazole."
    new = memory.remember(more, near=False)
    outcome = memory.supersede(str(old.id), more, tags=["medication"])
    assert (outcome.outcome, outcome.id == new.id) == ("inserted", False)
