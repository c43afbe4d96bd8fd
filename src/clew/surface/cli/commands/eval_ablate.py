"""`clew eval ablate`: what each stage and setting is worth."""

from __future__ import annotations

from typing import Any

import click

from clew.surface.cli.commands.eval_options import finish, listed, measured, plan_of, watched
from clew.surface.cli.session import Session, common

WITHOUT_EFFECT = 1


@click.command("ablate")
@measured
@click.option(
    "--variant",
    "variants",
    metavar="NAME:KEY=VALUE,…",
    multiple=True,
    help="One of your own: settings to alter; repeatable.",
)
@click.option("--no-usual", is_flag=True, help="Try only the variants given with --variant.")
@click.option("--only", metavar="NAME,…", default="", help="Of the usual variants only these.")
@click.option(
    "--keep-going", is_flag=True, help="Exit with 0 also when a variant changed no ranking."
)
@common
def ablate_command(
    session: Session,
    *,
    asked: dict[str, Any],
    variants: tuple[str, ...],
    no_usual: bool,
    only: str,
    keep_going: bool,
) -> int:
    """Alter one stage or setting at a time: what changes?

    A variant that changes no ranking is shown as an error and exits with 1. A set on which every system is right is refused.

    \b
      clew eval ablate --dataset locomo --path data/locomo --part dev
      clew eval ablate --dataset locomo --path data/locomo --variant wide:recall.candidates=500 --no-usual
    """  # noqa: D301 - click's own mark for a paragraph that keeps its lines
    # Each start pays for what it uses
    from clew.evaluate.ablating import ablate, variant_of  # noqa: PLC0415

    own = [variant_of(each) for each in variants]
    plan = plan_of(session, asked)
    with watched(session) as watch:
        report = ablate(plan, variants=own, usual=not no_usual, only=listed(only), watch=watch)
    finish(session, report, asked)
    inert = any(not each.changed for each in report.result.ablations) or any(
        row.error for row in report.result.rows
    )
    return WITHOUT_EFFECT if inert and not keep_going else 0
