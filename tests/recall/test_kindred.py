"""What of a question a hit takes up: by the sense of its words, in the passage that says most of it, and names by their letters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.recall.kindred import ASKED_WORDS, MOST_WORDS, SAME, STRANGER, Told, kinship, passage, taken_up, wordless
from clew.types import Vectors
from clew.words import words

MEANINGS = {"boiler": 0, "heating": 0, "bank": 1, "river": 2, "loan": 3}
"""Words on one axis mean the same; all others have nothing in common with them."""


def meant(said: Sequence[str]) -> Vectors:
    return np.stack([np.eye(8, dtype=np.float32)[MEANINGS.get(word.lower(), 7)] for word in said]) if said else np.zeros((0, 8), np.float32)


def vectors(question: Sequence[str], texts: Sequence[Sequence[str]]) -> tuple[Vectors, list[Vectors]]:
    return meant(question) * np.array([1, 1, 1, 1, 1, 1, 1, 0], np.float32), [meant(text) for text in texts]


def test_a_word_is_taken_up_by_one_that_means_the_same() -> None:
    assert taken_up("Who repairs the heating?", {"heat": 1.0}, [Told("Arne knows the boiler", ())], vectors=vectors) == [{"heat": 1.0}]
    assert taken_up("Who repairs the heating?", {"heat": 1.0}, [Told("Arne has a loan", ())], vectors=vectors) == [{"heat": 0.0}]


def test_what_stands_around_a_hit_or_beyond_the_passage_that_is_read_counts_as_said() -> None:
    long = "The heating. " + "filler " * 2 * MOST_WORDS + "A loan"
    [said] = taken_up("loan river", {"heat": 1.0, "loan": 3.0, "river": 1.0}, [Told(long, ("heat", "loan"))], vectors=vectors) or []
    assert said == {"heat": 1.0, "loan": 1.0, "river": 0.0}


def test_a_word_that_is_held_in_another_sense_is_not_taken_up() -> None:
    def apart(question: Sequence[str], texts: Sequence[Sequence[str]]) -> tuple[Vectors, list[Vectors]]:
        return np.eye(2, dtype=np.float32)[:1].repeat(len(question), 0), [
            np.eye(2, dtype=np.float32)[1:].repeat(len(text), 0) for text in texts
        ]

    assert taken_up("bank", {"bank": 1.0}, [Told("the bank of the river", ("bank",))], vectors=apart) == [{"bank": 0.0}]


def test_a_model_that_knows_whole_texts_only_tells_nothing() -> None:
    assert taken_up("heating", {"heat": 1.0}, [Told("the boiler", ())], vectors=wordless) is None


@pytest.mark.parametrize("text", ["", " ", "½ \u200d", "茶"])
def test_a_text_without_words_takes_nothing_up(text: str) -> None:
    assert taken_up("heating", {"heat": 1.0}, [Told(text, ())], vectors=vectors) == [{"heat": 0.0}]
    assert taken_up(text, {}, [Told("the boiler", ())], vectors=vectors) == [{}]


@given(st.lists(st.sampled_from(["boiler", "loan", "filler"]), max_size=4 * MOST_WORDS), st.floats(0.1, 5))
def test_the_passage_that_is_read_holds_as_much_of_the_question_as_any_around_one_of_its_words(said: list[str], weight: float) -> None:
    weights = {"boiler": weight, "loan": 1.0}
    read = passage(" ".join(said), weights)
    assert len(read) == min(len(said), MOST_WORDS)
    assert not weights.keys() & set(said) or weights.keys() & set(read)
    if {"boiler", "loan"} <= set(said[:MOST_WORDS]):
        assert {"boiler", "loan"} <= set(read)


def test_an_endless_question_is_read_from_its_beginning() -> None:
    asked: list[int] = []

    def counting(question: Sequence[str], texts: Sequence[Sequence[str]]) -> None:
        asked.extend([len(question), *map(len, texts)])

    taken_up("word " * 10_000, {"word": 1.0}, [Told("text " * 10_000, ())], vectors=counting)
    assert asked == [ASKED_WORDS, MOST_WORDS]


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_the_nearer_a_word_the_more_of_the_other_it_says(one: float, other: float) -> None:
    further, nearer = sorted((one, other))
    assert 0 <= kinship(further) <= kinship(nearer) <= 1
    assert kinship(STRANGER) == 0
    assert kinship(SAME) == 1


def test_the_words_of_a_text_are_read_as_the_index_reads_them() -> None:
    assert passage("Matt's café", {"cafe": 1.0}) == words("Matt's café")
