"""Counts what recall returned, behind the caller's back: batched, damped, never in the way of an answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeAlias

from clew.errors import ClewError
from clew.forking import after_fork
from clew.ports import Store
from clew.settings import AccessSettings
from clew.types import NodeId

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
        self._writer: threading.Thread | None = None

    def record(self, ids: Sequence[NodeId], at: datetime) -> None:
        """Take note that these were returned; the same one twice in a batch is one access."""
        if not ids:
            return
        with self._condition:
            self._waiting.update(dict.fromkeys(ids, at))
            if self._writer is None:
                self._writer = threading.Thread(target=self._run, name="clew-accesses", daemon=True)
                self._writer.start()
            self._condition.notify()

    def flush(self) -> None:
        """Write what is waiting, now and in this thread."""
        with self._condition:
            batch, self._waiting = self._waiting, {}
        if not batch:
            return
        try:
            self._store.touch(list(batch), max(batch.values()), min_interval_seconds=self._settings.min_interval_seconds)
            if self._publish is not None:
                self._publish(list(batch), max(batch.values()))
            self.failure = None
        except ClewError as error:  # an uncounted access is a loss that statistics report, not a failed recall
            self.failure = error.message

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
                self._condition.wait_for(lambda: len(self._waiting) >= self._settings.batch or self._closing, self._settings.flush_seconds)
                if self._closing:
                    return
            self.flush()
