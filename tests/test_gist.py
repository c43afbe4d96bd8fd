"""What stands for a long text."""

from __future__ import annotations

import pytest

from clew.text.gist import embedded_text, searched_text, user_turns
from clew.types import Kind

CHAT = "user: I adopted a cat.\n\nassistant: Cats, dogs\nand parrots need care.\n\nUser: Her name is Luna."


def test_a_section_of_a_chat_with_an_assistant_is_found_by_what_the_user_told() -> None:
    assert searched_text(Kind.SECTION, CHAT) == "I adopted a cat.\nHer name is Luna."


@pytest.mark.parametrize("kind", [Kind.CHUNK, Kind.MEMORY])
def test_smaller_units_are_found_by_all_they_say(kind: Kind) -> None:
    assert searched_text(kind, CHAT) == CHAT


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Ann: Hi!\nBob: Hello.",
        "user: alone\nuser: still alone",
        "assistant: only answers",
        "A manual\nuser manual: see below",
    ],
    ids=["empty", "people", "no answer", "no question", "prose"],
)
def test_a_text_without_both_sides_is_found_by_all_of_it(text: str) -> None:
    assert user_turns(text) == text


def test_the_vector_of_a_chunk_of_a_chat_is_of_what_the_user_told() -> None:
    said = "I was at my cousin's wedding in the Grand Ballroom, and my mother wore blue."
    assert (
        embedded_text(
            Kind.CHUNK, f"user: {said}\n\nassistant: How lovely! {'Blue suits many. ' * 40}"
        )
        == said
    )


@pytest.mark.parametrize(
    "text",
    [
        "user: Go on!\n\nassistant: The port is 5432.",
        "assistant: The port is 5432.",
        "Ann: Hi!\nBob: Hello.",
    ],
)
def test_a_chunk_in_which_the_user_tells_little_is_embedded_whole(text: str) -> None:
    assert embedded_text(Kind.CHUNK, text) == text


def test_a_memory_is_embedded_whole() -> None:
    assert embedded_text(Kind.MEMORY, CHAT * 3) == CHAT * 3
