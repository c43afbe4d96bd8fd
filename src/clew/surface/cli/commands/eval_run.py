"""`clew eval run`: systems on a dataset, in one table."""

from __future__ import annotations

from typing import Any

import click

from clew.surface.cli.commands.eval_options import finish, listed, measured, plan_of, watched
from clew.surface.cli.session import Session, common

INCOMPLETE = 1


@click.command("run")
@measured
@click.option(
    "--systems",
    metavar="NAME,…",
    default="bm25,dense,rrf,clew",
    show_default=True,
    help="Which; bm25 is always there.",
)
@click.option(
    "--peers",
    metavar="NAME,…",
    default="",
    help="Other libraries too: bm25s, chromadb, lancedb, txtai.",
)
@common
def run_command(session: Session, *, asked: dict[str, Any], systems: str, peers: str) -> int:
    """Measure Clew beside its baselines on a dataset.

    Each row has intervals and a p value against bm25. Exits with 1 if a system could not be run, or if the set cannot tell
    the systems apart. For the set `mine` (clew eval init) it also tries other settings, and tells what was missed and why.

    \b
      clew eval run --dataset locomo --path data/locomo --part dev
      clew eval run --dataset scifact --path data/scifact --peers bm25s,lancedb --output report
    """  # noqa: D301 - click's own mark for a paragraph that keeps its lines
    # Each start pays for what it uses
    from clew.evaluate.own_advice import run_mine  # noqa: PLC0415
    from clew.evaluate.running import run  # noqa: PLC0415 - each start pays for what it uses

    plan = plan_of(session, asked)
    with watched(session) as watch:
        report = (
            run_mine(plan, watch)
            if asked["dataset"] == "mine"
            else run(plan, systems=listed(systems), against=listed(peers), watch=watch)
        )
    finish(session, report, asked)
    return INCOMPLETE if any(row.error for row in report.result.rows) else 0
