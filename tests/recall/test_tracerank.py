"""TraceRank in a recall.

Bounded, only among the relevant, switchable, and a score that still adds up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clew
from clew.evaluate.ablating import usual_variants
from clew.graph.tracerank import Switches, factors
from clew.search.score import Score, TraceRank, multiply_relevance, total
from clew.search.state import Component, Hit, Question, Recall
from clew.settings import Settings, Weights, load
from clew.store.memory import MemoryStore
from clew.testing import FixedClock, later, node, where
from clew.types import Edge, Event, EventKind, Stability

Open = Callable[..., clew.Clew]
UNIT = st.floats(0.0, 1.0)
USUAL = Weights(0.8, 0.1, 0.1, 0.0)


@pytest.fixture
def store() -> MemoryStore:
    """Four memories: one said again, one that others are related to, one that has gone stale, and a plain one."""
    store = MemoryStore()
    store.insert(
        [
            node("plain"),
            node("said"),
            node("linked"),
            node("stale", stability=Stability.EPHEMERAL, t_valid=later(-30)),
        ]
    )
    store.append(
        [Event(node="said", kind=EventKind.REINFORCE_EXACT, at=later(-each)) for each in range(3)]
    )
    store.link(
        [
            Edge(source=each, target="linked", kind="RELATED", t_created=later(0))
            for each in ("plain", "said", "stale")
        ]
    )
    return store


def stage(store: MemoryStore, **options: Any) -> TraceRank:
    chosen = {
        "switches": Switches(),
        "least": 0.67,
        "most": 1.5,
        "min_relevance_share": 0.5,
        **options,
    }
    return TraceRank(**chosen, store=store)


def scored(store: MemoryStore, *, weights: Weights = USUAL, **relevance: float) -> Recall:
    question = Question(
        text="?", k=10, where=where(), weights=weights, recipe="balanced", preset="custom"
    )
    hits = tuple(Hit(id, value, {}) for id, value in relevance.items())
    return Score(recency_rate_per_day=0.1, access_divisor=5.0, store=store)(
        Recall(question=question, hits=hits)
    )


def multipliers(recall: Recall) -> dict[str, float]:
    """Return the factor of each hit that one was applied to."""
    return {
        hit.id: 1 + hit.components["tracerank"].value
        for hit in recall.hits
        if "tracerank" in hit.components
    }


def test_of_alike_memories_the_reinforced_and_the_linked_rise_and_the_stale_falls(
    store: MemoryStore,
) -> None:
    answer = stage(store)(
        scored(store, weights=Weights(1, 0, 0, 0), plain=0.5, said=0.5, linked=0.5, stale=0.5)
    )
    assert [hit.id for hit in answer.hits] == ["said", "linked", "plain", "stale"]
    found = multipliers(answer)
    assert "plain" not in found
    assert found["linked"] == pytest.approx(1.2079442)  # 1 + 0.15·ln 4
    assert found["stale"] == pytest.approx(0.67)  # e^(−30/7) is 0.0138: bounded
    # 1 + 0.35·ln(1 + 1 + e^(−1/21) + e^(−2/21)): a day apart is no burst
    assert found["said"] == pytest.approx(1.4729740)


def test_the_score_is_relevance_times_the_factor_beside_the_rest(store: MemoryStore) -> None:
    before = {hit.id: hit for hit in scored(store, plain=0.9, said=0.6, linked=0.5, stale=0.8).hits}
    answer = stage(store)(scored(store, plain=0.9, said=0.6, linked=0.5, stale=0.8))
    for hit in answer.hits:
        semantic = before[hit.id].components["semantic"].contribution
        rest = before[hit.id].score - semantic
        assert hit.score == pytest.approx(
            semantic * multipliers(answer).get(hit.id, 1.0) + rest, abs=1e-12
        )
        assert hit.score == total(hit.components)
        assert {
            name: part for name, part in hit.components.items() if name != "tracerank"
        } == before[hit.id].components


@given(UNIT, st.floats(0.0, 10.0), st.tuples(UNIT, UNIT, UNIT, UNIT), UNIT, UNIT)
def test_components_add_up_to_the_score_whatever_the_factor(
    relevance: float,
    multiplier: float,
    weights: tuple[float, float, float, float],
    recency: float,
    importance: float,
) -> None:
    semantic, *others, _ = weights
    parts = {
        "semantic": Component(relevance, semantic),
        "recency": Component(recency, others[0]),
        "importance": Component(importance, others[1]),
    }
    hit = multiply_relevance(Hit("a", total(parts), {}, parts), multiplier)
    assert sum(part.contribution for _, part in sorted(hit.components.items())) == hit.score
    assert hit.score == pytest.approx(
        semantic * relevance * multiplier + recency * others[0] + importance * others[1], abs=1e-9
    )


def test_what_is_far_less_relevant_than_the_best_keeps_its_score(store: MemoryStore) -> None:
    before = {hit.id: hit for hit in scored(store, plain=0.9, said=0.44, linked=0.45).hits}
    answer = stage(store)(scored(store, plain=0.9, said=0.44, linked=0.45))
    assert set(multipliers(answer)) == {"linked"}
    assert next(hit for hit in answer.hits if hit.id == "said") == before["said"]
    assert set(
        multipliers(stage(store, min_relevance_share=0.0)(scored(store, plain=0.9, said=0.01)))
    ) == {"said"}


def test_history_cannot_lift_beyond_its_bound_nor_push_below_it(store: MemoryStore) -> None:
    store.append(
        [Event(node="said", kind=EventKind.REINFORCE_NEAR, at=later(-each)) for each in range(200)]
    )
    found = multipliers(stage(store)(scored(store, plain=0.5, said=0.5, stale=0.5)))
    assert [found["said"], found["stale"]] == pytest.approx([1.5, 0.67])
    level = stage(store, least=1.0, most=1.0)(scored(store, plain=0.5, said=0.5, stale=0.5))
    assert not multipliers(level)


@pytest.mark.parametrize(
    ("factor", "moved"),
    [("reinforcement", {"said"}), ("graph", {"linked"}), ("temporal", {"stale"})],
)
def test_a_factor_alone_moves_only_what_it_is_about(
    store: MemoryStore, factor: str, moved: set[str]
) -> None:
    switches = Switches(**{name: name == factor for name in Switches._fields})
    found = multipliers(
        stage(store, switches=switches)(scored(store, plain=0.5, said=0.5, linked=0.5, stale=0.5))
    )
    assert {id for id, each in found.items() if each != 1.0} == moved


def test_a_recall_of_what_was_known_then_does_not_count_what_happened_since(
    store: MemoryStore,
) -> None:
    recall = scored(store, plain=0.5, said=0.5)
    then = replace(recall.question, where=where(known_at=later(-1.5)))
    found = multipliers(stage(store)(replace(recall, question=then)))
    expected = factors(store.evidence(["said"])["said"], now=later(-1.5)).reinforcement
    assert found["said"] == pytest.approx(expected)
    assert 1.0 < expected < multipliers(stage(store)(recall))["said"]


def test_without_hits_or_without_a_score_there_is_nothing_to_multiply(store: MemoryStore) -> None:
    empty = scored(store)
    assert stage(store)(empty) is empty
    unscored = replace(empty, hits=(Hit("said", 0.5, {}),))
    assert stage(store)(unscored) is unscored


def test_what_is_gone_meanwhile_keeps_its_score(store: MemoryStore) -> None:
    recall = scored(store, plain=0.5, said=0.5)
    store.delete(["said"])
    assert stage(store)(recall) is recall


@pytest.fixture
def opened() -> Iterator[Open]:
    clews: list[clew.Clew] = []

    def opening(**settings: Any) -> clew.Clew:
        clews.append(
            clew.open(":memory:", model={"embedder": "hashing"}, clock=FixedClock(), **settings)
        )
        return clews[-1]

    yield opening
    for each in clews:
        each.close()


def test_a_recall_with_it_explains_the_factor_and_adds_up(opened: Open) -> None:
    memory = opened(tracerank={"enabled": True})
    old = memory.remember(
        "The coffee machine on the third floor leaks",
        stability="ephemeral",
        valid_from="2025-01-01",
    )
    memory.remember("The coffee machine on the second floor is broken", near=False)
    memory.remember("The coffee machine on the second floor is broken")
    answer = memory.recall("coffee machine", preset="balanced")
    for hit in answer.hits:
        assert sum(part.contribution for _, part in sorted(hit.components.items())) == hit.score
    best, worst = answer.hits
    assert worst.id == old.id
    assert "+ tracerank" in best.explanation
    assert "- tracerank" in worst.explanation


def history(memory: clew.Clew, recipe: str) -> list[object]:
    return [each.history for each in memory.recipe(recipe).stages if isinstance(each, Score)]


def test_what_is_said_again_or_fades_counts_unless_it_is_turned_off(opened: Open) -> None:
    usual = opened()
    (found,) = history(usual, "balanced")
    assert found == TraceRank(
        Switches(graph=False), least=0.9, most=1.1, min_relevance_share=0.5, store=usual.store
    )
    assert history(opened(tracerank={"enabled": False}), "balanced") == [None]
    memory = opened(
        tracerank={
            "enabled": True,
            "graph": True,
            "most": 1.25,
            "least": 0.8,
            "min_relevance_share": 0.8,
        }
    )
    (found,) = history(memory, "agent")
    assert found == TraceRank(
        Switches(), least=0.8, most=1.25, min_relevance_share=0.8, store=memory.store
    )
    assert history(memory, "lexical") == [None]


def test_an_ablation_tries_it_whole_and_factor_by_factor_and_the_other_way_round_where_it_is_on() -> (
    None
):
    off = load(environ={}, overrides={"tracerank.enabled": False}).settings
    tried = {each.name: each.settings for each in usual_variants(off)}
    assert tried["tracerank"] == {"tracerank.enabled": True}
    assert tried["meta"] == {"score.meta_weight": 0.2}
    for factor in Switches._fields:
        alone = load(environ={}, overrides=tried[f"tracerank-{factor}"]).settings.tracerank
        assert alone.enabled
        assert [name for name in Switches._fields if getattr(alone, name)] == [factor]
    usual = {each.name: each.settings for each in usual_variants(Settings())}
    assert usual["no-tracerank-reinforcement"] == {"tracerank.reinforcement": False}
    assert usual["tracerank-graph"] == {"tracerank.graph": True}
    on = load(environ={}, overrides={"tracerank.graph": True, "score.meta_weight": 0.1}).settings
    left_out = {each.name: each.settings for each in usual_variants(on)}
    assert left_out["no-tracerank"] == {"tracerank.enabled": False}
    assert left_out["no-tracerank-graph"] == {"tracerank.graph": False}
    assert left_out["no-meta"] == {"score.meta_weight": 0.0}
    assert not {"tracerank", "tracerank-graph", "meta"} & left_out.keys()
