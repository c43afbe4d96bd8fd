"""How good is a ranking? Measures are values with a name.

They are computed from a run and what is known to be relevant.

run       for each question, passage ids, best first (never sorted again)
collapse  passage ids → keys at a level, each at its first place
score     run → for each question, measure → value; a missing answer scores zero
overall   → measure → mean;  by_category → the same for each category
"""

from clew.evaluate.measures.names import (
    DEFAULT_MEASURES,
    PATH_MEASURES,
    SPAN_MEASURES,
    Measure,
    in_order,
    measure,
    measures,
)
from clew.evaluate.measures.rankings import (
    HopRecall,
    Run,
    Walk,
    all_found,
    collapse,
    hop_of_keys,
    hopwise_recall,
    mean_hops,
    mean_walk,
    path_at,
    path_coverage,
    paths_complete,
    relevant_at,
    walk_of,
)
from clew.evaluate.measures.scoring import Scores, by_category, column, counts, overall, score
from clew.evaluate.measures.spans import SpanScore, span_score

__all__ = [
    "DEFAULT_MEASURES",
    "PATH_MEASURES",
    "SPAN_MEASURES",
    "HopRecall",
    "Measure",
    "Run",
    "Scores",
    "SpanScore",
    "Walk",
    "all_found",
    "by_category",
    "collapse",
    "column",
    "counts",
    "hop_of_keys",
    "hopwise_recall",
    "in_order",
    "mean_hops",
    "mean_walk",
    "measure",
    "measures",
    "overall",
    "path_at",
    "path_coverage",
    "paths_complete",
    "relevant_at",
    "score",
    "span_score",
    "walk_of",
]
