"""Context keys: a unit amid its neighbours, within the room there is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clew.memories.embedding import context_keys
from clew.text.gist import excerpt, leading_words, trailing_words

TEXTS = st.lists(st.text("ab \n🎉é", min_size=1, max_size=80), max_size=12)
JOINS = 2  # the line ends between the parts


@given(TEXTS, st.integers(0, 200), st.integers(0, 3))
def test_a_key_holds_its_unit_whole_and_keeps_to_the_room(
    texts: list[str], room: int, neighbours: int
) -> None:
    keys = context_keys(texts, room=room, neighbours=neighbours)
    assert len(keys) == len(texts)
    for text, key in zip(texts, keys, strict=True):
        assert not key or (text in key and len(key) <= room + JOINS)


@given(TEXTS, st.integers(0, 200))
def test_a_unit_of_more_than_half_the_room_stands_for_itself(texts: list[str], room: int) -> None:
    for text, key in zip(texts, context_keys(texts, room=room), strict=True):
        assert len(text) * 2 <= room or key == ""


def test_a_short_neighbour_leaves_its_room_to_the_other() -> None:
    before = " ".join(f"word{n}" for n in range(100))
    _, key, _ = context_keys([before, "Yes!", "Ok."], room=100, neighbours=1)
    assert key.endswith("\nYes!\nOk.")
    assert 90 <= len(key) <= 100 + JOINS


def test_no_neighbours_no_key() -> None:
    assert context_keys(["one", "two"], room=100, neighbours=0) == ["", ""]
    assert context_keys([], room=100) == []


@given(st.text("ab \n🎉é", max_size=60), st.integers(0, 70))
def test_openings_and_endings_are_parts_of_the_text_within_their_size(text: str, size: int) -> None:
    assert text.startswith(leading_words(text, size)) or text.lstrip().startswith(
        leading_words(text, size)
    )
    assert text.endswith(trailing_words(text, size)) or text.rstrip().endswith(
        trailing_words(text, size)
    )
    assert len(leading_words(text, size)) <= size
    assert len(trailing_words(text, size)) <= size


def test_white_space_at_either_end_is_no_trouble() -> None:
    """A page may begin with more blank lines than an opening is long."""
    text = " " * 5000 + "words" + "\n" * 5000
    assert (leading_words(text, 100), trailing_words(text, 100), excerpt(text, room=1500)) == (
        "",
        "",
        "\n…\n",
    )


@given(st.text("ab \n", max_size=100), st.integers(3, 120))
def test_a_gist_is_the_text_or_its_opening_and_ending(text: str, room: int) -> None:
    found = excerpt(text, room=room)
    assert found == text or (len(text) > room and len(found) <= room + len("\n…\n"))
