"""`clew list`, `clew show`, `clew history`: look at memories without asking a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from clew.errors import NotFoundError
from clew.surface.cli.ids import whole_id
from clew.surface.cli.options import filters
from clew.surface.cli.session import Session, common
from clew.surface.cli.text import counted

if TYPE_CHECKING:
    from clew.engine import Clew

COUNTED = 1000  # memories that are counted to say how many there are; reading so many is quick
AS_OF = click.option("--as-of", metavar="DATE", help="What was true then; of a date at its end.")
KNOWN_AT = click.option(
    "--known-at", metavar="DATE", help="What was believed then; of a date at its end."
)
EMPTY = {
    "recent": "No memory here yet. Add one with: clew add TEXT",
    "important": "No memory of importance {important_min:g} or more (lists.important_min).",
    "popular": "No memory was recalled {times} or more (lists.popular_min).",
}


@click.command("list")
@click.option(
    "--sort",
    type=click.Choice(["recent", "important", "popular"]),
    default="recent",
    help="What comes first. [recent]",
)
@click.option("--limit", type=int, default=10, metavar="N", help="At most so many. [10]")
@filters
@AS_OF
@KNOWN_AT
@common
def list_command(
    session: Session, *, sort: str, limit: int, where: dict[str, Any], **times: str | None
) -> int:
    """List the newest, most important or most recalled."""
    from clew.surface import payload  # noqa: PLC0415 - each start pays for what it uses

    with session.clew() as clew:
        nodes = getattr(clew, sort)(limit, where=where, **times)
        limits = clew.settings.lists
        total = (
            None
            if session.as_json or len(nodes) < limit
            else _total(clew, sort, len(nodes), where=where, **times)
        )

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
                if not where and not any(times.values())
                else "No memory passes these filters."
            )

    session.answer(payload.memories(nodes), people)
    return 0 if nodes else 1


def _total(clew: Clew, sort: str, seen: int, **filtered: Any) -> str | None:
    """Return how many there are in all, or None when all were seen.

    Many are not counted to the last.
    """
    from clew.engine.clew import MAX_LISTED  # noqa: PLC0415 - loaded already where a store is open

    asked = min(max(COUNTED, seen + 1), MAX_LISTED)
    found = len(getattr(clew, sort)(asked, **filtered))
    return None if found <= seen else f"{found:,}" if found < asked else f"{found:,} or more"


@click.command("show")
@click.argument("id")
@AS_OF
@KNOWN_AT
@common
def show_command(session: Session, id: str, **times: str | None) -> None:
    """Show everything about the memory ID.

    With a time, what it was held to be then, or what stood in its place.
    """
    from clew.surface import payload  # noqa: PLC0415 - each start pays for what it uses

    with session.clew() as clew:
        id = whole_id(clew, id)
        node = clew.get(id, **times)
        questions = [] if node is None else list(clew.questions(node.id))
        known = node is not None or (any(times.values()) and clew.get(id) is not None)
    if node is None and known:
        raise NotFoundError(
            f"Nothing of {id} was true and believed then. When it was: clew history {id}", id=id
        )
    if node is None:
        raise NotFoundError(f"No memory {id}. List them with: clew list", id=id)

    def people() -> None:
        from clew.surface.cli.views.memories import memory_page  # noqa: PLC0415 - loads rich
        from clew.surface.cli.views.screen import show  # noqa: PLC0415

        show(memory_page(node, _now(), questions=questions))

    session.answer(
        {**payload.memory(node), **({"questions": questions} if questions else {})}, people
    )


@click.command("history")
@click.argument("id")
@common
def history_command(session: Session, id: str) -> None:
    """Show what happened to the memory ID.

    Oldest first; of a forgotten one, that it was forgotten. Where it changed, also what was true
    when, and believed when.
    """
    from clew.surface import payload  # noqa: PLC0415 - each start pays for what it uses

    with session.clew() as clew:
        id = whole_id(clew, id)
        events = clew.history(id)
        versions = clew.versions(id)

    def people() -> None:
        from clew.surface.cli.views.memories import history_page  # noqa: PLC0415 - loads rich
        from clew.surface.cli.views.screen import show  # noqa: PLC0415

        show(history_page(events, _now()))
        if len(versions) > 1:
            from clew.surface.cli.views.memories import versions_page  # noqa: PLC0415

            show(versions_page(versions, id))

    session.answer(payload.history(id, events, versions), people)


def _now() -> Any:
    from datetime import UTC, datetime  # noqa: PLC0415 - each start pays for what it uses

    return datetime.now(UTC)


# `clew related`: what a memory is connected with.

LIMIT = 20


@click.command("related")
@click.argument("id")
@click.option(
    "--limit",
    type=int,
    default=LIMIT,
    metavar="N",
    help=f"At most so many nodes and edges. [{LIMIT}]",
)
@common
def related_command(session: Session, id: str, *, limit: int) -> int:
    """Show what the memory ID names and is linked with.

    Its names with their kinds, the nodes of its space that share them or are about them, and its
    edges in and out.
    """
    from clew.surface import payload  # noqa: PLC0415 - each start pays for what it uses

    with session.clew() as clew:
        id = whole_id(clew, id)
        found = clew.related(id, limit=limit)

    def people() -> None:
        from clew.surface.cli.views.memories import related_page  # noqa: PLC0415 - loads rich
        from clew.surface.cli.views.screen import show  # noqa: PLC0415

        show(related_page(found))

    session.answer(payload.related(found), people)
    return 0 if found.entities or found.edges or found.nodes else 1
