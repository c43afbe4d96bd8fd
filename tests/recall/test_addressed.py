"""A question about somebody who talks is also asked as it would be put to them, and that finds what they say of themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pytest

import clew
from clew.ports import EmbedRole
from clew.recall.addressed import addressed
from clew.recall.placed import relevance
from clew.recall.score import total
from clew.recall.state import ADDRESSED, Recall
from clew.testing import FixedClock
from clew.types import Vectors
from tests.recall.talks import store_talk

ASKED, PUT = "What books has Ann read?", "What books have you read?"
GREETING, ANSWER = "Bob: Hello Ann, what a day!", "Ann: I finished Middlemarch."
TALK = {"greeting": GREETING, "answer": ANSWER, "other": "Bob: The bakery has closed."}
DIRECTIONS = {ASKED: (1.0, 0.3, 0.0), GREETING: (1.0, 0.0, 0.0), PUT: (0.0, 1.0, 0.0), ANSWER: (0.0, 1.0, 0.0)}


class Planted:
    """The question about Ann lies by the greeting that names her, and the question to her by her answer."""

    id, dimension, max_tokens = "planted", 3, 512

    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> Vectors:
        vectors = np.array([DIRECTIONS.get(text, (0.0, 0.0, 1.0)) for text in texts], np.float32)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)

    def count(self, text: str) -> int:
        return len(text.split())


@contextmanager
def told(turns: dict[str, str] = TALK, *, keyed: bool = True) -> Iterator[clew.Clew]:
    with clew.open(":memory:", embedder=Planted(), clock=FixedClock()) as memory:
        store_talk(memory.store, "talk", turns, keyed=keyed)
        memory.reembed()
        yield memory


def asked(memory: clew.Clew, question: str = ASKED, weight: float = 0.6, *, min_similarity: float | None = None) -> Recall:
    return memory.variant(**{"recall.addressed_weight": weight}).recall(question, k=3, track=False, min_similarity=min_similarity)


def test_what_somebody_says_comes_before_what_only_names_them() -> None:
    with told() as memory:
        assert asked(memory).hits[0].text == ANSWER
        assert asked(memory, weight=0.0).hits[0].text == GREETING


def test_the_second_question_and_its_cost_are_told() -> None:
    with told() as memory:
        stats = asked(memory).stats
        assert (stats["addressed"], stats["embedding_calls"]) == (PUT, 2)
        stats = asked(memory, weight=0.0).stats
        assert (stats["addressed"], stats["embedding_calls"]) == ("", 1)


def test_it_is_a_channel_of_the_relevance_and_explained() -> None:
    with told() as memory:
        answer = asked(memory)
        for hit in answer.hits:
            assert hit.components["semantic"].value == pytest.approx(relevance(hit.channels), abs=1e-12)
            assert hit.score == total(hit.components)
        assert answer.hits[0].channels[ADDRESSED].weight == 0.6
        assert "by the question as it would be asked there (rank 1, relevance " in answer.hits[0].explanation


@pytest.mark.parametrize("question", ["What books has Eve read?", "what books has ann read", "Which bakery has closed?"])
def test_a_question_that_names_nobody_who_talks_passes_untouched(question: str) -> None:
    with told() as memory:
        answer = asked(memory, question)
        assert answer.hits == asked(memory, question, weight=0.0).hits
        assert answer.embedding_calls == 1


def test_a_heading_with_a_colon_is_nobody_to_talk_to() -> None:
    with told({"one": "Ann: a report", "two": "Ann: another report"}) as memory:
        assert asked(memory).addressed == ""


def test_a_text_with_a_quotation_in_it_is_no_talk() -> None:
    with told({**TALK, **{f"line {at}": f"What books are in report {at}" for at in range(8)}}) as memory:
        assert asked(memory).addressed == ""


def test_only_turns_are_asked() -> None:
    with told(keyed=False) as memory:
        assert asked(memory).addressed == ""


def test_a_similarity_that_is_asked_for_is_one_to_the_question_as_it_was_asked() -> None:
    with told() as memory:
        assert {hit.text for hit in asked(memory, min_similarity=0.9).hits} == {GREETING}


def test_without_vectors_there_is_nothing_to_ask_by() -> None:
    with clew.open(":memory:", model={"embedder": "none"}, clock=FixedClock()) as memory:
        store_talk(memory.store, "talk", TALK)
        assert asked(memory).addressed == ""


@pytest.mark.parametrize(
    ("question", "put"),
    [
        ("When is Ann's birthday?", "When is your birthday?"),
        ("Is Ann going to move?", "Are you going to move?"),
        ("What does Ann do when she has time for her kids?", "What do you do when you have time for your kids?"),
        ("Did Ann and Bob both dance?", "Did you both dance?"),
        ("What did Bob give Ann?", "What did you give you?"),
        ("Does Annabel know Bobby?", "Does Annabel know Bobby?"),
        ("", ""),
    ],
)
def test_how_a_question_is_put(question: str, put: str) -> None:
    assert addressed(question, ["ann", "bob"]) == put
