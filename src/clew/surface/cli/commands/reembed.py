"""`clew reembed`: moves a store to another model, or fills in missing vectors and token codes."""

from __future__ import annotations

from typing import Any

import click

from clew.surface.cli.session import Session, common
from clew.surface.cli.text import clean, counted


@click.command("reembed")
@click.option("--model", "spec", metavar="NAME", help="The model to move to. [the setting model.embedder]")
@common
def reembed_command(session: Session, *, spec: str | None) -> None:
    """Move the store to another model, or fill in vectors.

    Memories without token codes get these too, and vectors of the same model stay as they are.
    Until all memories have a vector of the new model the old ones serve; killed, it resumes where it stopped.
    """
    from clew.surface.cli.progress import Meter  # noqa: PLC0415 - each start pays for what it uses

    chosen: dict[str, Any] = {} if spec is None else {"model.embedder": spec}
    with session.clew(**chosen) as clew, Meter(quiet=session.as_json) as meter:
        done = clew.reembed(progress=meter)
    configured = session.settings().settings.model.embedder
    notes = [] if spec in (None, configured) else [f"Set model.embedder to {spec}, in the settings or as CLEW_MODEL__EMBEDDER={spec}."]
    for note in notes:
        session.note(f"{note} Until then {configured} is configured and refused by this store.")
    session.answer(
        {"model": done.model, "embedded": done.embedded, "notes": notes},
        lambda: click.echo(clean(f"The store is on {done.model}; {counted(done.embedded, 'memory')} embedded.")),
    )
