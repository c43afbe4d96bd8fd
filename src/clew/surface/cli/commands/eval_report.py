"""`clew eval report`: the pages of a report again, from its numbers."""

from __future__ import annotations

import click

from clew.files import expanded
from clew.surface.cli.session import Session, common
from clew.surface.cli.text import clean


@click.command("report")
@click.argument("folder", metavar="DIR", type=click.Path())
@click.option("--timings", is_flag=True, help="Show on the pages what the clock said.")
@common
def report_command(session: Session, folder: str, *, timings: bool) -> None:
    """Draw report.md and report.html of DIR again.

    From result.json, samples.jsonl and, with --timings, timings.json, as `clew eval run --output
    DIR` wrote them.
    """
    from clew.evaluate.report.files import redraw  # noqa: PLC0415

    written = [str(path) for path in redraw(expanded(folder), timed=timings)]
    session.answer(
        {"folder": folder, "written": written},
        lambda: click.echo(clean("\n".join(f"wrote {path}" for path in written))),
    )
