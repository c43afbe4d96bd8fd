"""From answers to a result: measures, intervals, comparisons, cost."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version

from clew import __version__
from clew.errors import InputError
from clew.evaluate.answering import Answers, runs
from clew.evaluate.data import Dataset
from clew.evaluate.index import Index
from clew.evaluate.measures import (
    DEFAULT_MEASURES,
    PATH_MEASURES,
    SPAN_MEASURES,
    Measure,
    by_category,
    collapse,
    column,
    counts,
    hop_of_keys,
    hopwise_recall,
    mean_hops,
    mean_walk,
    measures,
    overall,
    relevant_at,
    score,
    walk_of,
)
from clew.evaluate.report import BASELINE, Hop, Result, Row, Versus, Walked
from clew.evaluate.samples import mean_cost
from clew.evaluate.significance import (
    Interval,
    compare,
    holm,
    mean_interval,
    mean_intervals,
    require_evidence,
    saturation,
)

HEADLINES = {
    "scifact": "nDCG@10",
    "beir": "nDCG@10",
    "2wiki": "recall@5",
    "musique": "recall@5",
    "hotpotqa": "recall@5",
    "longmemeval": "all@5",
    "swe-qa": "recall@5",
    "semble": "nDCG@10",
    "mine": "MRR",  # most questions need one memory, which recall@10 finds in any small store
    # acc@1 of its paper; many questions have fewer than ten snippets, so that recall@10 is 1
    "repobench-r": "hit@1",
}
PACKAGES = ("numpy", "onnxruntime", "ir_measures")

Values = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """On what terms answers are judged.

    Level, measures (the headline named), seed, and what is to be written beside the numbers.
    """

    level: str
    measured: tuple[Measure, ...]
    headline: str
    seed: int
    resamples: int
    config_hash: str
    notes: tuple[str, ...] = ()
    errors: Mapping[str, str] = field(default_factory=dict)
    """Why a system could not take part; it has a row that says so."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Of what took part beside Clew."""


def wanted_measures(dataset: Dataset, *, k: int, names: Sequence[str] = ()) -> tuple[Measure, ...]:
    """Return the measures asked for, or those that a dataset is judged by, as far as k results can show them."""
    if names:
        asked = measures(names)
        for each in asked:
            if (each.cutoff or 0) > k:
                raise InputError(
                    "measures",
                    str(each),
                    f"looks deeper than the {k} results asked for",
                    f"Use --k {each.cutoff}.",
                )
            _check_known(each, dataset)
        return asked
    spans = SPAN_MEASURES if any(query.spans for query in dataset.queries) else ()
    paths = PATH_MEASURES if any(query.paths for query in dataset.queries) else ()
    return tuple(each for each in (*DEFAULT_MEASURES, *paths, *spans) if (each.cutoff or 0) <= k)


def _check_known(asked: Measure, dataset: Dataset) -> None:
    """Refuse a measure that no question of the set can have.

    A column that is silently missing would pass for one not asked for.
    """
    if asked.level and asked.level not in dataset.levels:
        way_out = f"Its levels are {', '.join(dataset.levels)}."
        raise InputError(
            "measures",
            str(asked),
            f"{dataset.name} is not judged at the level {asked.level}",
            way_out,
        )
    if asked.reads_spans and not any(query.spans for query in dataset.queries):
        raise InputError(
            "measures",
            str(asked),
            f"the questions of {dataset.name} have no spans",
            "Use measures of rankings, such as recall@10.",
        )
    if asked.family == "path" and not any(query.paths for query in dataset.queries):
        way_out = "Of SWE-QA they are read with --option paths=true; 2Wiki has them."
        raise InputError(
            "measures", str(asked), f"the questions of {dataset.name} have no known paths", way_out
        )


def headline(dataset: Dataset, measured: Sequence[Measure]) -> str:
    """Return the measure that a set is known for, or the first one measured."""
    names = [str(each) for each in measured]
    known = HEADLINES.get(dataset.name, "token-recall" if "token-recall" in names else "recall@10")
    return known if known in names else names[0]


def result_of(
    index: Index, answers: Mapping[str, Answers], terms: Terms, *, saturated: bool = False
) -> Result:
    """Return the table of the systems, with BM25 as the floor.

    A set that cannot tell them apart is refused, unless `saturated` sets are wanted too: then a
    note says so.
    """
    dataset = index.dataset
    scores = scores_of(index, answers, terms)
    columns = {name: column(values, terms.headline) for name, values in scores.items()}
    _check_judged(dataset, terms, columns)
    doubts = _doubts(dataset, terms, columns, refuse=not saturated)
    versus = (
        against(columns, measure=terms.headline, seed=terms.seed, resamples=terms.resamples)
        if BASELINE in columns
        else ()
    )
    p_of = {each.variant: each.p for each in versus}
    rows = [
        _row(name, values, answers[name], dataset, terms, p=p_of.get(name))
        for name, values in scores.items()
    ]
    return Result(
        dataset=dataset.name,
        part=dataset.part,
        level=terms.level,
        measure=terms.headline,
        questions=len(next(iter(columns.values()), {})),
        rows=(
            *rows,
            *(Row(system=name, measures={}, error=reason) for name, reason in terms.errors.items()),
        ),
        categories=counts(next(iter(scores.values()), {}), dataset.queries, terms.headline),
        comparisons=versus,
        hopwise=hops_of(index, answers, level=terms.level),
        walked=walks_of(index, answers),
        notes=(*dataset.notes, *terms.notes, *doubts),
        data_hash=dataset.data_hash,
        config_hash=terms.config_hash,
        seed=terms.seed,
        resamples=terms.resamples,
        versions={**versions(index), **terms.versions},
    )


def scores_of(
    index: Index, answers: Mapping[str, Answers], terms: Terms
) -> dict[str, dict[str, dict[str, float]]]:
    """Return each system's value of each measure for each question."""
    queries = index.dataset.queries
    return {
        name: score(queries, run, index.passages, level=terms.level, measures=terms.measured)
        for name, run in runs(answers).items()
    }


def _check_judged(dataset: Dataset, terms: Terms, columns: Values) -> None:
    if not any(columns.values()):
        raise InputError(
            "measure",
            terms.headline,
            f"no question of {dataset.name} can be judged by it at the level {terms.level}",
            f"Its levels are {', '.join(dataset.levels)}; more questions may help.",
        )


def _doubts(
    dataset: Dataset, terms: Terms, columns: Values, *, refuse: bool = True
) -> tuple[str, ...]:
    """Refuse a set that every system solves; of one that merely tells them not apart, say so."""
    if refuse and all(saturation({name: values}) for name, values in columns.items()):
        require_evidence(columns, measure=terms.headline, dataset=dataset.name)
    reason = saturation(columns)
    return (f"By {terms.headline} this is no evidence: {reason}.",) if reason else ()


def _row(
    name: str, scores: Values, answers: Answers, dataset: Dataset, terms: Terms, *, p: float | None
) -> Row:
    return Row(
        system=name,
        measures=overall(scores),
        ci=intervals(scores, seed=terms.seed, resamples=terms.resamples),
        p_vs_bm25=p,
        by_category=by_category(scores, dataset.queries),
        by_category_ci=_category_intervals(scores, dataset, terms),
        cost=mean_cost(answers),
    )


def against(
    columns: Values, *, measure: str, seed: int, resamples: int, baseline: str = BASELINE
) -> tuple[Versus, ...]:
    """Compare every system with a baseline by one measure, corrected for how many there are."""
    others = {
        name: compare(columns[baseline], values, seed=seed, resamples=resamples)
        for name, values in columns.items()
        if name != baseline
    }
    corrected = holm({name: comparison.p for name, comparison in others.items()})
    return tuple(
        Versus.of(
            comparison, baseline=baseline, variant=name, measure=measure, p_holm=corrected[name]
        )
        for name, comparison in others.items()
    )


def intervals(scores: Values, *, seed: int, resamples: int) -> dict[str, Interval]:
    """Return the confidence interval of each measure's mean."""
    names = dict.fromkeys(name for values in scores.values() for name in values)
    columns = {name: column(scores, name) for name in names}
    together: dict[
        tuple[str, ...], list[str]
    ] = {}  # measures of the same questions share their resamples
    for name, values in columns.items():
        together.setdefault(tuple(sorted(values)), []).append(name)
    found: dict[str, Interval] = {}
    for queries, group in together.items():
        found |= mean_intervals(
            {name: [columns[name][query] for query in queries] for name in group},
            seed=seed,
            resamples=resamples,
        )
    return found


def _category_intervals(
    scores: Values, dataset: Dataset, terms: Terms
) -> dict[str, dict[str, Interval]]:
    parts: dict[str, list[float]] = {}
    for query in dataset.queries:
        if query.category and terms.headline in scores.get(query.id, {}):
            parts.setdefault(query.category, []).append(scores[query.id][terms.headline])
    return {
        category: {
            terms.headline: mean_interval(values, seed=terms.seed, resamples=terms.resamples)
        }
        for category, values in parts.items()
    }


def hops_of(index: Index, answers: Mapping[str, Answers], *, level: str) -> tuple[Hop, ...]:
    """Return recall after each hop for the systems that took more than one."""
    found = []
    for name, by_query in answers.items():
        most = max((hop for answer in by_query.values() for hop in answer.hops.values()), default=1)
        if most < 2:
            continue
        per_query = [
            hopwise_recall(
                hop_of_keys(by_query[query.id].hops, index.passages, level), relevant, hops=most
            )
            for query in index.dataset.queries
            if (relevant := relevant_at(query, level))
        ]
        found += [
            Hop(system=name, hop=each.hop, recall=each.recall, gain=each.gain, found=each.found)
            for each in mean_hops(per_query)
        ]
    return tuple(found)


def walks_of(index: Index, answers: Mapping[str, Answers]) -> tuple[Walked, ...]:
    """Return how the paths of the systems that showed some agree with the known ones.

    Those are at the set's first level.
    """
    asked = [query for query in index.dataset.queries if query.paths]
    level = index.dataset.levels[0]
    found = []
    for name, by_query in answers.items():
        if not asked or not any(answer.links for answer in by_query.values()):
            continue
        walks = [
            walk_of(
                [collapse(link, index.passages, level) for link in by_query[query.id].links],
                collapse(by_query[query.id].ranking, index.passages, level),
                query.paths,
            )
            for query in asked
        ]
        mean = mean_walk(walks)
        found.append(
            Walked(
                system=name,
                questions=len(walks),
                walked=mean.walked,
                right=mean.right,
                shown=mean.shown,
                found=mean.found,
                complete=mean.complete,
            )
        )
    return tuple(found)


def versions(index: Index) -> dict[str, str]:
    """Return the versions of what made the numbers."""
    model = index.memory.store.model()
    found = {
        "clew": __version__,
        "python": platform.python_version(),
        "model": model.id if model else "none",
    }
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
