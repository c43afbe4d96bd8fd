"""TraceRank: the mission's formulas, against numbers worked out by hand and against a plain reading of the words."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.graph.tracerank import (
    Factors,
    Switches,
    bound,
    factors,
    graph,
    is_relevant,
    reinforcement,
    temporal,
)
from clew.ports import Evidence
from clew.testing import NOW, later
from clew.types import Stability

HOURS = st.lists(st.integers(0, 24 * 400), max_size=12)


def ago(*, days: float = 0, hours: float = 0) -> datetime:
    return NOW - timedelta(days=days, hours=hours)


def spelled_out(hours_ago: list[int]) -> float:
    """The formula as a loop over the definition: each event looks for the next newer one."""
    felt = 0.0
    for place, hours in enumerate(hours_ago):
        newer = [
            other
            for at, other in enumerate(hours_ago)
            if other < hours or (other == hours and at < place)
        ]
        burst = bool(newer) and hours - max(newer) < 24
        felt += math.exp(-hours / 24 / 21) * (0.2 if burst else 1.0)
    return 1 + 0.35 * math.log(1 + felt)


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ((), 1.0),
        ((ago(),), 1.2426015),  # 1 + 0.35·ln 2
        ((ago(days=21),), 1.1096416),  # 1 + 0.35·ln(1 + e⁻¹) = 1 + 0.35·0.3132617
        # a whole day apart is no burst: 1 + 0.35·ln(1 + 1 + e^(−1/21)) = 1 + 0.35·ln 2.9534973
        ((ago(), ago(days=1)), 1.3790465),
        # a burst: 1 + 0.35·ln(1 + 1 + 0.2·e^(−1/42)) = 1 + 0.35·ln 2.1952943
        ((ago(), ago(hours=12)), 1.2752106),
    ],
)
def test_reinforcement_is_as_worked_out_by_hand(
    events: tuple[datetime, ...], expected: float
) -> None:
    assert reinforcement(events, now=NOW) == pytest.approx(expected, abs=1e-6)


@given(HOURS)
def test_reinforcement_is_what_the_words_of_the_formula_say(hours_ago: list[int]) -> None:
    events = [ago(hours=each) for each in hours_ago]
    assert reinforcement(events, now=NOW) == pytest.approx(spelled_out(hours_ago), abs=1e-9)


@given(HOURS, st.randoms(use_true_random=False))
def test_the_order_in_which_events_are_told_does_not_matter(
    hours_ago: list[int], chance: object
) -> None:
    events = [ago(hours=each) for each in hours_ago]
    # Hypothesis gives a Random
    shuffled = sorted(events, key=lambda _: chance.random())  # type: ignore[attr-defined]
    assert reinforcement(shuffled, now=NOW) == reinforcement(events, now=NOW)


def test_saying_it_ten_times_in_an_hour_counts_less_than_on_ten_days() -> None:
    burst = reinforcement([ago(hours=each / 10) for each in range(10)], now=NOW)
    spread = reinforcement([ago(days=each) for each in range(10)], now=NOW)
    assert reinforcement([NOW], now=NOW) < burst < spread


def test_what_has_not_happened_yet_does_not_count() -> None:
    assert reinforcement([later(1)], now=NOW) == 1.0
    assert reinforcement([ago(hours=1), later(0.1)], now=NOW) == reinforcement(
        [ago(hours=1)], now=NOW
    )


@pytest.mark.parametrize(
    ("related", "expected"), [(0, 1.0), (1, 1.1039721), (9, 1.3453878), (99, 1.6907755)]
)
def test_the_graph_factor_is_as_worked_out_by_hand(related: int, expected: float) -> None:
    assert graph(related) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize(
    ("stability", "days", "expected"),
    [
        (Stability.STATIC, 1000, 1.0),
        (Stability.UNKNOWN, 1000, 1.0),
        (Stability.DYNAMIC, 0, 1.0),
        (Stability.DYNAMIC, 90, 0.3678794),
        (Stability.DYNAMIC, 45, 0.6065307),
        (Stability.DYNAMIC, 1000, 0.01),
        (Stability.EPHEMERAL, 7, 0.3678794),
        (Stability.EPHEMERAL, 14, 0.1353353),
        (Stability.EPHEMERAL, 90, 0.01),
        (Stability.EPHEMERAL, -90, 1.0),
    ],
)
def test_the_temporal_factor_is_as_worked_out_by_hand(
    stability: Stability, days: float, expected: float
) -> None:
    assert temporal(stability, age_days=days) == pytest.approx(expected, abs=1e-7)


def test_the_multiplier_is_the_product_and_every_factor_can_be_switched_off() -> None:
    known = Evidence(Stability.DYNAMIC, ago(days=90), (ago(days=21),), related=9)
    whole = factors(known, now=NOW)
    # e^(−21/90): it was said again 21 days ago
    assert whole == pytest.approx((1.1096416, 1.3453878, 0.7918896), abs=1e-6)
    assert whole.product == pytest.approx(1.1822105, abs=1e-6)  # 1.1096416 · 1.3453878 · 0.7918896
    for name in Factors._fields:
        without = factors(known, now=NOW, switches=Switches(**{name: False}))
        assert without == whole._replace(**{name: 1.0})
    assert (
        factors(known, now=NOW, switches=Switches(reinforcement=False, graph=False, temporal=False))
        == Factors()
    )


def test_an_age_is_that_at_the_time_asked_about() -> None:
    known = Evidence(Stability.EPHEMERAL, ago(days=14))
    assert factors(known, now=NOW, at=ago(days=7)).temporal == pytest.approx(math.exp(-1))


def test_an_age_counts_from_when_it_was_last_said_again() -> None:
    known = Evidence(Stability.EPHEMERAL, ago(days=28), (ago(days=14), ago(days=7)))
    assert factors(known, now=NOW).temporal == pytest.approx(math.exp(-1))
    # nobody knew of the second time then
    assert factors(known, now=ago(days=10)).temporal == pytest.approx(math.exp(-4 / 7))


@given(st.floats(0, 1e6), st.floats(0, 1), st.floats(1, 10))
def test_a_bounded_multiplier_stays_within_its_bounds_and_is_itself_where_it_fits(
    value: float, least: float, most: float
) -> None:
    kept = bound(value, least=least, most=most)
    assert least <= kept <= most
    assert kept == value or not least <= value <= most


def test_only_what_is_nearly_as_relevant_as_the_best_is_reached() -> None:
    assert [is_relevant(each, best=0.9, share=0.5) for each in (0.9, 0.45, 0.44, 0.0)] == [
        True,
        True,
        False,
        False,
    ]
    assert is_relevant(0.0, best=0.9, share=0.0)
