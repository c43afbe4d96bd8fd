"""What a turn tells by its form: how much of it asks, and who says it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.recall.talk import asking, speakers


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("Ann: Where did you go?", 1.0),
        ("Ann: We went to Lisbon.", 0.0),
        ("We went to Lisbon. Where were you?", 3 / 7),
        ("どこに行った？ 京都です。", 0.5),
        ("See https://example.org/?page=2 for more", 0.0),
        ("Why?! Tell me.", 1 / 3),
        ("Bob: Hm?\nAnn: To Lisbon with Eve", 0.2),
    ],
)
def test_as_much_asks_as_stands_in_sentences_that_end_in_a_question_mark(text: str, share: float) -> None:
    assert asking(text) == pytest.approx(share)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Ann Lee: Hello!", {"ann lee"}),
        ("ANN: Hi\n  Bob: hi\nand so on", {"ann", "bob"}),
        ("José: ¿Qué tal?", {"jose"}),
        ("It began at 10:30 sharp", set()),
        ("12: twelve", set()),
        ("http://example.org", set()),
        (f"{'very ' * 10}long: a clause", set()),
        ("", set()),
    ],
)
def test_a_speaker_is_a_short_name_before_a_colon_at_the_beginning_of_a_line(text: str, names: set[str]) -> None:
    assert speakers(text) == names


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    assert 0.0 <= asking(text) <= 1.0
    assert all(name == name.strip() and name for name in speakers(text))


@pytest.mark.parametrize("text", ["?" * 200_000 + "x", "a " * 100_000, ' "' * 100_000, "a: " * 60_000, " \t" * 100_000, "\n" * 200_000])
def test_hostile_texts_are_read_in_one_pass(text: str) -> None:
    began = time.process_time()
    asking(text)
    speakers(text)
    assert time.process_time() - began < 2.0
