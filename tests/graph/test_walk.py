"""A signal spreads along links.

It fades, it shares one budget, it never loops, and chance is chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.graph.walk import Limits, Link, Links, pagerank, walk

FAR = Limits(hops=4, least=0.001, nodes=100, fade=1.0)


def links(*ways: tuple[str, str, float]) -> Links:
    """Return a lookup over ways, from and to and weight."""

    def found(ids: Sequence[str]) -> Mapping[str, Sequence[Link]]:
        return {
            id: [
                Link(source, target, "NAMES", weight)
                for source, target, weight in ways
                if source == id
            ]
            for id in ids
        }

    return found


def limits(**changes: float) -> Limits:
    return Limits(**{**{name: getattr(FAR, name) for name in FAR.__slots__}, **changes})


def test_a_signal_fades_by_the_weight_of_each_link() -> None:
    found = walk({"a": 0.8}, links(("a", "b", 0.5), ("b", "c", 0.25)), limits=FAR)
    assert [step.signal for step in found["c"]] == [pytest.approx(0.4), pytest.approx(0.1)]
    assert [(step.link.source, step.link.target) for step in found["c"]] == [("a", "b"), ("b", "c")]


def test_fading_takes_its_part_at_every_link() -> None:
    found = walk({"a": 1.0}, links(("a", "b", 1.0), ("b", "c", 1.0)), limits=limits(fade=0.5))
    assert {id: path[-1].signal for id, path in found.items()} == {"b": 0.5, "c": 0.25}


def test_of_two_ways_the_stronger_signal_counts_however_many_hops_it_took() -> None:
    found = walk({"a": 1.0}, links(("a", "c", 0.2), ("a", "b", 0.9), ("b", "c", 0.9)), limits=FAR)
    assert found["c"][-1].signal == pytest.approx(0.81)
    assert len(found["c"]) == 2


def test_a_circle_comes_to_an_end_and_never_feeds_its_start() -> None:
    found = walk(
        {"a": 1.0},
        links(("a", "b", 1.0), ("b", "c", 1.0), ("c", "a", 1.0), ("b", "b", 1.0)),
        limits=FAR,
    )
    assert set(found) == {"b", "c"}


def test_one_start_may_be_reached_from_another() -> None:
    found = walk({"a": 1.0, "b": 0.5}, links(("a", "b", 0.9), ("b", "a", 0.9)), limits=FAR)
    assert {id: path[-1].signal for id, path in found.items()} == {
        "a": pytest.approx(0.45),
        "b": pytest.approx(0.9),
    }


def test_every_start_is_visited_even_when_the_first_alone_could_spend_the_budget() -> None:
    wide = [("a", f"x{number:03d}", 0.99) for number in range(500)]
    found = walk(
        {"a": 1.0, "b": 0.2, "c": 0.1},
        links(*wide, ("b", "near-b", 0.5), ("c", "near-c", 0.5)),
        limits=limits(nodes=4),
    )
    assert {"near-b", "near-c"} <= set(found)


def test_no_more_nodes_go_on_than_the_budget_allows() -> None:
    asked: list[str] = []
    chain = links(*((f"{number:03d}", f"{number + 1:03d}", 1.0) for number in range(50)))

    def counting(ids: Sequence[str]) -> Mapping[str, Sequence[Link]]:
        asked.extend(ids)
        return chain(ids)

    walk({"000": 1.0}, counting, limits=limits(nodes=7, hops=40))
    assert len(asked) == len(set(asked)) == 7


def test_no_path_is_longer_than_the_hops_allowed() -> None:
    found = walk(
        {"a": 1.0}, links(("a", "b", 1.0), ("b", "c", 1.0), ("c", "d", 1.0)), limits=limits(hops=2)
    )
    assert set(found) == {"b", "c"}


def test_a_stronger_and_longer_way_found_later_makes_no_path_longer_than_allowed() -> None:
    ways = links(("a", "b", 0.9), ("a", "c", 0.3), ("b", "c", 0.9), ("c", "d", 0.8))
    found = walk({"a": 1.0}, ways, limits=limits(hops=2))
    assert {id: [step.link.target for step in path] for id, path in found.items()} == {
        "b": ["b"],
        "c": ["b", "c"],
        "d": ["c", "d"],
    }
    assert found["d"][-1].signal == pytest.approx(0.3 * 0.8)


def test_a_signal_below_the_least_is_not_passed_on() -> None:
    assert walk({"a": 0.1}, links(("a", "b", 0.5)), limits=limits(least=0.06)) == {}


def test_drawing_is_reproducible_by_its_seed_and_differs_between_seeds() -> None:
    ways = links(*(("a", f"{number:02d}", 0.5) for number in range(40)))
    drawn = [
        frozenset(walk({"a": 1.0}, ways, limits=FAR, mode="sampled", seed=seed))
        for seed in (1, 1, 2, 3)
    ]
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) == 3


def test_a_link_is_drawn_as_often_as_its_probability_says() -> None:
    ways = links(("a", "often", 0.8), ("a", "seldom", 0.1), ("often", "behind", 0.5))
    seen = Counter(
        id
        for seed in range(2000)
        for id in walk({"a": 1.0}, ways, limits=FAR, mode="sampled", seed=seed)
    )
    assert seen["often"] / 2000 == pytest.approx(0.8, abs=0.04)
    assert seen["seldom"] / 2000 == pytest.approx(0.1, abs=0.03)
    # p of the second link has the first's in it
    assert seen["behind"] / 2000 == pytest.approx(0.8 * 0.4, abs=0.04)


def test_a_walker_with_restarts_prefers_what_many_ways_lead_to() -> None:
    ways = links(
        ("a", "b", 0.5), ("a", "c", 0.5), ("b", "d", 0.5), ("c", "d", 0.5), ("c", "e", 0.5)
    )
    found = walk({"a": 1.0}, ways, limits=FAR, mode="pagerank")
    assert found["d"][-1].signal > found["e"][-1].signal
    assert max(path[-1].signal for path in found.values()) == 1.0


def test_shares_of_a_walker_add_up_to_one() -> None:
    shares = pagerank({"a": 2.0, "b": 1.0}, {"a": {"c": 0.5, "b": 0.1}, "c": {"a": 1.0}})
    assert sum(shares.values()) == pytest.approx(1.0)


@given(
    st.lists(
        st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh"), st.floats(0, 1)),
        max_size=40,
    ),
    st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0.01, 1), min_size=1, max_size=3),
    st.sampled_from(["expected", "sampled", "pagerank"]),
)
def test_paths_are_unbroken_never_revisit_a_node_and_never_grow_stronger(
    ways: list[tuple[str, str, float]], starts: dict[str, float], mode: str
) -> None:
    for id, path in walk(starts, links(*ways), limits=FAR, mode=mode, seed=7).items():
        nodes = [path[0].link.source, *(step.link.target for step in path)]
        assert nodes[0] in starts
        assert nodes[-1] == id
        assert all(before.link.target == after.link.source for before, after in pairwise(path))
        assert len(set(nodes)) == len(nodes)
        if mode != "pagerank":
            signals = [starts[nodes[0]], *(step.signal for step in path)]
            assert signals == sorted(signals, reverse=True)
