from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import InputError, RefusedError
from clew.evaluate.significance import (
    Interval,
    changed,
    cohens_d,
    compare,
    difference_interval,
    holm,
    mean_interval,
    mean_intervals,
    randomisation_p,
    require_change,
    require_evidence,
    saturation,
)

units = st.floats(0, 1, allow_nan=False)


def drawn(seed: int, count: int, shift: float = 0.0) -> list[float]:
    values: list[float] = np.random.default_rng(seed).normal(shift, 1, count).tolist()
    return values


def keyed(values: list[float]) -> dict[str, float]:
    return {f"q{place:03}": value for place, value in enumerate(values)}


# Intervals
#
# ------------------------------------------------------------------------------------------------------------------


def test_an_interval_is_the_same_for_one_seed_and_another_for_another() -> None:
    values = drawn(1, 200)
    assert mean_interval(values, seed=5) == mean_interval(values, seed=5)
    assert mean_interval(values, seed=5) != mean_interval(values, seed=6)


def test_an_interval_is_close_to_that_of_the_normal_distribution() -> None:
    values = drawn(2, 400)
    half = 1.96 * float(np.std(values, ddof=1)) / 20
    low, high = mean_interval(values)
    assert (low, high) == pytest.approx(
        (np.mean(values) - half, np.mean(values) + half), abs=0.1 * half
    )


def test_an_interval_agrees_with_the_bootstrap_written_as_a_loop() -> None:
    values, generator = np.array(drawn(3, 60)), np.random.default_rng(9)
    means = [values[generator.integers(0, 60, 60)].mean() for _ in range(10_000)]
    assert mean_interval(values.tolist(), seed=9) == pytest.approx(
        np.percentile(means, [2.5, 97.5]), abs=1e-9
    )


def test_intervals_cover_the_true_mean_about_as_often_as_they_say() -> None:
    intervals = [mean_interval(drawn(seed, 50), resamples=1000) for seed in range(200)]
    assert 0.89 <= np.mean([low <= 0 <= high for low, high in intervals]) <= 0.99


def test_columns_share_their_resamples_so_that_one_and_many_give_the_same_interval() -> None:
    columns = {name: drawn(seed, 120) for seed, name in enumerate("abc")}
    together = mean_intervals(columns, seed=4)
    for name, values in columns.items():
        assert together[name] == pytest.approx(mean_interval(values, seed=4), abs=1e-9)
    assert mean_intervals({}) == {}


def test_blocks_of_resamples_do_not_show_in_the_result() -> None:
    few, many = drawn(1, 30), drawn(1, 3000)  # one block, and many blocks
    assert (
        mean_interval(few, confidence=0.5).low
        < np.mean(few)
        < mean_interval(few, confidence=0.5).high
    )
    assert (
        mean_interval(many, resamples=2000).low
        < np.mean(many)
        < mean_interval(many, resamples=2000).high
    )


def test_the_interval_of_a_difference_is_paired() -> None:
    base = drawn(1, 100)
    low, high = difference_interval(base, [value + 0.25 for value in base])
    assert (low, high) == pytest.approx((0.25, 0.25))


@pytest.mark.parametrize(
    "columns", [{"a": []}, {"a": [1.0], "b": [1.0, 2.0]}, {"a": [float("nan")]}]
)
def test_values_that_cannot_be_paired_are_refused(columns: dict[str, list[float]]) -> None:
    with pytest.raises(InputError):
        mean_intervals(columns)


@pytest.mark.parametrize("options", [{"resamples": 0}, {"confidence": 1.0}, {"confidence": 0.0}])
def test_options_out_of_range_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(InputError):
        mean_interval([1.0, 2.0], **options)  # type: ignore[arg-type]


# The randomisation test
#
# -----------------------------------------------------------------------------------------------------


def test_p_agrees_with_every_assignment_of_signs() -> None:
    differences = [0.5, -0.25, 1.0, 0.75, -0.1, 0.3, 0.2, 0.0]
    kept = [value for value in differences if value]
    sums = [
        abs(sum(sign * value for sign, value in zip(signs, kept, strict=True)))
        for signs in product((-1, 1), repeat=len(kept))
    ]
    exact = np.mean([value >= abs(sum(kept)) - 1e-9 for value in sums])
    assert randomisation_p(differences) == pytest.approx(exact, abs=0.015)


def test_p_is_never_zero_and_one_where_nothing_differs() -> None:
    assert randomisation_p([1.0] * 100) == 1 / 10_001
    assert randomisation_p([0.0] * 100) == 1.0


def test_p_is_two_sided() -> None:
    differences = drawn(5, 80, 0.2)
    assert randomisation_p(differences) == randomisation_p([-value for value in differences])


def test_p_is_uniform_where_there_is_no_difference() -> None:
    ps = [randomisation_p(drawn(seed, 40), resamples=500, seed=seed) for seed in range(300)]
    assert 0.02 <= np.mean([p <= 0.05 for p in ps]) <= 0.09


# Comparisons
#
# ----------------------------------------------------------------------------------------------------------------


def test_a_comparison_counts_wins_losses_and_ties() -> None:
    found = compare(keyed([0.0, 0.5, 1.0, 1.0]), keyed([1.0, 0.5, 0.5, 1.0]))
    assert (found.n, found.wins, found.losses, found.ties) == (4, 1, 1, 2)
    assert found.mean_difference == pytest.approx(0.125)


def test_the_order_of_the_questions_does_not_matter() -> None:
    base, variant = keyed(drawn(1, 50)), keyed(drawn(2, 50))
    assert compare(base, variant) == compare(
        dict(reversed(base.items())), dict(reversed(variant.items()))
    )


def test_systems_that_answered_different_questions_are_not_compared() -> None:
    with pytest.raises(InputError, match="same questions"):
        compare({"a": 1.0}, {"b": 1.0})
    with pytest.raises(InputError, match="at least one"):
        compare({}, {})


@given(st.lists(st.tuples(units, units), min_size=1, max_size=12))
def test_swapping_the_sides_of_a_comparison_turns_every_sign(
    pairs: list[tuple[float, float]],
) -> None:
    base, variant = keyed([a for a, _ in pairs]), keyed([b for _, b in pairs])
    there, back = compare(base, variant, resamples=200), compare(variant, base, resamples=200)
    assert there.mean_difference == pytest.approx(-back.mean_difference)
    assert (there.wins, there.losses, there.p) == (back.losses, back.wins, back.p)
    assert there.ci == pytest.approx(Interval(-back.ci.high, -back.ci.low), abs=1e-9)
    assert there.ci.low - 1e-9 <= there.ci.high


def test_the_effect_is_cohens_d_of_paired_differences_and_none_where_it_has_no_value() -> None:
    assert cohens_d([3.0, 2.0, 1.0]) == pytest.approx(2.0)
    assert cohens_d([0.0, 0.0]) == 0.0
    assert cohens_d([0.25, 0.25]) is None
    assert cohens_d([1.0]) is None


def test_holm_corrects_as_in_the_textbook_and_keeps_the_order() -> None:
    corrected = holm({"d": 0.005, "a": 0.01, "b": 0.03, "c": 0.04})
    assert list(corrected) == ["d", "a", "b", "c"]
    assert corrected == pytest.approx({"d": 0.02, "a": 0.03, "b": 0.06, "c": 0.06})


@given(st.lists(units, min_size=1, max_size=10))
def test_holm_never_lowers_a_p_never_exceeds_one_and_never_reorders(ps: list[float]) -> None:
    corrected = list(holm(keyed(ps)).values())
    assert all(p <= held <= 1 for p, held in zip(ps, corrected, strict=True))
    order = sorted(range(len(ps)), key=lambda place: ps[place])
    assert [corrected[place] for place in order] == sorted(corrected)


# Evidence
#
# -------------------------------------------------------------------------------------------------------------------


def test_a_set_that_every_system_solves_is_refused_as_evidence() -> None:
    solved = {"bm25": keyed([1.0] * 199 + [0.0]), "clew": keyed([1.0] * 200)}
    with pytest.raises(RefusedError, match="saturated") as refused:
        require_evidence(solved, measure="recall@10", dataset="easy")
    assert refused.value.facts["dataset"] == "easy"


def test_a_set_on_which_all_systems_are_identical_is_refused_as_evidence() -> None:
    assert "same value" in (saturation({"a": keyed([1.0, 0.0]), "b": keyed([1.0, 0.0])}) or "")


def test_a_set_that_one_system_does_not_solve_is_evidence() -> None:
    systems = {"bm25": keyed([1.0, 0.0]), "clew": keyed([1.0, 1.0])}
    assert saturation(systems) is None
    require_evidence(systems, measure="recall@10", dataset="fair")


def test_one_system_alone_is_not_called_identical() -> None:
    assert saturation({"a": keyed([1.0, 0.0])}) is None
    with pytest.raises(InputError):
        saturation({})


def test_changed_counts_the_questions_whose_ranking_differs() -> None:
    base = {"q": ["a", "b"], "r": ["a"], "s": []}
    assert changed(base, {"q": ("a", "b"), "r": ("a",)}) == 0
    assert changed(base, {"q": ["b", "a"], "r": ["a", "c"], "t": ["x"]}) == 3
    assert changed(base, {"q": ["a", "c"], "r": ["a"]}, depth=1) == 0


def test_a_variant_that_changes_no_ranking_is_an_error_and_not_a_result() -> None:
    with pytest.raises(RefusedError, match="no-recency changed no ranking"):
        require_change("no-recency", {"q": ["a"]}, {"q": ["a"]})
    assert require_change("no-recency", {"q": ["a"]}, {"q": ["b"]}) == 1
