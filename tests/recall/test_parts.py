"""Things that a question sets side by side are searched for one by one, and what answers one of them is found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

import clew
from clew.ports import EmbedRole
from clew.recall.placed import relevance
from clew.recall.state import PART, Recall
from clew.testing import FixedClock
from clew.types import Vectors

KEYS, MOVED = "On the third of March the agent handed me the keys", "My brother drove the van when I moved house"
NOTES = (KEYS, MOVED, *(f"How many days passed since the day of report {at}, and the day of day {at}?" for at in range(12)))
TWO = "How many days passed between the day the agent handed me the keys and the day I moved house?"
ONE = "When did the agent hand me the keys?"


class Planted:
    """The first part and its answer lie together, the whole question 0.2 from them; all else far away."""

    id, dimension, max_tokens = "planted", 3, 512

    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> Vectors:
        near = {"Schlüssel erhalten": (1.0, 0.0, 0.0), "agent handed me the keys": (1.0, 0.0, 0.0), TWO: (0.2, 0.98, 0.0)}
        vectors = np.array([near.get(text, (0.0, 0.0, 1.0)) for text in texts], np.float32)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)

    def count(self, text: str) -> int:
        return len(text.split())


@pytest.fixture
def memory() -> Iterator[clew.Clew]:
    with clew.open(":memory:", model={"embedder": "hashing"}, clock=FixedClock()) as memory:
        memory.remember_many(NOTES, on_duplicate="insert")
        yield memory


def asked(memory: clew.Clew, question: str, weight: float = 0.5, *, min_similarity: float | None = None) -> Recall:
    return memory.variant(**{"recall.parts_weight": weight}).recall(question, k=3, track=False, min_similarity=min_similarity)


def test_what_answers_each_part_comes_before_what_shares_words_with_the_whole(memory: clew.Clew) -> None:
    assert {KEYS, MOVED} == {hit.text for hit in asked(memory, TWO).hits[:2]}
    assert {KEYS, MOVED} != {hit.text for hit in asked(memory, TWO, weight=0.0).hits[:2]}


def test_a_question_about_one_thing_passes_untouched(memory: clew.Clew) -> None:
    whole = asked(memory, ONE)
    assert whole.hits == asked(memory, ONE, weight=0.0).hits
    assert whole.parts == ()
    assert whole.embedding_calls == 1


def test_the_parts_and_their_cost_are_told(memory: clew.Clew) -> None:
    stats = asked(memory, TWO).stats
    assert stats["parts"] == ["agent handed me the keys", "I moved house"]
    assert stats["embedding_calls"] == 3


def test_the_part_is_a_channel_of_the_relevance_and_explained(memory: clew.Clew) -> None:
    answer = asked(memory, TWO)
    for hit in answer.hits:
        assert hit.components["semantic"].value == pytest.approx(relevance(hit.channels), abs=1e-12)
    assert answer.hits[0].channels[PART].weight == 0.5
    assert "by a part of the question (rank 1, relevance " in answer.hits[0].explanation


def test_a_similarity_that_is_asked_for_is_one_to_the_whole_question(memory: clew.Clew) -> None:
    least = 0.2
    answer = asked(memory, TWO, min_similarity=least)
    vector = memory.embedded_query(TWO).vector
    assert vector is not None
    assert answer.hits
    assert min(memory.store.cosines(vector, [hit.id for hit in answer.hits]).values()) >= least


def test_what_is_too_far_from_the_whole_is_found_when_it_is_near_to_a_part() -> None:
    """The answer shares no word with the question; only its part's vector is near to it. How many others there are makes no difference."""
    for others in (0, 150):
        with clew.open(":memory:", embedder=Planted(), clock=FixedClock()) as memory:
            answer = memory.remember("Schlüssel erhalten").id
            memory.remember_many([f"something else {at}" for at in range(others)], near=False)
            found = memory.recall(TWO, track=False)
            assert found.hits[0].id == answer
            assert answer not in {rejection.id for rejection in found.rejected}


def test_words_alone_suffice() -> None:
    with clew.open(":memory:", model={"embedder": "none"}, clock=FixedClock()) as memory:
        memory.remember_many(NOTES, on_duplicate="insert")
        answer = asked(memory, TWO)
        assert {KEYS, MOVED} == {hit.text for hit in answer.hits[:2]}
        assert answer.embedding_calls == 0


def test_one_channel_is_left_as_it_comes(memory: clew.Clew) -> None:
    for recipe in ("lexical", "dense"):
        assert memory.recall(TWO, recipe=recipe, track=False).parts == ()


def test_an_empty_store_answers_nothing() -> None:
    with clew.open(":memory:", model={"embedder": "hashing"}, clock=FixedClock()) as memory:
        assert asked(memory, TWO).hits == ()
