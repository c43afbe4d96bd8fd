"""Counts what recall returned, behind the caller's back: batched, damped, never in the way of an answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from time import monotonic
from typing import TypeAlias

from clew.errors import ClewError
from clew.forking import after_fork
from clew.ports import Store
from clew.settings import AccessSettings
from clew.types import NodeId

PAUSE_SECONDS = 0.05  # longer than a recall takes: nobody asks just now, and writing slows no answer down
PATIENCE_SECONDS = 2.0  # for which a full batch waits for a pause that does not come

Publish: TypeAlias = Callable[[Sequence[NodeId], datetime], None]


class AccessTracker:
    """Collects accesses and writes them together, at the latest `flush_seconds` after the first (mission M5)."""

    def __init__(self, store: Store, settings: AccessSettings, *, publish: Publish | None = None) -> None:
        """Take the store; `publish` is told of the same accesses by the same thread."""
        self._store = store
        self._settings = settings
        self._publish = publish
        self._closing = False
        self.failure: str | None = None
        self._begin()
        after_fork(self._begin)

    def _begin(self) -> None:
        """Start with nothing to write; in a forked child too, where what was waiting is the parent's to write."""
        self._condition = threading.Condition()
        self._waiting: dict[NodeId, datetime] = {}
        self._recorded = 0.0
        self._writer: threading.Thread | None = None

    def record(self, ids: Sequence[NodeId], at: datetime) -> None:
        """Take note that these were returned; the same one twice in a batch is one access."""
        if not ids:
            return
        with self._condition:
            before = len(self._waiting)
            self._waiting.update(dict.fromkeys(ids, at))
            self._recorded = monotonic()
            if self._writer is None:
                self._writer = threading.Thread(target=self._run, name="clew-accesses", daemon=True)
                self._writer.start()
            if not before or before < self._settings.batch <= len(self._waiting):  # to wake it for less costs every recall 0.1 ms
                self._condition.notify()

    def flush(self) -> None:
        """Write what is waiting, now and in this thread."""
        with self._condition:
            waiting, self._waiting = list(self._waiting.items()), {}
        for at in range(0, len(waiting), self._settings.batch):  # a piece at a time: others want to write too
            try:
                self._write(dict(waiting[at : at + self._settings.batch]))
                self.failure = None
            except ClewError as error:  # an uncounted access is a loss that statistics report, not a failed recall
                self.failure = error.message

    def _write(self, batch: dict[NodeId, datetime]) -> None:
        latest = max(batch.values())
        self._store.touch(list(batch), latest, min_interval_seconds=self._settings.min_interval_seconds)
        if self._publish is not None:
            self._publish(list(batch), latest)

    def close(self) -> None:
        """Write what is waiting and end the thread."""
        with self._condition:
            self._closing = True
            self._condition.notify()
        if self._writer is not None:
            self._writer.join()
            self._writer = None
        self.flush()

    def _run(self) -> None:
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._waiting or self._closing)
                began = monotonic()
                self._condition.wait_for(lambda: len(self._waiting) >= self._settings.batch or self._closing, self._settings.flush_seconds)
                self._await_pause(min(began + self._settings.flush_seconds, monotonic() + PATIENCE_SECONDS))
                if self._closing:
                    return
            self.flush()

    def _await_pause(self, until: float) -> None:
        """Wait until nobody has asked for a moment, but no longer than `until`."""
        while not self._closing and (left := min(self._recorded + PAUSE_SECONDS, until) - monotonic()) > 0:
            self._condition.wait(left)
