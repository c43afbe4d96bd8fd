"""Whose words, which rules, which category and which part of a day a question asks for, through the public API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import clew
from clew.search.score import total
from clew.search.state import Recall
from clew.testing import FixedClock

COFFEE = (
    {"role": "user", "text": "Hi there!"},
    {"role": "assistant", "text": "Hello! How can I help you today?"},
    {"role": "assistant", "text": "A favourite coffee of many people is an espresso."},
    {"role": "user", "text": "A favourite coffee of mine is a flat white."},
    {"role": "user", "text": "Thanks!"},
)


def opened(**settings: Any) -> clew.Clew:
    return clew.open(":memory:", model={"embedder": "hashing"}, clock=FixedClock(), **settings)


def texts(answer: Recall) -> list[str]:
    return [hit.text for hit in answer.hits]


@pytest.fixture
def memory() -> Iterator[clew.Clew]:
    with opened() as memory:
        yield memory


# --- whose words ---


def test_a_question_about_the_asker_prefers_the_users_words_and_one_about_you_the_assistants(
    memory: clew.Clew,
) -> None:
    memory.remember_conversation(COFFEE, session="coffee", time="2026-02-10T10:00:00Z")
    mine = memory.recall("What is my favourite coffee?", track=False)
    yours = memory.recall("Which favourite coffee did you name?", track=False)
    neither = memory.recall("Which favourite coffee was named?", track=False)
    assert texts(mine)[0] == "user: A favourite coffee of mine is a flat white."
    assert texts(yours)[0] == "assistant: A favourite coffee of many people is an espresso."
    own = {hit.text for hit in mine.hits if "speaker" in hit.components}
    assert own
    assert all(text.startswith("user: ") for text in own)
    assert all("speaker" not in hit.components for hit in neither.hits)
    for hit in (*mine.hits, *yours.hits):
        assert hit.score == pytest.approx(total(hit.components), abs=1e-9)


def test_memories_without_a_role_gain_nothing_from_the_asker(memory: clew.Clew) -> None:
    memory.remember("My favourite coffee is a flat white.")
    assert all(
        "speaker" not in hit.components
        for hit in memory.recall("What is my favourite coffee?", track=False).hits
    )


# --- standing instructions ---


def test_standing_instructions_are_found_by_category_trigger_and_opening(memory: clew.Clew) -> None:
    memory.remember("The keys hang in the hall behind the door.")
    memory.remember("Metric units in every answer.", trigger="instruction")
    memory.remember("Never book flights before nine in the morning.")
    memory.remember("Flights were booked for nine in the morning.")
    for question in (
        "What standing instructions did I give you?",
        "Which rules do I want you to follow?",
    ):
        found = texts(memory.recall(question, k=2, track=False))
        assert set(found) == {
            "Metric units in every answer.",
            "Never book flights before nine in the morning.",
        }, question


# --- small talk ---


def test_small_talk_comes_behind_content_in_an_answer_by_period(memory: clew.Clew) -> None:
    memory.remember_conversation(COFFEE, session="coffee", time="2026-02-10T10:00:00Z")
    for question in (
        "What happened on 10 February 2026?",
        "What did we talk about on 10 February 2026?",
    ):
        found = texts(memory.recall(question, track=False))
        assert ["coffee" in text for text in found] == [True, True, False, False, False], question


# --- a category at a time ---


@pytest.fixture
def team(memory: clew.Clew) -> clew.Clew:
    memory.remember(
        "We chose one database for the billing.", category="decision", valid_from="2025-06-10"
    )
    memory.remember(
        "We agreed to release every second Tuesday.", category="decision", valid_from="2025-06-24"
    )
    memory.remember(
        "We decided to drop the mobile app.", category="decision", valid_from="2025-03-02"
    )
    memory.remember(
        "Payments were down because of a certificate.", category="event", valid_from="2025-09-14"
    )
    memory.remember(
        "The index was corrupted after the deploy.", category="event", valid_from="2025-10-30"
    )
    memory.remember(
        "An incident in the mail queue delayed newsletters.",
        category="event",
        valid_from="2025-02-03",
    )
    memory.remember("Incident reports go to the channel of the operators.", category="procedure")
    memory.remember("June is when Marta is on holiday.", category="note")
    return memory


def test_the_latest_of_a_category_is_found_without_its_word_in_the_text(team: clew.Clew) -> None:
    for question in ("Latest incident", "What was the most recent incident?"):
        answer = team.recall(question, track=False)
        assert texts(answer)[:3] == [
            "The index was corrupted after the deploy.",
            "Payments were down because of a certificate.",
            "An incident in the mail queue delayed newsletters.",
        ], question
        assert not answer.nothing_relevant
        assert all(
            hit.score == pytest.approx(total(hit.components), abs=1e-9) for hit in answer.hits
        )


def test_a_category_and_a_period_are_answered_by_what_is_both(team: clew.Clew) -> None:
    answer = team.recall("What did we decide in June 2025?", track=False)
    assert set(texts(answer)[:2]) == {
        "We chose one database for the billing.",
        "We agreed to release every second Tuesday.",
    }
    assert not answer.nothing_relevant


def test_a_topic_beside_the_category_is_searched(team: clew.Clew) -> None:
    assert texts(team.recall("Which incident of 2025 was because of a certificate?", track=False))[
        0
    ].startswith("Payments")
    assert texts(team.recall("What did we decide about the mobile app in 2025?", track=False))[
        0
    ].endswith("mobile app.")


def test_the_filter_of_the_asker_holds_for_a_category_at_a_time(team: clew.Clew) -> None:
    found = texts(team.recall("Latest incident", where={"category": "procedure"}, track=False))
    assert found == ["Incident reports go to the channel of the operators."]


def test_the_answer_to_a_category_at_a_time_is_the_head_of_a_longer_one(team: clew.Clew) -> None:
    for question in ("Latest incident", "What did we decide in June 2025?"):
        whole = texts(team.recall(question, k=8, track=False))
        assert all(
            texts(team.recall(question, k=k, track=False)) == whole[:k] for k in range(1, 8)
        ), question


# --- presets and recipes ---


def test_the_weight_of_a_period_is_scaled_by_the_preset_like_every_other(team: clew.Clew) -> None:
    question = "Which release was agreed in June 2025?"
    for semantic in (1.0, 0.5):
        answer = team.recall(question, weights={"semantic": semantic}, track=False)
        found = [hit.components["period"].weight for hit in answer.hits]
        assert found == [pytest.approx(0.2 * semantic)] * len(found)
        assert found


@pytest.mark.model
def test_the_recipe_dense_is_vectors_only(real_embedder: Any) -> None:
    with clew.open(":memory:", embedder=real_embedder, clock=FixedClock()) as memory:
        memory.remember("The boiler was repaired by the plumber.")
        memory.remember("The heating in the cellar works again.")
        answer = memory.recall("Who fixed the boiler?", recipe="dense", track=False)
        assert len(answer.hits) == 2
        assert {name for hit in answer.hits for name in hit.channels} == {"dense"}
        assert "tokens" in memory.recall("Who fixed the boiler?", track=False).hits[0].channels


# --- passages of one title ---


def test_two_passages_of_a_title_come_before_others_have_had_their_turn(memory: clew.Clew) -> None:
    for number, word in enumerate(("red", "blue", "green", "grey")):
        memory.remember(
            f"The harbour crane lifts containers with a {word} hook.",
            title="Harbour crane",
            importance=0.9 - number / 10,
        )
    for place in ("north", "south"):
        memory.remember(
            f"A harbour crane lifts containers on the {place} quay.", title=f"Quay in the {place}"
        )
    memory.remember("Bread is baked at four in the morning.", title="Bakery")
    answer = memory.recall("Which harbour crane lifts containers?", track=False)
    titles = [hit.node.title for hit in answer.hits if hit.node]
    assert titles[:4].count("Harbour crane") == 2
    assert titles[4:6] == ["Harbour crane", "Harbour crane"], (
        "what has nothing to do with the question does not take a turn"
    )
    assert all(hit.score == pytest.approx(total(hit.components), abs=1e-9) for hit in answer.hits)


# --- one time of day ---


def test_a_time_of_day_does_not_hide_what_begins_later_that_day(memory: clew.Clew) -> None:
    memory.remember("The office is in Bergen.", title="Office", valid_from="2025-06-01T14:00:00Z")
    memory.remember("The office has a new door.", title="Door", valid_from="2025-06-02T08:00:00Z")
    seen = texts(memory.recall("Where is the office?", as_of="2025-06-01T09:00:00Z", track=False))
    assert seen == ["The office is in Bergen."]
    exact = memory.recall(
        "Where is the office?", as_of="2025-06-01T09:00:00Z", known_at="2026-12-01", track=False
    )
    assert texts(exact) == [], "with known_at the exact time counts"


def test_a_fact_that_begins_later_that_day_is_ranked_below_the_one_it_replaces(
    memory: clew.Clew,
) -> None:
    old = memory.remember("The office is in Oslo.", valid_from="2025-01-01").id
    assert old is not None
    memory.supersede(old, "The office is in Bergen.", valid_from="2025-06-01T14:00:00Z")
    answer = memory.recall("Where is the office?", as_of="2025-06-01T09:00:00Z", track=False)
    assert texts(answer)[0] == "The office is in Oslo."
    assert texts(
        memory.recall("Where is the office?", as_of="2025-06-01T15:00:00Z", track=False)
    ) == ["The office is in Bergen."]
