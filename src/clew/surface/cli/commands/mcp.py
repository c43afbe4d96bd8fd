"""`clew mcp`: Clew as the memory of an agent."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from clew.surface.cli.session import Session, common
from clew.surface.mcp.clients import CLIENTS
from clew.surface.mcp.tools import tool_list

if TYPE_CHECKING:
    from clew.engine import Clew
    from clew.engine.auth import Grant

TOKEN = "CLEW_TOKEN"  # noqa: S105 - the name of a variable


@click.command("mcp")
@click.option(
    "--space",
    metavar="NAME",
    help="Only this space, for reading and writing. [all, by default the setting store.space]",
)
@click.option("--read-only", is_flag=True, help="Recall and look, but change nothing.")
@click.option(
    "--print-config",
    "client",
    type=click.Choice(tuple(CLIENTS)),
    help="Print what a client's configuration needs, and end.",
)
@common
def mcp_command(
    session: Session, *, space: str | None, read_only: bool, client: str | None
) -> None:
    """Serve an agent over MCP on stdin and stdout.

    Ends when the agent does. With a token in CLEW_TOKEN its spaces and rights hold, else those of the owner. Needs the
    extra mcp; over HTTP, `clew serve` has it under /mcp.

    \b
      clew mcp --print-config claude-code
    """  # noqa: D301 - click's own mark for a paragraph that keeps its lines
    if client is not None:
        _print_config(session, client, space=space, read_only=read_only)
        return
    # what is wrong with them is told now, not to the agent's first call
    memory = session.settings().settings.memory
    _serve(
        session,
        space=space,
        read_only=read_only,
        tools=tool_list(categories=memory.categories, triggers=memory.triggers),
    )


def _serve(
    session: Session, *, space: str | None, read_only: bool, tools: list[dict[str, Any]]
) -> None:
    from importlib.util import find_spec  # noqa: PLC0415 - each start pays for what it uses

    if find_spec("mcp") is None:
        from clew.errors import InputError  # noqa: PLC0415

        raise InputError(
            "extra", "mcp", "is not installed", "Install it with: pip install 'clew[mcp]'"
        )
    from clew.surface.mcp.stdio import Once, serve  # noqa: PLC0415

    serve(
        Once(
            lambda: _opened(session),
            lambda clew: _narrowed(_grant(clew), space=space, read_only=read_only),
        ),
        tools,
    )


def _opened(session: Session) -> Clew:
    """Open the store, a new one if there is none yet."""
    # The engine, which listing the tools does not need
    from clew.engine import open as open_clew  # noqa: PLC0415

    return open_clew(session.store, config=session.config, announce=session.announce)


def _grant(clew: Clew) -> Grant:
    from clew.engine.auth import OWNER, Tokens  # noqa: PLC0415 - as in `_opened`
    from clew.errors import UnauthorisedError  # noqa: PLC0415

    secret = os.environ.get(TOKEN)
    if not secret:
        return OWNER
    found = Tokens(clew.store, clew.now).grant(secret)
    if found is None:
        raise UnauthorisedError(
            f"The token in {TOKEN} is not known, or its time is over. Make one with: clew token create NAME --space SPACE"
        )
    return found


def _narrowed(grant: Grant, *, space: str | None, read_only: bool) -> Grant:
    """Return what is left of a grant in one space, or for reading only; never more than it was."""
    from dataclasses import replace  # noqa: PLC0415 - as in `_opened`

    from clew.engine.auth import Right  # noqa: PLC0415

    rights = grant.rights & {Right.READ} if read_only else grant.rights
    spaces = (
        grant.spaces if space is None else frozenset({space}) & (grant.spaces or frozenset({space}))
    )
    return replace(grant, rights=rights, spaces=spaces)


def _print_config(session: Session, client: str, *, space: str | None, read_only: bool) -> None:
    command = [*_program(), "mcp", "--store", _store(session)]
    command += [] if session.config is None else ["--config", os.path.abspath(session.config)]  # noqa: PTH100 - a name, not a file
    command += [] if space is None else ["--space", space]
    command += ["--read-only"] if read_only else []
    chosen = CLIENTS[client]
    snippet = chosen.snippet(command)
    document = {
        "client": client,
        "place": chosen.place,
        "command": command[0],
        "args": command[1:],
        "snippet": snippet,
    }

    def people() -> None:
        click.echo(f"# {chosen.place}", err=True)
        click.echo(snippet)

    session.answer(document, people)


def _program() -> list[str]:
    """Return how this very installation is called from anywhere."""
    import sys  # noqa: PLC0415 - each start pays for what it uses
    from pathlib import Path  # noqa: PLC0415

    script = Path(sys.executable).with_name("clew.exe" if os.name == "nt" else "clew")
    return [str(script)] if script.exists() else [sys.executable, "-m", "clew"]


def _store(session: Session) -> str:
    path = session.settings().settings.store.file
    return str(path if path.is_absolute() else path.absolute())
