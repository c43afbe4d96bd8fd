"""Nothing of this machine's configuration, and logging that is as it was afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from clew.settings import LogSettings
from clew.telemetry.logs import start_logging

TEXTS = ("The staging database listens on port 5433", "Dana wants summaries as three bullet points")


@pytest.fixture(autouse=True)
def _own_machine(home: Path) -> Iterator[None]:
    yield
    start_logging(LogSettings())
