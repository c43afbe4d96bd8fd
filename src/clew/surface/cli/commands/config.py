"""`clew config`: the settings in force, and where each came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from clew.errors import InputError
from clew.files import expanded
from clew.surface.cli.options import setting_keys
from clew.surface.cli.session import Session, common
from clew.surface.cli.text import clean

if TYPE_CHECKING:
    from clew.settings import Row


@click.command("config")
@click.argument("key", required=False, shell_complete=setting_keys)
@click.option("--template", is_flag=True, help="Print a settings file to start from.")
@common
def config_command(session: Session, key: str | None, *, template: bool) -> None:
    """Show every setting, its value and its source.

    With KEY one of them, such as recall.k, or a section, such as recall, in detail.
    """
    from clew import settings  # noqa: PLC0415 - each start pays for what it uses
    from clew.surface import payload  # noqa: PLC0415

    if template:
        text = settings.template()
        session.answer({"template": text}, lambda: click.echo(text, nl=False))
        return
    loaded = session.settings()
    rows = _chosen(settings.describe(loaded), key)
    file = None if loaded.file is None else str(loaded.file)
    document = {
        "file": file,
        "hash": settings.config_hash(loaded.settings),
        "settings": [payload.setting(row) for row in rows],
    }
    session.answer(document, lambda: _show(file, rows, in_detail=key is not None))


def _chosen(rows: tuple[Row, ...], key: str | None) -> list[Row]:
    chosen = [row for row in rows if key is None or row.key == key or row.key.startswith(f"{key}.")]
    if not chosen:
        import difflib  # noqa: PLC0415 - only the way to an error needs it

        near = difflib.get_close_matches(str(key), [row.key for row in rows], n=1, cutoff=0.3)
        raise InputError(
            "key",
            key,
            "there is no such setting",
            f"Did you mean {near[0]}?" if near else "List them with: clew config",
        )
    return chosen


def _show(file: str | None, rows: list[Row], *, in_detail: bool) -> None:
    from rich.table import Table  # noqa: PLC0415 - loads rich

    from clew.surface.cli.views.screen import DIM, KEY, WARN, safe, show, whole_words  # noqa: PLC0415

    table = Table(box=None, padding=(0, 2, 0, 0), header_style=DIM)
    table.add_column("setting", style=KEY, no_wrap=True)
    table.add_column("from")
    table.add_column("value")
    for row in rows:
        table.add_row(
            row.key,
            safe(row.source, DIM if row.source == "default" else WARN),
            safe(_value(row.value)),
        )
        if in_detail:
            table.add_row(
                "",
                "",
                safe(f"{row.description} Takes {row.allowed}; default {_value(row.default)}.", DIM),
            )
    show(
        safe(f"file: {file or 'none (~/.config/clew/config.yaml would be read)'}", DIM, whole=True),
        whole_words(table),
    )


def _value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, dict):
        return "\n".join(f"{name}: {_weights(each)}" for name, each in value.items()) or "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _weights(value: Any) -> str:
    return (
        " / ".join(f"{weight:g}" for weight in value.values())
        if isinstance(value, dict)
        else f"{value:g}"
    )


# `clew init`: makes a store and fetches its model, so that the first real command is quick.


@click.command("init")
@click.option("--no-model", is_flag=True, help="Do not fetch the model now.")
@common
def init_command(session: Session, *, no_model: bool) -> None:
    """Make the store and fetch the embedding model.

    Not needed: clew add makes the store it names, and the first command that wants vectors fetches
    the model.
    """
    # Each start pays for what it uses
    from clew.surface.cli.readiness import make_model_ready  # noqa: PLC0415

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
        click.echo(
            'Next: clew add "Something worth remembering", then clew recall "a question about it".'
        )

    if reason:
        session.note(reason)
    session.answer(document, people)
