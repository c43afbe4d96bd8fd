from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clew
from clew.search.score import Score, access, components, recency, scores, total
from clew.search.state import Hit, LazyHits, Question, Recall
from clew.settings import Settings, Weights
from clew.store.memory import MemoryStore
from clew.testing import NOW, FixedClock, later, node, where
from clew.types import Signals

PRESETS = Settings().score.presets


def score_of(
    preset: str,
    *,
    relevance: float,
    age_days: float = 0.0,
    importance: float = 0.5,
    accesses: int = 0,
) -> float:
    signals = Signals(NOW - timedelta(days=age_days), importance, accesses)
    parts = components(
        relevance,
        signals,
        weights=PRESETS[preset],
        now=NOW,
        recency_rate_per_day=0.1,
        access_divisor=5.0,
    )
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
def test_every_preset_stays_between_zero_and_one(
    relevance: float, age: float, importance: float, accesses: int
) -> None:
    for preset in PRESETS:
        assert (
            0
            <= score_of(
                preset, relevance=relevance, age_days=age, importance=importance, accesses=accesses
            )
            <= 1 + 1e-9
        )


def test_recent_prefers_the_new_and_important_the_important() -> None:
    def old_match(preset: str) -> float:
        return score_of(preset, relevance=1.0, age_days=60)

    def new_mention(preset: str) -> float:
        return score_of(preset, relevance=0.5, age_days=0)

    assert old_match("semantic") > new_mention("semantic")
    assert old_match("recent") < new_mention("recent")
    assert score_of("important", relevance=0.5, importance=1.0) > score_of(
        "important", relevance=0.9, importance=0.1
    )


def test_importance_and_access_count_once() -> None:
    gain = score_of("balanced", relevance=0.5, importance=1.0) - score_of(
        "balanced", relevance=0.5, importance=0.0
    )
    assert gain == pytest.approx(0.2)


def test_what_is_still_to_come_is_as_far_from_now_as_what_is_over() -> None:
    assert (
        recency(-100, rate_per_day=0.1)
        == recency(100, rate_per_day=0.1)
        < recency(-1, rate_per_day=0.1)
        < recency(0, rate_per_day=0.1)
    )


@pytest.mark.parametrize(
    ("valid_days", "told_days", "age_days"),
    [
        (-150, 0, 0),  # true since June, told today
        (-150, -10, 10),
        (-3, -10, 3),  # told before it began
        (+60, 0, 60),  # planned
        (-150, +5, 150),  # asked as of a time at which nobody had told it
    ],
)
def test_what_is_true_is_as_recent_as_when_it_was_told(
    valid_days: int, told_days: int, age_days: int
) -> None:
    signals = Signals(later(valid_days), 0.5, 0, recorded=later(told_days))
    parts = components(
        0.5,
        signals,
        weights=PRESETS["balanced"],
        now=NOW,
        recency_rate_per_day=0.1,
        access_divisor=5.0,
    )
    assert parts["recency"].value == pytest.approx(recency(age_days, rate_per_day=0.1))
    from_valid = components(
        0.5,
        signals,
        weights=PRESETS["balanced"],
        now=NOW,
        recency_rate_per_day=0.1,
        access_divisor=5.0,
        recorded=False,
    )
    assert from_valid["recency"].value == pytest.approx(recency(valid_days, rate_per_day=0.1))


def test_saying_since_when_a_fact_is_true_does_not_put_it_behind_others() -> None:
    with clew.open(":memory:", model={"embedder": "none"}, clock=FixedClock()) as memory:
        memory.remember("I live in a flat on Rua da Bica", valid_from="2025-06-01", near=False)
        memory.remember("My sister Clara lives in Toronto", near=False)
        recency = [
            hit.components["recency"].value
            for hit in memory.recall("who lives where?", track=False).hits
        ]
        assert recency == [1.0, 1.0]
        with memory.variant(score={"recency_from": "valid"}) as dated:
            assert (
                min(
                    hit.components["recency"].value
                    for hit in dated.recall("who lives where?", track=False).hits
                )
                < 0.001
            )


def test_what_was_imported_is_as_recent_as_its_own_time(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text(
        "---\ndate: 2025-06-01\n---\nThe harbour crane was painted blue and has a new motor.\n",
        encoding="utf-8",
    )
    with clew.open(":memory:", model={"embedder": "none"}, clock=FixedClock()) as memory:
        memory.import_path(tmp_path)
        (hit,) = memory.recall("harbour crane", track=False).hits
        assert hit.node is not None
        assert hit.components["recency"].value == pytest.approx(
            recency((NOW - hit.node.t_valid).days, rate_per_day=0.1), rel=0.1
        )


def test_use_saturates() -> None:
    assert access(10**9, divisor=5.0) == 1.0


WEIGHT = st.floats(0, 1e6)


DAYS = st.floats(-10, 4000)


@given(
    st.floats(0, 1),
    st.tuples(DAYS, DAYS),
    st.booleans(),
    st.integers(0, 10**6),
    st.tuples(WEIGHT, WEIGHT, WEIGHT, WEIGHT),
)
def test_a_score_is_what_its_components_add_up_to_to_the_last_bit(
    relevance: float,
    ages: tuple[float, float],
    counted: bool,
    accesses: int,
    weights: tuple[float, float, float, float],
) -> None:
    signals = Signals(
        NOW - timedelta(days=ages[0]),
        relevance / 2,
        accesses,
        recorded=NOW - timedelta(days=ages[1]),
    )
    parts = components(
        relevance,
        signals,
        weights=Weights(*weights),
        now=NOW,
        recency_rate_per_day=0.1,
        access_divisor=5.0,
        recorded=counted,
    )
    asked, known = {"a": relevance, "gone": 1.0}, {"a": signals}
    found = scores(
        asked,
        known,
        weights=Weights(*weights),
        now=NOW,
        recency_rate_per_day=0.1,
        access_divisor=5.0,
        recorded=counted,
    )
    assert found == {"a": total(parts)}


def scored(*hits: Hit) -> Recall:
    store = MemoryStore()
    store.insert(
        [
            node("a", t_valid=later(-30), t_created=later(-30)),
            node("b"),
            node("c"),
            node("d", importance=1.0),
        ]
    )
    question = Question(
        text="?",
        k=10,
        where=where(),
        weights=PRESETS["balanced"],
        recipe="balanced",
        preset="balanced",
    )
    stage = Score(recency_rate_per_day=0.1, access_divisor=5.0, store=store)
    return stage(Recall(question=question, hits=hits))


def test_scoring_orders_by_score_and_then_by_id_and_drops_what_is_gone() -> None:
    recall = scored(*(Hit(id, 0.5, {}) for id in ("c", "gone", "a", "d", "b")))
    assert [hit.id for hit in recall.hits] == ["d", "b", "c", "a"]
    assert all(
        hit.score == total(hit.components) and hit.components["semantic"].value == 0.5
        for hit in recall.hits
    )


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
