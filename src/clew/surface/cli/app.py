"""The command `clew`: finds the subcommand, loads its module only then, and turns every failure into an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from clew import __version__
from clew.errors import ClewError, InputError, RefusedError, clipped
from clew.surface import payload
from clew.surface.cli.session import Session, common_options, print_json, survive_any_encoding
from clew.surface.cli.text import clean

# The one place where failures become messages and exit codes; a traceback is never shown unasked.

DONE, REFUSED, USAGE, FAILED, INTERRUPTED = 0, 1, 2, 3, 130
DEBUG_VARIABLE = "CLEW_DEBUG"
LONGEST_USAGE = 300
ISSUES = "Please report it with what you typed"


def guarded(work: Callable[[], Any], *, as_json: bool) -> int:
    """Run, flush, and return the exit code.

    Whatever is raised is told in a line or, asked for, in JSON.
    """
    try:
        code = work()
        sys.stdout.flush()
        return code if isinstance(code, int) else DONE
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        _swallow_stdout()
        return DONE
    except Exception as error:
        return _failed(error, as_json=as_json)


def _failed(error: Exception, *, as_json: bool) -> int:
    if isinstance(error, click.ClickException):
        return _usage(error, as_json=as_json)
    if isinstance(error, ClewError):
        _tell(payload.error(error), error.message, as_json=as_json)
        return _code(error)
    if isinstance(error, OSError):
        message = f"{clipped(str(error.filename or 'input or output'))}: {clipped(error.strerror or str(error))}"
        _tell({"error": {"code": "system", "message": message}}, message, as_json=as_json)
        return FAILED
    return _bug(error, as_json=as_json)


def _code(error: ClewError) -> int:
    if isinstance(error, InputError):
        return USAGE
    return REFUSED if isinstance(error, RefusedError) else FAILED


def _usage(error: click.ClickException, *, as_json: bool) -> int:
    told, message = error, error.format_message()
    # none of click's is that long by itself: it repeats what was typed
    if len(message) > LONGEST_USAGE:
        told = click.UsageError(clipped(message), getattr(error, "ctx", None))
    if as_json:
        print_json({"error": {"code": "usage", "message": told.format_message()}})
    else:
        told.show()
    return error.exit_code


def _bug(error: Exception, *, as_json: bool) -> int:
    message = f"{type(error).__name__}: {clipped(str(error))}. This is a bug. {ISSUES}; {DEBUG_VARIABLE}=1 shows where it happened."
    _tell({"error": {"code": "bug", "message": message}}, message, as_json=as_json)
    if os.environ.get(DEBUG_VARIABLE):
        import traceback  # noqa: PLC0415 - only here

        traceback.print_exception(error)
    return FAILED


def _tell(document: dict[str, Any], message: str, *, as_json: bool) -> None:
    if as_json:
        print_json(document)
    else:
        click.echo(f"error: {clean(message)}", err=True)


def _swallow_stdout() -> None:
    """Point stdout at nothing: the reader has gone, and Python would complain once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# Where each command lives, in the order of `clew --help`; the modules are light and load the engine
# when they run.
COMMANDS = {
    "demo": "demo",
    "init": "config",
    "add": "add",
    "import": "importing",
    "watch": "watch",
    "sources": "sources",
    "recall": "recall",
    "why": "recall",
    "why-not": "recall",
    "replay": "recall",
    "list": "lookup",
    "show": "lookup",
    "history": "lookup",
    "related": "lookup",
    "conflicts": "conflicts",
    "supersede": "bitemporal",
    "invalidate": "bitemporal",
    "expire": "bitemporal",
    "reassert": "bitemporal",
    "update": "change",
    "forget": "change",
    "protect": "change",
    "decay": "change",
    "unarchive": "change",
    "stats": "maintain",
    "verify": "maintain",
    "compact": "maintain",
    "backup": "maintain",
    "restore": "maintain",
    "reembed": "maintain",
    "export": "transfer",
    "load": "transfer",
    "move": "move",
    "mcp": "mcp",
    "hooks": "hooks",
    "serve": "serve",
    "ui": "ui",
    "eval": "eval",
    "token": "serve",
    "models": "models",
    "config": "config",
    "doctor": "doctor",
    "completion": "completion",
}


# What others call it.
ALIASES = {
    "contradictions": "conflicts",
    "remember": "add",
    "store": "add",
    "save": "add",
    "insert": "add",
    "search": "recall",
    "query": "recall",
    "ask": "recall",
    "find": "recall",
    "get": "show",
    "ls": "list",
    "rm": "forget",
    "delete": "forget",
    "remove": "forget",
    "edit": "update",
    "vacuum": "compact",
    "replace": "supersede",
    "correct": "supersede",
    "ingest": "import",
    "dump": "export",
    "migrate": "move",
    "check": "doctor",
    "settings": "config",
}


class App(click.Group):
    """A group whose commands are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Import the module of a command and return it."""
        if cmd_name not in COMMANDS:
            return None
        found: click.Command = getattr(
            import_module(f"clew.surface.cli.commands.{COMMANDS[cmd_name]}"),
            f"{cmd_name.replace('-', '_')}_command",
        )
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the arguments name; an unknown one is answered with the nearest."""
        if args[0] == "help":
            args = [*args[1:], "--help"]
        name = args[0]
        if name == "--help":
            click.echo(ctx.get_help())
            ctx.exit()
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            import difflib  # noqa: PLC0415 - only the way to an error needs it

            near = (
                [ALIASES[name]]
                if name in ALIASES
                else difflib.get_close_matches(name, COMMANDS, n=1)
            )
            hint = f"Did you mean {near[0]!r}?" if near else "See: clew --help"
            raise click.UsageError(f"No such command {name!r}. {hint}", ctx)
        return super().resolve_command(ctx, args)

    # Click declares overloads; this is the one form in which it is called
    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        """Run and exit: 0 done, 1 nothing found or refused, 2 usage, 3 store or model error."""
        given = list(sys.argv[1:] if args is None else args)
        survive_any_encoding()
        run = super().main
        extra["standalone_mode"] = False
        sys.exit(guarded(lambda: run(given, prog_name, **extra), as_json="--json" in given))


@click.command(
    "clew",
    cls=App,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@common_options
@click.version_option(__version__, "-V", "--version", message="clew %(version)s")
@click.pass_context
def app(ctx: click.Context, store: str | None, config: str | None, as_json: bool) -> None:
    """Clew remembers what an agent learns and brings the right pieces back, with the reason for each.

    Start with `clew demo`. Exit codes: 0 done, 1 nothing found or refused, 2 bad usage or input, 3
    store or model error. An ID may be typed as far as no other begins so, from six characters on.
    """
    ctx.obj = Session(store=store, config=config, as_json=as_json)
