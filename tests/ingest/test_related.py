"""RELATED edges: the strongest of what says similar things, once, bounded, and from the one search that looks for duplicates."""

from __future__ import annotations

import pytest

from clew.models.vectors import HashingEmbedder
from clew.ports import EmbedRole
from clew.types import Edge, Filter, Ranking, Role, Vectors
from tests.ingest.test_commit import Bench

TIDE = "the tide table of the northern harbour shows low water at {}"


def edges(bench: Bench) -> list[Edge]:
    return [
        edge
        for edge in bench.store.edges([node.id for node in bench.store.nodes()])
        if edge.kind == "RELATED"
    ]


def cosine(one: str, other: str) -> float:
    first, second = HashingEmbedder().embed([one, other], role=EmbedRole.PASSAGE)
    return float(first @ second)


def test_a_new_memory_is_linked_to_what_says_similar_things_with_the_cosine_as_weight() -> None:
    bench = Bench()
    first, other = (
        bench.one(TIDE.format("six")),
        bench.one("Dana wants summaries as three bullet points"),
    )
    second = bench.one(TIDE.format("seven thirty"))
    (edge,) = edges(bench)
    assert (edge.source, edge.target, edge.evidence) == (second.id, first.id, "cosine")
    assert edge.weight == pytest.approx(
        cosine(TIDE.format("six"), TIDE.format("seven thirty")), abs=1e-3
    )
    # stored once, seen from both
    assert bench.store.edges([str(first.id)]) == bench.store.edges([str(second.id)]) == (edge,)
    assert bench.store.edges([str(other.id)]) == ()


def test_memories_of_one_batch_are_linked_as_those_of_several_are() -> None:
    together, apart = Bench(), Bench()
    texts = [TIDE.format(hour) for hour in ("six", "seven thirty", "nearly eight")]
    together.commit(*texts)
    for text in texts:
        apart.one(text)
    weights = [
        round(edge.weight, 3) for edge in sorted(edges(together), key=lambda edge: edge.weight)
    ]
    assert len(weights) == 3
    assert weights == [
        round(edge.weight, 3) for edge in sorted(edges(apart), key=lambda edge: edge.weight)
    ]


def test_the_strongest_are_kept_and_none_below_the_least() -> None:
    bench = Bench(related__most=2, related__least=0.5, duplicates__near_threshold=1.0)
    for hour in ("six", "six thirty", "nine past ten on a foggy day", "eleven"):
        bench.one(TIDE.format(hour), near=False)  # without links of their own
    asked = TIDE.format("six forty")
    newest = bench.one(asked)
    kept = [edge for edge in edges(bench) if edge.source == newest.id]
    texts = {node.id: node.text for node in bench.store.nodes()}
    best = sorted(
        (cosine(asked, text) for id, text in texts.items() if id != newest.id), reverse=True
    )[:2]
    assert sorted((edge.weight for edge in kept), reverse=True) == pytest.approx(best, abs=1e-3)
    strict = Bench(related__least=0.99, duplicates__near_threshold=1.0)
    strict.commit(*(TIDE.format(hour) for hour in ("six", "seven")))
    assert edges(strict) == []


def test_no_memory_gathers_more_links_than_the_bound_on_either_side() -> None:
    bench = Bench(related__most=3, duplicates__near_threshold=1.0)
    bench.commit(*(TIDE.format(f"{hour} o'clock") for hour in range(10)))
    for hour in range(10, 20):
        bench.one(TIDE.format(f"{hour} o'clock"))
    ids = [node.id for node in bench.store.nodes()]
    found = edges(bench)
    assert max(sum(edge.source == id for edge in found) for id in ids) == 3
    assert max(sum(edge.target == id for edge in found) for id in ids) == 3


@pytest.mark.parametrize("off", [{"duplicates__near": False}, {"related__enabled": False}])
def test_without_the_search_for_near_duplicates_or_turned_off_nothing_is_linked(
    off: dict[str, bool],
) -> None:
    bench = Bench(**off)
    bench.commit(TIDE.format("six"), TIDE.format("seven thirty"))
    assert edges(bench) == []


def test_without_vectors_nothing_is_linked() -> None:
    bench = Bench(model=False)
    bench.commit(TIDE.format("six"), TIDE.format("seven thirty"))
    assert edges(bench) == []


def test_spaces_are_not_linked() -> None:
    bench = Bench()
    bench.one(TIDE.format("six"), space="one")
    bench.one(TIDE.format("seven thirty"), space="two")
    assert edges(bench) == []


def test_links_cost_no_search_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def searches(**settings: bool) -> int:
        bench, count = Bench(**settings), 0
        real = bench.store.dense

        def counting(
            vector: Vectors, where: Filter, *, limit: int, role: Role = Role.CONTENT
        ) -> Ranking:
            nonlocal count
            count += 1
            return real(vector, where, limit=limit, role=role)

        monkeypatch.setattr(bench.store, "dense", counting)
        for hour in range(8):
            bench.one(TIDE.format(f"{hour} o'clock"))
        return count

    assert searches() <= searches(related__enabled=False)


def test_a_forgotten_memory_takes_its_links_along() -> None:
    bench = Bench()
    first, _ = bench.commit(TIDE.format("six"), TIDE.format("seven thirty"))
    bench.store.delete([str(first.id)])
    assert edges(bench) == []
