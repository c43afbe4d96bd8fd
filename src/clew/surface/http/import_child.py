"""Run imports for a server, in a process of their own with limits on CPU time and memory.

The server starts this module with `import_process` and talks to it over stdin and stdout, one JSON
object per line: first how to open the store and what the limits are, then one object for each job.
Answers are progress, and at the end of a job its report, its error, or that it stopped between two
files because it was asked to.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import queue
import signal
import sys
import threading
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from clew.engine import open as open_clew
from clew.engine.telemetry.watch import Ledger
from clew.errors import ClewError
from clew.surface import payload
from clew.surface.http.jobs import StoppingError, job_of, run_import

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.engine import Clew

try:
    import resource
except ImportError:  # Windows: the import runs without limits, and the server says so
    resource = None  # type: ignore[assignment]

PR_SET_PDEATHSIG = 1  # linux/prctl.h
OUT_OF_MEMORY = 70  # exit code that tells the server why this process ended
MEGABYTE = 1_000_000


class Limits:
    """The CPU time of one step and the memory of the whole process."""

    def __init__(self, *, cpu_seconds: float, memory_mb: float | None) -> None:
        """Limit the memory of this process; without a limit the server measures it from outside."""
        self._cpu_seconds = cpu_seconds
        if resource is not None:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core dump would hold memories
        if resource is not None and memory_mb is not None:
            # Not RLIMIT_AS, which counts address space that is only reserved: 590 MB with the
            # default model, of which 290 are used.
            _lower(resource.RLIMIT_DATA, math.ceil(memory_mb * MEGABYTE))

    def begin_step(self) -> None:
        """Give the next step its CPU time; a step is one file, or one batch of vectors."""
        if resource is not None:
            _lower(resource.RLIMIT_CPU, math.ceil(time.process_time() + self._cpu_seconds))


def _lower(kind: int, amount: int) -> None:
    _, hard = resource.getrlimit(kind)
    resource.setrlimit(
        kind, (amount if hard == resource.RLIM_INFINITY else min(amount, hard), hard)
    )


def main() -> None:
    """Serve jobs until the server closes the pipe."""
    requests, answers = _take_pipes()
    given = json.loads(requests.readline())
    _depend_on(given["parent"])
    limits = Limits(cpu_seconds=given["cpu_seconds"], memory_mb=given["memory_mb"])
    inbox = Inbox(requests)
    clew: Clew | None = None
    while (request := inbox.take()) is not None:
        limits.begin_step()
        try:
            if clew is None:
                clew = open_clew(**given["open"])
            answer = _answer(clew, request, answers, limits, inbox.stopping)
        except MemoryError:
            os._exit(OUT_OF_MEMORY)  # what is left of this process is of no use
        except StoppingError:
            answer = {"stopped": True}
        except ClewError as error:
            answer = payload.error(error)
        except Exception:
            answer = {"bug": traceback.format_exc()}
        inbox.done()
        _send(answers, answer)
    if clew is not None:
        clew.close()


class Inbox:
    """Messages from the server, read by a thread, so that a closed pipe is noticed during a job too."""

    def __init__(self, requests: IO[str]) -> None:
        """Start the thread."""
        self.stopping = threading.Event()
        self._working = threading.Event()
        self._jobs: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, args=(requests,), daemon=True).start()

    def take(self) -> dict[str, Any] | None:
        """Wait for the next job and return it, or None if there will be none."""
        return self._jobs.get()

    def done(self) -> None:
        """Note that the job has ended."""
        self._working.clear()

    def _read(self, requests: IO[str]) -> None:
        for line in requests:
            request = json.loads(line)
            if "stop" in request:
                self.stopping.set()
            else:
                self._working.set()
                self._jobs.put(request)
        if self._working.is_set():
            os._exit(0)  # nobody waits for the job: a transaction that is open is rolled back
        self._jobs.put(None)


def _answer(
    clew: Clew,
    request: Mapping[str, Any],
    answers: IO[str],
    limits: Limits,
    stopping: threading.Event,
) -> dict[str, Any]:
    def progress(what: str, done: int, total: int | None) -> None:
        if stopping.is_set():
            raise StoppingError
        limits.begin_step()
        _send(answers, {"progress": {"what": what, "done": done, "total": total}})

    clew.watch.ledger = Ledger()
    path = request["path"]
    report = run_import(
        clew, job_of(request["job"]), None if path is None else Path(path), progress
    )
    return {"report": payload.imported(report), "ledger": clew.watch.ledger.totals()}


def _send(answers: IO[str], message: Mapping[str, Any]) -> None:
    answers.write(json.dumps(message) + "\n")
    answers.flush()


def _take_pipes() -> tuple[IO[str], IO[str]]:
    """Return stdin and stdout for the protocol alone; what else is printed goes to stderr."""
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return os.fdopen(requests, encoding="utf-8"), os.fdopen(answers, "w", encoding="utf-8")


def _depend_on(parent: int) -> None:
    """Ignore signals, which are for the server, and end with the server."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    if sys.platform == "linux":
        # A thread that waits for the pipe to close cannot run while C code holds the interpreter's
        # lock; the kernel can.
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        with suppress(OSError):  # where memory runs out, this process goes first and not the server
            Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
        if os.getppid() != parent:
            os._exit(0)
