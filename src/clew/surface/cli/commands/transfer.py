"""`clew export`, `clew load`: a store as lines of JSON, and back."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from clew.errors import CorruptStoreError, InputError
from clew.files import MEGABYTE, bounded_lines, create_private_file, expanded, is_special
from clew.surface.cli.options import STDIN, open_argument
from clew.surface.cli.progress import Meter
from clew.surface.cli.session import Session, common
from clew.surface.cli.text import clean, counted, size

if TYPE_CHECKING:
    from clew.engine import Clew

SQLITE_MAGIC = b"SQLite format 3\0"
UNSOUND = 3
INCOMPLETE = 1
LINES_PER_STEP = 500  # between two steps of the bar
LEAST_LINE_MEGABYTES = 64
# for one of an imported file, whose text stands in one line: escaped, and in another encoding
LINE_MEGABYTES_EACH = 8


@click.command("export")
@click.argument("path", type=click.Path(allow_dash=True), default=STDIN)
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "markdown"]),
    default="jsonl",
    show_default=True,
    help="markdown: one note per memory into the folder PATH.",
)
@click.option("--space", metavar="NAME", help="This space only.")
@click.option(
    "--no-vectors", is_flag=True, help="Leave the vectors out; clew reembed makes them again."
)
@click.option("--force", is_flag=True, help="Replace PATH if it exists.")
@common
def export_command(
    session: Session, path: str, *, form: str, space: str | None, no_vectors: bool, force: bool
) -> int:
    """Write the store to PATH, or to stdout.

    As lines of JSON that clew load reads: everything that is truth, vectors included. With stdout,
    --json changes nothing. Damaged rows are left out and named on stderr; the exit code is then 3.

    --format markdown writes each live memory of a space as a note with front matter. clew import
    takes notes back in: unchanged
    ones change nothing, an edited text supersedes its memory.
    """
    if form == "markdown":
        return _notes(session, path, space)
    if path != STDIN and Path(path).is_dir():
        raise InputError(
            "path", path, "is a folder", "Name a file, or write notes into it: --format markdown"
        )
    damaged: list[str] = []

    def tell(error: CorruptStoreError) -> None:
        damaged.append(error.message)
        click.echo(clean(f"damaged: {error.message}"), err=True)

    with session.clew() as clew:
        lines = clew.export(space=space, vectors=not no_vectors, on_damage=tell)
        if path == STDIN:
            _write(lines, sys.stdout.buffer)
            return UNSOUND if damaged else 0
        with _replacing(expanded(path), force=force) as file:
            count = _write(lines, file)
    length = expanded(path).stat().st_size
    document = {"path": path, "lines": count, "bytes": length, "damaged": damaged}
    session.answer(
        document,
        lambda: click.echo(clean(f"Exported {counted(count, 'line')} to {path} ({size(length)}).")),
    )
    return UNSOUND if damaged else 0


def _notes(session: Session, path: str, space: str | None) -> int:
    if path == STDIN:
        raise InputError(
            "path", path, "is no folder", "Name one: clew export --format markdown NOTES"
        )
    with session.clew() as clew:
        done = clew.export_notes(path, space=space)
    shown = (
        f"{counted(done.written, 'note')} written to {done.folder}, {done.unchanged:,} unchanged."
    )
    session.answer(asdict(done), lambda: click.echo(clean(shown)))
    return 0


def _write(lines: Iterable[str], file: IO[bytes]) -> int:
    count = 0
    for line in lines:
        file.write(line.encode("utf-8", "surrogatepass") + b"\n")
        count += 1
    file.flush()
    return count


@contextmanager
def _replacing(path: Path, *, force: bool) -> Iterator[IO[bytes]]:
    """Open a file that appears under its name only when it is whole."""
    if is_special(path):
        raise InputError(
            "path",
            str(path),
            "is a pipe or a device",
            "Name a file, or write to stdout: clew export - > PIPE",
        )
    if path.exists() and not force:
        raise InputError(
            "path", str(path), "exists already", "Name another file, or replace it with --force."
        )
    if not path.parent.exists():
        raise FileNotFoundError(
            errno.ENOENT, f"there is no folder {path.parent}; make it first", str(path)
        )
    path = path.resolve()  # what a link leads to is replaced, not the link
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.unlink(missing_ok=True)
        with os.fdopen(create_private_file(partial), "wb") as file:
            yield file
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        if error.filename != str(partial):
            raise
        # the temporary name means nothing to anybody
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


@click.command("load")
@click.argument("path", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option(
    "--skip-invalid",
    is_flag=True,
    help="Load the valid lines of a file that has others, and name those.",
)
@click.option("--force", is_flag=True, help="Bring in what was forgotten here too.")
@common
def load_command(session: Session, path: str, *, skip_invalid: bool, force: bool) -> int:
    """Bring in the export or backup PATH.

    - reads an export from stdin. What is there already stays as it is, so it can run twice. Every
      value is checked: of a file
    with an invalid line nothing is loaded, unless by --skip-invalid, which names what it left out
    and exits with 1.
    """
    with (
        session.clew(create=True) as clew,
        Meter(quiet=session.as_json) as meter,
        _lines(session, path, _longest(clew)) as lines,
    ):
        done = clew.load(_metered(lines, meter), skip_invalid=skip_invalid, force=force)
    for note in done.notes:
        session.note(note)
    for each in done.invalid:
        session.note(f"line {each.line} was not loaded: {each.problem}")
    document = {
        **asdict(done),
        "notes": list(done.notes),
        "invalid": [asdict(each) for each in done.invalid],
    }
    session.answer(document, lambda: click.echo(_sentence(document)))
    return INCOMPLETE if done.invalid else 0


@contextmanager
def _lines(session: Session, path: str, longest: int) -> Iterator[Iterable[str]]:
    """Give the lines of an export; a backup, being a store, is exported on the way."""
    if path == STDIN:
        yield _decoded(sys.stdin.buffer, longest)
        return
    with open_argument(
        path, "Name a file made by clew export or clew backup; read a pipe with: clew load - < PIPE"
    ) as file:
        if file.read(len(SQLITE_MAGIC)) != SQLITE_MAGIC:
            file.seek(0)
            yield _decoded(file, longest)
            return
    with Session(store=path, config=session.config, as_json=session.as_json).clew() as backup:
        yield backup.export()


def _longest(clew: Clew) -> int:
    """Return how many bytes a line of an export may have."""
    return round(
        max(LEAST_LINE_MEGABYTES, LINE_MEGABYTES_EACH * clew.settings.imports.max_file_mb)
        * MEGABYTE
    )


def _decoded(file: IO[bytes], longest: int) -> Iterator[str]:
    return (
        line.decode("utf-8", "surrogateescape") for line in bounded_lines(file, limit_bytes=longest)
    )


def _metered(lines: Iterable[str], meter: Meter) -> Iterator[str]:
    nodes = 0
    for number, line in enumerate(lines):
        nodes += line.startswith('{"node"')
        if number % LINES_PER_STEP == LINES_PER_STEP - 1:
            meter("loading", nodes, None)
        yield line


def _sentence(done: dict[str, Any]) -> str:
    forgotten = (
        f" {done['forgotten']:,} were forgotten here and left out." if done["forgotten"] else ""
    )
    return (
        f"Loaded {counted(done['nodes'], 'memory')} with {counted(done['events'], 'event')}, {counted(done['vectors'], 'vector')} "
        f"and {counted(done['edges'], 'edge')}; {done['skipped']:,} were there already.{forgotten}"
    )
