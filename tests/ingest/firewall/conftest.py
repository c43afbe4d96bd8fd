"""A Clew behind the firewall, and the planted texts: written by hand, one set while the rules were made, others after they were frozen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import clew
from clew.testing import FixedClock

Open: TypeAlias = Callable[..., clew.Clew]


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.clew"


@pytest.fixture
def open_clew(path: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Open]:
    """Open the store of the test as often as wanted; everything is closed at the end."""
    monkeypatch.setenv("HOME", str(tmp_path))
    opened: list[clew.Clew] = []

    def opening(**options: Any) -> clew.Clew:
        opened.append(clew.open(path, **{"model": {"embedder": "hashing"}, "clock": clock, **options}))
        return opened[-1]

    yield opening
    for each in opened:
        each.close()


@pytest.fixture
def memory(open_clew: Open) -> clew.Clew:
    return open_clew()
