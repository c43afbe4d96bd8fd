"""Is a difference real? Paired bootstrap intervals, the randomisation test, and what is no evidence.

Every function is deterministic: each draws from its own generator, made from `seed`, and does not
depend on the order of the questions in a mapping or on what was computed before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from clew.errors import InputError, RefusedError
from clew.evaluate.measures.rankings import Run

RESAMPLES = 10_000  # the p value's floor is 1/10,001
CONFIDENCE = 0.95
SEED = 0
BLOCK_NUMBERS = 2_000_000  # numbers in one block of resamples: 16 MB
# sums differ in the last bits between machines; they are cut off before anything is compared
NOISE_DIGITS = 12

Matrix = npt.NDArray[np.float64]


class Interval(NamedTuple):
    """A confidence interval; both ends belong to it."""

    low: float
    high: float


def mean_interval(
    values: Sequence[float],
    *,
    seed: int = SEED,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Interval:
    """Return the percentile bootstrap interval of a mean.

    >>> mean_interval([0.5] * 10)
    Interval(low=0.5, high=0.5)
    """
    return mean_intervals({"": values}, seed=seed, resamples=resamples, confidence=confidence)[""]


def difference_interval(
    baseline: Sequence[float],
    variant: Sequence[float],
    *,
    seed: int = SEED,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Interval:
    """Return the interval of mean(variant) − mean(baseline).

    The two hold the same questions in the same order.
    """
    differences = np.subtract(*_matrix({"variant": variant, "baseline": baseline}).T)
    return mean_interval(
        differences.tolist(), seed=seed, resamples=resamples, confidence=confidence
    )


def mean_intervals(
    columns: Mapping[str, Sequence[float]],
    *,
    seed: int = SEED,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> dict[str, Interval]:
    """Return the interval of each column's mean.

    All columns hold the same questions and share the same resamples.

    A resample is how often each question was drawn; one matrix product gives its mean in every
    column. A thousand questions and a hundred columns take about as long as one column.
    """
    if not columns:
        return {}
    values = _matrix(columns)
    _check(resamples=resamples, confidence=confidence)
    means = np.vstack([drawn @ values for drawn in _draws(len(values), resamples, seed)]) / len(
        values
    )
    tail = (1 - confidence) / 2
    lows, highs = np.quantile(np.round(means, NOISE_DIGITS), [tail, 1 - tail], axis=0)
    return {
        name: Interval(float(low), float(high))
        for name, low, high in zip(columns, lows, highs, strict=True)
    }


def randomisation_p(
    differences: Sequence[float], *, seed: int = SEED, resamples: int = RESAMPLES
) -> float:
    """Return the two-sided p of a mean paired difference.

    How often random signs give one at least as far from zero.

    (r + 1)/(n + 1), so that it is never zero (Phipson and Smyth 2010). Questions without a
    difference cannot change it.

    >>> randomisation_p([0.0, 0.0])
    1.0
    """
    _check(resamples=resamples)
    given = np.asarray(differences, dtype=np.float64)
    given = given[given != 0]
    if not len(given):
        return 1.0
    reached = abs(float(given.sum())) - 10.0**-NOISE_DIGITS * max(1.0, float(np.abs(given).sum()))
    extreme = sum(
        int((np.abs(signs @ given) >= reached).sum())
        for signs in _signs(len(given), resamples, seed)
    )
    return (extreme + 1) / (resamples + 1)


def _draws(count: int, resamples: int, seed: int) -> Iterator[Matrix]:
    """Yield blocks of resamples: a row says how often each of `count` questions was drawn."""
    generator = np.random.default_rng(seed)
    for rows in _blocks(count, resamples):
        drawn = generator.integers(0, count, size=(rows, count))
        drawn += np.arange(rows)[:, np.newaxis] * count  # every row counts in its own stretch
        yield (
            np.bincount(drawn.ravel(), minlength=rows * count)
            .reshape(rows, count)
            .astype(np.float64)
        )


def _signs(count: int, resamples: int, seed: int) -> Iterator[Matrix]:
    """Yield blocks of rows of `count` random signs."""
    generator = np.random.default_rng(seed)
    for rows in _blocks(count, resamples):
        yield generator.integers(0, 2, size=(rows, count), dtype=np.int8).astype(np.float64) * 2 - 1


def _blocks(count: int, resamples: int) -> Iterator[int]:
    rows = max(1, BLOCK_NUMBERS // count)
    yield from (min(rows, resamples - done) for done in range(0, resamples, rows))


def _matrix(columns: Mapping[str, Sequence[float]]) -> Matrix:
    """Return the columns side by side, or raise an InputError where they cannot be paired."""
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1 or not min(lengths):
        raise InputError(
            "values",
            sorted(lengths),
            "columns must hold the same questions, at least one",
            "Score every system on every question.",
        )
    values = np.column_stack([np.asarray(column, dtype=np.float64) for column in columns.values()])
    if not np.isfinite(values).all():
        raise InputError(
            "values", "nan or infinity", "must be finite", "A missing answer scores zero."
        )
    return values


def _check(*, resamples: int, confidence: float = CONFIDENCE) -> None:
    if resamples < 1:
        raise InputError(
            "resamples", resamples, "must be at least 1", f"{RESAMPLES} is the default."
        )
    if not 0 < confidence < 1:
        raise InputError(
            "confidence", confidence, "must lie between 0 and 1", f"{CONFIDENCE} is the default."
        )


SAME = 1e-9  # two values of a measure that differ by less are a tie


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What changed from a baseline to a variant.

    `effect` is Cohen's d of the paired differences, None where it has no value.
    """

    mean_difference: float
    ci: Interval
    p: float
    effect: float | None
    n: int
    wins: int
    losses: int
    ties: int


def compare(
    baseline: Mapping[str, float],
    variant: Mapping[str, float],
    *,
    seed: int = SEED,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Comparison:
    """Compare the values of two systems for each question.

    Both must have answered the same questions.
    """
    if not baseline or baseline.keys() != variant.keys():
        odd = sorted(baseline.keys() ^ variant.keys())
        raise InputError(
            "variant",
            odd[:3],
            "both systems need values for the same questions, at least one",
            "Score both on the same part.",
        )
    differences = [_difference(variant[query], baseline[query]) for query in sorted(baseline)]
    wins, losses = sum(value > 0 for value in differences), sum(value < 0 for value in differences)
    return Comparison(
        mean_difference=fsum(differences) / len(differences),
        ci=mean_interval(differences, seed=seed, resamples=resamples, confidence=confidence),
        p=randomisation_p(differences, seed=seed, resamples=resamples),
        effect=cohens_d(differences),
        n=len(differences),
        wins=wins,
        losses=losses,
        ties=len(differences) - wins - losses,
    )


def cohens_d(differences: Sequence[float]) -> float | None:
    """Return Cohen's d of paired differences: their mean over their standard deviation.

    None where it has no value: one question, or the same non-zero difference everywhere.

    >>> cohens_d([3.0, 2.0, 1.0])
    2.0
    """
    if not any(differences):
        return 0.0
    spread = float(np.std(differences, ddof=1)) if len(differences) > 1 else 0.0
    return fsum(differences) / len(differences) / spread if spread > SAME else None


def holm(ps: Mapping[str, float]) -> dict[str, float]:
    """Correct p values for the number of variants tried (Holm 1979), keeping the order of the mapping.

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'b': 0.06, 'c': 0.06}
    """
    corrected: dict[str, float] = {}
    largest = 0.0
    for place, name in enumerate(sorted(ps, key=lambda name: (ps[name], name))):
        largest = max(largest, min(1.0, (len(ps) - place) * ps[name]))
        corrected[name] = largest
    return {name: corrected[name] for name in ps}


def _difference(variant: float, baseline: float) -> float:
    difference = float(variant) - float(baseline)
    return 0.0 if abs(difference) < SAME else difference


SATURATED = 0.99  # where every system reaches this mean, the set cannot tell them apart


def saturation(
    systems: Mapping[str, Mapping[str, float]], *, limit: float = SATURATED
) -> str | None:
    """Return why a set cannot tell systems apart, from each system's value for each question.

    None where it can.
    """
    if not systems or not all(systems.values()):
        raise InputError(
            "systems",
            sorted(systems),
            "every system needs the value of at least one question",
            "Check the part and the level.",
        )
    means = {name: fsum(values.values()) / len(values) for name, values in systems.items()}
    lowest = min(means, key=lambda name: (means[name], name))
    if means[lowest] >= limit:
        return f"every system scores at least {limit:g} (the lowest is {lowest} with {means[lowest]:.4f}): the set is saturated"
    first, *others = (dict(values) for values in systems.values())
    if others and all(other == first for other in others):
        return f"all {len(systems)} systems have the same value on every question: the set tells nothing about them"
    return None


def require_evidence(
    systems: Mapping[str, Mapping[str, float]],
    *,
    measure: str,
    dataset: str,
    limit: float = SATURATED,
) -> None:
    """Raise a RefusedError with the reason when a set cannot tell the systems apart."""
    reason = saturation(systems, limit=limit)
    if reason is not None:
        raise RefusedError(
            f"{dataset} by {measure} is no evidence: {reason}. Use a harder measure, a smaller "
            f"cut-off, more questions or another set.",
            reason=reason,
            dataset=dataset,
            measure=measure,
        )


def changed(run_a: Run, run_b: Run, *, depth: int | None = None) -> int:
    """Return how many questions have a different ranking in two runs, within the first `depth` places.

    >>> changed({"q": ["a", "b"], "r": ["a"]}, {"q": ["b", "a"], "r": ["a"]})
    1
    """
    return sum(
        tuple(run_a.get(query, ())[:depth]) != tuple(run_b.get(query, ())[:depth])
        for query in run_a.keys() | run_b.keys()
    )


def require_change(variant: str, base: Run, altered: Run, *, depth: int | None = None) -> int:
    """Return how many rankings a variant changed, or raise a RefusedError when it changed none."""
    count = changed(base, altered, depth=depth)
    if not count:
        within = f" within the first {depth}" if depth else ""
        raise RefusedError(
            f"{variant} changed no ranking{within} in {len(base)} questions: an error, not a "
            f"result. Check that its setting takes effect.",
            variant=variant,
            questions=len(base),
            changed=0,
        )
    return count
