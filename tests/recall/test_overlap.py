"""Overlapping chunks say the same: which share, and from which on one of them goes."""

from __future__ import annotations

import pytest

import clew
from clew.search.pack import SHARE, overlap_share
from clew.testing import FixedClock, node
from clew.types import Kind, Node


def part(id: str, start: int | None, end: int | None, root: str | None = "d") -> Node:
    return node(id, root=root, start=start, end=end)


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        ((0, 100), (100, 200), 0.0),
        ((0, 100), (50, 150), 0.5),
        ((0, 100), (20, 60), 1.0),  # of the shorter one
        ((20, 60), (0, 100), 1.0),
        ((0, 10), (5, 1000), 0.5),
        ((5, 5), (0, 10), 0.0),  # nothing shares nothing
    ],
)
def test_the_share_is_of_the_shorter_one(
    one: tuple[int, int], other: tuple[int, int], share: float
) -> None:
    assert overlap_share(part("a", *one), [part("b", *other)]) == share


def test_only_chunks_of_one_document_overlap() -> None:
    here = part("a", 0, 10)
    assert overlap_share(here, [part("b", 0, 10, root="e"), part("c", 0, 10, root=None)]) == 0.0
    assert overlap_share(part("a", 0, 10, root=None), [part("b", 0, 10, root=None)]) == 0.0
    assert overlap_share(here, [part("b", None, None)]) == 0.0


def test_the_largest_share_counts_and_no_one_covers_nothing() -> None:
    assert overlap_share(part("a", 0, 100), [part("b", 90, 190), part("c", 40, 140)]) == 0.6
    assert overlap_share(part("a", 0, 100), []) == 0.0
    assert 0 < SHARE < 1


def test_of_chunks_that_say_the_same_the_best_stays_and_the_others_are_counted() -> None:
    text = "the harbour crane stands at the north quay and the south quay has none"
    with clew.open(":memory:", model={"embedder": "none"}, clock=FixedClock()) as memory:
        ends = {"a": (0, 38), "b": (12, 46), "c": (39, 71)}
        memory.store.insert(
            [
                node(id, text[slice(*at)], kind=Kind.CHUNK, root="d", start=at[0], end=at[1])
                for id, at in ends.items()
            ]
        )
        answer = memory.recall("harbour crane north quay south")
        assert sorted(hit.id for hit in answer.hits) == ["a", "c"]
        assert answer.stats["rejected"] == {"overlap": 1}
        assert answer.rejected[0].id == "b"
        assert answer.rejected[0].stage == "pack"
