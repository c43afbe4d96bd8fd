from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.recall.score import access, components, recency, total
from clew.settings import Settings, Weights
from clew.testing import NOW
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
