"""From answers to a result: measures, intervals, comparisons, cost."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from statistics import fmean, quantiles

from clew.evaluate.answering import Answers, runs
from clew.evaluate.data import Dataset
from clew.evaluate.index import Index
from clew.evaluate.measures import (
    DEFAULT_MEASURES,
    SPAN_MEASURES,
    Measure,
    by_category,
    column,
    counts,
    hop_of_keys,
    hopwise_recall,
    mean_hops,
    measure,
    overall,
    relevant_at,
    score,
)
from clew.evaluate.report import BASELINE, Hop, Result, Row, RunSample, Timings, Versus
from clew.evaluate.statistics import Interval, compare, holm, mean_interval, mean_intervals, require_evidence
from clew.settings import config_hash

HEADLINES = {
    "scifact": "nDCG@10",
    "beir": "nDCG@10",
    "2wiki": "recall@5",
    "musique": "recall@5",
    "hotpotqa": "recall@5",
    "longmemeval": "all@5",
}
COUNTED = ("embedding_calls", "chunks_examined", "passes", "tokens_returned")
PACKAGES = ("clew", "numpy", "onnxruntime", "ir_measures")

Values = Mapping[str, Mapping[str, float]]


def wanted_measures(dataset: Dataset, names: Sequence[str] = ()) -> tuple[Measure, ...]:
    """Return the measures that a dataset is judged by, or those asked for."""
    if names:
        return tuple(measure(name) for name in names)
    return (*DEFAULT_MEASURES, *SPAN_MEASURES) if any(query.spans for query in dataset.queries) else DEFAULT_MEASURES


def headline(dataset: Dataset, measured: Sequence[Measure]) -> str:
    """Return the measure that a set is known for."""
    names = [str(each) for each in measured]
    known = HEADLINES.get(dataset.name, "token-recall" if "token-recall" in names else "recall@10")
    return known if known in names else names[0]


def result_of(
    index: Index, answers: Mapping[str, Answers], *, level: str, measured: Sequence[Measure], seed: int, resamples: int
) -> Result:
    """Return the table of the systems, with BM25 as the floor; a set that cannot tell them apart is refused."""
    dataset, main = index.dataset, headline(index.dataset, measured)
    scores = {name: score(dataset.queries, run, index.passages, level=level, measures=measured) for name, run in runs(answers).items()}
    columns = {name: column(values, main) for name, values in scores.items()}
    if len(columns) > 1:
        require_evidence(columns, measure=main, dataset=dataset.name)
    versus = against(columns, measure=main, seed=seed, resamples=resamples) if BASELINE in columns else ()
    p_of = {each.variant: each.p for each in versus}
    rows = [
        Row(
            system=name,
            measures=overall(scores[name]),
            ci=intervals(scores[name], seed=seed, resamples=resamples),
            p_vs_bm25=p_of.get(name),
            by_category=by_category(scores[name], dataset.queries),
            by_category_ci=_category_intervals(scores[name], dataset, main, seed=seed, resamples=resamples),
            cost=mean_cost(answers[name]),
        )
        for name in answers
    ]
    return Result(
        dataset=dataset.name,
        part=dataset.part,
        level=level,
        measure=main,
        questions=len(next(iter(columns.values()), {})),
        rows=tuple(rows),
        categories=counts(next(iter(scores.values()), {}), dataset.queries, main),
        comparisons=versus,
        hopwise=hops_of(index, answers, level=level),
        notes=dataset.notes,
        data_hash=dataset.data_hash,
        config_hash=config_hash(index.memory.settings),
        seed=seed,
        resamples=resamples,
        versions=versions(index),
    )


def against(columns: Values, *, measure: str, seed: int, resamples: int, baseline: str = BASELINE) -> tuple[Versus, ...]:
    """Compare every system with a baseline by one measure, corrected for how many there are."""
    others = {
        name: compare(columns[baseline], values, seed=seed, resamples=resamples) for name, values in columns.items() if name != baseline
    }
    corrected = holm({name: comparison.p for name, comparison in others.items()})
    return tuple(
        Versus.of(comparison, baseline=baseline, variant=name, measure=measure, p_holm=corrected[name])
        for name, comparison in others.items()
    )


def intervals(scores: Values, *, seed: int, resamples: int) -> dict[str, Interval]:
    """Return the confidence interval of each measure's mean."""
    names = dict.fromkeys(name for values in scores.values() for name in values)
    columns = {name: column(scores, name) for name in names}
    together: dict[tuple[str, ...], list[str]] = {}  # measures of the same questions share their resamples
    for name, values in columns.items():
        together.setdefault(tuple(sorted(values)), []).append(name)
    found: dict[str, Interval] = {}
    for queries, group in together.items():
        found |= mean_intervals({name: [columns[name][query] for query in queries] for name in group}, seed=seed, resamples=resamples)
    return found


def _category_intervals(scores: Values, dataset: Dataset, name: str, *, seed: int, resamples: int) -> dict[str, dict[str, Interval]]:
    parts: dict[str, list[float]] = {}
    for query in dataset.queries:
        if query.category and name in scores.get(query.id, {}):
            parts.setdefault(query.category, []).append(scores[query.id][name])
    return {category: {name: mean_interval(values, seed=seed, resamples=resamples)} for category, values in parts.items()}


def mean_cost(answers: Answers) -> dict[str, float]:
    """Return what an answer costs on average, without the clock."""
    return {name: fmean(getattr(answer.cost, name) for answer in answers.values()) for name in COUNTED} if answers else {}


def hops_of(index: Index, answers: Mapping[str, Answers], *, level: str) -> tuple[Hop, ...]:
    """Return recall after each hop for the systems that took more than one."""
    found = []
    for name, by_query in answers.items():
        most = max((hop for answer in by_query.values() for hop in answer.hops.values()), default=1)
        if most < 2:
            continue
        per_query = [
            hopwise_recall(hop_of_keys(by_query[query.id].hops, index.passages, level), relevant, hops=most)
            for query in index.dataset.queries
            if (relevant := relevant_at(query, level))
        ]
        found += [Hop(system=name, hop=each.hop, recall=each.recall, gain=each.gain, found=each.found) for each in mean_hops(per_query)]
    return tuple(found)


def samples_of(index: Index, answers: Mapping[str, Answers], *, level: str, measured: Sequence[Measure]) -> tuple[RunSample, ...]:
    """Return one sample for each question and system, rankings by the dataset's own ids."""
    dataset = index.dataset
    samples = []
    for name, by_query in answers.items():
        run = {query: answer.ranking for query, answer in by_query.items()}
        scores = score(dataset.queries, run, index.passages, level=level, measures=measured)
        samples += [
            RunSample(
                query_id=query.id,
                category=query.category,
                system=name,
                ranking=tuple(index.passages[id].id for id in by_query[query.id].ranking),
                measures=scores[query.id],
                cost={key: float(getattr(by_query[query.id].cost, key)) for key in COUNTED},
            )
            for query in dataset.queries
        ]
    return tuple(samples)


def timings_of(answers: Mapping[str, Answers]) -> Timings:
    """Return what the clock said."""
    systems = {}
    for name, by_query in answers.items():
        spent = sorted(answer.cost.milliseconds for answer in by_query.values())
        cuts = quantiles(spent, n=20, method="inclusive") if len(spent) > 1 else spent * 19
        systems[name] = {"latency_ms_p50": cuts[9], "latency_ms_p95": cuts[18]} if spent else {}
    return Timings(systems=systems, machine={"machine": platform.machine(), "python": platform.python_version()})


def versions(index: Index) -> dict[str, str]:
    """Return the versions of what made the numbers."""
    model = index.memory.store.model()
    found = {"python": platform.python_version(), "model": model.id if model else "none"}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
