from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.recall.score import Score, access, components, recency, scores, total
from clew.recall.state import Hit, LazyHits, Question, Recall
from clew.settings import Settings, Weights
from clew.store.memory import MemoryStore
from clew.testing import NOW, later, node, where
from clew.types import Signals

PRESETS = Settings().score.presets


def score_of(preset: str, *, relevance: float, age_days: float = 0.0, importance: float = 0.5, accesses: int = 0) -> float:
    signals = Signals(NOW - timedelta(days=age_days), importance, accesses)
    parts = components(relevance, signals, weights=PRESETS[preset], now=NOW, recency_rate_per_day=0.1, access_divisor=5.0)
    return total(parts)


def test_the_worked_example_of_the_formula() -> None:
    # 0.5·0.8 + 0.2·e^(−0.1·10) + 0.2·0.9 + 0.1·ln(1+5)/5
    score = score_of("balanced", relevance=0.8, age_days=10, importance=0.9, accesses=5)
    assert score == pytest.approx(0.4 + 0.0735759 + 0.18 + 0.0358352, abs=1e-6)


@pytest.mark.parametrize(
    ("preset", "weights"),
    [
        ("balanced", (0.5, 0.2, 0.2, 0.1)),
        ("semantic", (0.8, 0.1, 0.1, 0.0)),
        ("recent", (0.3, 0.5, 0.1, 0.1)),
        ("important", (0.3, 0.1, 0.5, 0.1)),
        ("popular", (0.3, 0.1, 0.1, 0.5)),
    ],
)
def test_the_presets_are_the_published_ones(preset: str, weights: tuple[float, ...]) -> None:
    assert PRESETS[preset] == Weights(*weights)
    assert sum(weights) == pytest.approx(1.0)


@given(st.floats(0, 1), st.floats(0, 4000), st.floats(0, 1), st.integers(0, 10**6))
def test_every_preset_stays_between_zero_and_one(relevance: float, age: float, importance: float, accesses: int) -> None:
    for preset in PRESETS:
        assert 0 <= score_of(preset, relevance=relevance, age_days=age, importance=importance, accesses=accesses) <= 1 + 1e-9


def test_recent_prefers_the_new_and_important_the_important() -> None:
    def old_match(preset: str) -> float:
        return score_of(preset, relevance=1.0, age_days=60)

    def new_mention(preset: str) -> float:
        return score_of(preset, relevance=0.5, age_days=0)

    assert old_match("semantic") > new_mention("semantic")
    assert old_match("recent") < new_mention("recent")
    assert score_of("important", relevance=0.5, importance=1.0) > score_of("important", relevance=0.9, importance=0.1)


def test_importance_and_access_count_once() -> None:
    gain = score_of("balanced", relevance=0.5, importance=1.0) - score_of("balanced", relevance=0.5, importance=0.0)
    assert gain == pytest.approx(0.2)


def test_a_future_memory_is_as_recent_as_can_be_and_use_saturates() -> None:
    assert recency(-100, rate_per_day=0.1) == 1.0
    assert access(10**9, divisor=5.0) == 1.0


WEIGHT = st.floats(0, 1e6)


@given(st.floats(0, 1), st.floats(-10, 4000), st.floats(0, 1), st.integers(0, 10**6), st.tuples(WEIGHT, WEIGHT, WEIGHT, WEIGHT))
def test_a_score_is_what_its_components_add_up_to_to_the_last_bit(
    relevance: float, age: float, importance: float, accesses: int, weights: tuple[float, float, float, float]
) -> None:
    signals = Signals(NOW - timedelta(days=age), importance, accesses)
    parts = components(relevance, signals, weights=Weights(*weights), now=NOW, recency_rate_per_day=0.1, access_divisor=5.0)
    asked, known = {"a": relevance, "gone": 1.0}, {"a": signals}
    found = scores(asked, known, weights=Weights(*weights), now=NOW, recency_rate_per_day=0.1, access_divisor=5.0)
    assert found == {"a": total(parts)}


def scored(*hits: Hit) -> Recall:
    store = MemoryStore()
    store.insert([node("a", t_valid=later(-30)), node("b"), node("c"), node("d", importance=1.0)])
    question = Question(text="?", k=10, where=where(), weights=PRESETS["balanced"], recipe="balanced", preset="balanced")
    stage = Score(recency_rate_per_day=0.1, access_divisor=5.0, store=store)
    return stage(Recall(question=question, hits=hits))


def test_scoring_orders_by_score_and_then_by_id_and_drops_what_is_gone() -> None:
    recall = scored(*(Hit(id, 0.5, {}) for id in ("c", "gone", "a", "d", "b")))
    assert [hit.id for hit in recall.hits] == ["d", "b", "c", "a"]
    assert all(hit.score == total(hit.components) and hit.components["semantic"].value == 0.5 for hit in recall.hits)


def test_hits_made_when_they_are_looked_at_are_a_sequence_like_any_other() -> None:
    hits = scored(*(Hit(id, 0.5, {}) for id in ("a", "b", "c"))).hits
    assert isinstance(hits, LazyHits)
    eager = tuple(hits)
    assert (len(hits), hits[0], hits[-1], hits[1:]) == (3, eager[0], eager[-1], eager[1:])
    assert hits == eager
    assert eager == hits
    assert hits != eager[1:]
    assert hits != list(eager)
    assert (repr(hits), eager[1] in hits, hits.index(eager[2])) == (repr(eager), True, 2)
    with pytest.raises(IndexError):
        hits[3]
