"""From a run to the value of each measure for each question, and their means."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from math import fsum
from typing import Any

from clew.errors import RefusedError
from clew.evaluate.data import Passage, Query, Span
from clew.evaluate.measures.names import DEFAULT_MEASURES, Measure, in_order
from clew.evaluate.measures.rankings import (
    Run,
    all_found,
    collapse,
    passage_of,
    path_at,
    relevant_at,
)
from clew.evaluate.measures.spans import span_score

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
            f"Measures need the library ir-measures ({error}). Install it with: pip install "
            f"'clew[eval]'",
            library="ir-measures",
            extra="eval",
        ) from error


def overall(scores: Scores) -> dict[str, float]:
    """Return the mean of each measure over the questions that have it.

    >>> overall({"a": {"hit@1": 1.0}, "b": {"hit@1": 0.0}, "c": {}})
    {'hit@1': 0.5}
    """
    return {
        name: _mean(column(scores, name).values())
        for name in in_order(name for values in scores.values() for name in values)
    }


def by_category(scores: Scores, queries: Iterable[Query]) -> dict[str, dict[str, float]]:
    """Return the means of each category, in the order of their names.

    Questions without a category are in none.
    """
    parts: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)
    for query in queries:
        if query.category and query.id in scores:
            parts[query.category][query.id] = dict(scores[query.id])
    return {category: overall(parts[category]) for category in sorted(parts)}


def column(scores: Scores, name: str) -> dict[str, float]:
    """Return one measure's value for each question that has it."""
    return {query: values[name] for query, values in scores.items() if name in values}


def counts(scores: Scores, queries: Iterable[Query], name: str) -> dict[str, int]:
    """Return how many questions of each category have a value of a measure."""
    judged = Counter(
        query.category for query in queries if query.category and name in scores.get(query.id, {})
    )
    return dict(sorted(judged.items()))


def _mean(values: Iterable[float]) -> float:
    kept = list(values)
    return fsum(kept) / len(kept) if kept else 0.0


Scores = Mapping[str, Mapping[str, float]]
"""For each question's id, the value of each measure that is defined for it."""


def score(
    queries: Sequence[Query],
    run: Run,
    passages: Mapping[str, Passage],
    *,
    level: str,
    measures: Sequence[Measure] = DEFAULT_MEASURES,
) -> dict[str, dict[str, float]]:
    """Return the value of each measure for each question.

    A question missing from the run scores zero.

    A question with nothing relevant at a measure's level (or no spans) has no value for that
    measure.
    """
    scores: dict[str, dict[str, float]] = {query.id: {} for query in queries}
    for at in dict.fromkeys(
        measure.level or level for measure in measures if not measure.reads_spans
    ):
        wanted = [
            measure
            for measure in measures
            if not measure.reads_spans and (measure.level or level) == at
        ]
        for query, values in _ranked(queries, run, passages, at, wanted).items():
            scores[query].update({str(measure): value for measure, value in values.items()})
    spans = [measure for measure in measures if measure.reads_spans]
    for asked in (query for query in queries if query.spans and spans):
        scores[asked.id].update(_spans(asked, run.get(asked.id, ()), passages, spans))
    return scores


def _ranked(
    queries: Sequence[Query],
    run: Run,
    passages: Mapping[str, Passage],
    level: str,
    wanted: Sequence[Measure],
) -> dict[str, dict[Measure, float]]:
    """Return the measures of one level, by the library where it has them."""
    qrels = {query.id: relevant for query in queries if (relevant := relevant_at(query, level))}
    keys = {query: collapse(run.get(query, ()), passages, level) for query in qrels}
    scores = library_scores([measure for measure in wanted if measure.family in NAMES], qrels, keys)
    for measure in wanted:
        if measure.family == "all" and measure.cutoff:
            for query, relevant in qrels.items():
                scores[query][measure] = all_found(keys[query], relevant, measure.cutoff)
        if measure.family == "path" and measure.cutoff:
            for asked in (query for query in queries if query.paths and query.id in qrels):
                scores[asked.id][measure] = path_at(keys[asked.id], asked.paths, measure.cutoff)
    return scores


def _spans(
    query: Query, ranking: Sequence[str], passages: Mapping[str, Passage], wanted: Iterable[Measure]
) -> dict[str, float]:
    """Return the span measures of one question."""
    values: dict[str, float] = {}
    for measure in wanted:
        cut = [passage_of(passages, id) for id in dict.fromkeys(ranking)][: measure.cutoff]
        found = span_score(
            [Span(passage.document, passage.start, passage.end) for passage in cut], query.spans
        )
        values[str(measure)] = {
            "token-recall": found.recall,
            "token-precision": found.precision,
            "token-IoU": found.iou,
        }[measure.family]
    return values
