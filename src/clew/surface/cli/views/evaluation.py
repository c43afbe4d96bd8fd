"""The result of an evaluation on a screen.

The tables of the report, the losers marked like the winners.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from clew.evaluate.datasets import Card, Presence
from clew.evaluate.report import Cell, Report, Result, rows_for_terminal, tables
from clew.evaluate.report import Table as Shown
from clew.evaluate.report.tables import timing_table
from clew.surface.cli.text import clean, counted
from clew.surface.cli.views.screen import BAD, DIM, GOOD, KEY, WARN, safe

WIDEST_NAME = 24  # of a system, before its name is folded
HASH_CHARACTERS = 12  # enough to recognise; files hold them whole


def result_page(report: Report) -> Group:
    """Return what was measured, every table, notes, and what is needed to make it again."""
    result = report.result
    title = f"{result.dataset} · {result.part}: {result.questions:,} questions at the level {result.level}"
    rest = [table for table in tables(result) if table.title != "Results"]
    shown = [rows_for_terminal(result), *rest, timing_table(report.timings)]
    parts: list[RenderableType] = [safe(title, "bold")]
    for table in shown:
        parts += ["", *_table(_narrowed(table))] if table.rows else []
    parts += ["", *(safe(f"note: {note}", DIM) for note in result.notes)] if result.notes else [""]
    return Group(*parts, *_problems(result), _provenance(result))


def _problems(result: Result) -> list[Text]:
    """Return what could not be run and what had no effect, whole.

    A narrow cell has no room for a sentence.
    """
    found = [(row.system, row.error) for row in result.rows if row.error]
    found += [(each.variant, each.error) for each in result.ablations if each.error]
    return [safe(f"error: {name}: {error}", BAD) for name, error in found]


def _provenance(result: Result) -> Text:
    versions = ", ".join(f"{name} {version}" for name, version in sorted(result.versions.items()))
    hashes = f"data {result.data_hash[:HASH_CHARACTERS]}, configuration {result.config_hash[:HASH_CHARACTERS]}, seed {result.seed}"
    return safe(f"{hashes}; {versions}", DIM)


def _narrowed(table: Shown) -> Shown:
    """Put a measure that all rows share into the title: a screen has little room."""
    if "measure" not in table.columns:
        return table
    place = table.columns.index("measure")
    shared = {row[place].text for row in table.rows}
    if len(shared) > 1:
        return table
    columns = table.columns[:place] + table.columns[place + 1 :]
    rows = tuple(row[:place] + row[place + 1 :] for row in table.rows)
    return replace(
        table,
        title=f"{table.title} by {shared.pop()}",
        columns=columns,
        rows=rows,
        texts=table.texts - 1,
    )


def _table(table: Shown) -> Sequence[RenderableType]:
    drawn = Table(box=None, padding=(0, 2, 0, 0), header_style=DIM)
    names = [word for row in table.rows for word in row[0].text.split()]
    drawn.add_column(
        clean(table.columns[0]),
        overflow="fold",
        style=KEY,
        min_width=min(WIDEST_NAME, max(map(len, names), default=0)),
    )
    for place, column in enumerate(table.columns[1:], start=1):
        drawn.add_column(
            clean(column), overflow="fold", justify="left" if place < table.texts else "right"
        )
    for row in table.rows:
        drawn.add_row(safe(row[0].text), *(_cell(cell) for cell in row[1:]))
    return [safe(table.title, "bold"), drawn, *([safe(table.note, DIM)] if table.note else [])]


def _cell(cell: Cell) -> Text:
    shown = "error" if cell.text.startswith("error: ") else cell.text
    text = Text.assemble(
        (clean(shown), GOOD if cell.best else BAD if cell.worse else ""), "▼" if cell.worse else ""
    )
    if cell.detail:
        text.append(f"\n{clean(cell.detail)}", DIM)
    return text


def sets_page(found: Sequence[tuple[Card, Presence | None]]) -> Group:
    """Return every set: what it is, how to get it, and what of it is here."""
    parts: list[RenderableType] = []
    for card, there in found:
        head = Text.assemble(
            (card.name, KEY), "  ", clean(card.title), ("  " + clean(card.licence), DIM)
        )
        lines: list[RenderableType] = [safe(f"get it: {card.source}", DIM)]
        lines.append(
            safe(
                "parts: " + "; ".join(f"{name}: {about}" for name, about in card.parts.items()), DIM
            )
        )
        lines += [safe(f"--option {name}=…: {about}", DIM) for name, about in card.options.items()]
        parts += [
            head,
            *([_presence(card, there)] if there is not None else []),
            *(Padding(line, (0, 0, 0, 2)) for line in lines),
            "",
        ]
    return Group(*parts[:-1])


def _presence(card: Card, there: Presence) -> Padding:
    if there.complete:
        line = safe(f"here: {card.folder}, {counted(len(there.present), 'file')}", GOOD)
    elif there.present:
        line = safe(f"incomplete: {card.folder} holds no {', '.join(there.missing)}", WARN)
    else:
        line = safe(f"not here: {card.folder}", DIM)
    return Padding(line, (0, 0, 0, 2))
