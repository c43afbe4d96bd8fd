"""Run a server's imports in a child process: start it for a job, keep it for the next ones, kill it when it must end."""

from __future__ import annotations

import json
import logging
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from clew.surface.http.import_child import MEGABYTE, OUT_OF_MEMORY
from clew.surface.http.job_import import StoppingError

if TYPE_CHECKING:
    from clew.settings import ServeSettings
    from clew.surface.http.job import Job

LOOK_SECONDS = 0.25  # between two looks at the child's memory and at whether the server is about to stop
CLOSE_SECONDS = 2.0  # that an idle process has to close its store before it is killed, and a server at the end of its grace period
LIMITED = find_spec("resource") is not None
KERNEL_LIMITS_MEMORY = sys.platform == "linux"  # by RLIMIT_DATA; macOS counts only a small part of memory under it
START = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from clew.surface.http.import_child import main
main()
"""
log = logging.getLogger("clew.http")


class KilledError(Exception):
    """The process ended before its job did; the message says why."""


class JobError(Exception):
    """The import failed with an error that is reported as the job's."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        """Keep the error as data."""
        super().__init__(error.get("message", ""))
        self.error = error


class ImportProcess:
    """Runs import jobs in one child process; used by one thread."""

    def __init__(self, opened_with: Mapping[str, Any], settings: ServeSettings) -> None:
        """Set the arguments that open the store, and the limits."""
        self._opened_with = opened_with
        self._settings = settings
        self._child: Child | None = None

    def run(self, job: Job, path: Path | None, *, progress: Callable[[Any], None], stopping: threading.Event) -> Mapping[str, Any]:
        """Return what the process answered: the report of a job and what it cost.

        Raise JobError if the import failed, KilledError if the process did not survive it, and StoppingError if `stopping`
        was set: the import then ends between two files, or with its process shortly before the grace period is over.
        """
        child = self._started()
        child.send({"job": job.kept(), "path": None if path is None else str(path)})
        deadline: float | None = None
        while True:
            message = child.receive(LOOK_SECONDS)
            if stopping.is_set():
                if deadline is None:
                    deadline = time.monotonic() + max(0.0, self._settings.drain_seconds - CLOSE_SECONDS)
                    child.send({"stop": True})
                elif time.monotonic() >= deadline:
                    self.kill()
                    raise StoppingError
            if message is None:
                self._watch_memory(child)
            elif "progress" in message:
                progress(message["progress"])
            else:
                return self._result(child, message, stopping)

    def _result(self, child: Child, message: Mapping[str, Any], stopping: threading.Event) -> Mapping[str, Any]:
        if "report" in message:
            return message
        if "stopped" in message:
            raise StoppingError
        if "error" in message:
            raise JobError(message["error"])
        if "bug" in message:
            log.error("job failed\n%s", message["bug"])
            raise JobError({"code": "bug", "message": "Something went wrong. The server's log tells more."})
        self.kill()
        if stopping.is_set():
            raise StoppingError
        raise KilledError(self._reason(child))

    def _started(self) -> Child:
        if self._child is None or self._child.ended:
            self.kill()
            settings = self._settings
            memory_mb = settings.import_memory_mb if KERNEL_LIMITS_MEMORY else None
            limits = {"cpu_seconds": settings.import_cpu_seconds, "memory_mb": memory_mb}
            self._child = Child()
            self._child.send({"open": self._opened_with, "parent": os.getpid(), **limits})
        return self._child

    def _watch_memory(self, child: Child) -> None:
        """Kill a process that holds too much memory, where the kernel does not limit it."""
        if KERNEL_LIMITS_MEMORY or not LIMITED:
            return
        if resident_bytes(child.pid) > self._settings.import_memory_mb * MEGABYTE:
            self.kill()
            raise KilledError(self._memory_reason())

    def _reason(self, child: Child) -> str:
        code = child.exit_code
        if hasattr(signal, "SIGXCPU") and code == -signal.SIGXCPU:
            seconds = f"{self._settings.import_cpu_seconds:g}"
            return (
                f"The import used more than {seconds} s of CPU time for one file or one batch of vectors. "
                "Split the file, or raise serve.import_cpu_seconds."
            )
        if code == OUT_OF_MEMORY:
            return self._memory_reason()
        how = f"signal {signal.Signals(-code).name}" if code is not None and code < 0 else f"exit code {code}"
        return f"The process that ran the import ended unexpectedly ({how}). The machine may have run out of memory."

    def _memory_reason(self) -> str:
        megabytes = f"{self._settings.import_memory_mb:g}"
        return f"The import used more than {megabytes} MB of memory. Split the file, or raise serve.import_memory_mb."

    def kill(self) -> None:
        """End the process at once; what it has committed stays, the rest is rolled back."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()

    def close(self) -> None:
        """Let an idle process close its store and end."""
        if self._child is not None:
            self._child.close_input(CLOSE_SECONDS)
            self.kill()


class Child:
    """A running process and the messages that came from it."""

    def __init__(self) -> None:
        """Start it with this interpreter and its module path, without any of this process's sockets."""
        command = [sys.executable, "-P", "-c", START, json.dumps(sys.path)]
        # A session of its own: Ctrl+C in a terminal is for the server alone, which then decides what becomes of the import.
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter, with our own program
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", start_new_session=True
        )
        self._requests, self._answers = cast("IO[str]", self._process.stdin), cast("IO[str]", self._process.stdout)
        self._messages: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._reading = threading.Thread(target=self._read, name="clew-import-answers", daemon=True)
        self._reading.start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def ended(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    @property
    def exit_code(self) -> int | None:
        """The exit code, negative for a signal; None while the process runs."""
        return self._process.returncode

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message; of a process that has ended `receive` reports that."""
        with suppress(BrokenPipeError, ValueError):
            self._requests.write(json.dumps(message) + "\n")
            self._requests.flush()

    def receive(self, seconds: float) -> dict[str, Any] | None:
        """Return the next message, an empty one if the process has ended, or None if there is none yet."""
        try:
            return self._messages.get(timeout=seconds)
        except queue.Empty:
            return None

    def _read(self) -> None:
        with suppress(ValueError):  # closed, or half a line of a process that was killed
            for line in self._answers:
                self._messages.put(json.loads(line))
        self._process.wait()
        self._messages.put({})

    def close_input(self, seconds: float) -> None:
        """Close its input, so that it ends by itself, and wait up to so many seconds."""
        with suppress(BrokenPipeError):
            self._requests.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)

    def kill(self) -> None:
        """Kill the process and wait for its end."""
        self._process.kill()
        self._reading.join()
        for pipe in (self._requests, self._answers):
            with suppress(BrokenPipeError):
                pipe.close()


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process, 0 if it is unknown."""
    done = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=False)  # noqa: S603, S607
    return int(done.stdout) * 1024 if done.stdout.strip().isdigit() else 0
