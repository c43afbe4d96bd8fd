"""The last recalls of this server with their timings.

Of a question its text only where telemetry.include_text allows it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from datetime import datetime
from typing import Any

from clew.engine.telemetry.operation import ERROR, Operation
from clew.times import iso

KEPT = 200
SHOWN = (
    "recipe",
    "preset",
    "k",
    "returned",
    "filtered",
    "nothing_relevant",
    "tokens_returned",
    "query",
    "space",
    "error",
)


class RecallLog:
    """Keeps the last recalls in memory; a telemetry listener."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        """Take what tells when a recall was over."""
        self._clock = clock
        self._entries: deque[dict[str, Any]] = deque(maxlen=KEPT)
        self._lock = threading.Lock()

    def listens(self, *, failed: bool) -> bool:  # noqa: ARG002 - the port's signature
        """Hear of all of them."""
        return True

    def record(self, done: Operation) -> None:
        """Keep a recall."""
        if done.name != "recall":
            return
        facts = {name: done.facts[name] for name in SHOWN if name in done.facts}
        entry = {
            "at": iso(self._clock()),
            "milliseconds": done.milliseconds,
            "failed": done.outcome == ERROR,
            "stages": dict(done.stages),
        }
        with self._lock:
            self._entries.appendleft({**entry, **facts})

    def embedded(self, role: str, texts: int, seconds: float) -> None:
        """Hear of the model without keeping it: the stages of a recall tell of it."""

    def close(self) -> None:
        """Have nothing to hand on."""

    def entries(self) -> list[dict[str, Any]]:
        """Return the recalls, latest first."""
        with self._lock:
            return list(self._entries)
