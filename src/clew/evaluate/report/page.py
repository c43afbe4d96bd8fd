"""A report as one self-contained page: tables, plots and provenance, no script, nothing fetched."""

from __future__ import annotations

from collections.abc import Sequence

from clew.evaluate.report.markdown import provenance, summary
from clew.evaluate.report.markup import Markup, element, joined
from clew.evaluate.report.model import BASELINE, Result, Sample, Timings, Versus
from clew.evaluate.report.plots import ablation_plot, category_plot, cost_plots, delta_plots
from clew.evaluate.report.shown import (
    SIGNIFICANT,
    baseline_of,
    interval,
    lead_of,
    p_value,
    percent,
    points,
)
from clew.evaluate.report.style import STYLE
from clew.evaluate.report.tables import Cell, Table, tables

# A second wall behind the escaping: even markup that slipped through could run and fetch nothing.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def render_html(
    result: Result, samples: Sequence[Sample] = (), *, timings: Timings | None = None
) -> str:
    """Return the page; without timings, equal reports give equal pages."""
    title = f"{result.dataset} · {result.part}"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("title", f"Clew evaluation: {title}"),
        element("style", Markup(STYLE)),
    )
    top = element("header", element("h1", title), element("p", summary(result)))
    main = element(
        "main",
        top,
        _tiles(result),
        *_sections(result, samples, timings),
        _notes(result),
        _provenance(result),
    )
    return f"<!doctype html>\n{element('html', head, element('body', main), lang='en')}\n"


def _sections(result: Result, samples: Sequence[Sample], timings: Timings | None) -> list[Markup]:
    """Return the plots, each before the table that holds its numbers."""
    spread = f"The mark is the mean, the whisker its {result.confidence:.0%} interval. Percent."
    pictures = {
        f"{result.measure} by category": _pictures([category_plot(result)], spread, wide=True),
        "Ablations": _pictures(
            [ablation_plot(result)],
            f"Faint: not significant at p < {SIGNIFICANT:g} after correction.",
            wide=True,
        ),
        "Cost of a question": _pictures(
            cost_plots(result, timings), "Up and to the left is better."
        ),
        "Largest gains and losses": _pictures(
            delta_plots(result, samples), "All questions, sorted by difference, in points."
        ),
    }
    made = {table.title: table for table in tables(result, samples, timings=timings)}
    titles = [
        *made,
        *(title for title, picture in pictures.items() if picture and title not in made),
    ]
    heading = {"Largest gains and losses": "Question by question"}
    return [
        element(
            "section",
            element("h2", heading.get(title, title)),
            pictures.get(title, Markup("")),
            _table(made.get(title)),
        )
        for title in titles
    ]


def _pictures(drawn: Sequence[Markup], note: str, *, wide: bool = False) -> Markup:
    kept = [
        element(
            "div",
            each,
            class_="scroll wide" if wide else "scroll",
            tabindex="0",
            role="region",
            aria_label="plot",
        )
        for each in drawn
        if each
    ]
    return (
        joined(element("p", note), element("div", *kept, class_=None if wide else "plots"))
        if kept
        else Markup("")
    )


def _tiles(result: Result) -> Markup:
    """Return the few numbers that a reader came for."""
    lead, floor = lead_of(result), baseline_of(result)
    tiles = [_tile("questions", str(result.questions), f"level {result.level}")]
    for row in (row for row in (floor, lead) if row is not None and result.measure in row.measures):
        if not (row is floor and row is lead and len(tiles) > 1):
            tiles.append(
                _tile(
                    f"{row.system}, {result.measure}",
                    percent(row.measures[result.measure]),
                    interval(row.ci.get(result.measure)),
                )
            )
    if lead and floor and lead is not floor and result.measure in floor.measures:
        versus = next(
            (
                each
                for each in result.comparisons
                if _is_headline(each, lead.system, result.measure)
            ),
            None,
        )
        difference = points(lead.measures[result.measure] - floor.measures[result.measure])
        detail = f"{interval(versus.ci, signed=True)}, " if versus else ""
        tiles.append(
            _tile(
                f"{lead.system} against {BASELINE}, points",
                difference,
                f"{detail}p {p_value(lead.p_vs_bm25)}",
            )
        )
    return element("dl", *tiles, class_="tiles")


def _is_headline(each: Versus, system: str, measure: str) -> bool:
    return (each.baseline, each.variant, each.measure) == (BASELINE, system, measure)


def _tile(name: str, figure: str, small: str) -> Markup:
    return element(
        "div",
        element("dt", name),
        element("dd", figure, class_="figure"),
        element("dd", small or "\u00a0", class_="small"),
    )


def _table(table: Table | None) -> Markup:
    if table is None:
        return Markup("")
    heads = (
        element("th", name, scope="col", class_="text" if place < table.texts else None)
        for place, name in enumerate(table.columns)
    )
    head = element("thead", element("tr", *heads))
    body = element("tbody", *(_row(row, table.texts) for row in table.rows))
    grid = element("table", element("caption", table.title), head, body)
    note = element("p", table.note) if table.note else Markup("")
    return joined(
        note,
        element("div", grid, class_="scroll", tabindex="0", role="region", aria_label=table.title),
    )


def _row(cells: Sequence[Cell], texts: int) -> Markup:
    rest = (_cell(cell, text=place < texts) for place, cell in enumerate(cells[1:], start=1))
    return element("tr", element("th", cells[0].text, scope="row"), *rest)


def _cell(cell: Cell, *, text: bool) -> Markup:
    down = (
        element("span", "▼ ", class_="worse", role="img", aria_label="lower,") if cell.worse else ""
    )
    detail = element("small", cell.detail) if cell.detail else ""
    return element(
        "td", down, cell.text, detail, class_="text" if text else "best" if cell.best else None
    )


def _notes(result: Result) -> Markup:
    if not result.notes:
        return Markup("")
    return element(
        "section",
        element("h2", "Notes"),
        element("ul", *(element("li", note) for note in result.notes)),
    )


def _provenance(result: Result) -> Markup:
    pairs = [
        joined(element("dt", name), element("dd", value)) for name, value in provenance(result)
    ]
    lead = element(
        "p", "Two runs with the same data, configuration, seed and versions give the same bytes."
    )
    return element(
        "section", element("h2", "Provenance"), lead, element("dl", *pairs, class_="provenance")
    )
