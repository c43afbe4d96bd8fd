"""What stands for a long text."""

from __future__ import annotations

import pytest

from clew.gist import searched_text, told
from clew.types import Kind

CHAT = "user: I adopted a cat.\n\nassistant: Cats, dogs\nand parrots need care.\n\nUser: Her name is Luna."


def test_a_section_of_a_chat_with_an_assistant_is_found_by_what_the_user_told() -> None:
    assert searched_text(Kind.SECTION, CHAT) == "I adopted a cat.\nHer name is Luna."


@pytest.mark.parametrize("kind", [Kind.CHUNK, Kind.MEMORY])
def test_smaller_units_are_found_by_all_they_say(kind: Kind) -> None:
    assert searched_text(kind, CHAT) == CHAT


@pytest.mark.parametrize(
    "text",
    ["", "Ann: Hi!\nBob: Hello.", "user: alone\nuser: still alone", "assistant: only answers", "A manual\nuser manual: see below"],
    ids=["empty", "people", "no answer", "no question", "prose"],
)
def test_a_text_without_both_sides_is_found_by_all_of_it(text: str) -> None:
    assert told(text) == text
