"""`clew stats`, `clew verify`, `clew compact`, `clew backup`, `clew restore`.

Look after the store.
"""

from __future__ import annotations

from typing import Any

import click

from clew.surface.cli.session import Session, common
from clew.surface.cli.text import clean, counted, size
from clew.text.words import sentence_list

UNSOUND = 3


@click.command("stats")
@common
def stats_command(session: Session) -> None:
    """Count what is in the store."""
    with session.clew() as clew:
        path = session.store or str(clew.settings.store.file)
        document = {"store": path, **clew.stats()}
    session.answer(document, lambda: _show(document))


def _show(stats: dict[str, Any]) -> None:
    from clew.surface.cli.views.screen import facts, show  # noqa: PLC0415 - loads rich

    def shares(name: str) -> str:
        return ", ".join(
            f"{key} {count:,}"
            for key, count in sorted(
                stats.get(name, {}).items(), key=lambda item: (-item[1], item[0])
            )
        )

    ending = f"{stats['ending']:,} that ended or will end" if stats["ending"] else ""
    states = ", ".join(
        f"{stats[name]:,} {name}"
        for name in ("live", "expired", "archived", "protected")
        if stats[name]
    )
    alone = stats["nodes"] == stats["memories"]  # no versions, no documents: one line tells all
    show(
        facts(
            [
                ("store", stats["store"]),
                ("size", size(stats.get("bytes", 0))),
                (
                    "memories",
                    f"{stats['memories']:,}{_aside(states if alone else '', ending)}"
                    if stats["nodes"]
                    else "none yet",
                ),
                (
                    "versions",
                    f"{stats['versions']:,}  (what was believed of them earlier)"
                    if stats["versions"]
                    else "",
                ),
                ("documents", _documents(stats["by_kind"])),
                ("in all", "" if alone else f"{stats['nodes']:,}{_aside(states)}"),
                ("categories", shares("by_category")),
                ("spaces", shares("by_space")),
                ("events", shares("by_event")),
                ("edges", stats["edges"] or ""),
                (
                    "model",
                    f"{stats['model']}, {stats['dimension']} dimensions"
                    if stats["model"]
                    else "none yet: recall is by words",
                ),
                ("vectors", f"{stats['vectors']:,}" if stats["model"] else ""),
                (
                    "without one",
                    f"{stats['unembedded']:,}: run clew reembed" if stats["unembedded"] else "",
                ),
                ("token codes", _codes(stats["token_codes"])),
                (
                    "without them",
                    f"{missing:,}: run clew reembed"
                    if (missing := stats["token_codes"]["missing"])
                    else "",
                ),
                (
                    "accesses",
                    f"could not be counted: {stats['tracking_failure']}"
                    if stats["tracking_failure"]
                    else "",
                ),
            ]
        )
    )


def _aside(*parts: str) -> str:
    said = ", ".join(filter(None, parts))
    return f"  ({said})" if said else ""


def _codes(codes: dict[str, int]) -> str:
    """Return how many memories have token codes, and what these take.

    >>> _codes({"nodes": 1200, "missing": 0, "bytes": 3_456_000})
    '1,200, 2.9 kB each'
    """
    return (
        f"{codes['nodes']:,}, {size(codes['bytes'] // codes['nodes'])} each"
        if codes["nodes"]
        else ""
    )


def _documents(kinds: dict[str, int]) -> str:
    parts = [counted(kinds[kind], kind) for kind in ("section", "chunk") if kinds.get(kind)]
    return (
        f"{kinds.get('document', 0):,}{f' with {sentence_list(parts)}' if parts else ''}"
        if {*kinds} - {"memory"}
        else ""
    )


@click.command("verify")
@click.option(
    "--repair",
    is_flag=True,
    help="First rebuild what is derived, and set aside rows that cannot be read.",
)
@common
def verify_command(session: Session, *, repair: bool) -> int:
    """Check the store for damage.

    Every row is read, and everything derived is compared with the truth. Exits with 3 if something
    is wrong. --repair copies rows that cannot be repaired to a file beside the store and removes
    them.
    """
    from clew.surface import payload  # noqa: PLC0415 - each start pays for what it uses

    with session.clew() as clew:
        done = clew.repair() if repair else None
        problems = clew.verify()

    def people() -> None:
        for aside in done.quarantined if done else ():
            click.echo(clean(f"! set aside: {aside.detail}"))
        if done and done.file:
            click.echo(clean(f"  The rows were copied to {done.file}."))
        for problem in problems:
            click.echo(clean(f"✗ {problem.check}: {problem.detail}\n  {problem.way_out}"))
        if not problems:
            click.echo("Repaired and sound." if repair else "Sound.")

    document = {
        "sound": not problems,
        "repaired": repair,
        "problems": [payload.problem(each) for each in problems],
        "quarantined": [payload.problem(each) for each in done.quarantined] if done else [],
        "quarantine": str(done.file) if done and done.file else None,
    }
    session.answer(document, people)
    return UNSOUND if problems else 0


@click.command("compact")
@common
def compact_command(session: Session) -> None:
    """Give back unused space and merge the indexes.

    The file is rewritten without what was deleted, and its journal is cut; nothing searchable
    changes. Others may read meanwhile; writers wait.
    """
    with session.clew() as clew:
        before = clew.stats().get("bytes", 0)
        clew.compact()
        after = clew.stats().get("bytes", 0)
    told = {"bytes_before": before, "bytes": after}
    session.answer(
        told, lambda: click.echo(f"Compacted: {size(before)} before, {size(after)} now.")
    )


@click.command("backup")
@click.argument("path", type=click.Path())
@common
def backup_command(session: Session, path: str) -> None:
    """Copy the store to the new file PATH.

    Others may go on using it meanwhile. The copy is a store itself: use it with --store, or put it
    in place with clew restore.
    """
    with session.clew() as clew:
        target = clew.backup(path)
    count = target.stat().st_size
    session.answer(
        {"path": str(target), "bytes": count},
        lambda: click.echo(clean(f"Backed up to {target} ({size(count)}).")),
    )


@click.command("restore")
@click.argument("backup", type=click.Path(dir_okay=False))
@click.option("--discard", is_flag=True, help="Do not keep the replaced store.")
@click.option(
    "--force", is_flag=True, help="Replace a file that is too damaged to be recognised as a store."
)
@common
def restore_command(session: Session, backup: str, *, discard: bool, force: bool) -> None:
    """Put the backup BACKUP in the place of the store.

    It is verified first, and nothing is replaced if it is damaged. No other process may use the
    store. What was there is kept beside it as PATH.replaced. To bring a memory back from the
    archive: clew unarchive.
    """
    from clew.engine import restore_backup  # noqa: PLC0415 - each start pays for what it uses
    from clew.surface import payload  # noqa: PLC0415

    done = restore_backup(
        backup, session.store, config=session.config, keep=not discard, force=force
    )
    document = {
        "path": str(done.path),
        "nodes": done.nodes,
        "replaced": str(done.replaced) if done.replaced else None,
        "problems": [payload.problem(each) for each in done.problems],
    }

    def people() -> None:
        click.echo(clean(f"Restored {counted(done.nodes, 'node')} to {done.path}."))
        if done.replaced:
            click.echo(clean(f"What was there is kept as {done.replaced}."))

    for problem in done.problems:
        session.note(f"{problem.check}: {problem.detail}. {problem.way_out}")
    session.answer(document, people)


# `clew reembed`: moves a store to another model, or fills in missing vectors and token codes.


@click.command("reembed")
@click.option(
    "--model", "spec", metavar="NAME", help="The model to move to. [the setting model.embedder]"
)
@common
def reembed_command(session: Session, *, spec: str | None) -> None:
    """Move the store to another model, or fill in vectors.

    Memories without token codes get these too, and vectors of the same model stay as they are.
    Until all memories have a vector of the new model the old ones serve; killed, it resumes where
    it stopped.
    """
    from clew.surface.cli.progress import Meter  # noqa: PLC0415 - each start pays for what it uses

    chosen: dict[str, Any] = {} if spec is None else {"model.embedder": spec}
    with session.clew(**chosen) as clew, Meter(quiet=session.as_json) as meter:
        done = clew.reembed(progress=meter)
    configured = session.settings().settings.model.embedder
    notes = (
        []
        if spec in (None, configured)
        else [f"Set model.embedder to {spec}, in the settings or as CLEW_MODEL__EMBEDDER={spec}."]
    )
    for note in notes:
        session.note(f"{note} Until then {configured} is configured and refused by this store.")
    session.answer(
        {"model": done.model, "embedded": done.embedded, "notes": notes},
        lambda: click.echo(
            clean(f"The store is on {done.model}; {counted(done.embedded, 'memory')} embedded.")
        ),
    )
