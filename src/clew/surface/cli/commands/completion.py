"""`clew completion`: the script that lets a shell complete clew's commands and options."""

from __future__ import annotations

import os
from pathlib import Path

import click

from clew.errors import InputError
from clew.surface.cli.session import Session, common

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_CLEW_COMPLETE"


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS), required=False)
@common
def completion_command(session: Session, shell: str | None) -> None:
    """Print the completion script for SHELL.

    Without SHELL for the one you use.

    \b
      bash:  clew completion bash > ~/.local/share/bash-completion/completions/clew
      zsh:   clew completion zsh > ~/.zfunc/_clew    (a folder of your fpath)
      fish:  clew completion fish > ~/.config/fish/completions/clew.fish
    """  # noqa: D301 - click's own mark for a paragraph that keeps its lines
    chosen = shell or Path(os.environ.get("SHELL", "")).name
    if chosen not in SHELLS:
        raise InputError(
            "shell", chosen, "is not one that can be completed", f"Name one of {', '.join(SHELLS)}."
        )
    script = _script(chosen)
    session.answer({"shell": chosen, "script": script}, lambda: click.echo(script))


def _script(shell: str) -> str:
    from click.shell_completion import get_completion_class  # noqa: PLC0415 - only here

    # The app imports its commands, not they it
    from clew.surface.cli.app import app  # noqa: PLC0415

    kind = get_completion_class(shell)
    if kind is None:  # pragma: no cover - the three are click's own
        raise InputError(
            "shell", shell, "is not one that can be completed", f"Name one of {', '.join(SHELLS)}."
        )
    found = kind(app, {}, "clew", VARIABLE)
    # Not `source()`: for bash that also starts the bash of this machine, which need not be the one
    # that reads the script.
    return found.source_template % found.source_vars()
