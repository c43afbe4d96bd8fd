"""An answer as people read it: hits best first, and with `--explain` the arithmetic behind each."""

from __future__ import annotations

from datetime import datetime

from rich.console import Group
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from clew.recall.state import Hit, Place, Recall
from clew.surface.cli.text import counted
from clew.surface.cli.views.memories import about, headline
from clew.surface.cli.views.screen import DIM, KEY, SCORE, safe

MEASURES = {"dense": "cosine", "context": "cosine", "sparse": "BM25", "section": "relevance"}
MEANING = {"dense": "meaning", "context": "context", "sparse": "words", "section": "section"}


def answer_page(answer: Recall, now: datetime, *, explain: bool = False) -> Group:
    """Return the hits with rank and score, then a line about how they were found."""
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right", style=DIM, no_wrap=True)
    table.add_column(style=SCORE, no_wrap=True)
    table.add_column(overflow="fold")
    for rank, hit in enumerate(answer.hits, start=1):
        parts = [] if hit.node is None else [headline(hit.node), about(hit.node, now, importance=False)]
        table.add_row(str(rank), f"{hit.score:.3f}", Group(*parts, *([reasons(hit)] if explain else [])))
    return Group(table, Text(summary(answer), style=DIM))


def reasons(hit: Hit) -> Tree:
    """Return a tree that recomputes the score: components of the score, and channels of the relevance among them."""
    parts = sorted(
        ((name, part) for name, part in hit.components.items() if part.weight), key=lambda each: (-each[1].contribution, each[0])
    )
    terms = " + ".join(f"{part.contribution:.4f}" for _, part in parts)
    tree = Tree(Text.assemble("score ", (f"{hit.score:.4f}", SCORE), f" = {terms}"), guide_style=DIM)
    for name, part in parts:
        label = Text.assemble((f"{name:<10}", KEY), f" {part.value:.4f} × {part.weight:g} = {part.contribution:.4f}")
        branch = tree.add(label)
        if name == "semantic":
            for channel, place in sorted(hit.channels.items()):
                branch.add(_channel(channel, place))
    return tree


def _channel(name: str, place: Place) -> Text:
    where = f"rank {place.rank}" if place.rank is not None else "not proposed"
    measure = f"{MEASURES.get(name, 'score')} {place.score:.3f}"
    return Text.assemble(
        (f"{MEANING.get(name, name):<8}", KEY),
        f" {place.normalised:.4f} × {place.weight:g} = {place.contribution:.4f}",
        (f"  {where}, {measure}", DIM),
    )


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
