"""Where several things are asked for they come from several sections; a question for one thing stays as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clew
from clew.recall.score import total
from clew.recall.several import AGAIN, SAID, asked_about, asks_for_several, places
from clew.recall.state import Recall
from clew.testing import FixedClock
from tests.recall.talks import store_talk

# Three sections; the first has three turns that speak of camping, the others one each.
TALK = {
    "spring": ("We went camping at the lake", "The camping was fun at the lake", "More camping at the lake soon"),
    "summer": ("We went camping in the mountains and it rained all week long", "The shop was closed"),
    "autumn": ("We went camping on the beach although the wind blew all night", "The car broke down"),
}
SEVERAL, ONE = "Which camping trips did we go on?", "When did we go camping?"


@contextmanager
def told(*, keyed: bool) -> Iterator[clew.Clew]:
    with clew.open(":memory:", model={"embedder": "none"}, clock=FixedClock()) as memory:
        for number, (section, turns) in enumerate(TALK.items()):
            store_talk(memory.store, section, {f"{section}-{at}": text for at, text in enumerate(turns)}, keyed=keyed, position=number)
        yield memory


@pytest.fixture
def memory() -> Iterator[clew.Clew]:
    with told(keyed=True) as memory:
        yield memory


def asked(memory: clew.Clew, question: str, weight: float) -> Recall:
    alone = {"recall.section_weight": 0.0, "recall.section_weight_long": 0.0, "recall.speaker_weight": 0.0}
    return memory.variant(**{"recall.several_weight": weight, **alone}).recall(question, track=False)


def test_several_things_come_from_several_sections(memory: clew.Clew) -> None:
    plain, spread = asked(memory, SEVERAL, 0.0), asked(memory, SEVERAL, 1.0)
    assert [hit.id.split("-")[0] for hit in plain.hits][:2] == ["spring", "spring"]
    assert {hit.id.split("-")[0] for hit in spread.hits[:3]} == {"spring", "summer", "autumn"}
    assert {hit.id for hit in plain.hits} == {hit.id for hit in spread.hits}


def test_a_question_for_one_thing_passes_untouched(memory: clew.Clew) -> None:
    assert asked(memory, ONE, 1.0).hits == asked(memory, ONE, 0.0).hits


def test_what_it_costs_is_a_component_and_said(memory: clew.Clew) -> None:
    answer = asked(memory, SEVERAL, 0.25)
    costs = {hit.id: hit.components[AGAIN].contribution for hit in answer.hits if AGAIN in hit.components}
    assert sorted(costs.values()) == [-0.5, -0.25]
    assert all(hit.score == total(hit.components) for hit in answer.hits)
    assert all("again" in hit.explanation for hit in answer.hits if hit.id in costs)


def test_chunks_of_a_long_text_say_different_things_and_cost_nothing() -> None:
    with told(keyed=False) as memory:
        assert asked(memory, SEVERAL, 1.0).hits == asked(memory, SEVERAL, 0.0).hits


def test_memories_stand_in_no_section_and_cost_nothing() -> None:
    with clew.open(":memory:", model={"embedder": "none"}, clock=FixedClock()) as memory:
        for text in ("We went camping at the lake", "The camping was fun at the lake"):
            memory.remember(text, near=False)
        assert asked(memory, SEVERAL, 1.0).hits == asked(memory, SEVERAL, 0.0).hits


@pytest.mark.parametrize(
    "question",
    [
        "What activities does Melanie enjoy?",
        "Which three cities did they visit?",
        "What are the names of her pets?",
        "how often did he run",
        "Tell me who has written to us",
    ],
)
def test_plurals_numbers_and_what_has_been_done_ask_for_several(question: str) -> None:
    assert asks_for_several(question)


@pytest.mark.parametrize(
    "question", ["", "Where does she live?", "What was his first address?", "How long did it take?", "books", "Whose bus is this?"]
)
def test_other_questions_do_not(question: str) -> None:
    assert not asks_for_several(question)


@given(st.lists(st.sampled_from(["a", "b", None])))
def test_each_place_counts_the_hits_before_it_in_the_same_section(parents: list[str | None]) -> None:
    assert places(parents) == [parents[:at].count(parent) if parent else 0 for at, parent in enumerate(parents)]


# Who says it -----------------------------------------------------------------------------------------------------------------

PEOPLE = ("Ann: I read a book by the sea", "Bob: Ann read a book too", "Ann: I read Emma, a book I love", "Bob: I read no book at all")


@pytest.fixture
def talk() -> Iterator[clew.Clew]:
    with clew.open(":memory:", model={"embedder": "none"}, clock=FixedClock()) as memory:
        for at, text in enumerate(PEOPLE):
            store_talk(memory.store, f"s{at}", {f"t{at}": text})
        yield memory


def gains(memory: clew.Clew, question: str) -> dict[str, float]:
    answer = memory.variant(**{"recall.several_weight": 0.0, "recall.speaker_weight": 0.5}).recall(question, track=False)
    assert all(hit.score == total(hit.components) for hit in answer.hits)
    return {hit.id: hit.components[SAID].contribution for hit in answer.hits if SAID in hit.components}


def test_what_the_one_says_who_is_asked_about_gains(talk: clew.Clew) -> None:
    gained = gains(talk, "Which books has Ann read?")
    assert gained == pytest.approx({"t0": 0.4, "t2": 0.4})  # half of the 0.8 that the preset gives to relevance


@pytest.mark.parametrize("question", ["Which books have Ann and Bob read?", "Which books has Eve read?", "When did Ann read the book?"])
def test_nobody_gains_who_is_not_the_only_one_asked_about(talk: clew.Clew, question: str) -> None:
    assert not gains(talk, question)


def test_where_one_speaks_alone_there_is_nobody_to_prefer() -> None:
    assert asked_about("What books has Ann read?", ["ann"]) is None
    assert asked_about("What books has Ann read?", ["ann", "bob"]) == "ann"
    assert asked_about("What books have they read?", ["ann", "they"]) is None  # a word that tells nothing is no name


def test_of_one_long_section_the_best_turns_stay_the_best() -> None:
    with clew.open(":memory:", model={"embedder": "none"}, clock=FixedClock()) as memory:
        store_talk(memory.store, "talk", {f"turn-{at:03}": f"Camping trips {'and on ' * (at // 2)}number {at}" for at in range(150)})
        plain, spread = ([hit.id for hit in asked(memory, SEVERAL, weight).hits] for weight in (0.0, 0.2))
    assert plain == spread
