"""Joining entities: one key for all spellings, half a name for the whole one only while there is no doubt, and widespread keys left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import InputError
from clew.text.names.extraction import MAX_GENERIC_SHARE, MIN_DOCUMENTS, is_generic_key
from clew.text.names.keys import Aliases, entity_key, resolve_names, title_keys


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("José Müller", "Jose Muller's"),
        ("The Beatles", "beatles"),
        ("U.S.A.", "USA"),
        ("O’Neill", "O'Neill"),
        ("Titanic (1997 film)", "TITANIC"),
        ("  New   York ", "New York"),
        ("Jean-Luc", "Jean Luc"),
        ("МОСКВА", "Москва"),
        ("Straße", "STRASSE"),
    ],
)
def test_spellings_of_one_name_share_a_key(one: str, other: str) -> None:
    assert entity_key(one) == entity_key(other) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [("C", "C++"), ("#launch", "launch"), ("@matt", "Matt"), ("Apollo 11", "Apollo 13")],
)
def test_what_is_not_the_same_has_another_key(one: str, other: str) -> None:
    assert entity_key(one) != entity_key(other)


def test_a_key_is_never_longer_than_its_bound_and_is_its_own_key() -> None:
    assert len(entity_key("word " * 1000)) <= 120
    assert entity_key(entity_key("The Lord's Prayer (text)")) == entity_key(
        "The Lord's Prayer (text)"
    )


def test_a_title_is_also_known_with_its_parenthesis_without_its_rank_and_without_its_office() -> (
    None
):
    assert title_keys("Titanic (1997 film)") == ("titanic", "titanic 1997 film")
    assert title_keys("Napier Sturt, 3rd Baron Alington") == (
        "napier sturt 3rd baron alington",
        "napier sturt",
    )
    assert title_keys("Princess Yolanda of Savoy") == (
        "princess yolanda of savoy",
        "yolanda of savoy",
    )
    assert title_keys("Lambert, Margrave of Tuscany") == ("lambert margrave of tuscany",)
    assert title_keys("(?)") == title_keys("") == ()


def test_half_a_name_stands_for_the_only_whole_one() -> None:
    assert resolve_names(["Matt", "Matt Joyce", "Joyce"]) == {
        "matt": "matt joyce",
        "matt joyce": "matt joyce",
        "joyce": "matt joyce",
    }


def test_a_second_bearer_makes_half_a_name_ambiguous_again() -> None:
    before = Aliases().adding(["Matt Joyce"])
    after = before.adding(["Matt Smith"])
    assert before.resolve(["Matt"]) == {"matt": "matt joyce"}
    assert after.resolve(["Matt", "Smith"]) == {"matt": "matt", "smith": "matt smith"}


def test_a_longer_form_of_the_same_name_is_no_second_bearer() -> None:
    assert resolve_names(["Matt", "Matt Joyce", "Matt Joyce Miller"])["matt"] == "matt joyce miller"


@pytest.mark.parametrize(
    ("part", "whole"),
    [
        ("Oxford", "University of Oxford"),
        ("York", "New York"),
        ("Paris", "Paris Hilton"),
        ("Golden", "Golden Gate Bridge"),
        ("van", "Jan van Eyck"),
    ],
)
def test_a_word_of_a_name_that_means_something_else_does_not_stand_for_it(
    part: str, whole: str
) -> None:
    assert resolve_names([part, whole])[entity_key(part)] == entity_key(part)


def test_a_name_with_a_thousand_bearers_is_ambiguous() -> None:
    known = Aliases().adding(
        f"Matt {chr(97 + i % 26)}{chr(97 + i // 26 % 26)}zq" for i in range(1000)
    )
    assert known.resolve(["Matt"]) == {"matt": "matt"}
    assert len(known.owners["matt"]) <= 8


NAMES = st.lists(
    st.sampled_from(
        [
            "Matt",
            "Joyce",
            "Anna",
            "Zorb",
            "Matt Joyce",
            "Matt Zorb",
            "Anna Joyce",
            "Matt Joyce Zorb",
            "Zorb Anna",
        ]
    )
)


@given(first=NAMES, second=NAMES)
def test_names_may_come_in_any_order_and_in_any_batches(
    first: list[str], second: list[str]
) -> None:
    every = first + second
    known = Aliases().adding(first).adding(second).resolve(every)
    assert known == resolve_names(every) == resolve_names(every[::-1])
    assert all(known[whole] == whole for whole in known.values())


def test_a_key_is_generic_from_a_share_of_the_documents_on_and_never_in_a_handful() -> None:
    assert not is_generic_key("team", holding=MIN_DOCUMENTS - 1, total=MIN_DOCUMENTS)
    assert is_generic_key("team", holding=MIN_DOCUMENTS, total=MIN_DOCUMENTS)
    assert not is_generic_key("team", holding=100, total=round(100 / MAX_GENERIC_SHARE))
    assert is_generic_key("team", holding=101, total=round(100 / MAX_GENERIC_SHARE))
    assert is_generic_key("", holding=0, total=10)


@pytest.mark.parametrize(("holding", "total"), [(-1, 5), (6, 5)])
def test_counts_that_cannot_be_are_refused(holding: int, total: int) -> None:
    with pytest.raises(InputError, match="holding"):
        is_generic_key("team", holding=holding, total=total)
