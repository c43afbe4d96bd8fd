"""Works on imports in the background, one at a time, the oldest first.

What a dead server had begun, the next one does again.

An import may be done twice without harm: what is there already is left as it is. So a job belongs
to the server that claimed it until that server is known to be dead or has not been heard of for a
while, and is then claimed by another.

The import itself runs in another process with limits (`import_process`), so that no document can
hold up the server. Only a Clew that another process cannot open, because it is in memory or was
given Python objects, imports in the worker's thread.
"""

from __future__ import annotations

import json
import logging
import os
import platform
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast
from uuid import uuid4

from clew.errors import ClewError
from clew.surface import payload
from clew.surface.http.import_child import MEGABYTE, OUT_OF_MEMORY
from clew.surface.http.jobs import (
    FINISHED,
    LEASE_SECONDS,
    Job,
    Owner,
    State,
    StoppingError,
    run_import,
)
from clew.surface.http.jobs import JobProgress as Progress
from clew.times import iso

if TYPE_CHECKING:
    from clew.settings import ServeSettings
    from clew.surface.http.jobs import Jobs

# Run a server's imports in a child process: start it for a job, keep it for the next ones, kill it
# when it must end.

# between two looks at the child's memory and at whether the server is about to stop
LOOK_SECONDS = 0.25
# that an idle process has to close its store before it is killed, and a server at the end of its
# grace period
CLOSE_SECONDS = 2.0
LIMITED = find_spec("resource") is not None
# by RLIMIT_DATA; macOS counts only a small part of memory under it
KERNEL_LIMITS_MEMORY = sys.platform == "linux"
START = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from clew.surface.http.import_child import main
main()
"""


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

    def run(
        self,
        job: Job,
        path: Path | None,
        *,
        progress: Callable[[Any], None],
        stopping: threading.Event,
    ) -> Mapping[str, Any]:
        """Return what the process answered: the report of a job and what it cost.

        Raise JobError if the import failed, KilledError if the process did not survive it, and
        StoppingError if `stopping` was set: the import then ends between two files, or with its
        process shortly before the grace period is over.
        """
        child = self._started()
        child.send({"job": job.kept(), "path": None if path is None else str(path)})
        deadline: float | None = None
        while True:
            message = child.receive(LOOK_SECONDS)
            if stopping.is_set():
                if deadline is None:
                    deadline = time.monotonic() + max(
                        0.0, self._settings.drain_seconds - CLOSE_SECONDS
                    )
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

    def _result(
        self, child: Child, message: Mapping[str, Any], stopping: threading.Event
    ) -> Mapping[str, Any]:
        if "report" in message:
            return message
        if "stopped" in message:
            raise StoppingError
        if "error" in message:
            raise JobError(message["error"])
        if "bug" in message:
            log.error("job failed\n%s", message["bug"])
            raise JobError(
                {"code": "bug", "message": "Something went wrong. The server's log tells more."}
            )
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
        how = (
            f"signal {signal.Signals(-code).name}"
            if code is not None and code < 0
            else f"exit code {code}"
        )
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
        # A session of its own: Ctrl+C in a terminal is for the server alone, which then decides
        # what becomes of the import.
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter, with our own program
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )
        self._requests, self._answers = (
            cast("IO[str]", self._process.stdin),
            cast("IO[str]", self._process.stdout),
        )
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
    done = subprocess.run(  # noqa: S603
        ["ps", "-o", "rss=", "-p", str(pid)],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,  # noqa: RUF100, S607
    )
    return int(done.stdout) * 1024 if done.stdout.strip().isdigit() else 0


MOST_ATTEMPTS = 3  # a job that was cut off so often may be what ends the servers
MOST_KILLS = 2  # one process may die by chance
IDLE_SECONDS = 60.0  # after which an import process, which holds the model, is ended
UNLIMITED = (
    "Imports run without limits on CPU time and memory: this platform has no module 'resource'."
)
BEAT_SECONDS = LEASE_SECONDS / 10
log = logging.getLogger("clew.http")


class Worker:
    """One thread that imports."""

    def __init__(self, jobs: Jobs, *, stopping: threading.Event) -> None:
        """Take the jobs of the store, and what says that the server is about to stop."""
        self._jobs = jobs
        self._store, self._now = jobs.clew.store, jobs.clew.now
        self._owner = Owner(server=uuid4().hex, host=platform.node(), pid=os.getpid())
        self._stopping = stopping
        opened_with = jobs.clew.opened_with
        self._process = None if opened_with is None else ImportProcess(opened_with, jobs.settings)
        # the process need not outlive its drain
        self._thread = threading.Thread(target=self._work, name="clew-jobs", daemon=True)

    def start(self) -> None:
        """Begin with what is there."""
        if self._process is not None and not LIMITED:
            log.warning(UNLIMITED)
        self._thread.start()

    @property
    def working(self) -> bool:
        """Whether it has not come to its end."""
        return self._thread.is_alive()

    def stop(self, seconds: float) -> None:
        """Take no further job, let the current one end between two files or with the grace period, and wait for that so long."""
        self._stopping.set()
        self._jobs.offered.set()
        self._thread.join(seconds)

    def _work(self) -> None:
        try:
            self._take_jobs()
        finally:
            if self._process is not None:
                self._process.close()

    def _take_jobs(self) -> None:
        worked = time.monotonic()
        while not self._stopping.is_set():
            self._jobs.offered.clear()
            try:
                job = self._claimed()
                if job is not None:
                    self._run(job)
                    worked = time.monotonic()
                    continue
            except ClewError as error:  # a busy or a full store: the job is still there
                log.warning("jobs: %s", error.code, extra={"detail": error.message})
            if self._process is not None and time.monotonic() - worked > IDLE_SECONDS:
                self._process.close()
            self._jobs.offered.wait(BEAT_SECONDS)

    def _claimed(self) -> Job | None:
        """Return the oldest job that nobody is at, marked as this server's.

        A look alone costs no write.
        """
        if not any(map(self._free, self._jobs.all())):
            return None
        with self._store.transaction():
            job = next(filter(self._free, self._jobs.all()), None)
            if job is None:
                return None
            now = iso(self._now())
            job = replace(
                job,
                state=State.RUNNING,
                owner=self._owner,
                beat=now,
                started=job.started or now,
                attempts=job.attempts + 1,
            )
            self._jobs.keep(job)
        return job

    def _free(self, job: Job) -> bool:
        if job.state is State.WAITING:
            return True
        return job.state is State.RUNNING and (
            gone(job.owner, self._owner) or job.abandoned(self._now())
        )

    def _run(self, job: Job) -> None:
        self._jobs.current = job
        done = threading.Event()
        beating = threading.Thread(target=self._beat, args=(done,), name="clew-beat", daemon=True)
        beating.start()
        try:
            ended = self._ended(job)
        finally:
            done.set()
            beating.join()
        self._end(replace(self._jobs.current, owner=None, **ended))
        self._jobs.current = None

    def _end(self, job: Job) -> None:
        if job.state in FINISHED:
            self._jobs.finish(replace(job, finished=iso(self._now())))
        else:
            self._jobs.keep(job)

    def _ended(self, job: Job) -> dict[str, Any]:
        """Return what has changed of a job when its import is over, however that went."""
        if job.attempts > MOST_ATTEMPTS:
            return _failed(
                {
                    "code": "refused",
                    "message": f"It was cut off {MOST_ATTEMPTS} times and is not tried again.",
                }
            )
        try:
            return {"state": State.DONE, "report": self._report(job)}
        except StoppingError:
            return {"state": State.WAITING, "attempts": job.attempts - 1}
        except KilledError as killed:
            return self._after_kill(job, str(killed))
        except (ClewError, JobError) as error:
            return _failed(
                error.error if isinstance(error, JobError) else payload.error(error)["error"]
            )
        except Exception:
            log.exception("job failed", extra={"job": job.id})
            return _failed(
                {"code": "bug", "message": "Something went wrong. The server's log tells more."}
            )

    def _after_kill(self, job: Job, reason: str) -> dict[str, Any]:
        """Return a job to the queue once.

        The second time its process is killed, it fails with the reason.
        """
        kills = job.kills + 1
        log.warning("import process ended", extra={"job": job.id, "detail": reason, "kills": kills})
        if kills < MOST_KILLS:
            return {"state": State.WAITING, "kills": kills}
        message = f"{reason} It was tried {kills} times and is not tried again."
        return {**_failed({"code": "refused", "message": message}), "kills": kills}

    def _report(self, job: Job) -> Mapping[str, Any]:
        clew = self._jobs.clew
        path = self._jobs.roots.opened(job.source) if job.path else None
        if self._process is None:
            return payload.imported(run_import(clew, job, path, self._progress))
        done = self._process.run(
            job, path, progress=lambda said: self._progress(**said), stopping=self._stopping
        )
        clew.watch.ledger.add(done["ledger"])
        report: Mapping[str, Any] = done["report"]
        return report

    def _progress(self, what: str, done: int, total: int | None) -> None:
        if self._stopping.is_set() and self._process is None:
            raise StoppingError
        if self._jobs.current is not None:
            self._jobs.current = replace(
                self._jobs.current, progress=Progress(what=what, done=done, total=total)
            )

    def _beat(self, done: threading.Event) -> None:
        """Say now and then that the job is being worked on, and how far it is."""
        while not done.wait(BEAT_SECONDS):
            try:
                if self._jobs.current is not None:
                    self._jobs.keep(replace(self._jobs.current, beat=iso(self._now())))
            except ClewError as error:  # the next beat may come through
                log.warning("jobs: %s", error.code, extra={"detail": error.message})


def _failed(error: Mapping[str, Any]) -> dict[str, Any]:
    return {"state": State.FAILED, "error": error}


def gone(owner: Owner | None, me: Owner) -> bool:
    """Tell whether a job's server is known to be gone.

    Its process on this machine has ended, or its number is now ours.
    """
    if owner is None:
        return True
    # elsewhere a process cannot be asked without harm: the lease decides
    if owner.host != me.host or os.name != "posix":
        return False
    if owner.pid == me.pid:
        return owner.server != me.server
    try:
        os.kill(owner.pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # it is there, and another's
        return False
    return False
