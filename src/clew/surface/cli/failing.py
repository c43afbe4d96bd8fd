"""The one place where failures become messages and exit codes; a traceback is never shown unasked."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import click

from clew.errors import ClewError, InputError, RefusedError, clipped
from clew.surface import payload
from clew.surface.cli.session import print_json
from clew.surface.cli.text import clean

DONE, REFUSED, USAGE, FAILED, INTERRUPTED = 0, 1, 2, 3, 130
DEBUG_VARIABLE = "CLEW_DEBUG"
LONGEST_USAGE = 300
ISSUES = "Please report it with what you typed"


def guarded(work: Callable[[], Any], *, as_json: bool) -> int:
    """Run, flush, and return the exit code; whatever is raised is told in a line or, asked for, in JSON."""
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
    if len(message) > LONGEST_USAGE:  # none of click's is that long by itself: it repeats what was typed
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
