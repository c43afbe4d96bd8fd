"""Two systems on the same questions: how far apart, how surely, on how many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np

from clew.errors import InputError
from clew.evaluate.statistics.resampling import (
    CONFIDENCE,
    RESAMPLES,
    SEED,
    Interval,
    mean_interval,
    randomisation_p,
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
