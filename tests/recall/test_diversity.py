"""Spread an answer over sessions, documents and titles."""

from __future__ import annotations

from typing import Any

import pytest

import clew
from clew.search.score import total
from clew.testing import FixedClock

ASK = "who repairs the harbour crane"


def asked(**weights: Any) -> list[tuple[str, float]]:
    """Return the title and the repeat component of each hit.

    Five memories of one title, and one of another that is a little worse.
    """
    options: dict[str, Any] = {
        "model": {"embedder": "none"},
        "clock": FixedClock(),
        "spread": {"enabled": False},
    }
    with clew.open(":memory:", **options, recall={"weights": weights}) as memory:
        for number in range(5):
            memory.remember(
                f"The harbour crane is one that Ada repairs, visit {number}",
                title="Crane log",
                near=False,
            )
        memory.remember(
            "The harbour crane is one that Bo of the other town repairs on visit two", title="Notes"
        )
        answer = memory.recall(ASK)
        for hit in answer.hits:
            assert hit.score == pytest.approx(total(hit.components), abs=1e-9)
        return [
            (hit.node.title, hit.components["repeat"].value if "repeat" in hit.components else 0.0)
            for hit in answer.hits
            if hit.node
        ]


def test_each_further_hit_of_one_title_costs_more_so_that_others_have_their_turn() -> None:
    assert [title for title, _ in asked(repeat=0.0)] == ["Crane log"] * 5 + ["Notes"]
    found = asked(repeat=0.3)
    assert "Notes" in [title for title, _ in found[:3]]
    costs = [value for title, value in found if title == "Crane log"]
    crowd = -2.0 - costs[2]
    assert crowd > 0, "the third of a title waits for what is at least half as relevant as the best"
    assert costs == pytest.approx([0.0, -1.0, -2.0 - crowd, -3.0 - crowd, -4.0 - crowd])


def test_messages_of_one_session_make_room_for_those_of_another() -> None:
    with clew.open(
        ":memory:",
        model={"embedder": "none"},
        clock=FixedClock(),
        recall={"weights": {"repeat": 0.1}},
    ) as memory:
        for session, count in (("monday", 6), ("friday", 1)):
            said = [
                {
                    "speaker": "Ann",
                    "text": f"The harbour crane needs grease, {session} note {number}",
                }
                for number in range(count)
            ]
            memory.remember_conversation(said, session=session)
        answer = memory.recall("harbour crane needs grease", k=3)
    assert {hit.node.metadata["session"] for hit in answer.hits if hit.node} == {"monday", "friday"}


def test_an_order_by_time_that_the_question_asks_for_is_left_alone() -> None:
    with clew.open(
        ":memory:",
        model={"embedder": "none"},
        clock=FixedClock(),
        recall={"weights": {"repeat": 0.5}},
    ) as memory:
        for day in (1, 2, 3):
            memory.remember(
                f"The harbour crane was oiled on visit {day}",
                title="Crane log",
                valid_from=f"2025-01-0{day}",
                near=False,
            )
        hits = memory.recall("the latest visit to the harbour crane").hits
    assert [hit.node.t_valid.day for hit in hits if hit.node] == [3, 2, 1]
    assert all("repeat" not in hit.components for hit in hits)


def test_a_preset_without_relevance_has_no_repeats() -> None:
    with clew.open(":memory:", model={"embedder": "none"}, clock=FixedClock()) as memory:
        for number in range(4):
            memory.remember(
                f"The harbour crane was oiled on visit {number}", title="Crane log", near=False
            )
        hits = memory.recall("harbour crane", weights={"recency": 1.0}).hits
    assert len(hits) == 4
    assert all("repeat" not in hit.components for hit in hits)
