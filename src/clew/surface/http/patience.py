"""Connections that keep others waiting are ended: those whose request does not come, and those that do not read their answer.

`receiving` counts from a request's head on; before that there is nobody to ask for a token, and uvicorn waits for ever. Its limit of
connections would then be reached by whoever opens so many and says nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from clew.surface.http.streaming import STALLED_SECONDS


def patience(arriving_seconds: float, reading_seconds: float = STALLED_SECONDS) -> type[H11Protocol]:
    """Return the protocol for uvicorn: how long the head of a request may take to arrive, and an answer may lie unread."""

    class Patient(H11Protocol):
        _arriving: asyncio.TimerHandle | None = None
        _reading: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
            super().connection_made(transport)
            self._arriving = self._after(arriving_seconds, transport.close)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is not None and not self.cycle.response_complete:  # it is here, and its body is counted elsewhere
                self._arriving = _ended(self._arriving)
            elif self._arriving is None:  # bytes of the next request, or the rest of a body that was refused
                self._arriving = self._after(arriving_seconds, self.transport.close)

        def pause_writing(self) -> None:
            super().pause_writing()
            self._reading = self._reading or self._after(reading_seconds, self.transport.abort)

        def resume_writing(self) -> None:
            super().resume_writing()
            self._reading = _ended(self._reading)

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self._arriving, self._reading = _ended(self._arriving), _ended(self._reading)

        def _after(self, seconds: float, act: Callable[[], Any]) -> asyncio.TimerHandle:
            return self.loop.call_later(seconds, act)

    return Patient


def _ended(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    """Stop a timer and return what stands in its place: none."""
    if timer is not None:
        timer.cancel()
    return None
