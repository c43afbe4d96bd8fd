"""`clew list`, `clew show`, `clew history`: look at memories without asking a question."""

from __future__ import annotations

from typing import Any

import click

from clew.errors import NotFoundError
from clew.surface.cli.options import filters
from clew.surface.cli.session import Session, common

EMPTY = {
    "recent": "No memory here yet. Add one with: clew add TEXT",
    "important": "No memory of importance {important_min:g} or more (lists.important_min).",
    "popular": "No memory was recalled {popular_min} times or more (lists.popular_min).",
}


@click.command("list")
@click.option("--sort", type=click.Choice(["recent", "important", "popular"]), default="recent", help="What comes first. [recent]")
@click.option("--limit", type=int, default=10, metavar="N", help="At most so many. [10]")
@filters
@common
def list_command(session: Session, *, sort: str, limit: int, where: dict[str, Any]) -> int:
    """List the newest, most important or most recalled."""
    from clew.surface import payload  # noqa: PLC0415 - each start pays for what it uses

    with session.clew() as clew:
        nodes = getattr(clew, sort)(limit, where=where)
        limits = clew.settings.lists

    def people() -> None:
        from clew.surface.cli.views.memories import memory_list  # noqa: PLC0415 - loads rich
        from clew.surface.cli.views.screen import show  # noqa: PLC0415

        if nodes:
            show(memory_list(nodes, _now()))
        else:
            click.echo(EMPTY[sort].format(**vars(limits)) if not where else "No memory passes these filters.")

    session.answer(payload.memories(nodes), people)
    return 0 if nodes else 1


@click.command("show")
@click.argument("id")
@common
def show_command(session: Session, id: str) -> None:
    """Show everything about the memory ID."""
    from clew.surface import payload  # noqa: PLC0415 - each start pays for what it uses

    with session.clew() as clew:
        node = clew.get(id)
    if node is None:
        raise NotFoundError(f"No memory {id}. List them with: clew list", id=id)

    def people() -> None:
        from clew.surface.cli.views.memories import memory_page  # noqa: PLC0415 - loads rich
        from clew.surface.cli.views.screen import show  # noqa: PLC0415

        show(memory_page(node, _now()))

    session.answer(payload.memory(node), people)


@click.command("history")
@click.argument("id")
@common
def history_command(session: Session, id: str) -> None:
    """Show what happened to the memory ID.

    Oldest first; of a forgotten one, that it was forgotten.
    """
    from clew.surface import payload  # noqa: PLC0415 - each start pays for what it uses

    with session.clew() as clew:
        events = clew.history(id)

    def people() -> None:
        from clew.surface.cli.views.memories import history_page  # noqa: PLC0415 - loads rich
        from clew.surface.cli.views.screen import show  # noqa: PLC0415

        show(history_page(events, _now()))

    session.answer(payload.history(id, events), people)


def _now() -> Any:
    from datetime import UTC, datetime  # noqa: PLC0415 - each start pays for what it uses

    return datetime.now(UTC)
