"""`clew mcp`: one client at the other end of stdin and stdout, until either of them leaves.

stdout carries the protocol alone: what anything else prints goes to stderr. The SDK is loaded while
the client is greeted, and the store is opened by the first call that needs it.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from clew.surface.mcp.greeting import Greeting

if TYPE_CHECKING:
    from clew.engine import Clew
    from clew.engine.auth import Grant
    from clew.engine.authorised import Guarded

SERVING = "clew.surface.mcp.serving"  # the module that loads the SDK


class Wire(NamedTuple):
    """The two ends of a conversation."""

    incoming: TextIO
    outgoing: TextIO


class Once:
    """The one caller of this process.

    The Clew is opened when it is first needed, what the caller may do is asked every time.
    """

    def __init__(self, opening: Callable[[], Clew], granting: Callable[[Clew], Grant]) -> None:
        self._opening = opening
        self._granting = granting
        self._lock = threading.Lock()
        self._opened: Clew | None = None

    def __call__(self, request: Any) -> Guarded:  # noqa: ARG002 - on stdio there is none
        """Return the caller's Clew.

        An opening that failed is tried again next time, and a token may be revoked meanwhile.
        """
        with self._lock:
            if self._opened is None:
                self._opened = self._opening()
        # The engine, which listing the tools does not need
        from clew.engine.authorised import Guarded  # noqa: PLC0415

        return Guarded(self._opened, self._granting(self._opened))

    def close(self) -> None:
        """Write what is waiting and release the files."""
        with self._lock:
            if self._opened is not None:
                self._opened.close()


def serve(once: Once, tools: list[dict[str, Any]] | None = None) -> None:
    """Serve until the client closes stdin, goes away, or a signal ends it.

    `tools` are those for the settings in force.
    """
    wire = claimed()
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda *_: os._exit(0))  # nothing has been opened yet
    loading = threading.Thread(target=import_module, args=(SERVING,), name="clew-mcp-loading")
    loading.start()
    greeting = Greeting() if tools is None else Greeting(tools=tools)
    try:
        goes_on = greeting.held(wire.incoming, wire.outgoing)
        loading.join()
        if goes_on:
            import_module(SERVING).carry_on(once, wire, greeting)
    except BrokenPipeError:
        pass  # the client has gone, and with it whoever would read a complaint
    finally:
        once.close()


def claimed() -> Wire:
    """Return the process's stdin and stdout for the protocol alone.

    For all else there is nothing to read, and stderr to write to.
    """
    wire = Wire(
        os.fdopen(os.dup(0), "r", encoding="utf-8", errors="replace", newline="\n"),
        os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace", newline="\n"),
    )
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # started without a stderr
        os.dup2(nothing, 1)
    os.close(nothing)
    return wire


def lines(wire: Wire, greeting: Greeting) -> Iterator[str]:
    """Yield what the greeting has left to say, then what the client says."""
    yield from greeting.heard
    yield from wire.incoming
