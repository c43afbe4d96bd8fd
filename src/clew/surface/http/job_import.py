"""The import that a job describes."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from clew.engine.access import Grant, Right
from clew.engine.guarded import Guarded
from clew.errors import NotFoundError
from clew.surface.http.job import DATA_KIND, Job

if TYPE_CHECKING:
    from pathlib import Path

    from clew.engine import Clew
    from clew.ingest.importing import ImportReport
    from clew.ports import Progress


class StoppingError(Exception):
    """The server is about to stop: the import ends between two files and is continued at the next start."""


def run_import(clew: Clew, job: Job, path: Path | None, progress: Progress) -> ImportReport:
    """Import the path, or without one the data that was sent with the job."""
    # The caller's rights were checked when the job was accepted: here it may write to its space and do nothing else.
    grant = Grant(name=job.by, rights=frozenset({Right.WRITE}), spaces=frozenset({job.space}))
    face = Guarded(clew, grant)
    if path is not None:
        return face.import_path(path, progress=progress, **job.options)
    record = clew.store.record(DATA_KIND, job.id)
    if record is None:
        raise NotFoundError(f"What was sent with job {job.id} is gone. Send it again.", id=job.id)
    return face.import_data(base64.b64decode(record["base64"]), name=job.source or None, progress=progress, **job.options)
