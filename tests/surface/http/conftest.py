"""Fixtures: the application in this process for logic, and `clew serve` as a process for everything that a process does."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

import clew
from clew.engine.auth import Tokens
from clew.surface.http.app import make_app
from clew.testing import FixedClock
from tests.fork_server import ForkedPython
from tests.waiting import LONG_SECONDS

TEXTS = (
    "The staging database listens on port 5433",
    "Dana wants summaries as three bullet points",
    "Error E4012 means that a berth number is doubled",
)
OWN = "http://127.0.0.1"


@dataclass
class Served:
    """An application over a store of the test's own."""

    clew: clew.Clew
    client: TestClient

    def get(self, path: str, *, status: int = 200, **options: Any) -> Any:
        return self.ask("GET", path, status=status, **options)

    def post(self, path: str, body: Any = None, *, status: int = 200, **options: Any) -> Any:
        return self.ask(
            "POST", path, status=status, **({} if body is None else {"json": body}), **options
        )

    def ask(
        self, method: str, path: str, *, status: int, token: str | None = None, **options: Any
    ) -> Any:
        headers = {
            **options.pop("headers", {}),
            **({"Authorization": f"Bearer {token}"} if token else {}),
        }
        response = self.client.request(method, path, headers=headers, **options)
        assert response.status_code == status, (response.status_code, response.text)
        problem = response.headers["content-type"] == "application/problem+json"
        assert problem == (status >= 400), response.text
        return response.json()

    def add(self, text: str, **fields: Any) -> str:
        return str(self.post("/v1/memories", {"text": text, **fields}, status=201)["id"])

    def token(self, *rights: str, spaces: tuple[str, ...] | None = None, name: str = "") -> str:
        tokens = Tokens(self.clew.store, self.clew.now)
        name = name or f"{'-'.join(rights)}@{'-'.join(spaces) if spaces else 'all'}"
        return tokens.create(name, spaces=spaces, rights=rights)[0]


Serve = Callable[..., Served]


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def serve(tmp_path: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Serve the test's store under the given settings of `serve`, as often as wanted."""
    monkeypatch.setenv("HOME", str(tmp_path))
    opened: list[tuple[clew.Clew, TestClient]] = []

    def serving(
        *,
        mounts: Any = (),
        lifespans: Any = (),
        path: Path | None = None,
        others: Any = None,
        **settings: Any,
    ) -> Served:
        limits = {
            "requests_per_second": 0,
            "receive_seconds": LONG_SECONDS,
            "answer_seconds": LONG_SECONDS,
        }
        chosen = {
            "model": {"embedder": "hashing"},
            "serve": {**limits, **settings},
            **(others or {}),
        }
        memory = clew.open(path or tmp_path / "memory.clew", clock=clock, **chosen)
        client = TestClient(make_app(memory, mounts=mounts, lifespans=lifespans), base_url=OWN)
        client.__enter__()
        opened.append((memory, client))
        return Served(memory, client)

    yield serving
    for memory, client in opened:
        client.__exit__(None, None, None)
        memory.close()


@pytest.fixture
def served(serve: Serve) -> Served:
    return serve()


@pytest.fixture
def filled(served: Served) -> Served:
    for text in TEXTS:
        served.add(text)
    return served


@dataclass
class Process:
    """`clew serve` on a free port."""

    arguments: tuple[str, ...]
    environment: dict[str, str]
    child: subprocess.Popen[str] = field(init=False)
    url: str = ""

    def start(self) -> Process:
        self.child = ForkedPython(
            ["-m", "clew", "serve", "--port", "0", *self.arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment,
        )
        assert self.child.stdout is not None
        line = self.child.stdout.readline()
        found = re.search(r"http://[^\s\"]+:\d+", line)
        assert found, (
            line,
            self.child.poll(),
            self.child.stderr.read() if self.child.stderr else "",
        )
        self.url = found[0]
        return self

    def ask(self, method: str, path: str, **options: Any) -> httpx.Response:
        return httpx.request(method, f"{self.url}{path}", timeout=None, **options)

    def end(self, sign: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        if self.child.poll() is None:
            self.child.send_signal(sign)
        return self.ended()

    def ended(self) -> tuple[int, str]:
        """Wait for a server that has been told to stop.

        Return its exit code and what it wrote to stderr.
        """
        _, errors = self.child.communicate()
        return self.child.returncode, errors


def children(pid: int, program: str) -> list[int]:
    """Return the processes that a process has started whose command line holds a text.

    Linux alone tells them.
    """
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            with suppress(OSError):  # it has ended meanwhile
                if program in Path(f"/proc/{child}/cmdline").read_text():
                    found.append(int(child))
    return found


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    started: list[Process] = []

    def starting(*arguments: str, **environment: str) -> Process:
        own = {
            "HOME": str(tmp_path),
            "CLEW_STORE": str(tmp_path / "memory.clew"),
            "CLEW_MODEL__EMBEDDER": "hashing",
            "CLEW_OFFLINE": "1",
            "CLEW_SERVE__REQUESTS_PER_SECOND": "0",
            "CLEW_SERVE__RECEIVE_SECONDS": str(LONG_SECONDS),
            "CLEW_SERVE__ANSWER_SECONDS": str(LONG_SECONDS),
        }
        outside = {
            name: value for name, value in os.environ.items() if not name.startswith("CLEW_")
        }
        started.append(Process(arguments, {**outside, **own, **environment}))
        return started[-1].start()

    yield starting
    for each in started:
        if each.child.poll() is None:
            each.child.kill()
        each.child.communicate()
