"""The tables of a report, made once and drawn by the terminal, Markdown and the page alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from clew.evaluate.report.deltas import extremes, panels
from clew.evaluate.report.model import BASELINE, Result, Row, Sample, Timings
from clew.evaluate.report.shown import (
    amount,
    baseline_of,
    categories_of,
    interval,
    keys_of,
    lead_of,
    measures_of,
    p_value,
    percent,
    points,
    times,
    words,
)
from clew.evaluate.significance import Interval

SHOWN_TEXT = 120  # characters of a missed memory
TERMINAL_MEASURES = 6  # as many columns as fit 100 characters beside system and p


@dataclass(frozen=True, slots=True)
class Cell:
    """A text, with its interval, and whether it is the best of its column or below the baseline."""

    text: str
    detail: str = ""
    best: bool = False
    worse: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table; the first cell of a row names it, the first `texts` columns hold words and the rest numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    texts: int = 1


def rows_for_terminal(result: Result) -> Table:
    """Return the main table for a narrow screen.

    The first measures, the interval of the headline, p against BM25.
    """
    return results_table(
        result, names=measures_of(result)[:TERMINAL_MEASURES], detailed={result.measure}
    )


def tables(
    result: Result, samples: Sequence[Sample] = (), *, timings: Timings | None = None
) -> tuple[Table, ...]:
    """Return every table that has rows, in the order of a report."""
    made = (
        results_table(result),
        category_table(result),
        comparison_table(result),
        ablation_table(result),
        ablation_category_table(result),
        missed_table(result),
        hop_table(result),
        walk_table(result),
        cost_table(result),
        ratio_table(result),
        timing_table(timings),
        extremes_table(result, samples),
    )
    return tuple(table for table in made if table.rows)


def results_table(
    result: Result, *, names: Sequence[str] | None = None, detailed: set[str] | None = None
) -> Table:
    """Return the main table: every system, every measure."""
    chosen = names if names is not None else measures_of(result)
    columns = [_column(result, [row.measures.get(name) for row in result.rows]) for name in chosen]
    floor = baseline_of(result)
    rows = []
    for place, row in enumerate(result.rows):
        intervals = [
            interval(row.ci.get(name)) if detailed is None or name in detailed else ""
            for name in chosen
        ]
        cells = [column(place, detail) for column, detail in zip(columns, intervals, strict=True)]
        rows.append(
            (
                Cell(row.system, row.error),
                *cells,
                *((Cell(p_value(row.p_vs_bm25)),) if floor else ()),
            )
        )
    note = f"Percent, with {result.confidence:.0%} paired-bootstrap intervals. Bold: best."
    if floor:
        note += (
            f" ▼: below {BASELINE}. p: randomisation test against {BASELINE} by {result.measure}."
        )
    return Table(
        "Results", ("system", *chosen, *((f"p vs {BASELINE}",) if floor else ())), tuple(rows), note
    )


def category_table(result: Result) -> Table:
    """Return the headline measure of every system by category."""
    names = categories_of(result)
    columns = [
        _column(result, [row.by_category.get(name, {}).get(result.measure) for row in result.rows])
        for name in names
    ]
    rows = []
    for place, row in ((place, row) for place, row in enumerate(result.rows) if not row.error):
        intervals = [interval(_category_ci(row, name, result.measure)) for name in names]
        rows.append(
            (
                Cell(row.system),
                *(column(place, detail) for column, detail in zip(columns, intervals, strict=True)),
            )
        )
    counted = tuple(
        f"{name} ({result.categories[name]})" if name in result.categories else name
        for name in names
    )
    return Table(
        f"{result.measure} by category",
        ("system", *counted),
        tuple(rows) if names else (),
        "In brackets: questions.",
    )


def comparison_table(result: Result) -> Table:
    """Return every comparison with its interval, p values and the number of questions won and lost."""
    rows = tuple(
        (
            Cell(f"{each.variant} − {each.baseline}"),
            Cell(each.measure),
            Cell(
                points(each.mean_difference),
                interval(each.ci, signed=True),
                worse=each.mean_difference < 0,
            ),
            Cell(p_value(each.p)),
            Cell(p_value(each.p_holm)),
            Cell("–" if each.effect is None else f"{each.effect:+.2f}".replace("-", "\u2212")),
            Cell(f"{each.wins} / {each.ties} / {each.losses}"),
        )
        for each in result.comparisons
    )
    columns = (
        "comparison",
        "measure",
        "difference",
        "p",
        "p (Holm)",
        "Cohen's d",
        "won / tied / lost",
    )
    return Table(
        "Comparisons",
        columns,
        rows,
        "Differences in points; losses (▼) are listed like gains.",
        texts=2,
    )


def ablation_table(result: Result) -> Table:
    """Return what each altered stage did.

    One that changed no ranking is shown as the error it is.
    """
    rows = tuple(
        (
            Cell(each.variant),
            Cell(each.measure),
            Cell(f"error: {each.error or 'changed no ranking'}")
            if not each.changed
            else Cell(percent(each.value)),
            Cell(points(each.delta), interval(each.ci, signed=True), worse=(each.delta or 0) < 0),
            Cell(p_value(each.p)),
            Cell(p_value(each.p_holm)),
            Cell(f"{each.changed}"),
        )
        for each in result.ablations
    )
    columns = ("variant", "measure", "value", "change", "p", "p (Holm)", "rankings changed")
    note = "One stage or setting altered at a time; the change is against the full recipe, in points. ▼: lower."
    return Table("Ablations", columns, rows, note, texts=2)


def ablation_category_table(result: Result) -> Table:
    """Return what each altered stage did to each category."""
    names = sorted({name for each in result.ablations for name in each.by_category})
    rows = tuple(
        (Cell(each.variant), *(_signed(each.by_category.get(name)) for name in names))
        for each in result.ablations
        if each.changed
    )
    note = f"The change of {result.measure}, in points. ▼: lower."
    return Table("Ablations by category", ("variant", *names), rows if len(names) > 1 else (), note)


def _signed(value: float | None) -> Cell:
    return Cell(points(value), worse=(value or 0) < 0)


def missed_table(result: Result) -> Table:
    """Return what one's own questions needed and did not get."""
    rows = tuple(
        (Cell(each.question), Cell(each.text[:SHOWN_TEXT]), Cell(each.sentence))
        for each in result.missed
    )
    return Table(
        "Missed", ("question", "needed", "why"), rows, "Needed and not among the hits.", texts=3
    )


def hop_table(result: Result) -> Table:
    """Return the recall after each hop."""
    rows = tuple(
        (
            Cell(each.system),
            Cell(str(each.hop)),
            Cell(percent(each.recall)),
            Cell(points(each.gain)),
            Cell(amount(each.found)),
        )
        for each in result.hopwise
    )
    note = "A hop is a further search of a policy, or a link that a single search has followed."
    return Table(
        "Hop by hop", ("system", "hop", "recall so far", "added", "found by the hop"), rows, note
    )


def walk_table(result: Result) -> Table:
    """Return how the paths that systems have shown agree with the known ones."""
    rows = tuple(
        (
            Cell(each.system),
            Cell(str(each.questions)),
            Cell(percent(each.walked)),
            Cell(percent(each.right)),
            Cell(amount(each.shown)),
            Cell(percent(each.found)),
            Cell(percent(each.complete)),
        )
        for each in result.walked
    )
    columns = (
        "system",
        "questions",
        "known links walked",
        "shown links right",
        "links shown",
        "passages found",
        "paths found whole",
    )
    note = "Over the questions whose evidence is known to hang together; a link is right if it lies on a known path."
    return Table("Paths", columns, rows, note)


def cost_table(result: Result) -> Table:
    """Return the mean cost of a question for every system."""
    names = keys_of(row.cost for row in result.rows)
    rows = tuple(
        (Cell(row.system), *(Cell(amount(row.cost.get(name))) for name in names))
        for row in result.rows
        if not row.error
    )
    return Table(
        "Cost of a question",
        ("system", *map(words, names)),
        rows if names else (),
        "Means over all questions.",
    )


def ratio_table(result: Result) -> Table:
    """Return how many times the cost of one policy another one spends."""
    names = keys_of(result.ratios.values())
    rows = tuple(
        (Cell(pair), *(Cell(times(ratios.get(name))) for name in names))
        for pair, ratios in sorted(result.ratios.items())
    )
    return Table(
        "Cost of one policy by another",
        ("policies", *map(words, names)),
        rows,
        "Means over all questions, divided.",
    )


def timing_table(timings: Timings | None) -> Table:
    """Return what the clock said."""
    systems = timings.systems if timings else {}
    names = keys_of(systems.values())
    rows = tuple(
        (Cell(system), *(Cell(amount(systems[system].get(name))) for name in names))
        for system in sorted(systems)
    )
    machine = (
        ", ".join(f"{key} {value}" for key, value in sorted(timings.machine.items()))
        if timings
        else ""
    )
    return Table(
        "Timings",
        ("system", *map(words, names)),
        rows,
        f"By the clock: never the same twice. {machine}".strip(),
    )


def extremes_table(result: Result, samples: Sequence[Sample]) -> Table:
    """Return the questions that gained and lost the most, of the system that the report is about and of the policies."""
    lead = lead_of(result)
    rows = tuple(
        (Cell(query), Cell(category), Cell(panel.label), Cell(points(delta), worse=delta < 0))
        for panel in panels(result, samples)
        if panel.baseline != BASELINE or lead is None or panel.variant == lead.system
        for query, category, delta in extremes(panel)
    )
    return Table(
        "Largest gains and losses",
        ("question", "category", "comparison", result.measure),
        rows,
        texts=3,
    )


def _column(result: Result, values: Sequence[float | None]) -> Callable[[int, str], Cell]:
    """Return a maker of the cells of a column, which knows the best value and the baseline's."""
    present = [value for value in values if value is not None]
    best = max(present, default=None)
    baseline = baseline_of(result)
    floor = values[result.rows.index(baseline)] if baseline else None

    def cell(place: int, detail: str) -> Cell:
        value = values[place]
        leads = value is not None and value == best and len(present) > 1
        return Cell(
            percent(value),
            detail,
            best=leads,
            worse=value is not None and floor is not None and value < floor,
        )

    return cell


def _category_ci(row: Row, category: str, measure: str) -> Interval | None:
    intervals: Mapping[str, Interval] = row.by_category_ci.get(category, {})
    return intervals.get(measure)
