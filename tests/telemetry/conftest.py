"""Fixtures: a Clew with the hashing model on a file of its own, and logging that is as it was afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import clew
from clew.settings import LogSettings
from clew.telemetry.logs import start_logging

Open: TypeAlias = Callable[..., clew.Clew]

TEXTS = ("The staging database listens on port 5433", "Dana wants summaries as three bullet points")


@pytest.fixture(autouse=True)
def _own_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("HOME", str(tmp_path))
    yield
    start_logging(LogSettings())


@pytest.fixture
def open_clew(tmp_path: Path) -> Iterator[Open]:
    opened: list[clew.Clew] = []

    def opening(**options: Any) -> clew.Clew:
        opened.append(clew.open(tmp_path / "memory.clew", **{"model": {"embedder": "hashing"}, **options}))
        return opened[-1]

    yield opening
    for each in opened:
        each.close()
