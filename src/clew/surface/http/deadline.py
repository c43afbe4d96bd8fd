"""End a server that was told to stop some seconds after its grace period, whatever its threads do.

Requests and imports have the grace period to finish. After it a thread ends this process. That thread cannot run while C code
holds the interpreter's lock, and no handler of a signal can either; so a small process waits for the byte that Python's own
handler writes to a pipe at the moment of the signal, without that lock, and kills the server if it is still there later.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

LEAVE_SECONDS = 3.0  # after the grace period, for closing what is open, until the thread ends the process
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
        """Let another process kill this one if the timer cannot; in the main thread alone, which receives signals, and not on Windows."""
        if os.name != "posix" or threading.current_thread() is not threading.main_thread():
            yield
            return
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        seconds = str(self._grace_seconds + KILL_SECONDS)
        signals = ",".join(str(int(each)) for each in STOPPING)
        # -I and -S: nothing but the interpreter, 9 MB. A session of its own, so that Ctrl+C does not end it.
        command = [sys.executable, "-I", "-S", "-c", KILLER, str(os.getpid()), seconds, signals]
        killer = subprocess.Popen(command, stdin=reading, start_new_session=True)  # noqa: S603 - this interpreter, our program
        os.close(reading)
        earlier = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(earlier)
            os.close(writing)  # it reads the end, and ends
            killer.wait()
