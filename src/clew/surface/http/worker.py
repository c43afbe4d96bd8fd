"""Works on imports in the background, one at a time, the oldest first; what a dead server had begun, the next one does again.

An import may be done twice without harm: what is there already is left as it is. So a job belongs to the server that claimed
it until that server is known to be dead or has not been heard of for a while, and is then claimed by another.

The import itself runs in another process with limits (`import_process`), so that no document can hold up the server. Only a
Clew that another process cannot open, because it is in memory or was given Python objects, imports in the worker's thread.
"""

from __future__ import annotations

import logging
import os
import platform
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from clew.errors import ClewError
from clew.surface import payload
from clew.surface.http.import_process import LIMITED, ImportProcess, JobError, KilledError
from clew.surface.http.job import FINISHED, LEASE_SECONDS, Job, Owner, Progress, State
from clew.surface.http.job_import import StoppingError, run_import
from clew.times import iso

if TYPE_CHECKING:
    from clew.surface.http.jobs import Jobs

MOST_ATTEMPTS = 3  # a job that was cut off so often may be what ends the servers
MOST_KILLS = 2  # one process may die by chance
IDLE_SECONDS = 60.0  # after which an import process, which holds the model, is ended
UNLIMITED = "Imports run without limits on CPU time and memory: this platform has no module 'resource'."
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
        self._thread = threading.Thread(target=self._work, name="clew-jobs", daemon=True)  # the process need not outlive its drain

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
        """Return the oldest job that nobody is at, marked as this server's; a look alone costs no write."""
        if not any(map(self._free, self._jobs.all())):
            return None
        with self._store.transaction():
            job = next(filter(self._free, self._jobs.all()), None)
            if job is None:
                return None
            now = iso(self._now())
            job = replace(job, state=State.RUNNING, owner=self._owner, beat=now, started=job.started or now, attempts=job.attempts + 1)
            self._jobs.keep(job)
        return job

    def _free(self, job: Job) -> bool:
        if job.state is State.WAITING:
            return True
        return job.state is State.RUNNING and (gone(job.owner, self._owner) or job.abandoned(self._now()))

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
            return _failed({"code": "refused", "message": f"It was cut off {MOST_ATTEMPTS} times and is not tried again."})
        try:
            return {"state": State.DONE, "report": self._report(job)}
        except StoppingError:
            return {"state": State.WAITING, "attempts": job.attempts - 1}
        except KilledError as killed:
            return self._after_kill(job, str(killed))
        except (ClewError, JobError) as error:
            return _failed(error.error if isinstance(error, JobError) else payload.error(error)["error"])
        except Exception:
            log.exception("job failed", extra={"job": job.id})
            return _failed({"code": "bug", "message": "Something went wrong. The server's log tells more."})

    def _after_kill(self, job: Job, reason: str) -> dict[str, Any]:
        """Return a job to the queue once; the second time its process is killed, it fails with the reason."""
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
        done = self._process.run(job, path, progress=lambda said: self._progress(**said), stopping=self._stopping)
        clew.watch.ledger.add(done["ledger"])
        report: Mapping[str, Any] = done["report"]
        return report

    def _progress(self, what: str, done: int, total: int | None) -> None:
        if self._stopping.is_set() and self._process is None:
            raise StoppingError
        if self._jobs.current is not None:
            self._jobs.current = replace(self._jobs.current, progress=Progress(what=what, done=done, total=total))

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
    """Tell whether a job's server is known to be gone: its process on this machine has ended, or its number is now ours."""
    if owner is None:
        return True
    if owner.host != me.host or os.name != "posix":  # elsewhere a process cannot be asked without harm: the lease decides
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
