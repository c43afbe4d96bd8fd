"""Conflicts as people read them."""

from __future__ import annotations

from rich.console import Group
from rich.table import Table
from rich.text import Text

from clew.engine.conflicts import Conflict, Conflicts
from clew.surface.cli.text import one_line
from clew.surface.cli.views.screen import DIM, KEY, SCORE, safe, whole_words
from clew.text.gist import leading_words
from clew.times import iso
from clew.types import Node

SHOWN = 160  # characters of a text


def conflicts_page(found: Conflicts) -> Group:
    """Return each conflict with its score, its kind, both texts and what to do about it."""
    if not found:
        return Group(safe("No conflicts."))
    return Group(*(part for each in found for part in _conflict(each)))


def _conflict(each: Conflict) -> tuple[Text, Table, Text]:
    head = Text.assemble(
        safe(f"{each.score:.2f}", SCORE),
        "  ",
        safe(each.kind, KEY),
        "  ",
        safe(one_line(each.explanation)),
    )
    table = Table.grid(padding=(0, 2))
    for node in (each.first, each.second):
        table.add_row(
            "",
            safe(node.id, KEY),
            safe(_since(node), DIM),
            safe(leading_words(one_line(node.text), SHOWN)),
        )
    return (
        head,
        whole_words(table),
        Text.assemble("  ", safe(f"both true? clew conflicts dismiss {each.id}", DIM)),
    )


def _since(node: Node) -> str:
    return iso(node.t_valid)[:10]
