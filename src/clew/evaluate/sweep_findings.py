"""Say in sentences what a sweep found.

Every sentence is made from the table and from nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from clew.evaluate.comparing import BUDGETS, EQUAL
from clew.evaluate.data import CODE_SETS
from clew.evaluate.significance import Interval
from clew.evaluate.sweep_model import Delta, Interaction, SweepResult

LEVEL = 0.05
SHOWN = 0.0005  # differences below it are shown as none
CEILING = 0.95  # where one search finds as much, further hops can hardly gain
BY_SYNTAX = ("code", "chonkie-code")


def findings(result: SweepResult) -> tuple[str, ...]:
    """Return the findings of a table: hops, chunkers, the second hop by chunker, and cost."""
    return (
        *_hops(result),
        *_single(result),
        *_ceiling(result),
        *_syntax(result),
        *_costs(result),
        *_saturated(result),
    )


def _hops(result: SweepResult) -> Iterator[str]:
    for policy in result.policies:
        for budget in BUDGETS:
            rows = [
                row
                for row in result.deltas
                if row.policy == policy and row.budget == budget and row.p is not None
            ]
            if not rows:
                continue
            gains = [row for row in rows if _significant(row) and row.delta > 0]
            losses = [row for row in rows if _significant(row) and row.delta < 0]
            mean = fmean(row.delta for row in rows)
            yield (
                f"{policy}, {_budget(result, budget)}: {_points(mean)} points on average over "
                f"{len(rows)} cells; {len(gains)} gain and {len(losses)} lose significantly "
                f"after correction{_named(gains, ' gains')}{_named(losses, ' losses')}."
            )


def _single(result: SweepResult) -> Iterator[str]:
    for dataset in result.datasets:
        found = {
            (row.chunker, row.embedder): row.single
            for row in result.deltas
            if row.dataset == dataset and row.budget == EQUAL
        }
        if len(found) < 2:
            continue
        order = sorted(found, key=lambda key: (-found[key], key))
        best, worst = order[0], order[-1]
        if found[best] - found[worst] < SHOWN:
            yield f"{dataset}: one search finds {100 * found[best]:.1f} with every chunker."
            continue
        yield (
            f"{dataset}: one search is best with {_cell(result, best)} "
            f"({100 * found[best]:.1f}) and worst with {_cell(result, worst)} "
            f"({100 * found[worst]:.1f})."
        )


def _ceiling(result: SweepResult) -> Iterator[str]:
    rows = [row for row in result.deltas if row.budget == EQUAL]
    cells = {(row.dataset, row.chunker, row.embedder): row.single for row in rows}
    high = [value for value in cells.values() if value >= CEILING]
    if high:
        yield (
            f"In {len(high)} of {len(cells)} cells one search finds {100 * CEILING:.0f} % or more: "
            "they leave little room for a gain."
        )


def _syntax(result: SweepResult) -> Iterator[str]:
    """Answer whether chunking by syntax gains more from another hop than fixed chunking."""
    code = tuple(name for name in result.datasets if name in CODE_SETS)
    for row in result.interactions:
        if row.chunker not in BY_SYNTAX or row.datasets != code:
            continue
        if row.p_holm is not None and row.p_holm < LEVEL:
            answer = "gains more than" if row.difference > 0 else "gains less than"
        else:
            answer = "cannot be told from"
        where = "the code set" if len(code) == 1 else f"all {len(code)} code sets"
        yield (
            f"Chunking by syntax ({row.chunker}) {answer} {row.against} chunking by "
            f"{row.policy} on {where} ({row.n} questions, {_budget(result, row.budget)}"
            f"{_model(result, row)}): {_points(row.difference)} points, interval "
            f"{_interval(row.ci)}, p {row.p:.3f}, {_holm(row)}."
        )


def _costs(result: SweepResult) -> Iterator[str]:
    for policy in result.policies:
        for budget in BUDGETS:
            rows = [row for row in result.deltas if (row.policy, row.budget) == (policy, budget)]
            ratios = {
                name: fmean(row.cost_ratios[name] for row in rows if name in row.cost_ratios)
                for name in ("passes", "chunks_examined", "tokens_returned")
                if any(name in row.cost_ratios for row in rows)
            }
            if ratios:
                told = ", ".join(f"{value:.2f}× {_words(name)}" for name, value in ratios.items())
                hops = fmean(row.hops_used for row in rows)
                yield (
                    f"{policy}, {_budget(result, budget)}, costs {told} of one search and uses "
                    f"{hops:.2f} hops on average."
                )


def _saturated(result: SweepResult) -> Iterator[str]:
    for cell in result.cells:
        if cell.saturated:
            yield (
                f"{cell.dataset} with {cell.chunker} and {cell.embedder} is no evidence: "
                f"{cell.saturated}."
            )


def _significant(row: Delta) -> bool:
    return row.p_holm is not None and row.p_holm < LEVEL


def _named(rows: list[Delta], what: str) -> str:
    if not rows:
        return ""
    names = ", ".join(f"{row.dataset} with {row.chunker} {_points(row.delta)}" for row in rows)
    return f";{what}: {names}"


def _budget(result: SweepResult, budget: str) -> str:
    if budget == EQUAL:
        return f"the same {result.budget} chunks examined"
    return f"{result.budget} chunks examined for {result.slots} returned"


def _cell(result: SweepResult, key: tuple[str, str]) -> str:
    return f"{key[0]} and {key[1]}" if len(result.embedders) > 1 else key[0]


def _model(result: SweepResult, row: Interaction) -> str:
    return f", {row.embedder}" if len(result.embedders) > 1 else ""


def _points(value: float) -> str:
    return f"{100 * value:+.1f}".replace("-", "\u2212")


def _interval(interval: Interval) -> str:
    return f"{_points(interval.low)} to {_points(interval.high)}"


def _holm(row: Interaction) -> str:
    return "not corrected" if row.p_holm is None else f"{row.p_holm:.3f} after Holm"


def _words(name: str) -> str:
    return {"passes": "the searches"}.get(name, f"the {name.replace('_', ' ')}")
