"""`clew decay`, `clew unarchive`: archive what has faded, and bring it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from clew.surface.cli.ids import whole_id
from clew.surface.cli.session import Session, common
from clew.surface.cli.text import counted, one_line

if TYPE_CHECKING:
    from clew.engine.decay import Decayed, Fading

SHOWN = 20  # of the archived; --json has all
SHOWN_CHARACTERS = 48


@click.command("decay")
@click.option("--apply", is_flag=True, help="Archive them; without it this only tells.")
@click.option("--space", metavar="NAME", help="Look at this space only. [all]")
@click.option("--now", metavar="DATE", help="As if it were then: what will have faded by that day?")
@click.option("--force", is_flag=True, help="Archive by a --now that is still to come, what is in use until then too.")
@common
def decay_command(session: Session, *, apply: bool, space: str | None, now: str | None, force: bool) -> None:
    """Archive memories that have faded, or tell which.

    A memory fades while nobody recalls or repeats it, the less important ones first; with the settings decay.* it goes
    below decay.archive_below. Nothing is deleted, and protected memories stay. Documents, sections and chunks do not fade.
    """
    from clew.surface import payload  # noqa: PLC0415 - each start pays for what it uses

    with session.clew() as clew:
        report = clew.decay(dry_run=not apply, space=space, now=now, force=force)
    session.answer(payload.decayed(report) if session.as_json else {}, lambda: _show(report))


def _show(report: Decayed) -> None:
    done = "Would archive" if report.dry_run else "Archived"
    click.echo(f"{done} {counted(len(report.archived), 'memory')} of {report.examined:,}.")
    for each in report.archived[:SHOWN]:
        click.echo(f"  {_line(each)}")
    if len(report.archived) > SHOWN:
        click.echo(f"  … and {len(report.archived) - SHOWN:,} more (--json names all)")
    if report.protected:
        click.echo(f"{counted(report.protected, 'memory')} would have gone without protection.")
    if report.upcoming:
        click.echo("Next to go:")
    for each in report.upcoming:
        click.echo(f"  {each.forgotten_at:%Y-%m-%d}  {_line(each)}")
    if report.dry_run and report.archived:
        click.echo("Nothing was changed. Archive them with: clew decay --apply", err=True)


def _line(each: Fading) -> str:
    text = one_line(each.text)
    return f"{each.id}  {each.score:.3f}  {text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + '…'}"


@click.command("unarchive")
@click.argument("id")
@common
def unarchive_command(session: Session, id: str) -> None:
    """Bring the memory ID back from the archive.

    That counts as a use: the days until it fades again begin anew.
    """
    with session.clew() as clew:
        id = whole_id(clew, id)
        before = clew.get(id)
        node = clew.unarchive(id)
    said = "is back" if before is not None and before.archived else "was not archived"
    session.answer({"id": node.id, "archived": node.archived}, lambda: click.echo(f"{one_line(node.id)} {said}."))
