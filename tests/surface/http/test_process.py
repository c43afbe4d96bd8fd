"""`clew serve` as a process: where it listens, how it stops, and what is left when it is killed."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

import clew
from tests.fork_server import run_forked
from tests.surface.http.conftest import TEXTS, Process
from tests.waiting import LONG_SECONDS, wait_until

Start = Callable[..., Process]


def cli(process: Process, *arguments: str, code: int = 0) -> Any:
    done = run_forked(["-m", "clew", *arguments, "--json"], text=True, env=process.environment)
    assert done.returncode == code, (done.stdout, done.stderr)
    return json.loads(done.stdout)


def test_it_says_where_it_listens_and_ends_with_0_when_told_to(process: Start) -> None:
    server = process("--json")
    assert server.ask("GET", "/health").json()["status"] in ("starting", "ready")
    assert server.ask("GET", "/v1/stats").json()["nodes"] == 0, (
        "what is asked before the routes are loaded waits for them"
    )
    assert server.ask("GET", "/health").json() == {"status": "ready"}
    assert server.end(signal.SIGTERM) == (0, "")
    again = process()
    assert again.end(signal.SIGINT)[0] == 0


def test_told_to_stop_it_finishes_what_it_has_begun(process: Start, tmp_path: Path) -> None:
    server = process(CLEW_SERVE__DRAIN_SECONDS=str(LONG_SECONDS))
    memories = [
        {"text": f"Berth {number} of the harbour is dredged in the year {2000 + number}"}
        for number in range(800)
    ]
    with ThreadPoolExecutor(1) as pool:
        begun = pool.submit(server.ask, "POST", "/v1/memories/batch", json={"memories": memories})
        with clew.open(tmp_path / "memory.clew", model={"embedder": "hashing"}) as store:
            wait_until(lambda: store.stats()["nodes"] > 0)
        server.child.send_signal(signal.SIGTERM)
        answer = begun.result()
    assert answer.status_code == 200
    assert answer.json()["counts"] == {"inserted": 800}
    assert server.ended()[0] == 0
    with pytest.raises(httpx.TransportError):
        server.ask("GET", "/health")


STUCK = """
import ctypes, sys, time, clew
from clew.surface.http.serving import serve
hold = {"sleeping": time.sleep, "holding the lock": ctypes.PyDLL(None).sleep}[sys.argv[2]]
def recall(*_, **__):
    print("stuck", flush=True)
    hold(100_000)
with clew.open(sys.argv[1], model={"embedder": "hashing"}, serve={"port": 0, "drain_seconds": 1}) as memory:
    memory.recall = recall
    serve(memory, memory.settings.serve, announce=lambda url: print(url, flush=True))
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize(("how", "code"), [("sleeping", 0), ("holding the lock", -signal.SIGKILL)])
def test_told_to_stop_it_ends_although_a_recall_is_stuck_in_c_code(
    tmp_path: Path, how: str, code: int
) -> None:
    command = [sys.executable, "-c", STUCK, str(tmp_path / "memory.clew"), how]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server,
        ThreadPoolExecutor(1) as pool,
    ):
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        asked = pool.submit(
            httpx.post, f"{url}/v1/recall", json={"query": "the harbour"}, timeout=None
        )
        assert server.stdout.readline() == "stuck\n"
        server.terminate()
        assert server.wait() == code
        with pytest.raises(httpx.HTTPError):
            asked.result().raise_for_status()


def test_told_to_stop_it_ends_although_a_request_is_still_arriving(process: Start) -> None:
    server = process(CLEW_SERVE__DRAIN_SECONDS="1", CLEW_SERVE__RECEIVE_SECONDS="3000")
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as client:
        client.sendall(
            b"POST /v1/recall HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
        )
        assert server.ask("GET", "/health").status_code == 200
        assert server.end()[0] == 0


def test_what_was_acknowledged_is_there_after_kill_9(process: Start, tmp_path: Path) -> None:
    server = process()
    acknowledged: list[str] = []

    def writing() -> None:
        with httpx.Client(base_url=server.url, timeout=None) as client:
            for number in range(100_000):
                try:
                    answer = client.post(
                        "/v1/memories",
                        json={
                            "text": f"Crane {number} of the harbour was greased by hand",
                            "near": False,
                        },
                    )
                except httpx.TransportError:
                    return
                acknowledged.append(answer.json()["id"])

    writer = threading.Thread(target=writing)
    writer.start()
    wait_until(lambda: len(acknowledged) >= 30)
    server.child.kill()
    writer.join()
    with clew.open(tmp_path / "memory.clew", model={"embedder": "hashing"}) as store:
        assert all(store.get(id) is not None for id in acknowledged)
        assert store.verify() == ()


def test_a_killed_import_goes_on_at_the_next_start(process: Start, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(200):
        (notes / f"{number}.md").write_text(
            f"# Berth {number}\n\n" + f"Berth {number} is dredged every {number} years. " * 40
        )
    server = process(CLEW_SERVE__IMPORT_ROOTS=json.dumps([str(notes)]))
    taken = server.ask("POST", "/v1/import", json={"path": str(notes)})
    assert taken.status_code == 202, (taken.text, server.end())
    id = taken.json()["id"]
    wait_until(lambda: server.ask("GET", f"/v1/jobs/{id}").json()["progress"]["done"] > 5)
    server.child.kill()
    server.child.wait()
    second = process(CLEW_SERVE__IMPORT_ROOTS=json.dumps([str(notes)]))
    wait_until(lambda: second.ask("GET", f"/v1/jobs/{id}").json()["state"] == "done")
    job = second.ask("GET", f"/v1/jobs/{id}").json()
    totals = job["report"]["totals"]
    assert job["attempts"] == 2
    assert totals["unchanged"] >= 5
    assert totals["imported"] + totals["unchanged"] == 200
    assert second.end()[0] == 0


def test_two_servers_and_a_command_line_share_one_store(process: Start) -> None:
    one, two = process(), process()
    id = one.ask("POST", "/v1/memories", json={"text": TEXTS[0]}).json()["id"]
    assert two.ask("GET", f"/v1/memories/{id}").json()["text"] == TEXTS[0]
    other = cli(one, "add", TEXTS[1])["id"]
    question = {"query": "what does Dana want of summaries", "track": False}
    answers = [
        server.ask("POST", "/v1/recall", json=question).json()["hits"] for server in (one, two)
    ]
    own = cli(one, "recall", "what does Dana want of summaries", "--no-track")["hits"]
    assert answers[0][0]["id"] == answers[1][0]["id"] == own[0]["id"] == other
    for server in (one, two):
        assert (
            server.ask("POST", "/v1/memories", json={"text": TEXTS[1]}).json()["outcome"]
            == "exact_duplicate"
        )
    with ThreadPoolExecutor(4) as pool:
        texts = [
            f"Message {number} was sent to both servers of the harbour" for number in range(40)
        ]
        outcomes = [
            each.json()["outcome"]
            for server in (one, two)
            for each in pool.map(
                lambda text, server=server: server.ask("POST", "/v1/memories", json={"text": text}),
                texts,
            )
        ]
    assert (
        outcomes.count("inserted")
        + outcomes.count("exact_duplicate")
        + outcomes.count("near_duplicate")
        == 80
    )
    two.ask("DELETE", f"/v1/memories/{id}")
    assert one.ask("GET", f"/v1/memories/{id}").status_code == 404
    assert cli(one, "verify")["sound"]


def test_it_listens_beyond_the_machine_only_with_a_token(process: Start, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="clew token create"):
        process("--host", "0.0.0.0")
    with clew.open(tmp_path / "memory.clew", model={"embedder": "hashing"}) as store:
        from clew.engine.auth import Tokens

        secret, _ = Tokens(store.store, store.now).create("far", spaces=None, rights=["read"])
    server = process("--host", "0.0.0.0")
    server.url = server.url.replace("0.0.0.0", "127.0.0.1")
    assert server.ask("GET", "/v1/jobs").status_code == 401
    assert (
        server.ask("GET", "/v1/jobs", headers={"Authorization": f"Bearer {secret}"}).status_code
        == 200
    )


def test_a_port_that_is_taken_is_said(process: Start) -> None:
    server = process()
    port = server.url.rpartition(":")[2]
    done = run_forked(["-m", "clew", "serve", "--port", port], text=True, env=server.environment)
    assert done.returncode == 2
    assert "cannot be listened on" in done.stderr


def test_nothing_heavy_is_loaded_before_it_is_needed() -> None:
    program = """
import sys, clew
from clew.surface.http.app import make_app
from starlette.testclient import TestClient
with clew.open(":memory:") as memory, TestClient(make_app(memory), base_url="http://127.0.0.1") as client:
    assert client.get("/health").status_code == 200
    assert client.get("/v1/memories").status_code == 200
heavy = ("onnxruntime", "mcp", "prometheus_client", "selectolax", "rich", "clew.surface.http.openapi")
print([name for name in heavy if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ},
        check=True,
    )
    assert done.stdout.strip() == "[]"


def test_without_its_extra_it_says_what_to_install() -> None:
    program = "import sys; sys.modules['fastapi'] = None; sys.argv = ['clew', 'serve']; from clew.surface.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "pip install 'clew[serve]'" in done.stderr
