"""Which runs of words could be names: capitals tell in texts, nothing tells in a question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.graph.phrases import MAX_PHRASES, MAX_UNSPACED, MAX_WORDS, find_known_names, phrases
from clew.text.names.keys import entity_key


def keys(text: str, *, cased: bool = True) -> set[str]:
    return {phrase.key for phrase in phrases(text, cased=cased)}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Marie Curie", "The prize went to Marie Curie's daughter."),
        ("The Goose Woman", "She played in “The Goose Woman” (1925)."),
        ("Simon de Montfort", "It fell to Simon de Montfort in the end."),
        ("Kim Ki-young", "a film by Kim Ki-young, of 1985"),
        ("Ludwig van Beethoven", "born as Ludwig van Beethoven."),
        ("José Müller", "called José Müller by all"),
        ("C++", "Written in C++ for the most part"),
        ("2001: A Space Odyssey", "He saw 2001: A Space Odyssey twice"),
        ("東京", "彼女は 東京 に住んでいる"),
    ],
)
def test_a_name_is_among_the_phrases_of_a_text_that_has_it(name: str, text: str) -> None:
    assert entity_key(name) in keys(text)


def test_a_word_that_english_writes_small_ends_a_name_in_a_text() -> None:
    assert "marie curie garden" not in keys("Marie Curie garden")


def test_a_question_may_name_in_small_letters() -> None:
    assert "goose woman" in keys("who directed the goose woman?", cased=False)
    assert "goose woman" not in keys("who directed the goose woman?")


def test_a_single_common_word_is_no_name() -> None:
    assert "garden" not in keys("Garden party", cased=False)


def test_the_longest_name_at_a_place_wins() -> None:
    assert find_known_names(
        phrases("They saw New York City"), {"new york", "new york city", "city"}
    ) == ("new york city",)


def test_each_name_is_spotted_once_and_in_reading_order() -> None:
    assert find_known_names(phrases("Oslo, Rome and Oslo"), {"rome", "oslo"}) == ("oslo", "rome")


@given(st.text(max_size=300), st.booleans())
def test_any_text_gives_keys_of_bounded_length_and_places_inside_it(text: str, cased: bool) -> None:
    for phrase in phrases(text, cased=cased):
        assert phrase.key
        assert 0 <= phrase.last - phrase.first < (MAX_WORDS if text.isascii() else MAX_UNSPACED)
        assert phrase.last < len(text)


def test_a_hostile_text_is_read_in_bounded_work() -> None:
    assert len(phrases("A " * 500_000)) <= MAX_PHRASES
    assert len(phrases("Xy " * 500_000)) == MAX_PHRASES
