"""Wait without a time limit.

A busy machine is not a failure, and pytest's own guard ends a test that hangs.
"""

from __future__ import annotations

import time
from collections.abc import Callable

LONG_SECONDS = 3600.0  # for a limit that must not be reached; the most that a setting accepts
POLL_SECONDS = 0.01


def wait_until(holds: Callable[[], bool]) -> None:
    """Return as soon as a condition holds that another process or thread brings about without telling."""
    while not holds():
        time.sleep(POLL_SECONDS)
