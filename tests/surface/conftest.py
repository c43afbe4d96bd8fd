"""Fixtures: the command line in this process for logic, and as a process of its own for everything a process does."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from clew.surface.cli.app import app
from tests.fork_server import run_forked

TEXTS = (
    "The staging database listens on port 5433",
    "Dana wants summaries as three bullet points",
    "Error E4012 means that a berth number is doubled",
)


@dataclass(frozen=True)
class Cli:
    """Runs commands against a store of the test's own."""

    store: Path

    def __call__(
        self, *arguments: str, stdin: str | bytes | None = None, code: int | None = 0
    ) -> Result:
        result = CliRunner().invoke(app, list(arguments), input=stdin, prog_name="clew")
        if code is not None:
            assert result.exit_code == code, (
                arguments,
                result.exit_code,
                result.output,
                result.exception,
            )
        return result

    def json(
        self, *arguments: str, stdin: str | bytes | None = None, code: int | None = 0
    ) -> dict[str, Any]:
        result = self(*arguments, "--json", stdin=stdin, code=code)
        # fails unless it is exactly one document
        document: dict[str, Any] = json.loads(result.stdout)
        return document

    def add(self, text: str, *options: str) -> str:
        return str(self.json("add", text, *options)["id"])


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    for name in [name for name in os.environ if name.startswith("CLEW_")]:
        monkeypatch.delenv(name)
    store = tmp_path / "test.clew"
    for name, value in {
        "HOME": str(tmp_path),
        "CLEW_STORE": str(store),
        "CLEW_MODEL__EMBEDDER": "hashing",
        "CLEW_MODELS": str(tmp_path / "models"),
        "CLEW_OFFLINE": "1",
        "COLUMNS": "80",
    }.items():
        monkeypatch.setenv(name, value)
    return Cli(store)


@pytest.fixture
def filled(cli: Cli) -> Cli:
    cli("add", "-", stdin="\n".join(TEXTS))
    return cli


Process = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def process(cli: Cli) -> Process:
    """Run `clew` as a process of its own, forked from one that has loaded everything, in the environment of the `cli` fixture."""

    def run(
        *arguments: str | bytes, stdin: bytes = b"", **environment: str
    ) -> subprocess.CompletedProcess[bytes]:
        return run_forked(
            ["-m", "clew", *arguments], input=stdin, env={**os.environ, **environment}
        )

    return run
