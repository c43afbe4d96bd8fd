"""Imports as jobs: taken on, worked on, looked after, and finished by the next server if this one dies."""

from __future__ import annotations

import base64
import json
import os
import platform
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clew.surface import payload
from clew.surface.http.jobs import (
    DATA_KIND,
    KIND,
    LEASE_SECONDS,
    REPORT_KIND,
    Job,
    Owner,
    State,
    job_of,
)
from clew.surface.http.worker import gone
from clew.testing import FixedClock
from clew.times import iso
from tests.surface.http.conftest import Serve, Served
from tests.waiting import LONG_SECONDS, wait_until

PAGE = "# Harbour\n\nThe cranes of the harbour are inspected in March by Anna Keller.\n"


def finished(served: Served, id: str, **options: Any) -> Any:
    wait_until(lambda: served.get(f"/v1/jobs/{id}", **options)["state"] in ("done", "failed"))
    return served.get(f"/v1/jobs/{id}", **options)


def imported(served: Served, body: Any, **options: Any) -> Any:
    return finished(served, served.post("/v1/import", body, status=202, **options)["id"], **options)


def test_data_is_imported_and_the_report_is_that_of_python(
    served: Served, serve: Serve, tmp_path: Path
) -> None:
    response = served.client.post(
        "/v1/import",
        json={"data": PAGE, "name": "harbour.md", "tags": ["port"], "category": "note"},
    )
    assert response.status_code == 202
    assert response.headers["location"] == f"/v1/jobs/{response.json()['id']}"
    job = finished(served, response.json()["id"])
    other = serve(path=tmp_path / "other.clew").clew
    assert job["state"] == "done"
    assert job["report"] == payload.imported(
        other.import_data(PAGE, name="harbour.md", tags=["port"], category="note")
    )
    assert served.clew.recall("who inspects the cranes").hits
    again = imported(
        served, {"data": PAGE, "name": "harbour.md", "tags": ["port"], "category": "note"}
    )
    assert again["report"]["totals"]["unchanged"] == 1
    assert [each["id"] for each in served.get("/v1/jobs")["jobs"]] == [again["id"], job["id"]]


def test_bytes_come_as_base64(served: Served) -> None:
    body = {
        "data": base64.b64encode(PAGE.encode()).decode(),
        "encoding": "base64",
        "name": "harbour.md",
    }
    assert imported(served, body)["report"]["totals"]["imported"] == 1
    assert served.post("/v1/import", {**body, "data": "not base64!"}, status=422)["field"] == "data"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "data"),
        ({"data": "x", "path": "y"}, "data"),
        ({"data": PAGE, "category": "nonsense"}, "category"),
        ({"data": PAGE, "format": "soup"}, "format"),
        ({"data": PAGE, "importance": 2}, "importance"),
        ({"data": PAGE, "exclude": "x"}, "exclude"),
        ({"data": PAGE, "name": "\ud800"}, "name"),
        ({"data": PAGE, "name": "a\x00b"}, "name"),
        ({"data": PAGE, "name": "x" * 5000}, "name"),
        ({"data": PAGE, "exclude": ["\udc80"]}, "import"),
    ],
)
def test_what_cannot_be_imported_is_refused_at_once(served: Served, body: Any, field: str) -> None:
    sent = json.dumps(body)  # the client itself would not send half a character
    assert (
        served.ask(
            "POST",
            "/v1/import",
            status=422,
            content=sent,
            headers={"content-type": "application/json"},
        )["field"]
        == field
    )
    assert served.get("/v1/jobs") == {"jobs": []}


def test_what_was_sent_is_let_go_when_it_is_imported(served: Served) -> None:
    imported(served, {"data": PAGE, "metadata": {"owner": "Dana"}})
    assert served.clew.store.kept(DATA_KIND) == {}
    assert "Dana" not in str(served.clew.store.kept(KIND))


def test_reports_are_told_one_by_one_and_a_look_at_the_list_does_not_read_them(
    served: Served,
) -> None:
    job = imported(served, {"data": PAGE, "name": "harbour.md"})
    assert job["report"]["files"]
    assert [each["report"] for each in served.get("/v1/jobs")["jobs"]] == [None]
    assert "harbour.md" not in str(
        [each["report"] for each in served.clew.store.kept(KIND).values()]
    )
    assert served.clew.store.record(REPORT_KIND, job["id"]) == job["report"]


def test_imports_of_others_let_go_of_nothing_of_mine(serve: Serve) -> None:
    served = serve(kept_jobs=1)
    mine, other = served.token("write", spaces=("mine",)), served.token("write", spaces=("theirs",))
    job = imported(served, {"data": PAGE}, token=mine)
    seen = [
        imported(served, {"data": PAGE, "name": f"{number}.md"}, token=other)["id"]
        for number in range(3)
    ]
    assert [each["id"] for each in served.get("/v1/jobs", token=mine)["jobs"]] == [job["id"]]
    assert [each["id"] for each in served.get("/v1/jobs", token=other)["jobs"]] == seen[-1:]
    assert [served.clew.store.record(REPORT_KIND, id) is None for id in seen] == [True, True, False]


def test_a_job_is_found_by_its_own_id_and_by_nothing_else(served: Served) -> None:
    job = imported(served, {"data": PAGE})
    for other in (job["id"][:-1], job["id"].upper(), "0" * 26, "%ED%B3%A4", "%00"):
        assert served.get(f"/v1/jobs/{other}", status=404)["code"] == "refused.not_found"
    assert served.get(f"/v1/jobs/{job['id']}") == job


# --- paths ---


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "deeper").mkdir(parents=True)
    (folder / "harbour.md").write_text(PAGE, encoding="utf-8")
    (folder / "deeper" / "berths.md").write_text(
        "# Berths\n\nBerth 7 is closed until May for dredging.\n", encoding="utf-8"
    )
    (tmp_path / "secret.md").write_text(
        "# Secret\n\nThe canary of the harbour master is yellow.\n", encoding="utf-8"
    )
    return folder


def test_no_path_is_opened_unless_a_folder_is_allowed(served: Served, notes: Path) -> None:
    assert (
        served.post("/v1/import", {"path": str(notes)}, status=403)["code"] == "refused.forbidden"
    )


def test_a_folder_below_an_allowed_one_is_imported(serve: Serve, notes: Path) -> None:
    served = serve(import_roots=[str(notes)])
    assert imported(served, {"path": str(notes)})["report"]["totals"]["imported"] == 2
    assert imported(served, {"path": "deeper"})["report"]["totals"]["unchanged"] == 1
    assert imported(served, {"path": "harbour.md"})["report"]["totals"]["unchanged"] == 1


@pytest.mark.parametrize(
    "path",
    [
        "../secret.md",
        "link.md",
        "deeper/../../secret.md",
        "outside",
        "outside/secret.md",
        "*.md",
        "/etc/passwd",
        "\x00",
        "",
        "nowhere.md",
        "a" * 5000,
        "loop",
    ],
)
def test_no_way_leads_out_of_the_allowed_folders(serve: Serve, notes: Path, path: str) -> None:
    (notes / "link.md").symlink_to(notes.parent / "secret.md")
    (notes / "outside").symlink_to(notes.parent)
    (notes / "loop").symlink_to(notes / "loop")
    served = serve(import_roots=[str(notes)])
    problem = served.client.post("/v1/import", json={"path": path})
    assert problem.status_code in (403, 422)
    assert "exist" not in problem.json()["detail"]


def test_links_inside_an_imported_folder_lead_nowhere_outside(serve: Serve, notes: Path) -> None:
    (notes / "link.md").symlink_to(notes.parent / "secret.md")
    (notes / "outside").symlink_to(notes.parent)
    served = serve(import_roots=[str(notes)])
    report = imported(served, {"path": str(notes)})["report"]
    assert report["totals"]["imported"] == 2
    assert not [
        hit
        for hit in served.clew.recall("canary of the harbour master").hits
        if "canary" in hit.text
    ]


def test_what_lies_outside_cannot_be_told_from_what_is_not_there(serve: Serve, notes: Path) -> None:
    served = serve(import_roots=[str(notes)])
    told = [
        served.post("/v1/import", {"path": path}, status=403)["detail"]
        for path in ("../secret.md", "../nothing.md")
    ]
    assert told[0] == told[1]


# --- spaces ---


def test_a_job_is_seen_by_those_who_know_its_space(served: Served) -> None:
    writer, reader, other = (
        served.token("write", spaces=("work",)),
        served.token("read", spaces=("work",)),
        served.token("admin", spaces=("x",)),
    )
    job = imported(served, {"data": PAGE}, token=writer)
    assert job["space"] == "work"
    served.get(f"/v1/jobs/{job['id']}", token=reader)
    served.get(f"/v1/jobs/{job['id']}", status=404, token=other)
    served.post("/v1/import", {"data": PAGE}, status=403, token=reader)
    assert served.clew.stats(space="work")["nodes"] == 1


# --- restarts ---


def left_behind(served: Served, **changes: Any) -> Job:
    """A job as a server that died has left it."""
    now = served.clew.now()
    job = Job(
        id="0" * 26,
        space="default",
        source="harbour.md",
        created=iso(now),
        options={"space": "default"},
    )
    served.clew.store.keep(DATA_KIND, job.id, {"base64": base64.b64encode(PAGE.encode()).decode()})
    job = replace(job, state=State.RUNNING, attempts=1, started=iso(now), beat=iso(now), **changes)
    served.clew.store.keep(KIND, job.id, job.kept())
    return job


def dead_process() -> int:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def test_a_job_of_a_dead_process_is_done_at_the_next_start(served: Served, serve: Serve) -> None:
    job = left_behind(served, owner=Owner(server="other", host=platform.node(), pid=dead_process()))
    done = finished(serve(), job.id)
    assert (done["state"], done["attempts"], done["report"]["totals"]["imported"]) == ("done", 2, 1)


def test_a_job_of_another_machine_is_left_until_its_lease_is_over(
    served: Served, serve: Serve, clock: FixedClock
) -> None:
    job = left_behind(served, owner=Owner(server="other", host="elsewhere", pid=1))
    second = serve()
    assert second.get(f"/v1/jobs/{job.id}")["state"] == "running"
    clock.advance(seconds=LEASE_SECONDS + 1)
    # Else it looks every few seconds
    second.client.app.state.service.jobs.offered.set()  # type: ignore[attr-defined]
    assert finished(second, job.id)["state"] == "done"


def test_a_job_that_ended_three_servers_is_not_tried_again(served: Served, serve: Serve) -> None:
    job = left_behind(served, owner=None)
    served.clew.store.keep(KIND, job.id, replace(job, attempts=3).kept())
    done = finished(serve(), job.id)
    assert (done["state"], done["error"]["code"]) == ("failed", "refused")


def test_a_job_whose_data_is_gone_says_so(served: Served, serve: Serve) -> None:
    job = left_behind(served, owner=None)
    served.clew.store.drop(DATA_KIND, job.id)
    done = finished(serve(), job.id)
    assert (done["state"], done["error"]["code"]) == ("failed", "refused.not_found")
    assert "Send it again" in done["error"]["message"]


def test_a_server_that_stops_leaves_the_job_for_the_next(
    serve: Serve, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve(import_roots=[str(notes)])
    begun, go_on = threading.Event(), threading.Event()
    real = served.clew.import_path

    def slow(*paths: Any, progress: Callable[..., None], **options: Any) -> Any:
        def told(*what: Any) -> None:
            begun.set()
            go_on.wait()
            progress(*what)

        return real(*paths, progress=told, **options)

    monkeypatch.setattr(served.clew, "import_path", slow)
    id = served.post("/v1/import", {"path": str(notes)}, status=202)["id"]
    begun.wait()
    assert served.get(f"/v1/jobs/{id}")["state"] == "running"
    served.client.app.state.service.draining.set()  # type: ignore[attr-defined]
    go_on.set()
    served.client.app.state.worker.stop(LONG_SECONDS)  # type: ignore[attr-defined]
    assert served.get("/health", status=503)["code"] == "http.draining"
    record = served.clew.store.record(KIND, id)
    assert record is not None
    assert job_of(record).state is State.WAITING
    done = finished(serve(import_roots=[str(notes)]), id)
    assert (done["state"], done["attempts"], done["report"]["totals"]["imported"]) == ("done", 1, 2)


def test_an_import_that_fails_says_why(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any, **__: Any) -> None:
        raise KeyError("a secret of the inside")

    monkeypatch.setattr(served.clew, "import_data", failing)
    job = imported(served, {"data": PAGE})
    assert (job["state"], job["error"]["code"]) == ("failed", "bug")
    assert "secret" not in str(job)


def test_only_so_many_wait_and_only_so_many_are_remembered(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve(waiting_jobs=2, kept_jobs=2)
    go_on = threading.Event()
    real = served.clew.import_data
    monkeypatch.setattr(
        served.clew, "import_data", lambda *data, **options: go_on.wait() and real(*data, **options)
    )
    ids = [
        served.post("/v1/import", {"data": PAGE, "name": f"{n}.md"}, status=202)["id"]
        for n in range(2)
    ]
    response = served.client.post("/v1/import", json={"data": PAGE})
    assert (response.status_code, response.json()["code"]) == (503, "http.crowded")
    go_on.set()
    for id in ids:
        finished(served, id)
    last = imported(served, {"data": PAGE, "name": "2.md"})
    assert [job["id"] for job in served.get("/v1/jobs")["jobs"]] == [last["id"], ids[1]]


def test_a_process_that_is_there_is_not_gone() -> None:
    me = Owner(server="me", host="here", pid=os.getpid())
    assert not gone(me, me)
    assert gone(replace(me, server="before"), me)
    assert not gone(replace(me, pid=os.getppid(), server="other"), me)
    assert gone(replace(me, pid=dead_process(), server="other"), me)
    assert not gone(replace(me, host="elsewhere", pid=dead_process()), me)
    assert gone(None, me)
