"""A turn that follows a question is its answer: it shares the question's relevance, and the question pays for only asking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

import clew
from clew.recall.reply import ASKING, REPLY
from clew.recall.score import total
from clew.recall.state import Recall
from clew.testing import FixedClock
from tests.recall.talks import store_talk

TALK = (
    "Ann: Where did you go on your summer holiday?",
    "Bob: To Lisbon, by train, on a holiday ticket!",
    "Ann: My holiday was too short this summer.",
    "Bob: The bakery has closed.",
)
ASKED = "summer holiday"


@contextmanager
def told(turns: Sequence[str] = TALK, *, keyed: bool = True, sections: int = 1) -> Iterator[clew.Clew]:
    with clew.open(":memory:", model={"embedder": "none"}, clock=FixedClock()) as memory:
        each = len(turns) // sections
        for number in range(sections):
            here = range(number * each, (number + 1) * each)
            store_talk(memory.store, f"s{number}", {f"t{at}": turns[at] for at in here}, keyed=keyed)
        yield memory


@pytest.fixture
def memory() -> Iterator[clew.Clew]:
    with told() as memory:
        yield memory


def asked(memory: clew.Clew, question: str = ASKED, *, reply: float = 0.0, asking: float = 0.0, preset: str | None = None) -> Recall:
    return memory.variant(**{"recall.reply_weight": reply, "recall.asking_weight": asking}).recall(question, track=False, preset=preset)


def parts(answer: Recall, name: str) -> dict[str, float]:
    return {hit.id: hit.components[name].contribution for hit in answer.hits if name in hit.components}


def test_the_turn_after_a_question_gets_a_share_of_its_relevance(memory: clew.Clew) -> None:
    answer = asked(memory, reply=0.5)
    relevance = {hit.id: hit.components["semantic"].value for hit in answer.hits}
    semantic = answer.question.weights.semantic
    assert parts(answer, REPLY) == {"t1": pytest.approx(0.5 * semantic * relevance["t0"])}


def test_the_answer_may_come_before_what_only_shares_words_with_the_question(memory: clew.Clew) -> None:
    places = [[hit.id for hit in asked(memory, reply=reply, asking=reply).hits] for reply in (0.0, 1.0)]
    assert places[0].index("t1") > places[0].index("t0")
    assert places[1][0] == "t1"


def test_what_a_turn_asks_costs_as_much_as_there_is_of_it() -> None:
    with told(("Ann: We had a holiday. Was yours long too?", "Bob: A holiday?")) as memory:
        answer = asked(memory, "holiday", asking=0.2)
        semantic = answer.question.weights.semantic
        assert parts(answer, ASKING) == pytest.approx({"t0": -0.5 * 0.2 * semantic, "t1": -0.2 * semantic})


def test_who_asks_for_questions_gets_them_at_no_cost(memory: clew.Clew) -> None:
    assert not parts(asked(memory, "What did Ann ask about the holiday?", asking=0.5), ASKING)


def test_the_first_turn_of_the_next_section_answers_nothing() -> None:
    with told((TALK[3], TALK[0], *TALK[1:3]), sections=2) as memory:
        assert not parts(asked(memory, reply=0.5), REPLY)


def test_a_turn_that_was_not_found_is_not_brought_in() -> None:
    with told((TALK[0], "Bob: To Lisbon.")) as memory:
        assert [hit.id for hit in asked(memory, reply=1.0).hits] == [hit.id for hit in asked(memory).hits] == ["t0"]


def test_all_parts_add_up_to_the_score_and_are_told(memory: clew.Clew) -> None:
    answer = asked(memory, reply=0.3, asking=0.2)
    assert all(hit.score == total(hit.components) for hit in answer.hits)
    assert [hit.score for hit in answer.hits] == sorted((hit.score for hit in answer.hits), reverse=True)
    told = {hit.id: hit.explanation for hit in answer.hits}
    assert "+ reply" in told["t1"]
    assert "- asking" in told["t0"]


def test_it_weighs_as_much_as_the_preset_lets_relevance_weigh(memory: clew.Clew) -> None:
    weights = {
        preset: next(hit for hit in asked(memory, reply=0.5, preset=preset).hits if hit.id == "t1").components[REPLY].weight
        for preset in ("semantic", "recent")
    }
    assert weights == pytest.approx({"semantic": 0.5 * 0.8, "recent": 0.5 * 0.3})


def test_chunks_of_a_long_text_ask_and_answer_nothing() -> None:
    with told(keyed=False) as memory:
        assert asked(memory, reply=1.0, asking=1.0).hits == asked(memory).hits


def test_memories_ask_and_answer_nothing() -> None:
    with clew.open(":memory:", model={"embedder": "none"}, clock=FixedClock()) as memory:
        for text in TALK:
            memory.remember(text, near=False)
        assert asked(memory, reply=1.0, asking=1.0).hits == asked(memory).hits


def test_without_its_weights_the_stage_is_not_there(memory: clew.Clew) -> None:
    off = memory.variant(**{"recall.reply_weight": 0.0, "recall.asking_weight": 0.0})
    assert "reply" not in [step.stage for step in off.recall(ASKED, track=False).steps]
    assert "reply" in [step.stage for step in memory.recall(ASKED, track=False).steps]


def test_what_was_not_looked_at_overtakes_nothing_by_paying_nothing() -> None:
    questions = [f"Ann: Was the {'summer ' * (at < 80)}holiday number {at} nice?" for at in range(120)]
    with told(questions) as memory:
        plain, costly = ([hit.id for hit in asked(memory, asking=weight).hits] for weight in (0.0, 0.5))
    assert plain == costly
