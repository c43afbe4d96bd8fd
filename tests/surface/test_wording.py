"""What a command tells a person holds.

No amount that nobody counted, no `got None`, and no server that nobody can call unawares.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import clew
from clew.engine.auth import Tokens
from clew.surface.cli import progress
from clew.surface.cli.progress import Meter
from tests.surface.http.conftest import Process

HASHING = {"CLEW_MODEL__EMBEDDER": "hashing", "CLEW_OFFLINE": "1"}


@pytest.mark.parametrize(
    ("done", "line"),
    [(0, "downloading a model: 0.0 s\n"), (2000, "downloading a model: 2.0 kB in 0.0 s\n")],
)
def test_a_download_of_unknown_size_is_not_said_to_be_of_0_bytes(
    done: int, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "LONG_SECONDS", 0.0)
    with Meter(unit="bytes") as meter:
        meter("downloading a model", done, None)
    assert capsys.readouterr().err == line


@pytest.mark.parametrize(("extra", "module"), [("mcp", "mcp"), ("serve", "fastapi")])
def test_a_missing_extra_is_named_with_the_way_to_it(extra: str, module: str) -> None:
    program = f"import sys; sys.modules['{module}'] = None; sys.argv = ['clew', '{extra}']; from clew.surface.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: extra: is not installed")
    assert done.stderr.endswith(f"(got '{extra}'). Install it with: pip install 'clew[{extra}]'\n")


@pytest.mark.parametrize(
    ("names", "warned"), [("[localhost]", True), ("[localhost, notes.example.org]", False)]
)
def test_a_server_that_listens_everywhere_says_when_no_one_elsewhere_can_call_it(
    names: str, *, warned: bool, tmp_path: Path
) -> None:
    store = tmp_path / "memory.clew"
    with clew.open(store, model={"embedder": "hashing"}) as memory:
        Tokens(memory.store, memory.now).create("far", spaces=None, rights=["read"])
    environment = {
        **os.environ,
        **HASHING,
        "CLEW_STORE": str(store),
        "CLEW_SERVE__ALLOWED_HOSTS": names,
    }
    code, said = Process(("--host", "0.0.0.0"), environment).start().end()
    assert code == 0
    assert ("serve.allowed_hosts" in said) is warned
