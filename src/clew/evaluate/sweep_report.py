"""A sweep as Markdown and as a folder of files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from clew.evaluate.report import PolicySample, dumps
from clew.evaluate.report.files import RESULT, SAMPLES, write_texts
from clew.evaluate.significance import Interval
from clew.evaluate.sweep_model import Cell, Delta, Interaction, SweepResult

REPORT = "report.md"


def write_sweep(
    folder: Path, result: SweepResult, samples: Sequence[PolicySample]
) -> tuple[Path, ...]:
    """Write result.json, samples.jsonl and report.md; equal results give equal bytes."""
    lines = sorted(dumps(each, indent=None) for each in samples)
    return write_texts(
        folder,
        {
            RESULT: dumps(result) + "\n",
            SAMPLES: "".join(f"{line}\n" for line in lines),
            REPORT: sweep_markdown(result),
        },
    )


def sweep_markdown(result: SweepResult) -> str:
    """Return the report of a sweep: findings first, then its tables."""
    axes = (
        f"{len(result.datasets)} datasets × {len(result.chunkers)} chunkers × "
        f"{len(result.embedders)} embedders; policies single-hop, {', '.join(result.policies)}"
    )
    parts = [
        f"# Retrieval policies: {axes}",
        "",
        f"Budget {result.budget} chunks, {result.slots} slots, {result.hops} hops, "
        f"{result.chunks_per_hop} chunks a hop, chunks of {result.chunk_size} tokens; seed "
        f"{result.seed}, {result.resamples:,} resamples. Candidates of every policy are ordered by "
        "the same scorer against the original question. Percent and points; in brackets the "
        f"{result.confidence:.0%} interval.",
        "",
        "## Findings",
        "",
        *(f"- {each}" for each in result.findings),
        "",
        "## What was searched",
        "",
        *_table(
            ("dataset", "part", "chunker", "embedder", "measure", "questions", "chunks", "tokens"),
            (_cell_row(cell) for cell in result.cells),
        ),
        "",
        "## Systems",
        "",
        *_table(("dataset", "chunker", "system", "headline", "hop by hop"), _systems(result)),
        "",
        "## One search against several hops",
        "",
        "equal: both examine and return the budget. 1.5x: both return the slots; several hops "
        "examine the budget for them. p (Holm) counts every comparison in this report.",
        "",
        *_table(DELTA_COLUMNS, (_delta_row(each) for each in result.deltas)),
        "",
        "## Over all datasets, and over all chunkers",
        "",
        *_table(DELTA_COLUMNS, (_delta_row(each) for each in result.pooled)),
        "",
        "## Which chunker gains more from the other hops?",
        "",
        *_table(
            ("datasets", "policy", "budget", "chunker − against", "points", "n", "p", "p (Holm)"),
            (_interaction_row(each) for each in result.interactions),
        ),
        "",
        "## Notes",
        "",
        *(f"- {note}" for note in result.notes),
        *(f"- {note}" for note in dict.fromkeys(_notes(result))),
        "",
    ]
    return "\n".join(parts)


DELTA_COLUMNS = (
    "dataset",
    "chunker",
    "policy",
    "budget",
    "single",
    "multi",
    "Δ",
    "%",
    "won / tied / lost",
    "p",
    "p (Holm)",
    "hops",
    "searches ×",
    "tokens ×",
)


def _cell_row(cell: Cell) -> tuple[str, ...]:
    return (
        cell.dataset,
        cell.part,
        cell.chunker,
        cell.embedder,
        cell.measure,
        f"{cell.questions:,}",
        f"{cell.passages:,}",
        f"{cell.tokens:,}",
    )


def _systems(result: SweepResult) -> Iterable[tuple[str, ...]]:
    for cell in result.cells:
        for each in cell.systems:
            value = each.measures.get(cell.measure)
            hops = " → ".join(f"{100 * recall:.1f}" for recall in each.hop_recall)
            shown = "–" if value is None else f"{100 * value:.1f}{_ci(each.ci.get(cell.measure))}"
            yield cell.dataset, cell.chunker, each.system, shown, hops


def _delta_row(row: Delta) -> tuple[str, ...]:
    return (
        row.dataset,
        row.chunker,
        row.policy,
        row.budget,
        f"{100 * row.single:.1f}",
        f"{100 * row.multi:.1f}",
        f"{_points(row.delta)}{_ci(row.ci, signed=True)}",
        "–" if row.percent is None else f"{row.percent:+.1f}".replace("-", "\u2212"),
        f"{row.wins} / {row.ties} / {row.losses}",
        _p(row.p),
        _p(row.p_holm),
        f"{row.hops_used:.2f}",
        *(f"{row.cost_ratios.get(name, 0.0):.2f}" for name in ("passes", "tokens_returned")),
    )


def _interaction_row(row: Interaction) -> tuple[str, ...]:
    return (
        ", ".join(row.datasets),
        row.policy,
        row.budget,
        f"{row.chunker} − {row.against}",
        f"{_points(row.difference)}{_ci(row.ci, signed=True)}",
        str(row.n),
        _p(row.p),
        _p(row.p_holm),
    )


def _notes(result: SweepResult) -> Iterable[str]:
    for cell in result.cells:
        yield from (f"{cell.dataset}: {note}" for note in cell.notes)
        yield f"{cell.dataset}: data {cell.data_hash[:16]}."


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    made = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    return made + [f"| {' | '.join(map(_escaped, row))} |" for row in rows]


def _escaped(text: str) -> str:
    """Return the text of a table's cell; a name from a dataset cannot end it."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def _points(value: float) -> str:
    return f"{100 * value:+.1f}".replace("-", "\u2212")


def _ci(interval: Interval | None, *, signed: bool = False) -> str:
    if interval is None:
        return ""
    low, high = (_points(end) if signed else f"{100 * end:.1f}" for end in interval)
    return f" ({low} to {high})"


def _p(value: float | None) -> str:
    return "–" if value is None else "< 0.001" if value < 0.001 else f"{value:.3f}"
