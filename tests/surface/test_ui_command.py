"""`clew ui` as a process.

A link that works once, for this machine alone, until it is told to stop.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.fork_server import ForkedPython


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    outside = {name: value for name, value in os.environ.items() if not name.startswith("CLEW_")}
    return {
        **outside,
        "HOME": str(tmp_path),
        "CLEW_MODEL__EMBEDDER": "hashing",
        "CLEW_OFFLINE": "1",
    }


def test_the_link_signs_in_once_and_interrupting_ends_it(
    environment: dict[str, str], tmp_path: Path
) -> None:
    arguments = ["-m", "clew", "ui", "--no-browser", "--json"]
    child = ForkedPython(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    assert child.stdout is not None
    told = json.loads(child.stdout.readline())
    url, _, once = told["url"].partition("/ui/#once=")
    assert url.startswith("http://127.0.0.1:")
    assert told["store"].startswith(str(tmp_path))

    def ask(method: str, path: str, **options: object) -> httpx.Response:
        return httpx.request(method, f"{url}{path}", timeout=None, **options)  # type: ignore[arg-type]

    assert ask("GET", "/ui/").status_code == 200
    assert ask("GET", "/v1/me").status_code == 401
    assert ask("GET", "/v1/me", headers={"Authorization": f"Bearer {once}"}).status_code == 401
    assert ask("POST", "/ui/session", json={"once": "another"}).status_code == 401
    key = ask("POST", "/ui/session", json={"once": once}).json()["key"]
    assert ask("POST", "/ui/session", json={"once": once}).status_code == 401
    assert (
        ask("GET", "/v1/me", headers={"Authorization": f"Bearer {key}"}).json()["whole_store"]
        is True
    )
    child.send_signal(signal.SIGINT)
    child.communicate()
    assert child.returncode == 0


def test_a_store_that_is_named_and_not_there_is_an_error(
    environment: dict[str, str], tmp_path: Path
) -> None:
    arguments = ["-m", "clew", "ui", "--no-browser", "--store", str(tmp_path / "no-such.clew")]
    child = ForkedPython(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    _, errors = child.communicate()
    assert child.returncode != 0
    assert "There is no store at" in errors
    assert not (tmp_path / "no-such.clew").exists()
