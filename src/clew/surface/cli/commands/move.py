"""`clew move`: a whole store into another, between a file and a PostgreSQL database."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import click

from clew.errors import InputError, StoreError
from clew.surface.cli.progress import Meter
from clew.surface.cli.session import IN_MEMORY, Session, common
from clew.surface.cli.text import clean, counted


@click.command("move")
@click.argument("source", metavar="SOURCE")
@click.argument("target", metavar="TARGET")
@common
def move_command(session: Session, source: str, target: str) -> int:
    """Copy everything of the store SOURCE into TARGET.

    Each is a file or postgresql://USER@HOST/DATABASE. Memories, versions, history, vectors, token
    codes, links, names, tombstones, tokens and jobs are brought over, and both stores are compared
    by counts and hashes. SOURCE is left as it is. A run that was interrupted is taken up by the
    same command.
    """
    from clew.engine.moving import move  # noqa: PLC0415 - each start pays for what it uses
    from clew.engine.opening import open_store  # noqa: PLC0415

    for name, path in (("SOURCE", source), ("TARGET", target)):
        if path == IN_MEMORY:
            raise InputError(
                name, path, "is gone when the command ends", "Name a file or postgresql://…"
            )
    if source == target:
        raise InputError(
            "TARGET", target.rsplit("@", maxsplit=1)[-1], "is the source", "Name another store."
        )
    if "://" not in source and not Path(source).expanduser().exists():
        raise StoreError(f"There is no store at {source}.", path=source)
    loaded = session.settings()
    with (
        closing(open_store(source, loaded)) as first,
        closing(open_store(target, loaded)) as second,
        Meter(quiet=session.as_json) as meter,
    ):
        done = move(first, second, progress=meter)
    parts = [
        counted(done.events, "event"),
        counted(done.vectors, "vector"),
        counted(done.edges, "link"),
    ]
    told = f"{counted(done.nodes, 'node')} ({done.written} written now), {', '.join(parts)}; both stores hash to {done.digest}."
    session.answer(asdict(done), lambda: click.echo(clean(f"Moved {told}")))
    return 0
