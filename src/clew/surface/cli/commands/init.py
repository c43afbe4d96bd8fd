"""`clew init`: makes a store and fetches its model, so that the first real command is quick."""

from __future__ import annotations

import click

from clew.surface.cli.session import Session, common
from clew.surface.cli.text import clean
from clew.user_files import expanded


@click.command("init")
@click.option("--no-model", is_flag=True, help="Do not fetch the model now.")
@common
def init_command(session: Session, *, no_model: bool) -> None:
    """Make the store and fetch the embedding model.

    Not needed: clew add makes the store it names, and the first command that wants vectors fetches the model.
    """
    from clew.surface.cli.readiness import make_model_ready  # noqa: PLC0415 - each start pays for what it uses

    settings = session.settings().settings
    path = expanded(session.store) if session.store else settings.store.file
    created = not path.exists()
    with session.clew(create=True):
        pass
    reason = "The model was not asked for (--no-model)." if no_model else make_model_ready(session)
    document = {
        "store": str(path),
        "created": created,
        "model": settings.model.embedder,
        "model_ready": reason is None,
        "notes": [reason] if reason else [],
    }

    def people() -> None:
        click.echo(clean(f"Made {path}" if created else f"{path} is there already."))
        if reason is None:
            click.echo(clean(f"The model {settings.model.embedder} is ready."))
        click.echo('Next: clew add "Something worth remembering", then clew recall "a question about it".')

    if reason:
        session.note(reason)
    session.answer(document, people)
