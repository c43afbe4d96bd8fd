"""A report as Markdown: the same tables as everywhere, with every text of a dataset escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from clew.evaluate.report.model import Result, Sample, Timings
from clew.evaluate.report.tables import Cell, Table, tables

_SPECIAL = re.compile(r"([\\`*\[\]|~#!$]|(?<!\w)_|_(?!\w))")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def render_markdown(
    result: Result, samples: Sequence[Sample] = (), *, timings: Timings | None = None
) -> str:
    """Return the tables, notes and provenance as Markdown.

    Without timings, equal reports give equal text.
    """
    parts = [f"# {plain(result.dataset)} · {plain(result.part)}", plain(summary(result))]
    parts += [markdown_table(table) for table in tables(result, samples, timings=timings)]
    if result.notes:
        parts.append("## Notes\n\n" + "\n".join(f"- {plain(note)}" for note in result.notes))
    rows = tuple((Cell(name), Cell(value)) for name, value in provenance(result))
    parts.append(markdown_table(Table("Provenance", ("what", "value"), rows, texts=2)))
    return "\n\n".join(parts) + "\n"


def summary(result: Result) -> str:
    """Say in a line what was measured."""
    return f"{result.questions} questions, judged at the level {result.level}; headline measure {result.measure}."


def provenance(result: Result) -> list[tuple[str, str]]:
    """Return what is needed to make the table again."""
    return [
        ("data hash", result.data_hash),
        ("configuration hash", result.config_hash),
        ("seed", str(result.seed)),
        ("bootstrap resamples", f"{result.resamples:,}"),
        ("confidence", f"{result.confidence:.0%}"),
        *((f"version of {name}", version) for name, version in sorted(result.versions.items())),
    ]


def markdown_table(table: Table) -> str:
    """Return one table with its title and note."""
    lines = [f"## {plain(table.title)}", "", _line(plain(column) for column in table.columns)]
    lines.append(
        _line("---" if place < table.texts else "---:" for place in range(len(table.columns)))
    )
    lines += [_line(_cell(cell) for cell in row) for row in table.rows]
    return "\n".join(lines) + (f"\n\n{plain(table.note)}" if table.note else "")


def plain(text: str) -> str:
    """Return text that Markdown shows as it is, on one line.

    >>> plain("one <i> snake_case & more")
    'one &lt;i&gt; snake_case &amp; more'
    """
    escaped = _SPECIAL.sub(r"\\\1", " ".join(text.split()))
    return "".join(_ENTITIES.get(sign, sign) for sign in escaped if sign.isprintable())


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    text = plain(cell.text)
    bold = f"**{text}**" if cell.best else text
    return bold + (f" ({plain(cell.detail)})" if cell.detail else "") + (" ▼" if cell.worse else "")
