"""Imports that callers asked for.

Taken on here, worked on by `worker`, kept in the store so that no restart loses one.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from clew.engine.auth import Grant, Right, known_to
from clew.engine.authorised import Guarded
from clew.errors import ForbiddenError, InputError, NotFoundError
from clew.ids import new_id
from clew.memories.validation import MAX_SOURCE_CHARACTERS, line
from clew.surface import payload
from clew.surface.http.problems import CrowdedError
from clew.times import iso, parse_time

if TYPE_CHECKING:
    from clew.documents.importing import ImportReport
    from clew.engine import Clew
    from clew.ports import Progress
    from clew.settings import ServeSettings

# An import as a job: a frozen value, kept in the store beside the memories, so that it outlives the
# server.

KIND = "job"  # under which the store keeps them
# under the job's id: what was sent is read when its turn comes, not with every look at the list
DATA_KIND = "job-data"
# likewise: what became of thousands of files is read by whoever asks for this job
REPORT_KIND = "job-report"
LEASE_SECONDS = 30.0  # a job whose server has not been heard of for so long is taken over


class State(StrEnum):
    """How far a job has come."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


FINISHED = (State.DONE, State.FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """The process that runs a job."""

    server: str
    host: str
    pid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JobProgress:
    """What is being done, how much is done, and how much there is, where that is known."""

    what: str = ""
    done: int = 0
    total: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One import: what was asked for, how far it is, and what became of it."""

    id: str
    space: str
    source: str
    """The path as it was named, or the name of what was sent."""
    created: str
    by: str = ""
    path: bool = False
    """Whether `source` is a path on the server's machine."""
    options: Mapping[str, Any] = field(default_factory=dict)
    state: State = State.WAITING
    attempts: int = 0
    kills: int = 0
    """How many import processes died or exceeded a limit while they ran this job."""
    started: str | None = None
    finished: str | None = None
    progress: JobProgress = field(default_factory=JobProgress)
    report: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    owner: Owner | None = None
    beat: str | None = None
    """When its server was last heard of."""

    def kept(self) -> dict[str, Any]:
        """Return it as the record that the store keeps."""
        return {**asdict(self), "options": dict(self.options), "state": str(self.state)}

    def shown(self) -> dict[str, Any]:
        """Return it as callers see it."""
        hidden = ("owner", "beat", "by", "options", "path", "kills")
        return {name: value for name, value in self.kept().items() if name not in hidden}

    def abandoned(self, now: datetime) -> bool:
        """Tell whether the server that ran it has not been heard of for too long."""
        heard = None if self.beat is None else parse_time(self.beat, "beat")
        return heard is None or now - heard > timedelta(seconds=LEASE_SECONDS)


def job_of(record: Mapping[str, Any]) -> Job:
    """Return the job that a record tells of; what a later version has added is left out."""
    known = {each.name: record[each.name] for each in fields(Job) if each.name in record}
    owner = known.get("owner")
    return Job(
        **{
            **known,
            "state": State(known["state"]),
            "progress": JobProgress(**known["progress"]),
            "owner": None if owner is None else Owner(**owner),
        }
    )


class Jobs:
    """The imports of a store."""

    def __init__(self, clew: Clew, *, settings: ServeSettings, roots: Roots) -> None:
        """Take what imports, and from where files may be."""
        self.clew, self.settings, self.roots = clew, settings, roots
        self._store = clew.store
        self.current: Job | None = None
        """The one that this server is at: its progress is written down only now and then."""
        self.offered = Event()

    def offer_path(self, face: Guarded, path: str, options: Mapping[str, Any]) -> Job:
        """Keep the wish to import a path; refuse it now if it may not be opened."""
        new = self._new(face, options)
        self.roots.opened(path)
        return self._offered(Job(**new, source=path, path=True), None)

    def offer_data(
        self, face: Guarded, data: bytes, name: str | None, options: Mapping[str, Any]
    ) -> Job:
        """Keep what was sent until it is imported."""
        source = line("name", name, limit=MAX_SOURCE_CHARACTERS) if name else ""
        return self._offered(Job(**self._new(face, options), source=source), data)

    def _new(self, face: Guarded, options: Mapping[str, Any]) -> dict[str, Any]:
        # Readers and chunkers, which only imports need
        from clew.engine.importing import options as checked  # noqa: PLC0415

        space = face.space(options.get("space"), Right.WRITE)
        given = {**options, "space": space}
        checked(self.clew.settings, **given)  # what cannot be done is refused before it is promised
        now = self.clew.now()
        return {
            "id": new_id(now),
            "space": space,
            "created": iso(now),
            "by": face.grant.name,
            "options": given,
        }

    def _offered(self, job: Job, data: bytes | None) -> Job:
        _check_whole(job)
        with self._store.transaction():
            waiting = self.unfinished()
            if waiting >= self.settings.waiting_jobs:
                raise CrowdedError(
                    f"{waiting} imports are waiting already. Try again when some are done.",
                    waiting=waiting,
                )
            if data is not None:
                self._store.keep(DATA_KIND, job.id, {"base64": base64.b64encode(data).decode()})
            self.keep(job)
        self.offered.set()
        return job

    def get(self, grant: Grant, id: str) -> Job:
        """Return a job of a space that the caller knows of."""
        record = self._store.record(KIND, id)
        found = None if record is None else self._fresh(job_of(record))
        if found is None or not known_to(grant, found.space):
            raise NotFoundError(f"No job {id}.", id=id)
        report = self._store.record(REPORT_KIND, id)
        return found if report is None else replace(found, report=report)

    def list(self, grant: Grant) -> tuple[Job, ...]:
        """Return the jobs of the spaces that the caller knows of, newest first.

        Their reports are told one by one.
        """
        return tuple(self._fresh(job) for job in reversed(self.all()) if known_to(grant, job.space))

    def _fresh(self, job: Job) -> Job:
        current = self.current
        return (
            current
            if current is not None and current.id == job.id and job.state is State.RUNNING
            else job
        )

    def unfinished(self) -> int:
        """Return how many are waiting or running."""
        return sum(job.state not in FINISHED for job in self.all())

    def all(self) -> tuple[Job, ...]:
        """Return every job, oldest first."""
        return tuple(job_of(record) for record in self._store.kept(KIND).values())

    def keep(self, job: Job) -> None:
        """Write a job down."""
        self._store.keep(KIND, job.id, job.kept())

    def finish(self, job: Job) -> None:
        """Write down how a job ended, and let go of what was sent with it and of the oldest of its space that are over."""
        with self._store.transaction():
            # what was to be kept beside the texts is with them now
            self.keep(replace(job, options={}, report=None))
            if job.report is not None:
                self._store.keep(REPORT_KIND, job.id, job.report)
            self._store.drop(DATA_KIND, job.id)
            # Of its space: by what is gone of one's own nobody should learn how much others import.
            over = [
                each.id for each in self.all() if each.state in FINISHED and each.space == job.space
            ]
            for id in over[: -self.settings.kept_jobs]:
                self._store.drop(KIND, id)
                self._store.drop(REPORT_KIND, id)


def _check_whole(job: Job) -> None:
    """Refuse what no store can keep, before anything is promised."""
    try:
        payload.dumps(job.kept()).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            "import",
            job.source,
            "holds half a character",
            "Send names, tags and patterns as whole text.",
        ) from error


# The import that a job describes.


class StoppingError(Exception):
    """The server is about to stop.

    The import ends between two files and is continued at the next start.
    """


def run_import(clew: Clew, job: Job, path: Path | None, progress: Progress) -> ImportReport:
    """Import the path, or without one the data that was sent with the job."""
    # The caller's rights were checked when the job was accepted: here it may write to its space and
    # do nothing else.
    grant = Grant(name=job.by, rights=frozenset({Right.WRITE}), spaces=frozenset({job.space}))
    face = Guarded(clew, grant)
    if path is not None:
        return face.import_path(path, progress=progress, **job.options)
    record = clew.store.record(DATA_KIND, job.id)
    if record is None:
        raise NotFoundError(f"What was sent with job {job.id} is gone. Send it again.", id=job.id)
    return face.import_data(
        base64.b64decode(record["base64"]),
        name=job.source or None,
        progress=progress,
        **job.options,
    )


# Which paths a request may name: those that lie, with every link followed, below a folder that the
# settings allow.


class Roots:
    """The folders below which files may be imported; none, unless the settings name some."""

    def __init__(self, folders: Iterable[str]) -> None:
        """Take the folders as they are written; they are looked up anew for every request."""
        self._folders = tuple(folders)

    def opened(self, path: str) -> Path:
        """Return the real place of a path, absolute or below a root, or raise.

        Nothing is said of what lies outside.
        """
        if not self._folders:
            raise ForbiddenError(
                "This server imports no paths. Send the data itself, or allow a folder with the setting serve.import_roots."
            )
        if not path or "\0" in path:
            raise InputError("path", path, "is no path", "Name a file or a folder.")
        for folder in self._folders:
            root = Path(folder).expanduser().resolve()
            if (found := _below(root, path)) is not None:
                return found
        # One answer for what is not there and for what is elsewhere: a caller must not learn which
        # files this machine has.
        raise ForbiddenError(
            "There is no such file or folder below those that may be imported. See the setting serve.import_roots.",
            path=path,
        )


def _below(root: Path, path: str) -> Path | None:
    try:
        real = (root / path).resolve(strict=True)
    except (
        OSError,
        RuntimeError,
        ValueError,
    ):  # not there, not readable, a loop of links, a name that no file can have
        return None
    return real if real.is_relative_to(root) else None
