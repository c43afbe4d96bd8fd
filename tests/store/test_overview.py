"""Counts over time and by quality: the SQL of the store agrees with a look at every node."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from clew.engine.overview import STANDING
from clew.store.overview import Counting, CountsOverTime, Span
from clew.store.sqlite import SqliteStore
from clew.testing import NOW, later, node
from clew.types import BEGINNING, Filter, Kind, Node, Quality, Stub


def rated(overall: float, stub: Stub = Stub.NONE) -> Quality:
    return Quality(overall, overall, overall, overall, overall, stub, 10, 1)


NODES = (
    node("a", t_valid=later(-30), t_created=later(-30), t_invalid=later(-3), quality=rated(0.95)),
    node("b", t_valid=later(-10), t_created=later(-9), quality=rated(0.1, Stub.NOTE)),
    node("c", t_valid=later(-10), t_created=later(-8), t_expired=later(-2), quality=rated(1.0)),
    node("d", t_valid=later(5), t_created=NOW),
    node("e", t_valid=BEGINNING, t_created=later(-1), quality=rated(0.3)),
    node("f", t_valid=later(-700), t_created=later(-7), archived=True),
    node(
        "g", t_valid=later(-7), t_created=later(-7), kind=Kind.CHUNK, parent="h", quality=rated(0.3)
    ),
    node("h", t_valid=later(-7), t_created=later(-7), kind=Kind.DOCUMENT),
    node("i", t_valid=later(-7), t_created=later(-7), space="other"),
)
BELIEVED = Filter(kinds=STANDING, within=("",), now=BEGINNING)
MOMENTS = [
    Filter(kinds=STANDING, within=("",), now=NOW, as_of=as_of, known_at=known_at)
    for as_of in (None, later(-20), later(-5))
    for known_at in (None, later(-8.5), later(-2.5))
]


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    made = SqliteStore.open(tmp_path / "memory.clew")
    made.insert(NODES)
    return made


def ids(nodes: object) -> list[str]:
    assert isinstance(nodes, list | tuple)
    return [each.id for each in nodes if isinstance(each, Node)]


def test_the_store_counts_by_itself(store: SqliteStore) -> None:
    assert isinstance(store, CountsOverTime)


@pytest.mark.parametrize("where", [BELIEVED, *MOMENTS])
@pytest.mark.parametrize("outliers", [0.0, 0.3])
def test_the_extent_is_that_of_the_nodes(
    store: SqliteStore, where: Filter, outliers: float
) -> None:
    assert store.extent(where, outliers=outliers) == Counting(store).extent(
        where, outliers=outliers
    )


@pytest.mark.parametrize("where", [BELIEVED, *MOMENTS])
@pytest.mark.parametrize(
    "span",
    [
        Span(later(-31), timedelta(days=1), 40),
        Span(later(-10), timedelta(hours=7), 5),
        Span(later(90), timedelta(days=1), 1),
    ],
)
def test_densities_are_those_of_the_nodes(store: SqliteStore, where: Filter, span: Span) -> None:
    found = store.densities(where, span)
    assert found == Counting(store).densities(where, span)
    assert all(len(counts) == span.buckets + 2 for counts in found)


def test_every_memory_that_ended_is_counted_as_having_begun(store: SqliteStore) -> None:
    found = store.densities(BELIEVED, Span(later(-31), timedelta(days=1), 40))
    assert (sum(found.began), sum(found.ended), sum(found.recorded)) == (5, 1, 5)


@pytest.mark.parametrize("seen", MOMENTS)
@pytest.mark.parametrize("unseen", MOMENTS)
def test_differences_are_those_of_the_filters(
    store: SqliteStore, seen: Filter, unseen: Filter
) -> None:
    for limit in (1, 10):
        (count, nodes), (expected, named) = (
            each.differing(seen, unseen, limit=limit) for each in (store, Counting(store))
        )
        assert (count, ids(nodes)) == (expected, ids(named))


def test_quality_is_that_of_the_nodes(store: SqliteStore) -> None:
    where = Filter(kinds=(Kind.MEMORY, Kind.CHUNK), now=NOW)
    found, expected = (each.assessed(where, bins=10, lowest=2) for each in (store, Counting(store)))
    assert (found.nodes, list(found.bins), dict(found.stubs)) == (
        expected.nodes,
        list(expected.bins),
        dict(expected.stubs),
    )
    assert ids(found.lowest) == ids(expected.lowest) == ["b", "e"]
