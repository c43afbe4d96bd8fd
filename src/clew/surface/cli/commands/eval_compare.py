"""`clew eval compare`: retrieval policies on one budget."""

from __future__ import annotations

from typing import Any

import click

from clew.surface.cli.commands.eval_options import finish, listed, measured, plan_of, watched
from clew.surface.cli.session import Session, common


@click.command("compare")
@measured
@click.option(
    "--policies",
    metavar="NAME,…",
    default="single-hop,multi-hop",
    show_default=True,
    help="Which policies meet.",
)
@click.option(
    "--budget",
    type=int,
    metavar="N",
    default=15,
    show_default=True,
    help="The most chunks a question may look at.",
)
@click.option(
    "--hops",
    type=int,
    metavar="N",
    default=2,
    show_default=True,
    help="The most hops of multi-hop.",
)
@click.option(
    "--chunks-per-hop",
    type=int,
    metavar="N",
    default=5,
    show_default=True,
    help="Chunks of every hop but the last.",
)
@click.option(
    "--early-stop/--no-early-stop",
    default=True,
    show_default=True,
    help="Stop when nothing is to be gained.",
)
@click.option(
    "--expander",
    type=click.Choice(["code", "prose"]),
    help="What a hop follows. [code for sets of code, else prose]",
)
@click.option(
    "--recipe",
    metavar="NAME",
    default="",
    help="How each hop searches. [the setting recall.recipe]",
)
@common
def compare_command(
    session: Session, *, asked: dict[str, Any], policies: str, expander: str | None, **contest: Any
) -> int:
    """Compare retrieval policies on one budget of chunks.

    Each policy (multi-hop, follow-names) meets one search that looks at as many chunks, and one that returns as many hits and
    looks at a third fewer. All are ordered by the same scorer. samples.jsonl has a line for each question, policy and budget.

    \b
      clew eval compare --dataset 2wiki --path data/2wiki --policies single-hop,multi-hop --budget 15
    """  # noqa: D301 - click's own mark for a paragraph that keeps its lines
    # Each start pays for what it uses
    from clew.evaluate.comparing import Contest, compare_policies  # noqa: PLC0415

    met = Contest(policies=listed(policies), expander=expander or "", **contest)
    plan = plan_of(session, asked)
    with watched(session) as watch:
        report = compare_policies(plan, met, watch)
    finish(session, report, asked)
    return 0
