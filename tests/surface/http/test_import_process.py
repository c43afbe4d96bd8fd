"""Imports run in a process of their own.

What limits it, what its death means for the job, and that it dies with its server.
"""

from __future__ import annotations

import base64
import os
import signal
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import clew
from clew.surface.http import worker as import_process
from clew.surface.http.jobs import DATA_KIND, KIND, Job, StoppingError, job_of
from clew.surface.http.worker import Child, ImportProcess, JobError, KilledError
from tests.surface.http.conftest import Process, children
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")

Start = Callable[..., Process]
PAGE = "# Harbour\n\nThe cranes of the harbour are inspected in March by Anna Keller.\n"
LONG = "".join(
    f"# Berth {number}\n\nBerth {number} is dredged in spring by the crew of Anna Keller.\n\n"
    for number in range(20_000)
)
"""Takes far longer to import than a test needs to find and stop the process that does it."""


def offered(server: Process, data: str = LONG, name: str = "berths.md") -> str:
    taken = server.ask("POST", "/v1/import", json={"data": data, "name": name})
    assert taken.status_code == 202, taken.text
    return str(taken.json()["id"])


def job_at(server: Process, id: str) -> Any:
    return server.ask("GET", f"/v1/jobs/{id}").json()


def finished(server: Process, id: str) -> Any:
    wait_until(lambda: job_at(server, id)["state"] in ("done", "failed"))
    return job_at(server, id)


def import_child(server: Process, *, other_than: tuple[int, ...] = ()) -> int:
    """Wait for the process that imports and return its number."""
    found: list[int] = []

    def there() -> bool:
        found[:] = [
            pid for pid in children(server.child.pid, "import_child") if pid not in other_than
        ]
        return bool(found)

    wait_until(there)
    return found[0]


def test_an_import_runs_in_a_process_that_serves_several_jobs(process: Start) -> None:
    server = process()
    first = finished(server, offered(server, PAGE, "a.md"))
    pid = import_child(server)
    second = finished(server, offered(server, PAGE, "b.md"))
    assert [each["state"] for each in (first, second)] == ["done", "done"]
    assert children(server.child.pid, "import_child") == [pid]
    sockets = [
        each for each in Path(f"/proc/{pid}/fd").iterdir() if "socket" in str(each.readlink())
    ]
    assert sockets == [], "the process holds none of the server's sockets"
    assert server.ask("GET", "/v1/stats").json()["ledger"]["writes"] == {"imported": 2}
    assert server.end()[0] == 0


def test_a_job_that_killed_one_process_is_tried_again(process: Start) -> None:
    server = process()
    id = offered(server, LONG[:200_000])
    os.kill(import_child(server), signal.SIGKILL)
    job = finished(server, id)
    assert (job["state"], job["attempts"], job["report"]["totals"]["imported"]) == ("done", 2, 1)


def test_a_job_that_kills_two_processes_fails_with_the_reason_also_under_another_server(
    process: Start, tmp_path: Path
) -> None:
    server = process()
    id = offered(server)
    first = import_child(server)
    os.kill(first, signal.SIGKILL)
    second = import_child(server, other_than=(first,))
    server.child.kill()
    server.child.wait()
    wait_until(lambda: not Path(f"/proc/{second}").exists())  # it dies with its server
    assert record_of(tmp_path, id).kills == 1
    other = process()
    os.kill(import_child(other), signal.SIGKILL)
    job = finished(other, id)
    assert (job["state"], job["attempts"]) == ("failed", 3)
    assert "SIGKILL" in job["error"]["message"]
    assert "tried 2 times" in job["error"]["message"]
    assert finished(other, offered(other, PAGE, "next.md"))["state"] == "done", (
        "the next job gets a new process"
    )


def record_of(folder: Path, id: str) -> Job:
    with clew.open(folder / "memory.clew", model={"embedder": "none"}) as store:
        record = store.store.record(KIND, id)
    assert record is not None
    return job_of(record)


def test_a_stalled_import_holds_up_neither_health_nor_sigterm_and_is_not_counted(
    process: Start, tmp_path: Path
) -> None:
    server = process(CLEW_SERVE__DRAIN_SECONDS="1")
    id = offered(server)
    pid = import_child(server)
    os.kill(pid, signal.SIGSTOP)
    assert server.ask("GET", "/health").json() == {"status": "ready"}
    assert job_at(server, id)["state"] == "running"
    assert server.end(signal.SIGTERM)[0] == 0
    assert not Path(f"/proc/{pid}").exists()
    job = record_of(tmp_path, id)
    assert (job.state, job.attempts, job.kills, job.owner) == ("waiting", 0, 0, None)


def locked(connection: sqlite3.Connection) -> bool:
    """Try to begin a write transaction and return whether it began."""
    with suppress(sqlite3.OperationalError):
        connection.execute("BEGIN IMMEDIATE")
    return connection.in_transaction


def test_told_to_stop_it_ends_although_another_program_holds_the_store_of_an_import(
    process: Start, tmp_path: Path
) -> None:
    server = process(CLEW_SERVE__DRAIN_SECONDS="1", CLEW_STORE__BUSY_TIMEOUT_SECONDS="3000")
    offered(server)
    import_child(server)
    with closing(
        sqlite3.connect(tmp_path / "memory.clew", isolation_level=None, timeout=0)
    ) as other:
        wait_until(lambda: locked(other))
        assert server.end()[0] == 0


# --- the process without a server ---


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[clew.Clew]:
    with clew.open(tmp_path / "memory.clew", model={"embedder": "hashing"}) as memory:
        yield memory


JOB = Job(
    id="0" * 26,
    space="default",
    source="page.md",
    created="2026-01-01",
    options={"space": "default"},
)


def run(memory: clew.Clew, data: str | None, **settings: Any) -> Any:
    if data is not None:
        memory.store.keep(DATA_KIND, JOB.id, {"base64": base64.b64encode(data.encode()).decode()})
    assert memory.opened_with is not None
    process = ImportProcess(memory.opened_with, replace(memory.settings.serve, **settings))
    try:
        return process.run(JOB, None, progress=lambda _: None, stopping=threading.Event())
    finally:
        process.close()


def test_an_import_that_uses_too_much_cpu_time_is_ended_with_the_reason(opened: clew.Clew) -> None:
    with pytest.raises(KilledError, match=r"more than 1 s of CPU time .*serve\.import_cpu_seconds"):
        run(opened, LONG * 5, import_cpu_seconds=1)
    assert opened.verify() == ()


def test_a_file_that_needs_too_much_memory_fails_with_the_reason(opened: clew.Clew) -> None:
    done = run(opened, LONG * 5, import_memory_mb=200)
    assert [(file["status"], file["reason"]) for file in done["report"]["files"]] == [
        ("failed", "it needs more memory than this process may use. Split it.")
    ]
    assert opened.verify() == ()


def test_where_the_kernel_does_not_limit_memory_the_server_does(
    opened: clew.Clew, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_process, "KERNEL_LIMITS_MEMORY", False)
    with pytest.raises(KilledError, match=r"more than 20 MB of memory.*serve\.import_memory_mb"):
        run(opened, LONG, import_memory_mb=20)


def test_an_error_of_the_import_is_told_as_it_is_in_the_server(opened: clew.Clew) -> None:
    with pytest.raises(JobError) as failed:
        run(opened, None)
    assert failed.value.error["code"] == "refused.not_found"


def test_a_stalled_import_is_ended_early_enough_for_the_server_to_close_within_the_grace_period(
    opened: clew.Clew, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert opened.opened_with is not None
    looks = iter(range(20))
    # a second passes between two looks
    clock = SimpleNamespace(monotonic=lambda: float(next(looks)))
    monkeypatch.setattr(import_process, "time", clock)
    monkeypatch.setattr(Child, "receive", lambda _self, _seconds: None)  # it never answers
    process = ImportProcess(opened.opened_with, replace(opened.settings.serve, drain_seconds=10))
    stopping = threading.Event()
    stopping.set()
    with pytest.raises(StoppingError):
        process.run(JOB, None, progress=lambda _: None, stopping=stopping)
    assert next(looks) <= 10 - import_process.CLOSE_SECONDS + 1


def test_asked_to_stop_the_process_ends_the_import_between_two_steps(opened: clew.Clew) -> None:
    opened.store.keep(DATA_KIND, JOB.id, {"base64": base64.b64encode(PAGE.encode()).decode()})
    child = Child()
    limits = {"cpu_seconds": 300, "memory_mb": 2000}
    for message in (
        {"open": opened.opened_with, "parent": os.getpid(), **limits},
        {"stop": True},
        {"job": JOB.kept(), "path": None},
    ):
        child.send(message)
    answer = child.receive(600)
    child.close_input(600)
    child.kill()
    assert (answer, child.exit_code) == ({"stopped": True}, 0)
