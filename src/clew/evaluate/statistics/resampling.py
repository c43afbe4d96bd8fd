"""Intervals and p values by resampling, vectorised, in blocks that fit the cache and the memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from clew.errors import InputError

RESAMPLES = 10_000  # issue 3; the p value's floor is 1/10,001
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
