"""`clew watch`: keeps folders in step while it runs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from clew.errors import InputError
from clew.surface.cli.commands.importing import line
from clew.surface.cli.options import categories, pairs
from clew.surface.cli.session import Session, common, print_json
from clew.surface.cli.text import clean

if TYPE_CHECKING:
    from clew.documents.importing import ImportReport
    from clew.engine import Clew

QUIET = ("unchanged", "skipped")
QUIET_MILLISECONDS = 1000  # that must pass without a change: editors write a file several times


@click.command("watch")
@click.argument("folders", nargs=-1, required=True, metavar="DIR…")
@click.option("--space", metavar="NAME", help="The space it belongs to. [the setting store.space]")
@click.option(
    "--category",
    metavar="NAME",
    shell_complete=categories,
    help="The category of what is imported. [note]",
)
@click.option(
    "--tag", "tags", metavar="NAME", multiple=True, help="A tag for all of it; repeatable."
)
@click.option(
    "--metadata",
    metavar="KEY=VALUE",
    multiple=True,
    help="Anything else to keep with all of it; repeatable.",
)
@click.option(
    "--exclude",
    metavar="PATTERN",
    multiple=True,
    help="Leave out what matches, written as in .gitignore; repeatable.",
)
@click.option("--hidden", "include_hidden", is_flag=True, help="Take hidden files too.")
@common
def watch_command(
    session: Session, folders: tuple[str, ...], *, metadata: tuple[str, ...], **options: Any
) -> int:
    """Keep folders in step until it is interrupted.

    Begins with clew import --sync, then repeats it a second after files have changed, were added,
    moved or deleted. Needs the extra watch. With --json every report is one line.
    """
    watchfiles = _library()
    said = {**options, "metadata": pairs(metadata)}.items()
    given = {
        key: value
        for key, value in said
        if value is not None and value is not False and value not in ((), {})
    }
    with session.clew(create=True) as clew:
        _tell(session, clew.import_path(*folders, sync=True, **given))
        session.note(f"watching {len(folders)} folders; stop with Ctrl-C")
        changes = watchfiles.watch(
            *folders,
            debounce=QUIET_MILLISECONDS,
            rust_timeout=QUIET_MILLISECONDS,
            yield_on_timeout=True,
            raise_interrupt=False,
        )
        for number, changed in enumerate(changes):
            if changed or not number:  # once in any case: for what changed before the watch began
                _step(session, clew, folders, given)
    return 0


def _step(session: Session, clew: Clew, folders: tuple[str, ...], given: dict[str, Any]) -> None:
    """Import what has changed, and say so if anything has."""
    try:
        report = clew.import_path(*folders, sync=True, **given)
    except InputError as error:  # a folder that went away may come back
        session.note(error.message)
        return
    if any(file.status not in QUIET for file in report.files):
        _tell(session, report)


def _library() -> Any:
    try:
        import watchfiles  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise InputError(
            "watch",
            "watchfiles",
            "is not installed",
            "Install it with: pip install 'clew[watch]', or run clew import --sync in a timer.",
        ) from error
    return watchfiles


def _tell(session: Session, report: ImportReport) -> None:
    """Print what changed; with --json the whole report on one line."""
    if session.as_json:
        from clew.surface import payload  # noqa: PLC0415 - each start pays for what it uses

        print_json(payload.imported(report))
        sys.stdout.flush()  # whoever reads a pipe waits for it
        return
    for note in report.notes:
        session.note(note)
    for file in report.files:
        if file.status not in QUIET:
            click.echo(clean(line(file)))
    sys.stdout.flush()
