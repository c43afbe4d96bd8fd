"""An answer as people read it: hits best first, and with `--explain` the arithmetic behind each."""

from __future__ import annotations

from datetime import datetime

from rich.console import Group
from rich.table import Table
from rich.text import Text

from clew.recall.state import Recall
from clew.surface.cli.text import counted
from clew.surface.cli.views.memories import about, headline
from clew.surface.cli.views.reasons import MEANING, hit_tree
from clew.surface.cli.views.screen import DIM, SCORE, safe


def answer_page(answer: Recall, now: datetime, *, explain: bool = False) -> Group:
    """Return the hits with rank and confidence, then a line about how they were found."""
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right", style=DIM, no_wrap=True)
    table.add_column(justify="right", style=SCORE, no_wrap=True, min_width=len("99 %"))
    table.add_column(overflow="fold")
    for rank, hit in enumerate(answer.hits, start=1):
        parts = [] if hit.node is None else [headline(hit.node), about(hit.node, now, importance=False)]
        table.add_row(str(rank), percent(hit.confidence), Group(*parts, *([hit_tree(hit)] if explain else [])))
    return Group(table, Text(summary(answer), style=DIM))


def percent(confidence: float | None) -> str:
    """Return a confidence as people read it; a dash where there is none.

    >>> percent(0.824), percent(0.999), percent(None)
    ('82 %', '99 %', '–')
    """
    return "–" if confidence is None else f"{min(99, round(100 * confidence))} %"


def summary(answer: Recall) -> str:
    """Return one line: how many hits, how fast, by which recipe and preset, and what was held back."""
    stats = answer.stats
    found = ", ".join(f"{count} by {MEANING.get(name, name)}" for name, count in stats["candidates"].items())
    held = f" · {answer.filtered_count} held back" if answer.filtered_count else ""
    return (
        f"{counted(len(answer.hits), 'hit')} in {stats['milliseconds']:.0f} ms · recipe {stats['recipe']}, preset {stats['preset']}"
        f" · {found or 'no candidates'}{held}"
    )


def nothing_page(answer: Recall) -> Group:
    """Return an honest empty answer, with what came closest."""
    lines = [safe("Nothing relevant.", "bold")]
    if best := answer.best_rejected:
        lines.append(safe(f"The closest was {best.id}: {best.reason} {best.value:.3f}, the limit is {best.limit:g} ({best.stage}).", DIM))
    return Group(*lines, Text(summary(answer), style=DIM))
