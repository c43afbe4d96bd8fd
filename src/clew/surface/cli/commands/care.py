"""`clew stats`, `clew verify`, `clew compact`, `clew backup`: look after the store."""

from __future__ import annotations

from typing import Any

import click

from clew.surface.cli.session import Session, common
from clew.surface.cli.text import clean, counted, size
from clew.words import sentence_list

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
        return ", ".join(f"{key} {count:,}" for key, count in sorted(stats.get(name, {}).items(), key=lambda item: (-item[1], item[0])))

    ending = f"{stats['ending']:,} that ended or will end" if stats["ending"] else ""
    states = ", ".join(f"{stats[name]:,} {name}" for name in ("live", "expired", "archived", "protected") if stats[name])
    alone = stats["nodes"] == stats["memories"]  # no versions, no documents: one line tells all
    show(
        facts(
            [
                ("store", stats["store"]),
                ("size", size(stats.get("bytes", 0))),
                ("memories", f"{stats['memories']:,}{_aside(states if alone else '', ending)}" if stats["nodes"] else "none yet"),
                ("versions", f"{stats['versions']:,}  (what was believed of them earlier)" if stats["versions"] else ""),
                ("documents", _documents(stats["by_kind"])),
                ("in all", "" if alone else f"{stats['nodes']:,}{_aside(states)}"),
                ("categories", shares("by_category")),
                ("spaces", shares("by_space")),
                ("events", shares("by_event")),
                ("edges", stats["edges"] or ""),
                ("model", f"{stats['model']}, {stats['dimension']} dimensions" if stats["model"] else "none yet: recall is by words"),
                ("vectors", f"{stats['vectors']:,}" if stats["model"] else ""),
                ("without one", f"{stats['unembedded']:,}: run clew reembed" if stats["unembedded"] else ""),
                ("accesses", f"could not be counted: {stats['tracking_failure']}" if stats["tracking_failure"] else ""),
            ]
        )
    )


def _aside(*parts: str) -> str:
    said = ", ".join(filter(None, parts))
    return f"  ({said})" if said else ""


def _documents(kinds: dict[str, int]) -> str:
    parts = [counted(kinds[kind], kind) for kind in ("section", "chunk") if kinds.get(kind)]
    return f"{kinds.get('document', 0):,}{f' with {sentence_list(parts)}' if parts else ''}" if {*kinds} - {"memory"} else ""


@click.command("verify")
@click.option("--repair", is_flag=True, help="First rebuild from the truth everything that can be.")
@common
def verify_command(session: Session, *, repair: bool) -> int:
    """Check the store for damage.

    Everything derived is compared with the truth. Exits with 3 if something is wrong.
    """
    from clew.surface import payload  # noqa: PLC0415 - each start pays for what it uses

    with session.clew() as clew:
        problems = clew.verify(repair=repair)

    def people() -> None:
        for problem in problems:
            click.echo(clean(f"✗ {problem.check}: {problem.detail}\n  {problem.way_out}"))
        if not problems:
            click.echo("Repaired and sound." if repair else "Sound.")

    session.answer({"sound": not problems, "repaired": repair, "problems": [payload.problem(each) for each in problems]}, people)
    return UNSOUND if problems else 0


@click.command("compact")
@common
def compact_command(session: Session) -> None:
    """Give back unused space and merge the indexes.

    What was forgotten leaves the file for good; nothing searchable changes. Others may read meanwhile; writers wait.
    """
    with session.clew() as clew:
        before = clew.stats().get("bytes", 0)
        clew.compact()
        after = clew.stats().get("bytes", 0)
    told = {"bytes_before": before, "bytes": after}
    session.answer(told, lambda: click.echo(f"Compacted: {size(before)} before, {size(after)} now."))


@click.command("backup")
@click.argument("path", type=click.Path())
@common
def backup_command(session: Session, path: str) -> None:
    """Copy the store to the new file PATH.

    Others may go on using it meanwhile. The copy is a store itself: use it with --store, or bring it in with clew load.
    """
    with session.clew() as clew:
        target = clew.backup(path)
    count = target.stat().st_size
    session.answer({"path": str(target), "bytes": count}, lambda: click.echo(clean(f"Backed up to {target} ({size(count)}).")))
