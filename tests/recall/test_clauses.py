"""What a question sets side by side is told apart; a question about one thing stays whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.recall.clauses import MOST, MOST_WORDS, clauses
from clew.words import query_terms


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "How many days passed between the day I planted the beans and the day I picked them fresh?",
            ("I planted the beans", "I picked them fresh"),
        ),
        ("What is the difference in age between Ann Lee and her cousin Bob?", ("age Ann Lee", "age her cousin Bob")),
        ("Did Ann sell the boat before or after she bought the van?", ("Ann sell the boat", "she bought the van")),
        ("How long had I been learning Welsh when I met my teacher Gwen?", ("I been learning Welsh", "I met my teacher Gwen")),
        ("How many weeks before the harbour tour did Nuno sell his boat?", ("harbour tour", "Nuno sell his boat")),
        ("Which happened first, Ann painting the fence or Bob mending the roof?", ("Ann painting the fence", "Bob mending the roof")),
        ("Who was born earlier, Ada Lovelace or Charles Babbage?", ("born earlier Ada Lovelace", "born earlier Charles Babbage")),
        (
            "In which order did they visit: the old mill, the salt mine and the lighthouse?",
            ("they visit old mill", "they visit salt mine", "they visit lighthouse"),
        ),
        ("What did the red tent and the sleeping bag cost altogether?", ("red tent", "sleeping bag cost altogether")),
    ],
)
def test_each_of_the_things_side_by_side_is_a_part(question: str, parts: tuple[str, ...]) -> None:
    assert clauses(question) == parts


@pytest.mark.parametrize(
    "question",
    [
        "",
        "?",
        "When did Melanie paint a sunrise?",
        "Who painted the lake and the bridge?",
        "Why did she choose colours and patterns for the bowl?",
        "Is it tea or coffee that he drinks?",
        "How long was the flight to Oslo?",
        "How many days did the hike last?",
        "What came first?",
        "Would Melanie be more interested in going to a national park or a theme park?",
        "Was the first half of the year good for Nate and Joanna? Answer yes or no.",
        "What did she do in order to relax after work and sleep well?",
        "What is the relationship between the red house and the old mill?",
        "Has he been to more than two foreign countries?",
        "Wie viele Tage lagen zwischen dem Umzug und der Feier?",
    ],
)
def test_a_question_about_one_thing_has_no_parts(question: str) -> None:
    assert clauses(question) == ()


def test_a_text_is_no_question() -> None:
    assert clauses("Which was first, the bean or the pea? " + "word " * MOST_WORDS) == ()


def test_spaces_and_line_breaks_cut_nothing() -> None:
    question = "Which happened\nfirst,   Ann painting \t the fence  or\u00a0Bob mending the roof?"
    assert clauses(question) == ("Ann painting the fence", "Bob mending the roof")


@given(
    st.text(max_size=200)
    | st.lists(st.sampled_from("how many days between and or first before , : ? Ann lake did the".split())).map(" ".join)
)
def test_parts_are_several_few_and_say_something(question: str) -> None:
    parts = clauses(question)
    assert len(parts) != 1
    assert len(set(parts)) == len(parts) <= MOST
    assert all(query_terms(part) for part in parts)
