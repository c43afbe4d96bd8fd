"""What a question's words say besides its topic: an order by time, a period, a category."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import clew
from clew.search.score import total
from clew.testing import FixedClock


@pytest.fixture
def memory() -> Iterator[clew.Clew]:
    with clew.open(":memory:", model={"embedder": "hashing"}, clock=FixedClock()) as memory:
        memory.remember(
            "Incident: the queue was stuck after the deploy.",
            category="event",
            valid_from="2025-09-14",
        )
        memory.remember(
            "Incident: the API was down because of a certificate.",
            category="event",
            valid_from="2025-05-20",
        )
        memory.remember(
            "We decided to move the billing to another database.",
            category="decision",
            valid_from="2025-06-12",
        )
        memory.remember(
            "The latest is a word, and latest news is the latest of all.", category="note"
        )
        memory.remember(
            "The boiler was looked at in June 2024 by the plumber.",
            category="note",
            valid_from="2025-12-03",
        )
        yield memory


def test_a_word_that_asks_for_an_order_is_not_searched(memory: clew.Clew) -> None:
    answer = memory.recall("latest incident", track=False)
    assert answer.terms == ("incid",)
    assert [hit.text[:19] for hit in answer.hits[:2]] == [
        "Incident: the queue",
        "Incident: the API w",
    ]
    assert memory.recall("latest", track=False).terms == ("latest",), (
        "there is nothing else to search"
    )


def test_a_memory_of_the_category_that_the_question_points_to_gains(memory: clew.Clew) -> None:
    answer = memory.recall("What did we decide in June 2025?", track=False)
    best = answer.hits[0]
    assert best.text.startswith("We decided")
    assert best.components["category"].value == 1.0
    assert all(hit.score == pytest.approx(total(hit.components), abs=1e-9) for hit in answer.hits)
    assert "+ category" in best.explanation
    with memory.variant(recall={"weights": {"category": 0}}) as without:
        assert all(
            "category" not in hit.components
            for hit in without.recall("What did we decide in June 2025?", track=False).hits
        )


@pytest.mark.model
def test_a_hit_dated_in_the_period_asked_about_is_not_called_irrelevant(real_model: Path) -> None:
    with clew.open(":memory:", clock=FixedClock()) as memory:
        memory.remember(
            "We decided to move billing to PostgreSQL.",
            category="decision",
            valid_from="2025-06-12",
        )
        memory.remember(
            "We decided to drop the mobile app.", category="decision", valid_from="2025-03-02"
        )
        asked = {
            month: memory.recall(f"What did we decide in {month} 2025?", track=False)
            for month in ("June", "October")
        }
    assert [hit.confidence for hit in asked["June"].hits[:1]] < [0.139], (
        "the words alone say too little"
    )
    assert (asked["June"].nothing_relevant, asked["October"].nothing_relevant) == (False, True)
