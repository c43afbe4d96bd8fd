"""What a fresh reading of time and truth found.

Late facts, texts said again of another time, links that go on.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

import clew
from clew.types import Node
from tests.conftest import Open

if TYPE_CHECKING:
    from clew.testing import FixedClock

PORT: dict[str, Any] = {
    "title": "Staging port",
    "category": "fact",
    "stability": "dynamic",
    "near": False,
}
CRANE = "The harbour crane at berth nine is painted red"


def port(number: int) -> str:
    return f"The staging database listens on port {number}"


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def node(memory: clew.Clew, id: str | None) -> Node:
    found = memory.get(str(id))
    assert found is not None
    return found


def true_at(memory: clew.Clew, as_of: str) -> list[str]:
    return sorted(each.text for each in memory.recent(as_of=as_of))


# --- a dynamic fact that arrives late ---


@pytest.fixture
def superseding(open_clew: Open) -> clew.Clew:
    return open_clew(memory={"auto_supersede": True})


def test_a_dynamic_fact_that_arrives_late_ends_where_the_next_one_begins(
    superseding: clew.Clew,
) -> None:
    current = superseding.remember(port(6000), valid_from="2025-01-01", **PORT)
    late = superseding.remember(port(5433), valid_from="2020-01-01", **PORT)
    assert node(superseding, late.id).t_invalid == day("2025-01-01")
    assert node(superseding, current.id).t_invalid is None
    assert [true_at(superseding, f"{year}-06-01") for year in (2019, 2022, 2025)] == [
        [],
        [port(5433)],
        [port(6000)],
    ]
    assert any("2025-01-01" in note and str(current.id) in note for note in late.notes)
    assert [each.text for each in superseding.versions(str(late.id))] == [port(5433), port(6000)]


def test_a_dynamic_fact_that_arrives_between_two_ends_the_first_and_ends_with_the_second(
    superseding: clew.Clew, clock: FixedClock
) -> None:
    first = superseding.remember(port(1), valid_from="2020-01-01", **PORT)
    clock.advance(days=1)
    superseding.remember(port(3), valid_from="2024-01-01", **PORT)
    clock.advance(days=1)
    between = superseding.remember(port(2), valid_from="2022-01-01", **PORT)
    assert node(superseding, first.id).t_invalid == day("2022-01-01")
    assert node(superseding, between.id).t_invalid == day("2024-01-01")
    assert [true_at(superseding, f"{year}-06-01") for year in (2021, 2023, 2025)] == [
        [port(1)],
        [port(2)],
        [port(3)],
    ]
    assert superseding.verify() == ()


def test_a_late_fact_that_ended_before_the_next_keeps_its_own_end(superseding: clew.Clew) -> None:
    superseding.remember(port(6000), valid_from="2025-01-01", **PORT)
    late = superseding.remember(port(5433), valid_from="2020-01-01", valid_to="2021-01-01", **PORT)
    assert node(superseding, late.id).t_invalid == day("2021-01-01")
    assert late.notes == ()


def test_that_several_have_the_subject_is_told(open_clew: Open) -> None:
    with open_clew() as plain:
        for number in (1, 2):
            plain.remember(port(number), valid_from="2020-01-01", **PORT)
    outcome = open_clew(memory={"auto_supersede": True}).remember(port(3), **PORT)
    assert any("2 memories with the same subject" in note for note in outcome.notes)


# --- the same text of another time ---


def test_a_current_statement_is_no_duplicate_of_one_that_begins_later(memory: clew.Clew) -> None:
    later = memory.remember(CRANE, valid_from="2027-01-01")
    now = memory.remember(CRANE)
    assert now.outcome == "inserted"
    assert node(memory, now.id).t_invalid == day("2027-01-01")
    assert any(str(later.id) in note for note in now.notes)
    assert [true_at(memory, date) for date in ("2026-06-01", "2027-06-01")] == [[CRANE], [CRANE]]


def test_a_statement_without_end_is_no_duplicate_of_one_that_ended(memory: clew.Clew) -> None:
    memory.remember(CRANE, valid_from="2019-01-01", valid_to="2021-01-01")
    again = memory.remember(CRANE, valid_from="2020-01-01")
    assert again.outcome == "inserted"
    assert true_at(memory, "2025-01-01") == [CRANE]


def test_the_same_text_from_an_earlier_time_on_is_an_interval_of_its_own(memory: clew.Clew) -> None:
    memory.remember(CRANE, valid_from="2024-01-01")
    earlier = memory.remember(CRANE, valid_from="2020-01-01")
    assert (earlier.outcome, node(memory, earlier.id).t_invalid) == ("inserted", day("2024-01-01"))
    assert [true_at(memory, f"{year}-06-01") for year in (2019, 2022, 2025)] == [
        [],
        [CRANE],
        [CRANE],
    ]
    again = memory.remember(CRANE, valid_from="2020-01-01", valid_to="2023-01-01")
    assert (again.outcome, again.id) == ("exact_duplicate", earlier.id)
    assert any("valid_to" in note for note in again.notes)


def test_a_near_duplicate_of_a_plan_is_kept_beside_it(open_clew: Open) -> None:
    memory = open_clew(duplicates={"near_threshold": 0.7})
    plan = memory.remember(
        "The harbour crane at berth nine is painted red again", valid_from="2027-01-01"
    )
    assert (
        memory.remember("The harbour crane at berth nine was painted red again").outcome
        == "inserted"
    )
    assert (
        memory.remember(
            "Harbour crane at berth nine is painted red again", valid_from="2027-02-01"
        ).outcome
        == "inserted"
    )
    again = memory.remember(
        "The harbour crane at berth nine is painted red again!", valid_from="2027-01-01"
    )
    assert (again.outcome, again.id) == ("near_duplicate", plan.id)


def test_a_text_said_again_within_its_time_is_a_duplicate_and_told_which_times_were_not_taken(
    memory: clew.Clew,
) -> None:
    first = memory.remember(CRANE, valid_from="2020-01-01", valid_to="2027-01-01")
    assert memory.remember(CRANE).notes == ()
    again = memory.remember(CRANE, valid_from="2022-01-01", valid_to="2023-01-01")
    assert (again.outcome, again.id) == ("exact_duplicate", first.id)
    assert again.notes == (
        "The memory keeps its own valid_from and valid_to; what was offered was not taken over.",
    )


# --- links of what was superseded ---


def test_links_made_by_hand_go_on_with_the_successor(memory: clew.Clew, clock: FixedClock) -> None:
    old, cause, effect = (
        str(memory.remember(text, near=False).id)
        for text in (port(1), CRANE, "Low tide is at six in the morning")
    )
    memory.link(cause, old, kind="CAUSES", weight=0.4, evidence="said so")
    memory.link(old, effect, kind="RELATED", weight=0.7)
    clock.advance(days=1)
    new = str(memory.supersede(old, port(2)).id)
    found = {
        (edge.source, edge.target, edge.kind, edge.weight, edge.evidence)
        for edge in memory.related(new).edges
    }
    assert found == {(cause, new, "CAUSES", 0.4, "said so"), (new, effect, "RELATED", 0.7, "")}
    assert memory.verify() == ()


def test_a_likeness_that_was_only_measured_does_not_go_on(open_clew: Open) -> None:
    memory = open_clew(related={"enabled": True, "least": 0.3})
    alike = str(memory.remember(port(1)).id)
    old = str(memory.remember(port(2)).id)
    assert [edge.kind for edge in memory.store.edges([old])] == ["RELATED"]
    new = str(memory.supersede(old, "Low tide is at six in the morning").id)
    assert alike not in {edge.target for edge in memory.store.edges([new])}


def test_a_memory_that_is_true_at_two_times_is_one_neighbour(
    memory: clew.Clew, clock: FixedClock
) -> None:
    plan = str(
        memory.remember(
            "Anna Keller reviews the harbour plan", valid_from="2020-01-01", near=False
        ).id
    )
    report = str(memory.remember("the report on cranes is by Anna Keller", near=False).id)
    once = memory.related(report).nodes[0].strength
    clock.advance(days=1)
    memory.invalidate(plan, at="2028-01-01")
    memory.reassert(plan, valid_from="2029-01-01")
    (neighbour,) = memory.related(report).nodes
    assert (neighbour.node.id, neighbour.shares) == (plan, ("Anna Keller",))
    assert neighbour.strength <= once


def test_a_name_connects_less_the_more_memories_hold_it(open_clew: Open) -> None:
    memory = open_clew()
    ids = [
        memory.remember(f"Anna Keller wrote entry {number} of the log", near=False).id
        for number in range(2)
    ]
    few = memory.related(str(ids[0])).nodes[0].strength
    for number in range(2, 9):
        memory.remember(f"Anna Keller wrote entry {number} of the log", near=False)
    assert memory.related(str(ids[0])).nodes[0].strength < few


# --- one id for a memory, whatever time is asked about ---

BEFORE = "2026-03-01T18:00"


@pytest.fixture
def ended(memory: clew.Clew, clock: FixedClock) -> str:
    """Believed true without end on 1 March 2026, since the day after known to have ended in 2022."""
    id = str(memory.remember(CRANE, valid_from="2020-01-01", title="Berth nine").id)
    clock.advance(days=1)
    memory.invalidate(id, at="2022-01-01")
    return id


def test_a_hit_of_an_earlier_belief_carries_the_memorys_own_id(
    memory: clew.Clew, ended: str
) -> None:
    (hit,) = memory.recall("harbour crane", known_at=BEFORE).hits
    assert hit.node is not None
    assert (hit.id, hit.node.root, hit.node.t_invalid, hit.text) == (ended, ended, None, CRANE)
    assert memory.history(ended)[-1].kind == "ACCESS"


def test_why_and_why_not_speak_of_the_memory_as_it_was_believed_then(
    memory: clew.Clew, ended: str
) -> None:
    version = next(each.id for each in memory.versions(ended) if each.id != ended)
    for id in (ended, version):
        found = memory.why("harbour crane", id, known_at=BEFORE)
        assert (found.id, found.rank, found.answer_rank) == (ended, 1, 1)
        assert found.hit is not None
        assert found.hit.id == ended
        assert memory.why_not("harbour crane", id, known_at=BEFORE).found
        now = memory.why_not("harbour crane", id)
        assert (now.id, now.stage, now.reason, now.value) == (
            ended,
            "filter",
            "invalid",
            "2022-01-01T00:00:00Z",
        )
        then = memory.why_not("harbour crane", id, known_at="2026-02-01")
        # when it was first believed, not when it was last changed
        assert (then.reason, then.value) == ("known_at", "2026-03-01T12:00:00Z")
        past = memory.why_not("harbour crane", id, known_at=BEFORE, as_of="2019-01-01")
        assert (past.reason, past.value) == ("as_of", "2020-01-01T00:00:00Z")


def test_a_replay_of_an_earlier_belief_is_identical_and_names_the_memory(
    memory: clew.Clew, ended: str
) -> None:
    trace = memory.trace(memory.recall("harbour crane", known_at=BEFORE, track=False))
    assert [each["id"] for each in trace["ranking"]] == [ended]
    assert memory.replay(trace).identical
    memory.forget(ended)
    assert [(each.id, each.change) for each in memory.replay(trace).hits] == [(ended, "gone")]


def test_paths_of_an_earlier_belief_go_from_memory_to_memory(
    memory: clew.Clew, clock: FixedClock
) -> None:
    film = str(
        memory.remember(
            "The Salt Meadow was directed by Anna Keller in spring",
            title="The Salt Meadow",
            near=False,
        ).id
    )
    person = str(
        memory.remember(
            "Born in a village by the sea as the third child", title="Anna Keller", near=False
        ).id
    )
    clock.advance(days=1)
    for id in (film, person):
        memory.invalidate(id, at=clock())
    clock.advance(days=1)
    hits = memory.recall(
        "Where was the director of The Salt Meadow born?", known_at=BEFORE, as_of=BEFORE
    ).hits
    (reached,) = [hit for hit in hits if hit.path]
    assert {hit.id for hit in hits} == {film, person}
    assert [(hop.source, hop.target) for hop in reached.path] == [(film, person)]
    assert reached.id == person


def test_links_questions_and_the_archive_take_a_versions_id_for_the_memory(
    memory: clew.Clew, ended: str
) -> None:
    version = next(each.id for each in memory.versions(ended) if each.id != ended)
    other = str(memory.remember("Low tide is at six in the morning").id)
    assert memory.link(version, other).source == ended
    assert memory.related(version).id == ended
    memory.store.update(ended, archived=True)
    assert (memory.unarchive(version).id, node(memory, ended).archived) == (ended, False)


def test_a_memory_with_two_times_ahead_is_one_hit(memory: clew.Clew, clock: FixedClock) -> None:
    id = str(memory.remember(CRANE, valid_to="2028-01-01").id)
    clock.advance(days=1)
    memory.reassert(id, valid_from="2029-01-01")
    assert [hit.id for hit in memory.recall("harbour crane").hits] == [id]


# --- days, and what took a memory's place ---


def test_a_day_that_is_asked_about_counts_to_its_end(memory: clew.Clew) -> None:
    memory.remember(CRANE)  # at noon on 1 March 2026
    several: tuple[dict[str, Any], ...] = (
        {"as_of": "2026-03-01"},
        {"known_at": "2026-03-01"},
        {"as_of": "2026-03-01", "known_at": "2026-03-01"},
    )
    for asked in several:
        assert [hit.text for hit in memory.recall("harbour crane", **asked).hits] == [CRANE]
        assert [each.text for each in memory.recent(**asked)] == [CRANE]
        assert memory.get(memory.recent()[0].id, **asked) is not None
    assert memory.recall("harbour crane", as_of="2026-02-28").hits == ()
    assert memory.recent(as_of="2026-03-01T00:00") == ()


def test_a_time_of_day_hides_nothing_that_was_recorded_on_that_day_unless_it_is_asked_what_was_known(
    memory: clew.Clew,
) -> None:
    memory.remember(CRANE)  # at noon on 1 March 2026
    morning = "2026-03-01T08:00"
    assert [hit.text for hit in memory.recall("harbour crane", as_of=morning).hits] == [CRANE]
    assert memory.recall("harbour crane", as_of="2026-02-28T23:59").hits == ()
    assert memory.recall("harbour crane", known_at=morning).hits == ()
    assert memory.recall("harbour crane", as_of=morning, known_at=morning).hits == ()


def test_a_time_of_day_sees_what_begins_later_that_day_and_not_what_has_ended(
    memory: clew.Clew,
) -> None:
    memory.remember(CRANE, valid_from="2026-03-01T09:00", valid_to="2026-03-01T11:00")
    times = ("2026-03-01T08:59", "2026-03-01T09:00", "2026-03-01T10:59", "2026-03-01T11:00")
    assert [len(memory.recall("harbour crane", as_of=time).hits) for time in times] == [1, 1, 1, 0]


def test_what_took_a_memorys_place_later_that_day_comes_behind_it(
    memory: clew.Clew, clock: FixedClock
) -> None:
    old = str(memory.remember(port(1)).id)  # at noon
    clock.advance(hours=2)
    new = str(memory.supersede(old, port(2)).id)
    assert [hit.id for hit in memory.recall("which port", as_of="2026-03-01T13:00").hits] == [
        old,
        new,
    ]
    assert [hit.id for hit in memory.recall("which port", as_of="2026-03-01T15:00").hits] == [new]


def test_why_not_names_what_took_a_memorys_place(memory: clew.Clew, clock: FixedClock) -> None:
    old = str(memory.remember(port(1), valid_from="2020-01-01").id)
    clock.advance(days=1)
    new = str(memory.supersede(old, port(2), valid_from="2024-01-01").id)
    found = memory.why_not("which port", old)
    assert (found.reason, found.by) == ("invalid", new)
    assert found.sentence.endswith(f"; {new} took its place.")
    assert memory.why_not("which port", old, as_of="2025-01-01").by == new
    assert memory.why_not("which port", old, as_of="2019-01-01").by is None  # it had not begun
    assert memory.why_not("which port", old, as_of="2023-01-01").found
    memory.expire(new)
    assert memory.why_not("which port", old).by is None
