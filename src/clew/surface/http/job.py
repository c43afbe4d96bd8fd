"""An import as a job: a frozen value, kept in the store beside the memories, so that it outlives the server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from clew.times import parse_time

KIND = "job"  # under which the store keeps them
DATA_KIND = "job-data"  # under the job's id: what was sent is read when its turn comes, not with every look at the list
REPORT_KIND = "job-report"  # likewise: what became of thousands of files is read by whoever asks for this job
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
class Progress:
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
    progress: Progress = field(default_factory=Progress)
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
            "progress": Progress(**known["progress"]),
            "owner": None if owner is None else Owner(**owner),
        }
    )
