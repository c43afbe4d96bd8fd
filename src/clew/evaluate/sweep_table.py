"""From the cells of a sweep to its table: deltas, interactions, one correction, findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from statistics import fmean

from clew.evaluate.comparing import BUDGETS
from clew.evaluate.data import CODE_SETS
from clew.evaluate.report import PolicySample, dumps, loads
from clew.evaluate.significance import Comparison, compare, holm
from clew.evaluate.sweep_findings import findings
from clew.evaluate.sweep_model import Cell, CellRecord, Delta, Interaction, SweepResult

ALL = "all"
WITHOUT_SYNTAX = "fixed"
Key = tuple[str, str, str, str, str]
"""Dataset, chunker, embedder, policy, budget."""


@dataclass(frozen=True, slots=True)
class _Side:
    """The samples of one row with their headline values, by dataset and question."""

    samples: tuple[PolicySample, ...]
    measure: Mapping[str, str]
    """The headline measure of each dataset."""

    def values(self, side: str) -> dict[str, float]:
        return {
            f"{each.dataset}\0{each.chunker}\0{each.query_id}": getattr(each, side)[
                self.measure[each.dataset]
            ]
            for each in self.samples
        }


def table_of(
    empty: SweepResult, records: Sequence[CellRecord]
) -> tuple[SweepResult, tuple[PolicySample, ...]]:
    """Return the whole table with one correction over all its p values, and its rows."""
    cells = tuple(record.cell for record in records)
    samples = tuple(sample for record in records for sample in record.samples)
    measure = {cell.dataset: cell.measure for cell in cells}
    saturated = {(cell.dataset, cell.chunker, cell.embedder) for cell in cells if cell.saturated}
    groups: dict[Key, list[PolicySample]] = {}
    for each in samples:
        key = (each.dataset, each.chunker, each.embedder, each.policy, each.budget)
        groups.setdefault(key, []).append(each)
    sides = {key: _Side(tuple(found), measure) for key, found in groups.items()}
    deltas = [
        _delta(key, side, empty, judged=key[:3] not in saturated) for key, side in sides.items()
    ]
    kept = {key: side for key, side in sides.items() if key[:3] not in saturated}
    pooled = list(_pooled(kept, empty))
    interactions = list(_interactions(kept, empty))
    result = _corrected(empty, cells, deltas, pooled, interactions)
    result = replace(result, findings=findings(result))
    return loads(SweepResult, dumps(result)), samples


def _delta(key: Key, side: _Side, empty: SweepResult, *, judged: bool = True) -> Delta:
    dataset, chunker, embedder, policy, budget = key
    single, multi = side.values("single"), side.values("multi")
    met = compare(single, multi, seed=empty.seed, resamples=empty.resamples)
    base = fmean(single.values())
    measures = {side.measure[each.dataset] for each in side.samples}
    names = dict.fromkeys(name for each in side.samples for name in each.cost["single"])
    spent = {
        name: tuple(
            fmean(each.cost[of].get(name, 0.0) for each in side.samples)
            for of in ("single", "multi")
        )
        for name in names
    }
    return Delta(
        dataset=dataset,
        chunker=chunker,
        embedder=embedder,
        policy=policy,
        budget=budget,
        measure=measures.pop() if len(measures) == 1 else "headline",
        single=base,
        multi=fmean(multi.values()),
        delta=met.mean_difference,
        ci=met.ci,
        percent=100 * met.mean_difference / base if base else None,
        p=met.p if judged else None,
        n=met.n,
        wins=met.wins,
        losses=met.losses,
        ties=met.ties,
        hops_used=fmean(each.hops_used for each in side.samples),
        stopped=dict(sorted(Counter(each.stopped for each in side.samples).items())),
        cost_ratios={name: many / one for name, (one, many) in spent.items() if one},
    )


def _pooled(sides: Mapping[Key, _Side], empty: SweepResult) -> Iterable[Delta]:
    """Yield each chunker over all datasets that are cut, and each dataset over all chunkers."""
    for embedder, policy, budget in product(empty.embedders, empty.policies, BUDGETS):
        for chunker in empty.chunkers:
            keys = [(name, chunker, embedder, policy, budget) for name in empty.datasets]
            if (side := _joined(sides, keys)) and len({s.dataset for s in side.samples}) > 1:
                yield _delta((ALL, chunker, embedder, policy, budget), side, empty)
        for dataset in empty.datasets:
            keys = [(dataset, name, embedder, policy, budget) for name in empty.chunkers]
            if (side := _joined(sides, keys)) and len({s.chunker for s in side.samples}) > 1:
                yield _over_chunkers((dataset, ALL, embedder, policy, budget), side, empty)


def _over_chunkers(key: Key, side: _Side, empty: SweepResult) -> Delta:
    """Return a dataset over all chunkers; one question counts once, by its mean."""
    groups: dict[str, list[PolicySample]] = {}
    for each in side.samples:
        groups.setdefault(each.query_id, []).append(each)
    name = side.measure[key[0]]
    single = {id: fmean(each.single[name] for each in found) for id, found in groups.items()}
    multi = {id: fmean(each.multi[name] for each in found) for id, found in groups.items()}
    met = compare(single, multi, seed=empty.seed, resamples=empty.resamples)
    facts = ("ci", "p", "n", "wins", "losses", "ties")
    made = _delta(key, side, replace(empty, resamples=1))
    return replace(
        made,
        delta=met.mean_difference,
        single=fmean(single.values()),
        multi=fmean(multi.values()),
        **{fact: getattr(met, fact) for fact in facts},
    )


def _joined(sides: Mapping[Key, _Side], keys: Sequence[Key]) -> _Side | None:
    there = [sides[key] for key in keys if key in sides]
    if not there:
        return None
    return _Side(tuple(each for side in there for each in side.samples), there[0].measure)


def _interactions(sides: Mapping[Key, _Side], empty: SweepResult) -> Iterable[Interaction]:
    """Yield what every other chunker gains beyond fixed chunks, by dataset and over all code."""
    others = [name for name in empty.chunkers if name != WITHOUT_SYNTAX]
    code = tuple(name for name in empty.datasets if name in CODE_SETS)
    for embedder, policy, budget, chunker in product(
        empty.embedders, empty.policies, BUDGETS, others
    ):
        for datasets in dict.fromkeys((*((name,) for name in empty.datasets), code)):
            rest = (embedder, policy, budget)
            met = _gained_more(sides, datasets, chunker, rest, empty)
            if met is not None:
                yield Interaction(
                    datasets=datasets,
                    embedder=embedder,
                    policy=policy,
                    budget=budget,
                    chunker=chunker,
                    against=WITHOUT_SYNTAX,
                    difference=met.mean_difference,
                    ci=met.ci,
                    p=met.p,
                    n=met.n,
                )


def _gained_more(
    sides: Mapping[Key, _Side],
    datasets: Sequence[str],
    chunker: str,
    rest: tuple[str, str, str],
    empty: SweepResult,
) -> Comparison | None:
    gains: dict[str, dict[str, float]] = {chunker: {}, WITHOUT_SYNTAX: {}}
    for dataset, name in product(datasets, gains):
        if (side := sides.get((dataset, name, *rest))) is not None:
            measure = side.measure[dataset]
            for each in side.samples:
                gains[name][f"{dataset}\0{each.query_id}"] = each.delta[measure]
    shared = gains[chunker].keys() & gains[WITHOUT_SYNTAX].keys()
    if not shared:
        return None
    fixed, other = ({id: gains[name][id] for id in sorted(shared)} for name in gains)
    return compare(other, fixed, seed=empty.seed, resamples=empty.resamples)


def _corrected(
    empty: SweepResult,
    cells: tuple[Cell, ...],
    deltas: list[Delta],
    pooled: list[Delta],
    interactions: list[Interaction],
) -> SweepResult:
    """Put the table together, with Holm's correction over every p value in it."""
    rows: list[Delta | Interaction] = [*deltas, *pooled, *interactions]
    known = {str(place): row.p for place, row in enumerate(rows) if row.p is not None}
    corrected = holm(known)
    made = [replace(row, p_holm=corrected.get(str(place))) for place, row in enumerate(rows)]
    found = [row for row in made if isinstance(row, Delta)]
    return replace(
        empty,
        cells=cells,
        deltas=tuple(found[: len(deltas)]),
        pooled=tuple(found[len(deltas) :]),
        interactions=tuple(row for row in made if isinstance(row, Interaction)),
        notes=(f"Holm's correction counts {len(known)} comparisons.",),
    )
