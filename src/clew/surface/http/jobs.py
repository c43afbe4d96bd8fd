"""Imports that callers asked for: taken on here, worked on by `worker`, kept in the store so that no restart loses one."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import replace
from threading import Event
from typing import TYPE_CHECKING, Any

from clew.engine.access import Grant, Right, known_to
from clew.engine.guarded import Guarded
from clew.errors import InputError, NotFoundError
from clew.ids import new_id
from clew.ingest.fields import MAX_SOURCE_CHARACTERS, line
from clew.surface import payload
from clew.surface.http.job import DATA_KIND, FINISHED, KIND, REPORT_KIND, Job, State, job_of
from clew.surface.http.problems import CrowdedError
from clew.times import iso

if TYPE_CHECKING:
    from clew.engine import Clew
    from clew.settings import ServeSettings
    from clew.surface.http.roots import Roots


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

    def offer_data(self, face: Guarded, data: bytes, name: str | None, options: Mapping[str, Any]) -> Job:
        """Keep what was sent until it is imported."""
        source = line("name", name, limit=MAX_SOURCE_CHARACTERS) if name else ""
        return self._offered(Job(**self._new(face, options), source=source), data)

    def _new(self, face: Guarded, options: Mapping[str, Any]) -> dict[str, Any]:
        from clew.engine.importing import options as checked  # noqa: PLC0415 - readers and chunkers, which only imports need

        space = face.space(options.get("space"), Right.WRITE)
        given = {**options, "space": space}
        checked(self.clew.settings, **given)  # what cannot be done is refused before it is promised
        now = self.clew.now()
        return {"id": new_id(now), "space": space, "created": iso(now), "by": face.grant.name, "options": given}

    def _offered(self, job: Job, data: bytes | None) -> Job:
        _check_whole(job)
        with self._store.transaction():
            waiting = self.unfinished()
            if waiting >= self.settings.waiting_jobs:
                raise CrowdedError(f"{waiting} imports are waiting already. Try again when some are done.", waiting=waiting)
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
        """Return the jobs of the spaces that the caller knows of, newest first; their reports are told one by one."""
        return tuple(self._fresh(job) for job in reversed(self.all()) if known_to(grant, job.space))

    def _fresh(self, job: Job) -> Job:
        current = self.current
        return current if current is not None and current.id == job.id and job.state is State.RUNNING else job

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
            self.keep(replace(job, options={}, report=None))  # what was to be kept beside the texts is with them now
            if job.report is not None:
                self._store.keep(REPORT_KIND, job.id, job.report)
            self._store.drop(DATA_KIND, job.id)
            # Of its space: by what is gone of one's own nobody should learn how much others import.
            over = [each.id for each in self.all() if each.state in FINISHED and each.space == job.space]
            for id in over[: -self.settings.kept_jobs]:
                self._store.drop(KIND, id)
                self._store.drop(REPORT_KIND, id)


def _check_whole(job: Job) -> None:
    """Refuse what no store can keep, before anything is promised."""
    try:
        payload.dumps(job.kept()).encode()
    except UnicodeEncodeError as error:
        raise InputError("import", job.source, "holds half a character", "Send names, tags and patterns as whole text.") from error
