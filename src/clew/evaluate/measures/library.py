"""The measures that ir-measures computes: names are translated, ranks are handed over as scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

from clew.errors import RefusedError
from clew.evaluate.measures.names import Measure

LIBRARY = "ir_measures"
NAMES = {"recall": "R", "hit": "Success", "nDCG": "nDCG", "MRR": "RR", "precision": "P"}

Keys = Mapping[str, Sequence[str]]
"""For each question's id, keys, best first, each once."""
Qrels = Mapping[str, Mapping[str, int]]
"""For each question's id, the grade of each relevant key."""


def library_scores(
    wanted: Sequence[Measure], qrels: Qrels, keys: Keys
) -> dict[str, dict[Measure, float]]:
    """Return each measure of each judged question; one without a ranking scores zero."""
    scores: dict[str, dict[Measure, float]] = {query: dict.fromkeys(wanted, 0.0) for query in qrels}
    if not wanted or not qrels:
        return scores
    library = _library()
    theirs = {_translated(library, measure): measure for measure in wanted}
    graded = {query: dict(grades) for query, grades in qrels.items()}
    ranked = {query: _as_scores(keys.get(query, ())) for query in qrels}
    for metric in library.iter_calc(list(theirs), graded, ranked):
        scores[metric.query_id][theirs[metric.measure]] = float(metric.value)
    return scores


def _as_scores(keys: Iterable[str]) -> dict[str, float]:
    """Turn places into strictly falling scores.

    The library sorts again, by score in single precision, then by name.
    """
    ordered = list(keys)
    return {key: float(len(ordered) - place) for place, key in enumerate(ordered)}


def _translated(library: Any, measure: Measure) -> Any:
    theirs = getattr(library, NAMES[measure.family])
    return theirs @ measure.cutoff if measure.cutoff else theirs


def _library() -> Any:
    try:
        return import_module(LIBRARY)
    except ImportError as error:
        raise RefusedError(
            f"Measures need the library ir-measures ({error}). Install it with: pip install 'clew[eval]'",
            library="ir-measures",
            extra="eval",
        ) from error
