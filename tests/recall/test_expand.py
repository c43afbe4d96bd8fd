"""Context expansion: short chunks amid their neighbours, under their title, nothing said twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.search.pack import Expand, join_chunks
from clew.search.state import Hit
from clew.store.memory import MemoryStore
from clew.testing import node
from clew.types import Kind, Node

TEXT = "One two three. Four five six. Seven eight nine. Ten eleven twelve."


def chunk(
    position: int,
    start: int,
    end: int,
    *,
    title: str = "",
    text: str = TEXT,
    parent: str | None = "s",
) -> Node:
    root = None if parent is None else "d"
    return node(
        f"c{position}",
        text[start:end],
        kind=Kind.CHUNK,
        parent=parent,
        root=root,
        position=position,
        start=start,
        end=end,
        title=title,
    )


@pytest.fixture
def store() -> MemoryStore:
    store = MemoryStore()
    store.insert([chunk(0, 0, 15), chunk(1, 15, 30), chunk(2, 30, 48), chunk(3, 48, 66)])
    return store


def hits(store: MemoryStore, *ids: str) -> list[Hit]:
    return [Hit(id, 1.0, {}, node=each) for id, each in store.get(ids).items()]


def test_a_short_chunk_gets_its_neighbours_and_keeps_its_own_text(store: MemoryStore) -> None:
    (found,) = Expand(below_words=50, reach=1, store=store)(hits(store, "c1"))
    assert found.text == "Four five six. "
    assert found.context == "One two three.\n\nFour five six.\n\nSeven eight nine."
    (further,) = Expand(below_words=50, reach=2, store=store)(hits(store, "c1"))
    assert further.context.endswith("Ten eleven twelve.")


def test_what_is_long_enough_is_left_alone(store: MemoryStore) -> None:
    (found,) = Expand(below_words=3, reach=1, store=store)(hits(store, "c1"))
    assert found.context == ""


def test_what_stands_by_itself_has_no_context() -> None:
    store = MemoryStore()
    store.insert(
        [
            chunk(0, 0, 15, parent=None),
            node("m", "short memory"),
            node("s", "short section", kind=Kind.SECTION, parent="d", root="d"),
        ]
    )
    expand = Expand(below_words=50, reach=1, store=store)
    assert [
        hit.context for hit in expand([*hits(store, "c0", "m", "s"), Hit("gone", 1.0, {})])
    ] == [""] * 4


def test_the_title_stands_above(store: MemoryStore) -> None:
    store.insert([chunk(9, 0, 15, title="Guide > Numbers", parent="other")])
    (found,) = Expand(below_words=50, reach=1, store=store)(hits(store, "c9"))
    assert found.context == "Guide > Numbers\n\nOne two three."


def test_an_expired_neighbour_is_not_brought_along(store: MemoryStore) -> None:
    store.update("c0", archived=True)
    (found,) = Expand(below_words=50, reach=1, store=store)(hits(store, "c1"))
    assert "One" not in found.context


@given(
    st.text("abc d", min_size=1, max_size=60),
    st.lists(st.tuples(st.integers(1, 20), st.integers(0, 10)), min_size=1, max_size=8),
)
def test_what_chunks_share_is_there_once(text: str, cuts: list[tuple[int, int]]) -> None:
    """Whatever the sizes and overlaps, the combined text has every letter of the stretch once, in order."""
    parts: list[Node] = []
    end = 0
    for position, (size, overlap) in enumerate(cuts):
        start = max(parts[-1].start or 0 if parts else 0, end - overlap)
        end = min(len(text), max(end, start + size))
        parts.append(chunk(position, start, end, text=text))
    assert "".join(join_chunks(parts).split()) == "".join(text[:end].split())
