"""What is not true yet: it is found, and stays behind what it will replace unless the question looks ahead."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import clew
from clew.search.score import total
from clew.testing import FixedClock

QUAY, MILL, TOWER = (
    f"The office is on {street}." for street in ("Quay Street", "Mill Lane", "Tower Road")
)


@pytest.fixture(params=["none", "hashing"])
def memory(request: pytest.FixtureRequest) -> Iterator[clew.Clew]:
    # on 1 March 2026
    with clew.open(":memory:", model={"embedder": request.param}, clock=FixedClock()) as memory:
        quay = memory.remember(QUAY, valid_from="2026-01-01", near=False)
        mill = memory.supersede(str(quay.id), MILL, valid_from="2026-06-15", importance=0.9)
        memory.supersede(str(mill.id), TOWER, valid_from="2026-09-01", importance=1.0)
        memory.remember("The harbour café sells tea and cake", near=False)
        yield memory


def texts(memory: clew.Clew, question: str, **options: object) -> list[str]:
    return [
        hit.text
        for hit in memory.recall(
            question,
            preset="important",
            track=False,
            **options,  # type: ignore[arg-type]
        ).hits
    ]


def test_what_will_take_the_place_of_something_comes_behind_it_and_in_turn(
    memory: clew.Clew,
) -> None:
    answer = memory.recall("where is the office?", preset="important", track=False)
    assert [hit.text for hit in answer.hits][:3] == [QUAY, MILL, TOWER]
    assert [hit.components["not_yet"].value for hit in answer.hits[1:3]] == [-1.0, -1.0]
    assert "not_yet" in answer.hits[1].explanation
    for hit in answer.hits:
        assert hit.score == total(hit.components)


def test_a_question_about_what_will_be_or_about_a_time_looks_ahead(memory: clew.Clew) -> None:
    assert texts(memory, "where will the office be?")[0] in (MILL, TOWER)
    assert texts(memory, "where is the office in June 2026?")[0] == MILL
    assert not any(
        "not_yet" in hit.components
        for hit in memory.recall("where will the office be?", preset="important", track=False).hits
    )


def test_when_its_time_has_come_it_is_alone(memory: clew.Clew) -> None:
    assert texts(memory, "where is the office?", as_of="2026-07-01")[:1] == [MILL]
    assert QUAY not in texts(memory, "where is the office?", as_of="2026-07-01")


def test_what_is_planned_and_replaces_nothing_is_found_as_ever(memory: clew.Clew) -> None:
    memory.remember("The launch party is in the harbour hall", valid_from="2026-03-20", near=False)
    (party, *_) = memory.recall("where is the launch party?", track=False).hits
    assert "launch party" in party.text
    assert "not_yet" not in party.components
    assert party.components["recency"].value < 0.2, "nearness to now counts, on either side of it"
