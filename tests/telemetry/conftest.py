"""Nothing of this machine's configuration, and logging that is as it was afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from clew.engine.telemetry import exporters as opening
from clew.engine.telemetry.logs import start_logging
from clew.settings import LogSettings
from tests.waiting import LONG_SECONDS

TEXTS = ("The staging database listens on port 5433", "Dana wants summaries as three bullet points")


@pytest.fixture
def collectors_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send without a limit that a busy machine could reach."""
    for limit in ("SEND_SECONDS", "CLOSE_SECONDS"):
        monkeypatch.setattr(opening, limit, LONG_SECONDS)


@pytest.fixture(autouse=True)
def _own_machine(home: Path) -> Iterator[None]:
    yield
    start_logging(LogSettings())
