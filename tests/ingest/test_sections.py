"""Sections: every chunk exactly once, in order, cut where headings, silences or sizes say so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.documents.chunkers.port import Boundary, Chunk
from clew.documents.tree import Section, sections, sittings

SIZE = 100
BEGIN = datetime(2026, 1, 5, 10, tzinfo=UTC)
PATHS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=4).map(tuple)
PIECES = st.lists(st.tuples(st.integers(1, 400), PATHS), max_size=40)


def chunks(*pieces: tuple[int, tuple[str, ...]]) -> list[Chunk]:
    """Return neighbouring chunks of these sizes under these headings."""
    made: list[Chunk] = []
    for index, (size, path) in enumerate(pieces):
        start = made[-1].end if made else 0
        made.append(
            Chunk(
                text="x" * size,
                start=start,
                end=start + size,
                index=index,
                boundary=Boundary.STRUCTURAL,
                path=path,
            )
        )
    return made


def indexes(found: tuple[Section, ...]) -> list[list[int]]:
    return [[chunk.index for chunk in section.chunks] for section in found]


@given(PIECES, st.integers(1, 12))
def test_every_chunk_is_in_one_section_in_order_and_none_is_empty(
    pieces: list[tuple[int, tuple[str, ...]]], largest: int
) -> None:
    given_chunks = chunks(*pieces)
    found = sections(given_chunks, size=SIZE, largest=largest)
    assert [chunk for section in found for chunk in section.chunks] == given_chunks
    assert all(section.chunks for section in found)
    for section in found:
        assert (section.start, section.end) == (section.chunks[0].start, section.chunks[-1].end)
        assert all(chunk.path[: len(section.path)] == section.path for chunk in section.chunks)


@given(PIECES, st.lists(st.one_of(st.none(), st.integers(-100, 1000)), max_size=40))
def test_sittings_hold_every_chunk_once_in_order_whatever_the_clock_did(
    pieces: list[tuple[int, tuple[str, ...]]], hours: list[int | None]
) -> None:
    given_chunks = chunks(*pieces)
    moments = {
        at: None if hour is None else BEGIN + timedelta(hours=hour) for at, hour in enumerate(hours)
    }
    found = sittings(
        given_chunks, time=lambda chunk: moments.get(chunk.index), gap=timedelta(hours=4), size=SIZE
    )
    assert [chunk for section in found for chunk in section.chunks] == given_chunks
    assert all(section.chunks for section in found)


@given(st.lists(st.integers(1, SIZE), min_size=1, max_size=60), st.integers(1, 8))
def test_without_headings_no_section_is_much_larger_than_it_may_be(
    sizes: list[int], largest: int
) -> None:
    room = SIZE * largest
    for section in sections(chunks(*((size, ()) for size in sizes)), size=SIZE, largest=largest):
        parts = [len(chunk.text) for chunk in section.chunks]
        assert len(parts) == 1 or sum(parts) <= 2 * room + max(parts)


def test_what_fits_is_one_section_under_the_headings_all_share() -> None:
    (found,) = sections(chunks((50, ("Guide", "Install")), (50, ("Guide", "Use"))), size=SIZE)
    assert found.path == ("Guide",)


def test_what_does_not_fit_is_cut_at_its_outermost_headings() -> None:
    pieces = [(300, ("Guide", name)) for name in ("A", "A", "A", "B", "B", "B")]
    found = sections(chunks(*pieces), size=SIZE, largest=10)
    assert [section.path for section in found] == [("Guide", "A"), ("Guide", "B")]
    assert indexes(found) == [[0, 1, 2], [3, 4, 5]]


def test_small_neighbours_are_put_together_under_their_common_heading() -> None:
    pieces = [
        (700, ("Guide", "Long")),
        *((20, ("Guide", f"Short {n}")) for n in range(5)),
        (700, ("Guide", "End")),
    ]
    found = sections(chunks(*pieces), size=SIZE, largest=8)
    assert indexes(found) == [[0], [1, 2, 3, 4, 5], [6]]
    assert found[1].path == ("Guide",)


def test_a_single_heading_above_everything_does_not_keep_the_parts_together() -> None:
    found = sections(chunks(*((100, ("All",)) for _ in range(20))), size=SIZE, largest=5)
    assert indexes(found) == [list(range(at, at + 5)) for at in range(0, 20, 5)]


def test_a_silence_ends_a_sitting() -> None:
    made = chunks(*((10, ()) for _ in range(4)))
    times = [
        BEGIN,
        BEGIN + timedelta(hours=1),
        BEGIN + timedelta(hours=6),
        BEGIN + timedelta(hours=7),
    ]
    found = sittings(made, time=lambda chunk: times[chunk.index], gap=timedelta(hours=4), size=SIZE)
    assert indexes(found) == [[0, 1], [2, 3]]


def test_chunks_without_a_time_end_no_sitting() -> None:
    made = chunks(*((10, ()) for _ in range(3)))
    times = [BEGIN, None, BEGIN + timedelta(days=9)]
    assert indexes(
        sittings(made, time=lambda chunk: times[chunk.index], gap=timedelta(hours=4), size=SIZE)
    ) == [[0, 1, 2]]


def test_no_chunks_are_no_sections() -> None:
    assert (
        sections([], size=SIZE)
        == sittings([], time=lambda chunk: None, gap=timedelta(hours=4), size=SIZE)
        == ()
    )


@pytest.mark.parametrize("depth", [200, 2000])
def test_headings_nested_without_end_are_no_trouble(depth: int) -> None:
    pieces = [(300, tuple(f"h{level}" for level in range(at * depth // 10))) for at in range(1, 11)]
    found = sections(chunks(*pieces), size=SIZE, largest=2)
    assert [index for part in indexes(found) for index in part] == list(range(10))
