"""A question in a language that the model does not read is answered by its words, and the answer says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import clew
from clew.models.onnx import OnnxEmbedder
from clew.search.query_language import is_foreign
from clew.testing import FixedClock

ROOT = Path(__file__).parents[2]


@pytest.fixture
def memory(real_embedder: OnnxEmbedder) -> Iterator[clew.Clew]:
    with clew.open(":memory:", embedder=real_embedder, clock=FixedClock()) as memory:
        memory.remember("Oskar is allergic to hazelnuts.")
        memory.remember("The car is a blue Skoda.")
        yield memory


@pytest.mark.model
def test_a_question_in_another_language_is_answered_by_words_and_says_so(memory: clew.Clew) -> None:
    answer = memory.recall("Wogegen ist Oskar allergisch?", track=False)
    assert [hit.text for hit in answer.hits] == ["Oskar is allergic to hazelnuts."]
    assert {name for hit in answer.hits for name in hit.channels} == {"sparse"}
    assert [note for note in answer.notes if "answered by its words alone" in note]
    assert len([note for note in answer.notes if "English" in note]) == 1
    assert answer.embedding_calls == 0


@pytest.mark.model
def test_without_a_shared_word_nothing_is_found_and_the_answer_says_why(memory: clew.Clew) -> None:
    answer = memory.recall("我们的车牌号是多少", track=False)
    assert (answer.hits, answer.nothing_relevant) == ((), True)
    assert any("answered by its words alone" in note for note in answer.notes)


@pytest.mark.model
def test_an_english_question_and_the_recipe_of_vectors_use_vectors(memory: clew.Clew) -> None:
    for answer in (
        memory.recall("What must Oskar not eat?", track=False),
        memory.recall("Wogegen ist Oskar allergisch?", recipe="dense", track=False),
    ):
        assert "dense" in answer.hits[0].channels
        assert not any("words alone" in note for note in answer.notes)


def test_most_questions_of_other_languages_are_recognised() -> None:
    stores = yaml.safe_load(
        (ROOT / "benchmarks" / "never_stored" / "other_languages.yaml").read_text(encoding="utf-8")
    )
    asked = [
        each["ask"]
        for spaces in stores.values()
        for questions in spaces.values()
        for each in questions
    ]
    assert sum(map(is_foreign, asked)) >= 0.9 * len(asked)
