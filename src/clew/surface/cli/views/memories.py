"""Memories as people read them: the text first, then one quiet line about it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from clew.documents.code_places import clean_heading
from clew.engine.relating import Neighbour, Related
from clew.memories.firewall.trust import assess_trust
from clew.surface.cli.text import clean, counted, one_line
from clew.surface.cli.views.screen import DIM, KEY, SCORE, WARN, ago, facts, safe, whole_words
from clew.text.gist import leading_words
from clew.times import iso
from clew.types import BEGINNING, Event, Kind, Node

TEXT_INDENT = (0, 0, 0, 2)
EXCERPT = 320  # characters of a chunk or a document: four lines of a terminal


def memory_list(nodes: Sequence[Node], now: datetime) -> Group:
    """Return memories one below the other."""
    return Group(*(Group(headline(node), Padding(about(node, now), TEXT_INDENT)) for node in nodes))


def headline(node: Node, *, whole: bool = False) -> Text:
    """Return a memory's title and text.

    Of what was imported the beginning, unless all of it is asked for.
    """
    heading = clean_heading(node.metadata) or node.title
    title = clean(f"{heading}: ") if heading else ""
    if whole or node.kind is Kind.MEMORY:
        return Text.assemble((title, "bold"), clean(node.text))
    line = one_line(node.text)
    shown = leading_words(line, EXCERPT)
    return Text.assemble((title, "bold"), shown, (" …" if shown != line else "", DIM))


def about(node: Node, now: datetime, *, importance: bool = True) -> Text:
    """Return the id to go on with, and where the memory stands: category, age, weight, tags."""
    parts = ["", node.category, ago(node.t_valid, now)]
    parts += [node.source] if node.kind is not Kind.MEMORY and node.source else []
    parts += [f"importance {node.importance:g}"] if importance else []
    parts += [f"recalled {node.accesses}×"] if node.accesses else []
    parts += [f"#{tag}" for tag in node.tags]
    parts += ["protected"] if node.protected else []
    flags = assess_trust(node).flags
    warned = f" · low trust: {', '.join(flags)}" if flags else ""
    return Text.assemble(
        (clean(node.id), KEY), (f" {one_line(' · '.join(parts))}", DIM), (warned, WARN)
    )


def memory_page(node: Node, now: datetime, *, questions: Sequence[str] = ()) -> Group:
    """Return everything about one memory, with the questions that were made for it."""
    return Group(
        headline(node, whole=True),
        "",
        facts(
            [
                ("id", node.id),
                ("space", node.space),
                ("category", node.category),
                ("trigger", node.trigger),
                ("importance", f"{node.importance:g}"),
                ("stability", str(node.stability)),
                ("true", _span(node.t_valid, node.t_invalid, now)),
                ("believed", _span(node.t_created, node.t_expired, now)),
                ("source", node.source),
                ("place", _place(node)),
                ("quality", _quality(node)),
                ("trust", _trust(node)),
                ("tags", ", ".join(node.tags)),
                ("metadata", ", ".join(f"{key}={value}" for key, value in node.metadata.items())),
                ("keywords", ", ".join(node.keywords)),
                ("answers", " ".join(questions)),
                ("recalled", counted(node.accesses, "time") if node.accesses else "not yet"),
                (
                    "state",
                    ", ".join(name for name in ("protected", "archived") if getattr(node, name)),
                ),
            ]
        ),
    )


def _place(node: Node) -> str:
    if node.kind is Kind.MEMORY:
        return ""
    inside = f" of {node.root}, in {node.parent}" if node.root else ""
    return f"{node.kind} {node.position}{inside}, characters {node.start}–{node.end}"


def _trust(node: Node) -> Text | str:
    """Return what is to be said of a memory that gives its reader orders; nothing of the others."""
    flags = assess_trust(node).flags
    return (
        Text(f"low: it reads like an order to its reader ({', '.join(flags)})", style=WARN)
        if flags
        else ""
    )


def _quality(node: Node) -> str:
    if node.quality is None:
        return ""
    parts = ", ".join(
        f"{name} {getattr(node.quality, name):.2f}"
        for name in ("substance", "specificity", "coherence", "clarity")
    )
    return f"{node.quality.overall:.2f} ({parts}; stub: {node.quality.stub})"


def _span(begin: datetime, end: datetime | None, now: datetime) -> str:
    until = f" until {iso(end)}" if end else ""
    if begin == BEGINNING:
        return f"{ago(begin, now)}{until}"
    return f"from {iso(begin)[:19]}Z ({ago(begin, now)}){until}"


def history_page(events: Sequence[Event], now: datetime) -> Table:
    """Return what happened to a memory, oldest first."""
    table = Table.grid(padding=(0, 2))
    for event in events:
        detail = ", ".join(f"{key}={one_line(str(value))}" for key, value in event.detail.items())
        table.add_row(
            Text(iso(event.at)[:19] + "Z", style=DIM),
            Text(ago(event.at, now), style=DIM),
            Text(str(event.kind), style=KEY),
            detail,
        )
    return whole_words(table)


# A memory as it was ever held to be: what was true when, and when that was believed.


def versions_page(nodes: Sequence[Node], id: str) -> Group:
    """Return the versions in the order of valid time, the asked one's id set off."""
    return Group("", *(_version(node, asked=id in (node.id, node.root)) for node in nodes))


def _version(node: Node, *, asked: bool) -> Group:
    line = Text.assemble(
        (clean(node.id), KEY if asked else DIM),
        (
            f"  true {_versions_span(node.t_valid, node.t_invalid)}, believed {_versions_span(node.t_created, node.t_expired)}",
            DIM,
        ),
    )
    return Group(
        Text(clean(node.text), style="" if node.t_expired is None else DIM),
        Padding(line, (0, 0, 0, 2)),
    )


def _versions_span(begin: datetime, end: datetime | None) -> str:
    """Return an interval in words; without a beginning that is known it is only said until when.

    >>> from datetime import UTC
    >>> march = datetime(2026, 3, 1, tzinfo=UTC)
    >>> _versions_span(march, None), _versions_span(BEGINNING, march)
    ('from 2026-03-01', 'until 2026-03-01')
    """
    if begin == BEGINNING and end:
        return f"until {_moment(end)}"
    return f"from {_moment(begin)}" + (f" to {_moment(end)}" if end else "")


def _moment(moment: datetime) -> str:
    """Return a moment to the second, a midnight as its date.

    >>> from datetime import UTC
    >>> _moment(datetime(2026, 3, 1, tzinfo=UTC)), _moment(datetime(2026, 3, 1, 12, 30, tzinfo=UTC))
    ('2026-03-01', '2026-03-01T12:30:00Z')
    """
    text = iso(moment)
    return text[:10] if text.endswith("T00:00:00Z") else f"{text[:19]}Z"


# What a memory is connected with, as people read it.

SHOWN = 100  # characters of a text beside its id


def related_page(found: Related) -> Group:
    """Return the names, the edges and the nodes behind them, each under its heading.

    What there is none of is left out.
    """
    parts = [
        part
        for heading, table in (
            ("names", _names(found)),
            ("edges", _edges(found)),
            ("connected with", _nodes(found)),
        )
        if table.row_count
        for part in (Text(heading, style="bold"), table)
    ]
    return Group(*(parts or [safe("Connected with nothing yet.")]))


def _names(found: Related) -> Table:
    table = Table.grid(padding=(0, 2))
    for entity in found.entities:
        said = entity.mention
        named = f"{said.confidence:.2f} · {'about it · ' if said.subject else ''}named by {entity.count}"
        table.add_row(
            safe(one_line(said.name), KEY),
            safe(said.type),
            safe(named, DIM),
            safe(one_line(entity.evidence), DIM),
        )
    return table


def _edges(found: Related) -> Table:
    table = Table.grid(padding=(0, 2))
    for edge in found.edges:
        ends = f"{edge.source} → {edge.target}"
        table.add_row(
            safe(edge.kind, KEY),
            safe(f"{edge.weight:.2f}", SCORE),
            safe(ends),
            safe(one_line(edge.evidence), DIM),
        )
    return whole_words(table)


def _nodes(found: Related) -> Table:
    table = Table.grid(padding=(0, 2))
    for each in found.nodes:
        text = leading_words(one_line(each.node.title or each.node.text), SHOWN)
        table.add_row(
            safe(f"{each.strength:.2f}", SCORE),
            safe(each.node.id, KEY),
            safe(text),
            safe(ties(each), DIM),
        )
    return table


def ties(each: Neighbour) -> str:
    """Say in a few words what connects a node."""
    said = [f"about {one_line(', '.join(each.about))}"] if each.about else []
    said += [f"shares {one_line(', '.join(each.shares))}"] if each.shares else []
    return " · ".join([*said, *each.edges])
