"""`clew conflicts`: memories that contradict each other, and which of them stay side by side."""

from __future__ import annotations

import click

from clew.surface.cli.ids import whole_id
from clew.surface.cli.session import Session, common
from clew.surface.cli.text import clean

LIMIT = 50
JOINT = "."  # between the two ids of a pair


@click.group("conflicts", invoke_without_command=True)
@click.option(
    "--space", metavar="NAME", help="The space to look through. [the setting store.space]"
)
@click.option(
    "--limit",
    type=int,
    default=LIMIT,
    metavar="N",
    help=f"At most so many, the surest first. [{LIMIT}]",
)
@click.option(
    "--kind",
    "kinds",
    metavar="NAME",
    multiple=True,
    help="Only of this kind: value, number, negation or state; repeatable.",
)
@common
@click.pass_context
def conflicts_command(
    ctx: click.Context, session: Session, *, space: str | None, limit: int, kinds: tuple[str, ...]
) -> int | None:
    """List memories that contradict each other.

    Both are about the same subject and cannot both be true of the same time: they differ in a value, number, negation or state. Found by
    rules on words, without a language model: each pair is a question to you. Supersede the one that is out of date,
    or say that both are true. Exits with 1 if there is none.

    \b
      clew conflicts --kind number
      clew supersede ID "what is true now"
      clew conflicts dismiss ID
    """  # noqa: D301 - click's own mark for a paragraph that keeps its lines
    if ctx.invoked_subcommand is not None:
        return None
    from clew.surface import payload  # noqa: PLC0415 - each start pays for what it uses

    with session.clew() as clew:
        found = clew.conflicts(space=space, limit=limit, kinds=kinds or None)

    def people() -> None:
        from clew.surface.cli.views.conflicts import conflicts_page  # noqa: PLC0415 - loads rich
        from clew.surface.cli.views.screen import show  # noqa: PLC0415

        show(conflicts_page(found))

    for note in found.notes:
        session.note(note)
    session.answer(payload.conflicts(found), people)
    return 0 if found else 1


@conflicts_command.command("dismiss")
@click.argument("id")
@common
def dismiss_conflict_command(session: Session, id: str) -> None:
    """Keep both memories of a conflict, listed no more.

    It is listed again when the text of one of them changes. ID is the pair as it is listed, both
    memories joined by a full stop.
    """
    from clew.surface import payload  # noqa: PLC0415 - as above

    with session.clew() as clew:
        first, joint, second = id.partition(JOINT)
        whole = f"{whole_id(clew, first)}{JOINT}{whole_id(clew, second)}" if joint else id
        done = clew.dismiss_conflict(whole)
    session.answer(
        payload.dismissed(done),
        lambda: click.echo(clean(f"Dismissed {done.id}: both memories stay.")),
    )
