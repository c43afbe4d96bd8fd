"""A text without a title says itself what it is about.

By a heading, or by the name it begins with and goes on to describe.
"""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.text.names.opening import MAX_DISTANCE_TO_VERB, NO_OPENING, Opening, read_opening


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The Salt Meadow is a film by Marta Ruiz.", "The Salt Meadow"),
        ("Marta Ruiz (born 1960 in Seville) was a Spanish director.", "Marta Ruiz"),
        ("Marta Ruiz( born 1960 (or 1961)), also a painter, was a director.", "Marta Ruiz"),
        ("Marta Ruiz, who is ill, was to speak first.", "Marta Ruiz"),
        ("Boso, 2nd Duke of Arle, 4th Count of Vienne (850 – 887) was a king.", "Boso"),
        ("H. E. Bates, better known as Herbert, was an English writer.", "H. E. Bates"),
        ('"Come Running Back" is a song of 1966.', "Come Running Back"),
        ("Valley of the Wind is the second novel.", "Valley of the Wind"),
        ("Halcyon is down again.", "Halcyon"),
        ("Atout cœur à Tokyo is a film.", "Atout cœur à Tokyo"),
        ("Mine Safety Works or MSW is a maker of helmets.", "Mine Safety Works"),
        ("My Fair Lady is a film of 1964.", "My Fair Lady"),
    ],
)
def test_a_name_at_the_beginning_that_is_described_is_the_subject(text: str, name: str) -> None:
    assert read_opening(text).name == name


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The deploy is broken.",
        "Low tide is at six.",
        "It is raining.",
        "This is Anna's desk.",
        "My Dad is a baker.",
        "Monday is the deadline.",
        "Money is short.",
        "2024 was a good year.",
        "Anna, your cat is ill.",
        "Anna, Bob and Eva were there.",
        "Anna: it is late.",
        "Thanks, Mel! That was great.",
        "Anna laughed. The room was empty.",
        "yesterday Anna was ill.",
        "We think Anna is right.",
        "https://example.com is down",
        "• Anna is first",
        "def area(r):\n    return 3.14 * r ** 2",
        "milk\neggs\nbread",
        "Milk and eggs\nbread",
        "- Anna\nShe is the designer of the new page.",
        "Status update\nThe tulips are planted behind the shed.",
        "TODO\nwater the plants on Monday",
        "Dear Anna\nthe flat in the Rua da Bica is free.",
        "Anna asked\nwhether the flat in the Rua da Bica is free.",
        "Dear Anna,\nthe flat in the Rua da Bica is free from May on.",
        "Anna: hello\nBob: how was the trip to the sea with all the children?",
        "x = 1\ny = a rather long expression of many words that goes on and on",
    ],
)
def test_other_texts_do_not_say_what_they_are_about(text: str) -> None:
    assert read_opening(text) == NO_OPENING


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Halcyon\nThe staging server, rebuilt in May.", "Halcyon"),
        ("Titanic (1997 film)\nA film about a ship that sinks.", "Titanic (1997 film)"),
        (
            "Halcyon Release Notes\n\nWe moved the cache to another machine.",
            "Halcyon Release Notes",
        ),
    ],
)
def test_a_line_of_its_own_above_the_rest_is_a_heading(text: str, name: str) -> None:
    assert read_opening(text) == Opening(name, heading=True)


def test_what_the_text_calls_it_besides_counts_too() -> None:
    text = "Marta Ines Ruiz (born 1960), better known as Tita Ruiz, was a director."
    assert read_opening(text) == Opening("Marta Ines Ruiz", ("Marta Ruiz", "Tita Ruiz"))
    assert (
        read_opening("Frederick William of Nassau was a prince.").others
        == read_opening("The Salt Meadow is a film.").others
        == ()
    )
    assert read_opening("Dr. Ana B. Costa is the dentist.").others == ("Ana Costa",)


@given(st.text(st.sampled_from("Aa ,.()\n:\"isw'-0éÉ"), max_size=600) | st.text(max_size=200))
def test_whatever_the_text_is_the_name_stands_at_its_beginning(text: str) -> None:
    found = read_opening(text)
    assert not found.name or found.name in text[:MAX_DISTANCE_TO_VERB]


@pytest.mark.parametrize(
    "piece",
    ["(", ")", ",", " was", "A, ", "Anna, ", "(a)", " is (", "known as ", ", is", "\n", '"'],
)
def test_no_text_takes_long(piece: str) -> None:
    text = "Anna " + piece * (100_000 // len(piece))
    began = time.process_time()
    for _ in range(20):
        read_opening(text)
    # a thousand times what it takes: what must not happen is minutes
    assert time.process_time() - began < 2
