"""What every single question got and cost: the lines of samples.jsonl, and what the clock said."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from statistics import fmean, quantiles

from clew.evaluate.answering import Answers, runs
from clew.evaluate.data import Answer
from clew.evaluate.index import Index
from clew.evaluate.measures import Measure, score
from clew.evaluate.report import RunSample, Timings

COUNTED = (
    "embedding_calls",
    "chunks_examined",
    "passes",
    "tokens_returned",
)  # the parts of a cost that are always the same


def samples_of(
    index: Index, answers: Mapping[str, Answers], *, level: str, measured: Sequence[Measure]
) -> tuple[RunSample, ...]:
    """Return one sample for each question and system, rankings by the dataset's own ids."""
    dataset, samples = index.dataset, []
    for name, run in runs(answers).items():
        scores = score(dataset.queries, run, index.passages, level=level, measures=measured)
        samples += [
            RunSample(
                query_id=query.id,
                category=query.category,
                system=name,
                ranking=tuple(run[query.id]),
                measures=scores[query.id],
                cost=counted_cost(answers[name][query.id]),
            )
            for query in dataset.queries
        ]
    return tuple(samples)


def counted_cost(answer: Answer) -> dict[str, float]:
    """Return what an answer cost, without the clock."""
    return {name: float(getattr(answer.cost, name)) for name in COUNTED}


def mean_cost(answers: Answers) -> dict[str, float]:
    """Return what an answer costs on average, without the clock."""
    costs = [counted_cost(answer) for answer in answers.values()]
    return {name: fmean(cost[name] for cost in costs) for name in COUNTED} if costs else {}


def timings_of(answers: Mapping[str, Answers], *, jobs: int) -> Timings:
    """Return what the clock said.

    The search alone, as questions are embedded before they are asked.
    """
    systems = {
        name: _latency([answer.cost.milliseconds for answer in by_query.values()])
        for name, by_query in answers.items()
    }
    return Timings(
        systems=systems,
        machine={
            "machine": platform.machine(),
            "python": platform.python_version(),
            "jobs": str(jobs),
        },
    )


def _latency(milliseconds: Sequence[float]) -> dict[str, float]:
    if not milliseconds:
        return {}
    cuts = (
        quantiles(milliseconds, n=20, method="inclusive")
        if len(milliseconds) > 1
        else [milliseconds[0]] * 19
    )
    return {"latency_ms_p50": cuts[9], "latency_ms_p95": cuts[18]}
