"""`clew update`, `clew forget`, `clew protect`: change what is kept."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from clew.errors import NotFoundError, ProtectedError
from clew.surface.cli.ids import whole_id
from clew.surface.cli.options import pairs
from clew.surface.cli.session import Session, common
from clew.surface.cli.text import counted, one_line
from clew.surface.cli.values import categories
from clew.words import sentence_list

if TYPE_CHECKING:
    from clew.engine import Clew
    from clew.types import Node

KINDS = ("memory", "version", "document", "section", "chunk")  # in the order in which they are told
SHOWN_CHARACTERS = 64  # of a text, beside its id on a line


@click.command("update")
@click.argument("id")
@click.option("--title", metavar="TEXT", help="A short name; it counts in recall. Empty takes it away.")
@click.option("--category", metavar="NAME", shell_complete=categories, help="Such as fact, decision, preference, procedure.")
@click.option("--trigger", metavar="NAME", help="What caused it, such as problem-solution or feedback.")
@click.option("--importance", type=float, metavar="0–1", help="How much it matters.")
@click.option("--stability", metavar="NAME", help="How fast it goes out of date: static, dynamic, ephemeral or unknown.")
@click.option("--tag", "tags", metavar="NAME", multiple=True, help="A tag; repeatable. Those it has now are replaced.")
@click.option("--no-tags", is_flag=True, help="Take away all tags.")
@click.option("--metadata", metavar="KEY=VALUE", multiple=True, help="Anything else; repeatable. What it has now is replaced.")
@click.option("--source", metavar="TEXT", help="Where it comes from.")
@common
def update_command(session: Session, id: str, *, tags: tuple[str, ...], no_tags: bool, metadata: tuple[str, ...], **options: Any) -> None:
    """Change what stands beside a memory's text.

    Only what is named changes. A new text is told with clew supersede.

    \b
      clew update ID --title "Staging database" --importance 0.9 --tag ops
    """  # noqa: D301 - click's own mark for a paragraph that keeps its lines
    from clew.surface import payload  # noqa: PLC0415 - each start pays for what it uses

    if tags and no_tags:
        raise click.UsageError("--tag and --no-tags exclude each other.")
    given = {name: value for name, value in options.items() if value is not None}
    given |= {"tags": tags} if tags or no_tags else {}
    given |= {"metadata": pairs(metadata)} if metadata else {}
    if not given:
        raise click.UsageError("Nothing to change: name at least one of --title, --category, --importance, --tag and so on.")
    with session.clew() as clew:
        id = whole_id(clew, id)
        node = clew.update(id, **given)
    session.answer(payload.memory(node), lambda: click.echo(f"{node.id} has its new {sentence_list(sorted(given))}."))


@click.command("forget")
@click.argument("ids", metavar="ID…", nargs=-1, required=True)
@click.option("--force", is_flag=True, help="Protected ones too.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask; needed where nobody can be asked.")
@common
def forget_command(session: Session, ids: tuple[str, ...], *, force: bool, yes: bool) -> int:
    """Remove memories for good.

    With their words, vectors and history; only the fact of forgetting stays. All of them are looked up first: an
    unknown or a protected one stops the command before anything is removed.
    """
    if not yes and (session.as_json or not sys.stdin.isatty()):
        raise click.UsageError("Forgetting cannot be undone, and nobody can be asked here: add --yes.")
    with session.clew() as clew:
        nodes = list({node.id: node for node in (_forgettable(clew, id, force=force) for id in ids)}.values())
        if not yes and not _agreed(nodes):
            click.echo("Nothing was forgotten.")
            return 1
        with clew.store.transaction():  # all of them or none
            gone = _with_parts(clew, nodes)
            for node in nodes:
                clew.forget(node.id, force=force)
    forgotten = [node.id for node in nodes]
    session.answer({"forgotten": forgotten, "removed": gone}, lambda: click.echo(f"Forgot {_told(gone)}."))
    return 0


def _with_parts(clew: Clew, nodes: list[Node]) -> dict[str, int]:
    """Return how many of each kind go: memories with their versions, documents with their sections and chunks."""
    family = clew.store.get(clew.store.family([node.id for node in nodes])).values()
    return dict(Counter("version" if node.kind == "memory" and node.root else str(node.kind) for node in family))


def _told(gone: dict[str, int]) -> str:
    return sentence_list([counted(gone[kind], kind) for kind in KINDS if kind in gone])


def _forgettable(clew: Clew, id: str, *, force: bool) -> Node:
    id = whole_id(clew, id)
    node = clew.get(id)
    if node is not None and node.kind == "memory" and node.root:  # a version goes with the memory it is of
        node = clew.get(node.root)
    if node is None:
        raise NotFoundError(f"No memory {id}. Nothing was forgotten. List them with: clew list", id=id)
    if node.protected and not force:
        raise ProtectedError(
            f"Memory {node.id} is protected. Nothing was forgotten. Lift it with: clew protect {node.id} --off, or forget with --force.",
            id=node.id,
        )
    return node


def _agreed(nodes: list[Node]) -> bool:
    for node in nodes:
        text = one_line(node.text)
        click.echo(f"  {node.id}  {text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + '…'}")
    return click.confirm(f"Forget {counted(len(nodes), 'memory')} for good?")


@click.command("protect")
@click.argument("id")
@click.option("--off", is_flag=True, help="Lift the protection.")
@common
def protect_command(session: Session, id: str, *, off: bool) -> None:
    """Keep the memory ID from being forgotten."""
    with session.clew() as clew:
        id = whole_id(clew, id)
        node = clew.protect(id, not off)
    said = "is protected" if node.protected else "is no longer protected"
    session.answer({"id": node.id, "protected": node.protected}, lambda: click.echo(f"{node.id} {said}."))
