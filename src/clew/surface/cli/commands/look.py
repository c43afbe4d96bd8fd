"""`clew list`, `clew show`, `clew history`: look at memories without asking a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from clew.errors import NotFoundError
from clew.surface.cli.options import filters
from clew.surface.cli.session import Session, common
from clew.surface.cli.text import counted

if TYPE_CHECKING:
    from clew.engine import Clew

COUNTED = 1000  # memories that are counted to say how many there are; reading so many is quick
EMPTY = {
    "recent": "No memory here yet. Add one with: clew add TEXT",
    "important": "No memory of importance {important_min:g} or more (lists.important_min).",
    "popular": "No memory was recalled {times} or more (lists.popular_min).",
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
        total = None if session.as_json or len(nodes) < limit else _total(clew, sort, len(nodes), where)

    def people() -> None:
        from clew.surface.cli.views.memories import memory_list  # noqa: PLC0415 - loads rich
        from clew.surface.cli.views.screen import show  # noqa: PLC0415

        if nodes:
            show(memory_list(nodes, _now()))
            if total:
                click.echo(f"{len(nodes):,} of {total}; --limit N for more", err=True)
        else:
            click.echo(
                EMPTY[sort].format(**vars(limits), times=counted(limits.popular_min, "time"))
                if not where
                else "No memory passes these filters."
            )

    session.answer(payload.memories(nodes), people)
    return 0 if nodes else 1


def _total(clew: Clew, sort: str, seen: int, where: dict[str, Any]) -> str | None:
    """Return how many there are in all, or None when all were seen; many are not counted to the last."""
    from clew.engine.clew import MAX_LISTED  # noqa: PLC0415 - loaded already where a store is open

    asked = min(max(COUNTED, seen + 1), MAX_LISTED)
    found = len(getattr(clew, sort)(asked, where=where))
    return None if found <= seen else f"{found:,}" if found < asked else f"{found:,} or more"


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
