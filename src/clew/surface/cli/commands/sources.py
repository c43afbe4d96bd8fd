"""`clew sources`: the imported files of a space."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from clew.errors import clipped
from clew.files import expanded
from clew.surface.cli.commands.change import forget_command
from clew.surface.cli.session import Session, common
from clew.surface.cli.text import clean, counted

if TYPE_CHECKING:
    from clew.memories.sync import Source
    from clew.types import Node

SECTIONS_SHOWN = 40


@click.group("sources")
def sources_command() -> None:
    """List, show and forget imported files."""


@sources_command.command("list")
@click.option("--space", metavar="NAME", help="Which space. [the setting store.space]")
@click.option("--missing", is_flag=True, help="Only those whose file is gone.")
@common
def list_sources_command(session: Session, *, space: str | None, missing: bool) -> int:
    """List the imported files; exits with 1 if there is none."""
    from clew.surface import payload  # noqa: PLC0415 - each start pays for what it uses

    with session.clew() as clew:
        found = [each for each in clew.sources(space) if not (missing and each.exists)]
    session.answer({"sources": [payload.source(each) for each in found]}, lambda: _show(found))
    return 0 if found else 1


def _show(found: list[Source]) -> None:
    for each in found:
        gone = "" if each.exists else "  (the file is gone)"
        click.echo(
            clean(
                f"{each.imported_at:%Y-%m-%d}  {clipped(each.path)}  ({counted(len(each.roots), 'document')}){gone}"
            )
        )
    click.echo(f"{counted(len(found), 'source')}", err=True)


@sources_command.command("show")
@click.argument("path")
@click.option("--space", metavar="NAME", help="Which space. [the setting store.space]")
@common
def show_source_command(session: Session, path: str, *, space: str | None) -> int:
    """Show the documents and sections of the file PATH."""
    from clew.surface import payload  # noqa: PLC0415 - each start pays for what it uses

    absolute = str(expanded(path).resolve())
    with session.clew() as clew:
        found = next((each for each in clew.sources(space) if each.path in (absolute, path)), None)
        nodes = (
            [] if found is None else list(clew.store.get(clew.store.family(found.roots)).values())
        )
    if found is None:
        session.answer(
            {"source": None, "nodes": []},
            lambda: click.echo(clean(f"{clipped(path)} was not imported. See: clew sources list")),
        )
        return 1
    ordered = sorted(
        nodes, key=lambda node: (node.root or node.id, node.start or 0, str(node.kind) == "chunk")
    )
    document = {
        "source": payload.source(found),
        "nodes": [payload.memory(node) for node in ordered],
    }
    session.answer(document, lambda: _show_nodes(found, ordered))
    return 0


def _show_nodes(found: Source, nodes: list[Node]) -> None:
    click.echo(clean(f"{found.path}  (imported {found.imported_at:%Y-%m-%d %H:%M})"))
    outer = [node for node in nodes if node.parent is None or str(node.kind) == "section"]
    for node in outer[:SECTIONS_SHOWN]:
        click.echo(clean(f"  {node.id}  {node.kind}  {clipped(node.title)}"))
    if len(outer) > SECTIONS_SHOWN:
        click.echo(f"  … and {len(outer) - SECTIONS_SHOWN:,} more (--json names all)")
    chunks = sum(1 for node in nodes if str(node.kind) == "chunk")
    click.echo(f"{counted(len(nodes), 'node')}, of which {counted(chunks, 'chunk')}", err=True)


@sources_command.command("forget")
@click.argument("path")
@click.option("--space", metavar="NAME", help="Which space. [the setting store.space]")
@click.option("--dry-run", is_flag=True, help="Only show what would go.")
@click.option(
    "--confirm", type=int, metavar="N", help="Forget if exactly N memories and documents go."
)
@common
def forget_source_command(
    session: Session, path: str, *, space: str | None, dry_run: bool, confirm: int | None
) -> int:
    """Remove all that came from the file PATH for good.

    The same as clew forget --source PATH, which has more options.
    """
    given = [
        "--source",
        path,
        *(["--space", space] if space else []),
        *(["--dry-run"] if dry_run else []),
    ]
    given += [] if confirm is None else ["--confirm", str(confirm)]
    with forget_command.make_context("forget", given, obj=session) as ctx:
        return int(forget_command.invoke(ctx) or 0)
