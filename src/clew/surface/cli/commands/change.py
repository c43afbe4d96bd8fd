"""`clew update`, `clew forget`, `clew protect`: change what is kept."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from clew.files import expanded
from clew.surface.cli.ids import whole_id
from clew.surface.cli.options import categories, pairs
from clew.surface.cli.session import Session, common
from clew.surface.cli.text import clean, counted, one_line
from clew.text.words import sentence_list

if TYPE_CHECKING:
    from clew.engine import Clew
    from clew.memories.decay import Decayed, Fading
    from clew.types import Receipt

KINDS = ("memory", "version", "document", "section", "chunk")  # in the order in which they are told
SHOWN_CHARACTERS = 64  # of a text, beside its id on a line
MOST_SHOWN = 50  # of what would go


@click.command("update")
@click.argument("id")
@click.option(
    "--title", metavar="TEXT", help="A short name; it counts in recall. Empty takes it away."
)
@click.option(
    "--category",
    metavar="NAME",
    shell_complete=categories,
    help="Such as fact, decision, preference, procedure.",
)
@click.option(
    "--trigger", metavar="NAME", help="What caused it, such as problem-solution or feedback."
)
@click.option("--importance", type=float, metavar="0–1", help="How much it matters.")
@click.option(
    "--stability",
    metavar="NAME",
    help="How fast it goes out of date: static, dynamic, ephemeral or unknown.",
)
@click.option(
    "--tag",
    "tags",
    metavar="NAME",
    multiple=True,
    help="A tag; repeatable. Those it has now are replaced.",
)
@click.option("--no-tags", is_flag=True, help="Take away all tags.")
@click.option(
    "--metadata",
    metavar="KEY=VALUE",
    multiple=True,
    help="Anything else; repeatable. What it has now is replaced.",
)
@click.option("--source", metavar="TEXT", help="Where it comes from.")
@common
def update_command(
    session: Session,
    id: str,
    *,
    tags: tuple[str, ...],
    no_tags: bool,
    metadata: tuple[str, ...],
    **options: Any,
) -> None:
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
        raise click.UsageError(
            "Nothing to change: name at least one of --title, --category, --importance, --tag and so on."
        )
    with session.clew() as clew:
        id = whole_id(clew, id)
        node = clew.update(id, **given)
    session.answer(
        payload.memory(node),
        lambda: click.echo(f"{node.id} has its new {sentence_list(sorted(given))}."),
    )


@click.command("forget")
@click.argument("ids", metavar="[ID]…", nargs=-1)
@click.option(
    "--source",
    metavar="TEXT",
    help="All that come from here: a file, or the source that was given.",
)
@click.option(
    "--tag",
    "tags",
    metavar="NAME",
    multiple=True,
    help="All with this tag; repeat to ask for all of several.",
)
@click.option(
    "--space",
    metavar="NAME",
    help="All of this space; with other filters, only in it. [the setting store.space]",
)
@click.option(
    "--category",
    "categories",
    metavar="NAME",
    multiple=True,
    shell_complete=categories,
    help="All of this category.",
)
@click.option("--before", metavar="DATE", help="All that became true before then.")
@click.option(
    "--query",
    metavar="WORDS",
    help="All whose title and text hold every one of these words, as the word index reads them.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would go.")
@click.option(
    "--confirm", type=int, metavar="N", help="Forget if exactly N memories and documents go."
)
@click.option(
    "--only", is_flag=True, help="Leave what superseded them, and other states of the same file."
)
@click.option("--force", is_flag=True, help="Protected ones too.")
@click.option(
    "--no-tombstone", is_flag=True, help="Keep no keyed hash of the texts: they may come back."
)
@click.option("--no-check", is_flag=True, help="Do not search the store's files afterwards.")
@click.option(
    "--verify",
    metavar="TEXT",
    help="Forget nothing: search the bytes of all files of the store for TEXT.",
)
@click.option(
    "--yes", "-y", is_flag=True, help="Do not ask about the IDs; needed where nobody can be asked."
)
@common
def forget_command(
    session: Session,
    ids: tuple[str, ...],
    *,
    source: str | None,
    tags: tuple[str, ...],
    space: str | None,
    categories: tuple[str, ...],
    before: str | None,
    query: str | None,
    dry_run: bool,
    confirm: int | None,
    verify: str | None,
    yes: bool,
    **options: bool,
) -> int:
    """Remove memories and documents for good.

    By ID, with all versions and with what superseded them, or by filters, which also see what is archived or ended. Filters
    need --confirm N where nobody can be asked. Then the bytes of the store's files are searched, and what is left is told.
    A forgotten text is rejected when it is offered again; clew add --force keeps it.

    \b
      clew forget 01m7gf
      clew forget --source notes/old.md --dry-run
      clew forget --tag draft --before 2026-01-01 --confirm 12
      clew forget --verify "the secret"
    """  # noqa: D301 - click's own mark for a paragraph that keeps its lines
    named = {"tags": tags, "space": space, "category": categories, "before": before}
    where = {name: value for name, value in named.items() if value not in (None, ())}
    filtered = bool(where) or source is not None or query is not None
    if sum((bool(ids), filtered, verify is not None)) != 1:
        raise click.UsageError(
            "Name IDs, or filters such as --tag, or --verify TEXT: one of the three."
        )
    if verify is not None:
        return _verify(session, verify)
    asked = not dry_run and confirm is None and not (yes and ids)
    if asked and (session.as_json or not sys.stdin.isatty()):
        wanted = "add --yes" if ids else "add --confirm N, where N is what --dry-run counts"
        raise click.UsageError(
            f"Forgetting cannot be undone, and nobody can be asked here: {wanted}."
        )
    how: dict[str, Any] = {"only": options["only"], "force": options["force"]}
    with session.clew() as clew:
        if ids:
            how["id"] = [whole_id(clew, id) for id in ids]
        else:
            where |= {} if source is None else {"source": _known_source(clew, source, space)}
            how |= {"where": where or None, "query": query}
        planned = clew.forget(**how, dry_run=True)
        if dry_run or (asked and not _agreed(clew, planned)):
            return _planned(session, clew, planned, dry_run=dry_run)
        count = confirm if confirm is not None else len(planned.ids)
        done = clew.forget(
            **how,
            expect=count,
            tombstone=not options["no_tombstone"],
            check=not options["no_check"],
        )
    from clew.surface import payload  # noqa: PLC0415 - each start pays for what it uses

    session.answer(payload.receipt(done), lambda: _show(done))
    return 0


def _verify(session: Session, text: str) -> int:
    """Search the files for a text; exit with 1 where it is found."""
    from clew.surface import payload  # noqa: PLC0415 - each start pays for what it uses

    with session.clew() as clew:
        files = clew.search_files(text)

    def people() -> None:
        for each in files:
            click.echo(
                clean(
                    f"{each.file}: {'not found' if not each.found else counted(each.found, 'time')}"
                )
            )

    session.answer(payload.searched(files), people)
    return 1 if any(each.found for each in files) else 0


def _known_source(clew: Clew, source: str, space: str | None) -> str:
    """Return the source as it is kept: files are known by absolute paths."""
    absolute = str(expanded(source).resolve())
    return (
        absolute
        if clew.store.carriers(space or clew.settings.store.space, {"file": absolute})
        else source
    )


def _planned(session: Session, clew: Clew, planned: Receipt, *, dry_run: bool) -> int:
    """Tell what would go, or that nothing went."""
    from clew.surface import payload  # noqa: PLC0415 - each start pays for what it uses

    def people() -> None:
        _list(clew, planned)
        click.echo(
            f"Would forget {_told(planned.removed)}. To do it: --confirm {len(planned.ids)}"
            if planned.ids
            else "Nothing matches."
        )

    if not dry_run:
        click.echo("Nothing was forgotten.")
        return 1
    session.answer(payload.receipt(planned), people)
    return 0


def _show(done: Receipt) -> None:
    click.echo(f"Forgot {_told(done.removed)}." if done.ids else "Nothing matches.")
    if done.files:
        names = sentence_list([each.file for each in done.files])
        click.echo(
            clean(
                f"Searched {names}: {f'{done.found} pieces are left' if done.found else 'nothing of it is left'}."
            )
        )
    if done.shared:
        click.echo(
            f"{counted(done.shared, 'piece')} of it also {'stands' if done.shared == 1 else 'stand'} in other memories."
        )
    if done.kept:
        click.echo(f"What it had superseded stays: {', '.join(done.kept)}")
    for each in done.remains:
        click.echo(clean(f"Left for now: {each}"))
    from clew.engine.forgetting import ELSEWHERE  # noqa: PLC0415 - each start pays for what it uses

    for each in done.unchecked:
        if each not in ELSEWHERE:
            click.echo(clean(f"Not searched and not changed: {each}"))


def _told(gone: Mapping[str, int]) -> str:
    return sentence_list([counted(gone[kind], kind) for kind in KINDS if kind in gone])


def _list(clew: Clew, planned: Receipt) -> None:
    nodes = clew.store.get(planned.ids[:MOST_SHOWN])
    for id in planned.ids[:MOST_SHOWN]:
        text = one_line(nodes[id].text) if id in nodes else ""
        click.echo(
            f"  {id}  {text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + '…'}"
        )
    if len(planned.ids) > MOST_SHOWN:
        click.echo(f"  and {len(planned.ids) - MOST_SHOWN:,} more")


def _agreed(clew: Clew, planned: Receipt) -> bool:
    _list(clew, planned)
    return bool(planned.ids) and click.confirm(f"Forget {_told(planned.removed)} for good?")


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
    session.answer(
        {"id": node.id, "protected": node.protected}, lambda: click.echo(f"{node.id} {said}.")
    )


# `clew decay`, `clew unarchive`: archive what has faded, and bring it back.

SHOWN = 20  # of the archived; --json has all
DECAY_SHOWN_CHARACTERS = 48


@click.command("decay")
@click.option("--apply", is_flag=True, help="Archive them; without it this only tells.")
@click.option("--space", metavar="NAME", help="Look at this space only. [all]")
@click.option("--now", metavar="DATE", help="As if it were then: what will have faded by that day?")
@click.option(
    "--force",
    is_flag=True,
    help="Archive by a --now that is still to come, what is in use until then too.",
)
@common
def decay_command(
    session: Session, *, apply: bool, space: str | None, now: str | None, force: bool
) -> None:
    """Archive memories that have faded, or tell which.

    A memory fades while nobody recalls or repeats it, the less important ones first; with the
    settings decay.* it goes below decay.archive_below. Nothing is deleted, and protected memories
    stay. Documents, sections and chunks do not fade.
    """
    from clew.surface import payload  # noqa: PLC0415 - each start pays for what it uses

    with session.clew() as clew:
        report = clew.decay(dry_run=not apply, space=space, now=now, force=force)
    session.answer(payload.decayed(report) if session.as_json else {}, lambda: _decay_show(report))


def _decay_show(report: Decayed) -> None:
    done = "Would archive" if report.dry_run else "Archived"
    click.echo(f"{done} {counted(len(report.archived), 'memory')} of {report.examined:,}.")
    for each in report.archived[:SHOWN]:
        click.echo(f"  {_line(each)}")
    if len(report.archived) > SHOWN:
        click.echo(f"  … and {len(report.archived) - SHOWN:,} more (--json names all)")
    if report.protected:
        click.echo(f"{counted(report.protected, 'memory')} would have gone without protection.")
    if report.upcoming:
        click.echo("Next to go:")
    for each in report.upcoming:
        click.echo(f"  {each.forgotten_at:%Y-%m-%d}  {_line(each)}")
    if report.dry_run and report.archived:
        click.echo("Nothing was changed. Archive them with: clew decay --apply", err=True)


def _line(each: Fading) -> str:
    text = one_line(each.text)
    return f"{each.id}  {each.score:.3f}  {text if len(text) <= DECAY_SHOWN_CHARACTERS else text[: DECAY_SHOWN_CHARACTERS - 1] + '…'}"


@click.command("unarchive")
@click.argument("id")
@common
def unarchive_command(session: Session, id: str) -> None:
    """Bring the memory ID back from the archive.

    That counts as a use: the days until it fades again begin anew.
    """
    with session.clew() as clew:
        id = whole_id(clew, id)
        before = clew.get(id)
        node = clew.unarchive(id)
    said = "is back" if before is not None and before.archived else "was not archived"
    session.answer(
        {"id": node.id, "archived": node.archived},
        lambda: click.echo(f"{one_line(node.id)} {said}."),
    )
