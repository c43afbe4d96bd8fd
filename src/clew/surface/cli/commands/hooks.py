"""`clew hooks`: Clew in a coding agent's hooks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from clew.surface.cli.session import Session, common
from clew.surface.cli.text import clean

AGENTS = ("claude-code",)
SCOPES = ("user", "project", "local")
agent_argument = click.argument("agent", type=click.Choice(AGENTS), default=AGENTS[0])
space_option = click.option(
    "--space",
    metavar="NAME",
    help="Inject from and capture into this space. [the setting store.space]",
)
scope_option = click.option(
    "--scope",
    type=click.Choice(SCOPES),
    default="user",
    help="Whose settings: of all your projects, of this project, or your own of this project (not committed). [user]",
)


@click.group("hooks")
def hooks_command() -> None:
    """Give a coding agent memory by its hooks."""


@hooks_command.command("install")
@agent_argument
@scope_option
@space_option
@click.option(
    "--dry-run", is_flag=True, help="Print what the settings file would hold, and change nothing."
)
@common
def install_command(
    session: Session, agent: str, *, scope: str, space: str | None, dry_run: bool
) -> None:
    """Add the hooks to the agent's settings.

    Hooks of others stay as they are.

    \b
      clew hooks install claude-code
      clew hooks install claude-code --scope project --space shop
    """  # noqa: D301 - click's own mark for a paragraph that keeps its lines
    from clew.surface.hooks import claude_code  # noqa: PLC0415 - each start pays for what it uses

    _check_sockets()
    file = claude_code.settings_file(scope, folder=Path.cwd())
    settings = claude_code.installed(
        claude_code.read_settings(file), _command(session, agent, space)
    )
    if dry_run:
        session.answer(
            {"file": str(file), "settings": settings},
            lambda: click.echo(claude_code.as_json(settings), nl=False),
        )
        return
    claude_code.write_settings(file, settings)
    events = list(claude_code.MATCHERS)
    session.answer(
        {"file": str(file), "events": events},
        lambda: click.echo(f"Hooks for {', '.join(events)} are in {clean(str(file))}."),
    )
    session.note(
        "Running sessions of the agent see them after a restart. What they do: clew hooks log"
    )


@hooks_command.command("uninstall")
@agent_argument
@scope_option
@common
# There is one agent
def uninstall_command(session: Session, agent: str, *, scope: str) -> int:  # noqa: ARG001
    """Remove the hooks from the agent's settings.

    Hooks of others stay as they are.
    """
    from clew.surface.hooks import claude_code  # noqa: PLC0415 - each start pays for what it uses

    file = claude_code.settings_file(scope, folder=Path.cwd())
    before = claude_code.read_settings(file)
    after = claude_code.removed(before)
    found = after != before
    if found:
        claude_code.write_settings(file, after)
    message = (
        f"Removed from {clean(str(file))}."
        if found
        else f"There are no hooks of Clew in {clean(str(file))}."
    )
    session.answer({"file": str(file), "removed": found}, lambda: click.echo(message))
    return 0 if found else 1


@hooks_command.command("print")
@agent_argument
@space_option
@click.option("--plugin", metavar="DIR", help="Write a plug-in folder with the hooks instead.")
@common
def print_command(session: Session, agent: str, *, space: str | None, plugin: str | None) -> None:
    """Print the hooks, or write them as a plug-in.

    They are added to the agent's settings by hand then.
    """
    from clew.surface.hooks import claude_code  # noqa: PLC0415 - each start pays for what it uses

    command = _command(session, agent, space)
    if plugin is None:
        document = {"hooks": claude_code.hooks(command)}
        session.answer(document, lambda: click.echo(claude_code.as_json(document), nl=False))
        return
    files = [str(file) for file in claude_code.write_plugin(Path(plugin), command)]
    session.answer({"files": files}, lambda: click.echo("\n".join(map(clean, files))))
    session.note(f"Try it with: claude --plugin-dir {clean(plugin)}")


@hooks_command.command("log")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1, 10_000),
    default=20,
    metavar="N",
    help="At most so many entries, the latest. [20]",
)
@click.option("--session", "of", metavar="ID", help="Only this session of the agent.")
@common
def log_command(session: Session, *, limit: int, of: str | None) -> int:
    """Show what was injected and captured, and why.

    The log itself holds ids; texts are looked up in the store.
    """
    # Each start pays for what it uses
    from clew.surface.hooks.log import HookLog, log_path  # noqa: PLC0415

    log = HookLog(log_path(session.settings().settings.store.file))
    records = [each for each in log.records() if of is None or each.get("session") == of][-limit:]
    texts = _texts(session, records) if records else {}
    told = [_with_texts(each, texts) for each in records]
    session.answer({"log": str(log.path), "entries": told}, lambda: _show(told))
    return 0 if told else 1


@hooks_command.command("run")
@agent_argument
@space_option
@common
def run_command(session: Session, agent: str, *, space: str | None) -> int:
    """Answer one hook event on stdin; the agent calls this.

    Prints nothing when there is nothing to say, and never fails.
    """
    from clew.surface.hooks import client  # noqa: PLC0415 - each start pays for what it uses

    options = {"--store": session.store, "--config": session.config, "--space": space}
    return client.run(
        [
            agent,
            *(
                part
                for name, value in options.items()
                if value is not None
                for part in (name, value)
            ),
        ]
    )


@hooks_command.command("stop")
@agent_argument
@space_option
@common
def stop_command(session: Session, agent: str, *, space: str | None) -> int:
    """End the process that answers hooks for this store.

    The next event starts another.
    """
    from clew.surface.hooks import client  # noqa: PLC0415 - each start pays for what it uses

    command = _command(session, agent, space)
    arguments = command[command.index("run") + 1 :]
    # A socket's name
    running = os.path.exists(client.address_of(client.identity_of(arguments)))  # noqa: PTH110
    client.ask(client.STOP, arguments, start=False)
    session.answer(
        {"stopped": running}, lambda: click.echo("Stopped." if running else "None was running.")
    )
    return 0 if running else 1


def _command(session: Session, agent: str, space: str | None) -> list[str]:
    """Return the command of the hooks: this installation, this store."""
    # The same for every host
    from clew.surface.cli.commands.mcp import _program, _store  # noqa: PLC0415

    command = [*_program(), "hooks", "run", agent, "--store", _store(session)]
    command += [] if session.config is None else ["--config", os.path.abspath(session.config)]  # noqa: PTH100 - a name, not a file
    return command + ([] if space is None else ["--space", space])


def _check_sockets() -> None:
    import socket  # noqa: PLC0415 - each start pays for what it uses

    if not hasattr(socket, "AF_UNIX"):
        from clew.errors import InputError  # noqa: PLC0415

        raise InputError(
            "hooks",
            os.name,
            "need Unix sockets, which Python lacks here",
            "Use MCP instead: clew mcp --print-config claude-code",
        )


def _texts(session: Session, records: list[dict[str, Any]]) -> dict[str, str]:
    """Return the texts of the memories that the log names, as far as they are still there."""
    ids = {
        str(each["id"])
        for record in records
        for name in ("injected", "captured")
        for each in record.get(name, ())
    }
    with session.clew() as clew:
        return {id: node.text for id in sorted(ids) if (node := clew.get(id)) is not None}


def _with_texts(record: dict[str, Any], texts: dict[str, str]) -> dict[str, Any]:
    named: dict[str, Any] = {
        name: [{**each, "text": texts.get(str(each["id"]))} for each in record[name]]
        for name in ("injected", "captured")
        if name in record
    }
    return {**record, **named}


def _show(records: list[dict[str, Any]]) -> None:
    for record in records:
        reason = f" · {clean(str(record['reason']))}" if "reason" in record else ""
        click.echo(
            f"{record.get('at')} {record.get('event')} · session {clean(str(record.get('session')))}{reason} · {record.get('ms')} ms"
        )
        for sign, name in (("<", "injected"), (">", "captured")):
            for each in record.get(name, ()):
                why = each.get("rule") or (
                    "" if each.get("confidence") is None else f"{each['confidence']:.2f}"
                )
                click.echo(
                    f"  {sign} {each['id']} {clean(str(why))} · {clean(each.get('text') or '(forgotten)')}"
                )
        for name in ("skipped", "refused"):
            for each in record.get(name, ()):
                click.echo(
                    f"  - {clean(str(each.get('id') or each.get('rule')))} · {clean(str(each.get('reason')))}"
                )
