"""`clew related`: what a memory is connected with."""

from __future__ import annotations

import click

from clew.surface.cli.ids import whole_id
from clew.surface.cli.session import Session, common

LIMIT = 20


@click.command("related")
@click.argument("id")
@click.option("--limit", type=int, default=LIMIT, metavar="N", help=f"At most so many nodes and edges. [{LIMIT}]")
@common
def related_command(session: Session, id: str, *, limit: int) -> int:
    """Show what the memory ID names and is linked with.

    Its names with their kinds, the nodes of its space that share them or are about them, and its edges in and out.
    """
    from clew.surface import payload  # noqa: PLC0415 - each start pays for what it uses

    with session.clew() as clew:
        id = whole_id(clew, id)
        found = clew.related(id, limit=limit)

    def people() -> None:
        from clew.surface.cli.views.related import related_page  # noqa: PLC0415 - loads rich
        from clew.surface.cli.views.screen import show  # noqa: PLC0415

        show(related_page(found))

    session.answer(payload.related(found), people)
    return 0 if found.entities or found.edges or found.nodes else 1
