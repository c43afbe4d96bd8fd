"""`clew eval`: is it any good? Measured here, offline, with one command."""

from __future__ import annotations

import click

from clew.surface.cli.commands.eval_ablate import ablate_command
from clew.surface.cli.commands.eval_compare import compare_command
from clew.surface.cli.commands.eval_own import init_command, watch_command
from clew.surface.cli.commands.eval_report import report_command
from clew.surface.cli.commands.eval_run import run_command
from clew.surface.cli.commands.eval_sets import datasets_command, fetch_command
from clew.surface.cli.commands.eval_sweep import sweep_command


@click.group("eval")
def eval_command() -> None:
    """Measure retrieval on published datasets, offline.

    Vectors and answers are kept in a cache: a run that was interrupted goes on where it stopped.
    docs/evaluation.md says what the numbers mean.
    """


for _command in (
    run_command,
    compare_command,
    ablate_command,
    sweep_command,
    init_command,
    watch_command,
    report_command,
    datasets_command,
    fetch_command,
):
    eval_command.add_command(_command)
