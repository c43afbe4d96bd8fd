"""Connections that keep others waiting are ended.

Those whose request does not come, and those that do not read their answer.

`receiving` counts from a request's head on; before that there is nobody to ask for a token, and
uvicorn waits for ever. Its limit of connections would then be reached by whoever opens so many and
says nothing.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from clew.surface.http.pool import STALLED_SECONDS


def patience(
    arriving_seconds: float, reading_seconds: float = STALLED_SECONDS
) -> type[H11Protocol]:
    """Return the protocol for uvicorn.

    How long the head of a request may take to arrive, and an answer may lie unread.
    """

    class Patient(H11Protocol):
        _arriving: asyncio.TimerHandle | None = None
        _reading: asyncio.TimerHandle | None = None

        # As uvicorn has it
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._arriving = self._after(arriving_seconds, transport.close)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            # it is here, and its body is counted elsewhere
            if self.cycle is not None and not self.cycle.response_complete:
                self._arriving = _ended(self._arriving)
            elif (
                self._arriving is None
            ):  # bytes of the next request, or the rest of a body that was refused
                self._arriving = self._after(arriving_seconds, self.transport.close)

        def pause_writing(self) -> None:
            super().pause_writing()
            self._reading = self._reading or self._after(reading_seconds, self.transport.abort)

        def resume_writing(self) -> None:
            super().resume_writing()
            self._reading = _ended(self._reading)

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self._arriving, self._reading = _ended(self._arriving), _ended(self._reading)

        def _after(self, seconds: float, act: Callable[[], Any]) -> asyncio.TimerHandle:
            return self.loop.call_later(seconds, act)

    return Patient


def _ended(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    """Stop a timer and return what stands in its place: none."""
    if timer is not None:
        timer.cancel()
    return None


# End a server that was told to stop some seconds after its grace period, whatever its threads do.
#
# Requests and imports have the grace period to finish. After it a thread ends this process. That
# thread cannot run while C code
# holds the interpreter's lock, and no handler of a signal can either; so a small process waits for
# the byte that Python's own
# handler writes to a pipe at the moment of the signal, without that lock, and kills the server if
# it is still there later.

# after the grace period, for closing what is open, until the thread ends the process
LEAVE_SECONDS = 3.0
KILL_SECONDS = 5.0  # after the grace period, until the other process kills it
STOPPING = (signal.SIGINT, signal.SIGTERM)
KILLER = """
import os, select, sys, time
server, seconds, signals = int(sys.argv[1]), float(sys.argv[2]), set(map(int, sys.argv[3].split(",")))
while not signals.intersection(told := os.read(0, 64)):
    if not told:
        sys.exit()
end = time.monotonic() + seconds
while (left := end - time.monotonic()) > 0:
    if select.select([0], [], [], left)[0] and not os.read(0, 64):
        sys.exit()
if os.getppid() == server:
    os.kill(server, 9)
"""


class Deadline:
    """A timer that ends this process a few seconds after the grace period."""

    def __init__(self, grace_seconds: float, leave: Callable[[], None]) -> None:
        """Set the grace period, and the function that ends the process."""
        self._grace_seconds = grace_seconds
        self._timer = threading.Timer(grace_seconds + LEAVE_SECONDS, leave)
        self._timer.daemon = True

    def begin(self) -> None:
        """Start the timer, at the first signal."""
        with suppress(RuntimeError):  # it is running already
            self._timer.start()

    def cancel(self) -> None:
        """Stop the timer: the server has ended by itself."""
        self._timer.cancel()

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Let another process kill this one if the timer cannot.

        In the main thread alone, which receives signals, and not on Windows.
        """
        if os.name != "posix" or threading.current_thread() is not threading.main_thread():
            yield
            return
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        seconds = str(self._grace_seconds + KILL_SECONDS)
        signals = ",".join(str(int(each)) for each in STOPPING)
        # -I and -S: nothing but the interpreter, 9 MB. A session of its own, so that Ctrl+C does
        # not end it.
        command = [sys.executable, "-I", "-S", "-c", KILLER, str(os.getpid()), seconds, signals]
        # This interpreter, our program
        killer = subprocess.Popen(command, stdin=reading, start_new_session=True)  # noqa: S603
        os.close(reading)
        earlier = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(earlier)
            os.close(writing)  # it reads the end, and ends
            killer.wait()
