"""`clew supersede`, `clew invalidate`, `clew expire`, `clew reassert`.

Say what is true since when, and what no longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from clew.surface.cli.ids import whole_id
from clew.surface.cli.options import argument_or_stdin, categories, pairs
from clew.surface.cli.session import Session, common
from clew.surface.cli.text import clean

if TYPE_CHECKING:
    from clew.types import Node


@click.command("supersede")
@click.argument("id")
@click.argument("text")
@click.option(
    "--valid-from", metavar="DATE", help="Since when the new one is true and the old one not. [now]"
)
@click.option("--valid-to", metavar="DATE", help="Until when the new one is true.")
@click.option(
    "--category",
    metavar="NAME",
    shell_complete=categories,
    help="Such as fact or decision. [the old one's]",
)
@click.option(
    "--importance", type=float, metavar="0–1", help="How much it matters. [the old one's]"
)
@click.option("--title", metavar="TEXT", help="A short name. [the old one's]")
@click.option(
    "--tag", "tags", metavar="NAME", multiple=True, help="A tag; repeatable. [the old one's]"
)
@click.option(
    "--metadata",
    metavar="KEY=VALUE",
    multiple=True,
    help="Anything else; repeatable. [the old one's]",
)
@click.option("--source", metavar="TEXT", help="Where it comes from.")
@click.option(
    "--key",
    "idempotency_key",
    metavar="KEY",
    help="Said again under the same key, nothing is done twice.",
)
@common
def supersede_command(
    session: Session, id: str, text: str, *, metadata: tuple[str, ...], **options: Any
) -> int:
    """Put TEXT in the place of the memory ID.

    The old memory ends where the new one begins; if that is before it was added, and it was added without --valid-from, it
    was true at every time before. Nothing is lost: --as-of shows what was true before, --known-at what was believed. A TEXT
    of - is read from stdin. Exits with 1 if the text was refused; then nothing has changed.

    \b
      clew supersede 01m7gfwdmr422zgpq588cdfnzy "The staging database listens on port 6000" --valid-from 2026-03-01
    """  # noqa: D301 - click's own mark for a paragraph that keeps its lines
    from clew.surface import payload  # noqa: PLC0415 - each start pays for what it uses
    from clew.surface.cli.views.outcomes import outcome_line  # noqa: PLC0415

    fields = {
        name: value
        for name, value in {**options, "metadata": pairs(metadata)}.items()
        if value not in (None, (), {})
    }
    said = argument_or_stdin(text)
    with session.clew() as clew:
        id = whole_id(clew, id)
        entry = payload.superseded(clew.supersede(id, said, **fields), id)
    for note in entry.get("notes", ()):
        session.note(note)
    line = (
        f"{outcome_line(entry)}, supersedes {id}" if "supersedes" in entry else outcome_line(entry)
    )
    session.answer(entry, lambda: click.echo(clean(line)))
    return 1 if entry["outcome"] == "rejected" else 0


@click.command("invalidate")
@click.argument("id")
@click.option("--at", metavar="DATE", help="When it stopped being true. [now]")
@common
def invalidate_command(session: Session, id: str, *, at: str | None) -> None:
    """Say that the memory ID stopped being true.

    It still answers --as-of an earlier time. Said again with another time, that time counts. A
    memory that was added without
    --valid-from may have stopped before it was added: then it was true until that time, whenever it
    began.
    """
    from clew.types import BEGINNING  # noqa: PLC0415 - each start pays for what it uses

    with session.clew() as clew:
        id = whole_id(clew, id)
        node = clew.invalidate(id, at=at)
    since = ", since an unknown time" if node.t_valid == BEGINNING else ""
    _tell(session, node, f"was true until {_when(node.t_invalid)}{since}.")


@click.command("expire")
@click.argument("id")
@common
def expire_command(session: Session, id: str) -> None:
    """Say that the memory ID is no longer believed.

    For what turned out wrong, whenever it was said to be true. It still answers --known-at an
    earlier time.
    """
    with session.clew() as clew:
        id = whole_id(clew, id)
        node = clew.expire(id)
    _tell(session, node, f"is no longer believed, as of {_when(node.t_expired)}.")


@click.command("reassert")
@click.argument("id")
@click.option("--from", "valid_from", metavar="DATE", help="Since when it is true again. [now]")
@common
def reassert_command(session: Session, id: str, *, valid_from: str | None) -> None:
    """Say that the memory ID is true again.

    For one that had ended or expired; the time between stays as it was.
    """
    with session.clew() as clew:
        id = whole_id(clew, id)
        node = clew.reassert(id, valid_from=valid_from)
    _tell(session, node, f"is true again from {_when(node.t_valid)}.")


def _tell(session: Session, node: Node, said: str) -> None:
    from clew.surface import payload  # noqa: PLC0415 - each start pays for what it uses

    session.answer(payload.interval(node), lambda: click.echo(clean(f"{node.id} {said}")))


def _when(moment: Any) -> str:
    from clew.times import iso  # noqa: PLC0415 - each start pays for what it uses

    return iso(moment)
