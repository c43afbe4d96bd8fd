"""What the engine asks of whoever wants to know what it does."""

from __future__ import annotations

from typing import Protocol

from clew.telemetry.operation import Operation


class Telemetry(Protocol):
    """Takes note of operations. Called after each, in its thread: it must be quick."""

    def listens(self, *, failed: bool) -> bool:
        """Tell whether anybody would see the record of an operation that succeeded or failed; else none is made."""

    def record(self, done: Operation) -> None:
        """Take note of one operation."""

    def embedded(self, role: str, texts: int, seconds: float) -> None:
        """Take note that a model embedded texts."""

    def close(self) -> None:
        """Hand on what is waiting."""
