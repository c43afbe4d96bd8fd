"""The warm process behind `clew hooks run`.

An open store and a loaded model at a Unix socket, until it is idle for a while.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from threading import Lock
from typing import TYPE_CHECKING

from clew.errors import ClewError
from clew.parsing import parse_json
from clew.surface.hooks.client import MOST_BYTES, STOP, address_of, identity_of

if TYPE_CHECKING:
    from clew.surface.hooks.handler import Handler

THREADS = 4
RECEIVE_SECONDS = 5.0
WAITING = 16


class Daemon:
    """Serves hook events on a socket."""

    def __init__(
        self,
        arguments: list[str],
        opening: Callable[[], Handler],
        *,
        idle_seconds: float,
        failed: Callable[[Exception], None],
    ) -> None:
        self._identity = identity_of(arguments).encode("utf-8", "surrogateescape")
        self.address = address_of(identity_of(arguments))
        self._opening = opening
        self._idle_seconds = idle_seconds
        self._failed = failed
        self._lock = Lock()
        self._handler: Handler | None = None
        self._stopping = False

    def serve(self) -> None:
        """Serve until told to stop or idle.

        Return at once if another process serves this socket.
        """
        # Beside the socket, whose name is a text
        with open(f"{self.address}.lock", "ab") as lock:  # noqa: PTH123
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            with suppress(FileNotFoundError):
                os.unlink(self.address)  # noqa: PTH108 - as above
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
                listener.bind(self.address)
                listener.listen(WAITING)
                try:
                    self._accept(listener)
                finally:
                    with suppress(FileNotFoundError):
                        os.unlink(self.address)  # noqa: PTH108 - as above

    def _accept(self, listener: socket.socket) -> None:
        with ThreadPoolExecutor(THREADS, thread_name_prefix="clew-hooks") as pool:
            # clients may connect while the model is loaded
            pool.submit(self._reporting, self._ready)
            listener.settimeout(self._idle_seconds)
            while True:
                try:
                    connection, _ = listener.accept()
                except TimeoutError:  # idle for long enough
                    return
                if self._stopping:
                    connection.close()
                    return
                pool.submit(self._reporting, self._serve, connection)

    def _ready(self) -> Handler:
        with self._lock:
            if self._handler is None:
                self._handler = self._opening()
            return self._handler

    def _reporting(self, work: Callable[..., object], *arguments: object) -> None:
        """Work; a failure is written down, for nobody waits for more than an answer."""
        try:
            work(*arguments)
        except Exception as error:
            self._failed(error)

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(RECEIVE_SECONDS)
            identity, _, event = _received(connection).partition(b"\n")
            if identity != self._identity:
                return  # another store whose address happens to be the same
            if event == STOP:
                self._stop()
                return
            with suppress(ValueError):
                parsed = parse_json(event)
                reply = self._ready().handle(parsed if isinstance(parsed, dict) else {})
                if reply.output is not None:
                    # raises if the client has given up
                    connection.sendall(json.dumps(reply.output).encode())
                reply.delivered()
                connection.close()
                reply.afterwards()

    def _stop(self) -> None:
        self._stopping = True
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as waking, suppress(OSError):
            waking.connect(self.address)


def _received(connection: socket.socket) -> bytes:
    parts, size = [], 0
    while (part := connection.recv(1 << 16)) and size <= MOST_BYTES:
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def main(arguments: list[str]) -> None:
    """Serve the agent and the store that the arguments of `clew hooks run` name."""
    from pathlib import Path  # noqa: PLC0415 - the socket listens first

    from clew.settings import load  # noqa: PLC0415
    from clew.surface.hooks.log import HookLog, log_path  # noqa: PLC0415
    from clew.times import iso  # noqa: PLC0415

    options = options_of(arguments)
    overrides = {"store.path": options["--store"]} if "--store" in options else {}
    config = Path(options["--config"]) if "--config" in options else None
    settings = load(config, overrides=overrides).settings
    log = HookLog(log_path(settings.store.file))
    opened = []

    def opening() -> Handler:
        from clew.engine import open as open_clew  # noqa: PLC0415
        from clew.surface.hooks.handler import Handler  # noqa: PLC0415

        clew = open_clew(options.get("--store"), config=config)
        opened.append(clew)
        clew.recall("ready", k=1, track=False)  # loads the model
        return Handler(clew, log, agent=options["agent"], space=options.get("--space"))

    def failed(error: Exception) -> None:
        reason = error.message if isinstance(error, ClewError) else type(error).__name__
        log.write({"at": iso(datetime.now(UTC)), "event": "error", "reason": reason})

    try:
        Daemon(
            arguments, opening, idle_seconds=settings.hooks.idle_minutes * 60, failed=failed
        ).serve()
    finally:
        for clew in opened:
            clew.close()


def options_of(arguments: list[str]) -> dict[str, str]:
    """Return the agent and the options of `clew hooks run` by name.

    >>> options_of(["claude-code", "--store", "m.clew"])
    {'agent': 'claude-code', '--store': 'm.clew'}
    """
    return {"agent": arguments[0], **dict(zip(arguments[1::2], arguments[2::2], strict=False))}


if __name__ == "__main__":
    main(sys.argv[1:])
