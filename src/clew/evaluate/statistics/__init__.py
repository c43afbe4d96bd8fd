"""Is a difference real? Paired bootstrap intervals, the randomisation test, and what may not be shown as evidence.

Every function is deterministic: each draws from its own generator, made from `seed`, and does not
depend on the order of the questions in a mapping or on what was computed before.
"""

from clew.evaluate.statistics.comparison import Comparison, cohens_d, compare, holm
from clew.evaluate.statistics.evidence import changed, require_change, require_evidence, saturation
from clew.evaluate.statistics.resampling import (
    CONFIDENCE,
    RESAMPLES,
    SEED,
    Interval,
    difference_interval,
    mean_interval,
    mean_intervals,
    randomisation_p,
)

__all__ = [
    "CONFIDENCE",
    "RESAMPLES",
    "SEED",
    "Comparison",
    "Interval",
    "changed",
    "cohens_d",
    "compare",
    "difference_interval",
    "holm",
    "mean_interval",
    "mean_intervals",
    "randomisation_p",
    "require_change",
    "require_evidence",
    "saturation",
]
