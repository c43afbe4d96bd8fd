"""A memory as it was ever held to be: what was true when, and when that was believed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from clew.surface.cli.text import clean
from clew.surface.cli.views.screen import DIM, KEY
from clew.times import iso
from clew.types import BEGINNING, Node


def versions_page(nodes: Sequence[Node], id: str) -> Group:
    """Return the versions in the order of valid time, the asked one's id set off."""
    return Group("", *(_version(node, asked=id in (node.id, node.root)) for node in nodes))


def _version(node: Node, *, asked: bool) -> Group:
    line = Text.assemble(
        (clean(node.id), KEY if asked else DIM),
        (f"  true {_span(node.t_valid, node.t_invalid)}, believed {_span(node.t_created, node.t_expired)}", DIM),
    )
    return Group(Text(clean(node.text), style="" if node.t_expired is None else DIM), Padding(line, (0, 0, 0, 2)))


def _span(begin: datetime, end: datetime | None) -> str:
    """Return an interval in words; without a beginning that is known it is only said until when.

    >>> from datetime import UTC
    >>> march = datetime(2026, 3, 1, tzinfo=UTC)
    >>> _span(march, None), _span(BEGINNING, march)
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
