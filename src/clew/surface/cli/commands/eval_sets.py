"""`clew eval datasets` and `clew eval fetch`: which sets there are, and how to get them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from clew.errors import InputError
from clew.files import expanded
from clew.surface.cli.session import Session, common
from clew.surface.cli.text import clean

if TYPE_CHECKING:
    from clew.evaluate.datasets import Card, Presence

FETCHABLE = ("swe-qa", "semble", "swe-bench", "repoeval")


@click.command("datasets")
@click.option("--path", metavar="DIR", help="Look for the sets in the folders below this one.")
@common
def datasets_command(session: Session, path: str | None) -> None:
    """List the datasets: licence, source, what is here.

    With --path each set is looked for in its folder below DIR; what is missing is named.
    """
    from clew.evaluate.datasets import catalogue, presence  # noqa: PLC0415

    root = expanded(path) if path else None
    if root is not None and not root.is_dir():
        raise InputError(
            "path", path, "is not a folder", "Name the folder that holds the sets' folders."
        )
    found = [(card, presence(card, root / card.folder) if root else None) for card in catalogue()]
    session.answer(
        {"path": path, "datasets": [_record(*each) for each in found]}, lambda: _show(found)
    )


def _record(card: Card, there: Presence | None) -> dict[str, Any]:
    known = {name: getattr(card, name) for name in ("name", "title", "licence", "source", "folder")}
    known |= {
        "files": list(card.files),
        "levels": list(card.levels),
        "parts": dict(card.parts),
        "options": dict(card.options),
    }
    held = (
        None
        if there is None
        else {
            "complete": there.complete,
            "present": len(there.present),
            "missing": list(there.missing),
        }
    )
    return {**known, "here": held}


def _show(found: list[tuple[Card, Presence | None]]) -> None:
    from clew.surface.cli.views.evaluation import sets_page  # noqa: PLC0415 - loads rich
    from clew.surface.cli.views.screen import show  # noqa: PLC0415

    show(sets_page(found))


@click.command("fetch")
@click.argument("name")
@click.argument("folder", metavar="DIR", type=click.Path())
@common
def fetch_command(session: Session, name: str, folder: str) -> None:
    """Fetch the source trees that the set NAME asks about.

    For swe-qa, semble, swe-bench (the releases that 35 instances of Lite name) and repoeval (the
    four projects that have releases): the pinned source distributions from your package index (two
    of semble's projects from npm), checked by their hashes, text files only; nothing in them is
    run. What is in DIR already is left alone.
    """
    if name not in FETCHABLE:
        raise InputError(
            "name",
            name,
            "cannot be fetched",
            f"Only {', '.join(FETCHABLE)} can; clew eval datasets says how to get the others.",
        )
    # Each start pays for what it uses
    from clew.evaluate.datasets import fetch_sources  # noqa: PLC0415
    from clew.surface.cli.progress import Meter  # noqa: PLC0415

    with Meter(unit="items", quiet=session.as_json) as meter:
        folders = [str(each) for each in fetch_sources(folder, dataset=name, progress=meter)]

    def people() -> None:
        for each in folders:
            click.echo(clean(each))
        click.echo(
            clean(
                f"Use them with: clew eval run --dataset {name} --path FOLDER --option sources={folder}"
            )
        )

    session.answer({"name": name, "folders": folders}, people)
