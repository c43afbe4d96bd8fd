"""From a run to the value of each measure for each question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from clew.evaluate.data import Passage, Query, Span
from clew.evaluate.measures.library import NAMES, library_scores
from clew.evaluate.measures.names import DEFAULT_MEASURES, Measure
from clew.evaluate.measures.paths import path_at
from clew.evaluate.measures.runs import Run, all_found, collapse, passage_of, relevant_at
from clew.evaluate.measures.spans import span_score

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
