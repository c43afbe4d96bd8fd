"""A report as one self-contained page of tables: one template, no script, nothing fetched.

Plots are drawn by the web page, which reads result.json.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from string import Template

from clew.evaluate.report.markdown import provenance, summary
from clew.evaluate.report.model import Result, Sample, Timings
from clew.evaluate.report.tables import Cell, Table, tables

_UNSHOWABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
# A second wall behind the escaping: markup that slipped through could run and fetch nothing.
PAGE = Template(
    """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Clew evaluation: $title</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
div { overflow-x: auto }
table { border-collapse: collapse; margin: 1rem 0 }
caption { text-align: left; font-weight: bold; font-size: 1.2rem }
th, td { padding: .2rem .7rem; border-bottom: 1px solid #8886; text-align: right }
th:first-child, .text { text-align: left }
small { display: block; opacity: .7 }
.best { font-weight: bold }
@media (prefers-color-scheme: dark) { body { background: #181818; color: #ddd } }
</style></head>
<body><h1>$title</h1>
<p>$summary</p>
$tables
$notes
</body></html>
"""
)
TABLE = Template(
    "<div><table><caption>$title</caption><thead><tr>$head</tr></thead><tbody>$rows</tbody></table></div>\n<p>$note</p>"
)


def render_html(
    result: Result, samples: Sequence[Sample] = (), *, timings: Timings | None = None
) -> str:
    """Return the page; without timings, equal reports give equal pages."""
    facts = tuple((Cell(name), Cell(value)) for name, value in provenance(result))
    made = (
        *tables(result, samples, timings=timings),
        Table("Provenance", ("what", "value"), facts, texts=2),
    )
    notes = "".join(f"<li>{text(note)}</li>" for note in result.notes)
    return PAGE.substitute(
        title=text(f"{result.dataset} · {result.part}"),
        summary=text(summary(result)),
        tables="\n".join(map(_table, made)),
        notes=f"<h2>Notes</h2><ul>{notes}</ul>" if notes else "",
    )


def text(value: str) -> str:
    """Return text that shows as it is; signs that HTML cannot hold become the replacement sign."""
    return escape(_UNSHOWABLE.sub("\ufffd", value), quote=True)


def _table(table: Table) -> str:
    head = (f'<th scope="col">{text(column)}</th>' for column in table.columns)
    return TABLE.substitute(
        title=text(table.title),
        head="".join(head),
        rows="".join(_row(row, table.texts) for row in table.rows),
        note=text(table.note),
    )


def _row(cells: Sequence[Cell], texts: int) -> str:
    first, *rest = cells
    return f'<tr><th scope="row">{text(first.text)}</th>{"".join(_cells(rest, texts))}</tr>'


def _cells(cells: Iterable[Cell], texts: int) -> Iterable[str]:
    for place, cell in enumerate(cells, start=1):
        kind = "text" if place < texts else "best" if cell.best else ""
        down = "▼ " if cell.worse else ""
        detail = f"<small>{text(cell.detail)}</small>" if cell.detail else ""
        yield f'<td class="{kind}">{down}{text(cell.text)}{detail}</td>'
