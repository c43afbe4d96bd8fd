"""A Clew to test with: the hashing model, a clock that stands still, nothing of this machine's configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

import clew

if TYPE_CHECKING:
    from clew.testing import FixedClock

Open: TypeAlias = Callable[..., clew.Clew]


@pytest.fixture(autouse=True)
def _own_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLEW_CONFIG", "CLEW_STORE", "CLEW_SPACE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def clock() -> FixedClock:
    from clew.testing import FixedClock

    return FixedClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.clew"


@pytest.fixture
def open_clew(path: Path, clock: FixedClock) -> Iterator[Open]:
    """Open the store of the test as often as wanted; everything is closed at the end."""
    opened: list[clew.Clew] = []

    def opening(at: Path | str | None = None, **options: Any) -> clew.Clew:
        chosen = {"model": {"embedder": "hashing"}, "clock": clock, **options}
        opened.append(clew.open(path if at is None else at, **chosen))
        return opened[-1]

    yield opening
    for each in opened:
        each.close()


@pytest.fixture
def memory(open_clew: Open) -> clew.Clew:
    return open_clew()
