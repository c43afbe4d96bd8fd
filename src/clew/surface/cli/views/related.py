"""What a memory is connected with, as people read it."""

from __future__ import annotations

from rich.console import Group
from rich.table import Table
from rich.text import Text

from clew.engine.relating import Neighbour, Related
from clew.gist import opening
from clew.surface.cli.text import one_line
from clew.surface.cli.views.screen import DIM, KEY, SCORE, safe, whole_words

SHOWN = 100  # characters of a text beside its id


def related_page(found: Related) -> Group:
    """Return the names, the edges and the nodes behind them, each under its heading; what there is none of is left out."""
    parts = [
        part
        for heading, table in (("names", _names(found)), ("edges", _edges(found)), ("connected with", _nodes(found)))
        if table.row_count
        for part in (Text(heading, style="bold"), table)
    ]
    return Group(*(parts or [safe("Connected with nothing yet.")]))


def _names(found: Related) -> Table:
    table = Table.grid(padding=(0, 2))
    for entity in found.entities:
        said = entity.mention
        named = f"{said.confidence:.2f} · {'about it · ' if said.subject else ''}named by {entity.count}"
        table.add_row(safe(one_line(said.name), KEY), safe(said.type), safe(named, DIM), safe(one_line(entity.evidence), DIM))
    return table


def _edges(found: Related) -> Table:
    table = Table.grid(padding=(0, 2))
    for edge in found.edges:
        ends = f"{edge.source} → {edge.target}"
        table.add_row(safe(edge.kind, KEY), safe(f"{edge.weight:.2f}", SCORE), safe(ends), safe(one_line(edge.evidence), DIM))
    return whole_words(table)


def _nodes(found: Related) -> Table:
    table = Table.grid(padding=(0, 2))
    for each in found.nodes:
        text = opening(one_line(each.node.title or each.node.text), SHOWN)
        table.add_row(safe(f"{each.strength:.2f}", SCORE), safe(each.node.id, KEY), safe(text), safe(ties(each), DIM))
    return table


def ties(each: Neighbour) -> str:
    """Say in a few words what connects a node."""
    said = [f"about {one_line(', '.join(each.about))}"] if each.about else []
    said += [f"shares {one_line(', '.join(each.shares))}"] if each.shares else []
    return " · ".join([*said, *each.edges])
