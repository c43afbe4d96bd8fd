"""Nothing of this machine's configuration, whichever way a Clew is opened."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _own_machine(home: Path) -> None:
    pass
