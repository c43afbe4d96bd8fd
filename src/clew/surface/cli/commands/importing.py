"""`clew import`: brings files into the store: notes, pages, papers, chats, source code."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from clew.errors import InputError, clipped
from clew.files import MEGABYTE, read_stream
from clew.surface.cli.options import STDIN, categories, pairs
from clew.surface.cli.session import Session, common
from clew.surface.cli.text import clean, counted

if TYPE_CHECKING:
    from clew.documents.importing import FileReport, ImportReport

SIGNS = {
    "imported": "+",
    "updated": "~",
    "unchanged": "=",
    "skipped": "-",
    "retired": "×",
    "failed": "✗",
}


@click.command("import")
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@click.option(
    "--format",
    metavar="NAME",
    help="Read every file as this: text, markdown, html, pdf, docx, conversation, python, … [by name and content]",
)
@click.option("--space", metavar="NAME", help="The space it belongs to. [the setting store.space]")
@click.option(
    "--category",
    metavar="NAME",
    shell_complete=categories,
    help="The category of what is imported. [note]",
)
@click.option("--importance", type=float, metavar="0–1", help="How much it matters. [0.5]")
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
@click.option(
    "--force",
    is_flag=True,
    help="Read unchanged files anew, and keep documents that were forgotten.",
)
@click.option(
    "--sync",
    is_flag=True,
    help="Also expire what came from the named folders and whose file is gone.",
)
@click.option("--dry-run", is_flag=True, help="Only report what would happen.")
@click.option("--name", metavar="TEXT", help="With -: under which name to keep it. [its hash]")
@common
def import_command(
    session: Session,
    paths: tuple[str, ...],
    *,
    name: str | None,
    metadata: tuple[str, ...],
    **options: Any,
) -> int:
    """Bring in files, directories and globs, or a pipe.

    With - it reads what comes through a pipe. Text, markdown, HTML, PDF, DOCX, chat exports (ChatGPT, Claude, role/content JSON,
    transcripts) and source trees; .gitignore is respected. Long ones become a document with sections and chunks. Run it again at any
    time: what has not changed is left as it is, what has changed takes the place of what it was. Every file is reported; exits with 1
    if one failed, the others are there all the same.

    --sync also expires what came from files that are gone; earlier times still find it.

    \b
      clew import ~/notes docs/*.md
      clew import --sync ~/notes --dry-run
      clew import conversations.json --tag chatgpt
      pdftotext paper.pdf - | clew import - --name paper.pdf
    """  # noqa: D301 - click's own mark for a paragraph that keeps its lines
    # By identity: an importance of 0 equals False and was meant.
    said = {**options, "metadata": pairs(metadata)}.items()
    given = {
        key: value
        for key, value in said
        if value is not None and value is not False and value not in ((), {})
    }
    if STDIN in paths and len(paths) > 1:
        raise InputError(
            "paths",
            STDIN,
            "stands beside other paths",
            "Import what comes through a pipe by itself: clew import -",
        )
    if name is not None and paths != (STDIN,):
        raise InputError(
            "name",
            name,
            "is for what comes through a pipe",
            "Leave it out, or write: clew import - --name NAME",
        )
    report = _imported(session, paths, name, given)
    _notes(session, report)
    from clew.surface import payload  # noqa: PLC0415 - each start pays for what it uses

    session.answer(payload.imported(report), lambda: _show(report))
    return 1 if report.failed else 0


def _imported(
    session: Session, paths: tuple[str, ...], name: str | None, options: dict[str, Any]
) -> ImportReport:
    from clew.surface.cli.progress import Meter  # noqa: PLC0415 - each start pays for what it uses

    with session.clew(create=True) as clew, Meter(unit="items", quiet=session.as_json) as meter:
        if paths == (STDIN,):
            data = read_stream(
                sys.stdin.buffer, limit_bytes=round(clew.settings.imports.max_file_mb * MEGABYTE)
            )
            return clew.import_data(data, name=name, progress=meter, **options)
        return clew.import_path(*paths, progress=meter, **options)


def _notes(session: Session, report: ImportReport) -> None:
    for note in report.notes:
        session.note(note)
    for file in report.files:
        for note in file.notes:
            session.note(f"{clipped(file.path)}: {note}")


def _show(report: ImportReport) -> None:
    for file in report.files:
        click.echo(clean(line(file)))
    totals = report.totals
    fates = ", ".join(f"{totals[fate]:,} {fate}" for fate in SIGNS if totals.get(fate))
    stored = f"{counted(totals['nodes'], 'node')}, {counted(totals['vectors'], 'vector')}"
    summary = f"{counted(totals['files'], 'file')}: {fates or 'none'}; {stored}"
    click.echo(summary, err=True)


def line(file: FileReport) -> str:
    """Return the line of a file: what became of it, as how many nodes, or why not."""
    detail = file.reason or (counted(file.nodes, "node") if file.nodes else "")
    # a name must not be able to look like another file's line
    path = clipped(file.path.replace("\n", "\\n"))
    return f"{SIGNS[file.status]} {file.status:<10} {path}" + (f"  ({detail})" if detail else "")
