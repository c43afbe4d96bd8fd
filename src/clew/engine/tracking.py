"""Counts what recall returned, behind the caller's back.

Batched, damped, never in the way of an answer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from time import monotonic, sleep
from typing import NamedTuple, TypeAlias

from clew.errors import ClewError, StoreBusyError, clipped
from clew.forking import after_fork
from clew.ports import Store
from clew.settings import AccessSettings
from clew.types import NodeId

# longer than a recall takes: nobody asks just now, and writing slows no answer down
PAUSE_SECONDS = 0.05
PATIENCE_SECONDS = 2.0  # for which a full batch waits for a pause that does not come
BREAK_SECONDS = 0.001  # between two pieces: another writer gets the lock
BATCHES_KEPT = 16  # while another process holds the store: what comes behind them is not counted

Publish: TypeAlias = Callable[[str, Sequence[NodeId], datetime], None]


class Access(NamedTuple):
    """When a memory was returned, and in which space."""

    at: datetime
    space: str


class AccessTracker:
    """Collects accesses and writes them together, at the latest `flush_seconds` after the first."""

    def __init__(
        self, store: Store, settings: AccessSettings, *, publish: Publish | None = None
    ) -> None:
        """Take the store; `publish` is told of the same accesses by the same thread, space by space."""
        self._store = store
        self._settings = settings
        self._publish = publish
        self._closing = False
        self.failure: str | None = None
        self._begin()
        after_fork(self._begin)

    def _begin(self) -> None:
        """Start with nothing to write.

        In a forked child too, where what was waiting is the parent's to write.
        """
        self._condition = threading.Condition()
        self._waiting: dict[NodeId, Access] = {}
        self._recorded = 0.0
        self._retried = 0.0  # not before then, after a lock was in the way
        self._writer: threading.Thread | None = None

    def record(self, ids: Sequence[NodeId], at: datetime, *, space: str) -> None:
        """Take note that these were returned; the same one twice in a batch is one access."""
        if not ids:
            return
        with self._condition:
            before = len(self._waiting)
            self._waiting.update(dict.fromkeys(ids, Access(at, space)))
            self._recorded = monotonic()
            if self._writer is None:
                self._writer = threading.Thread(target=self._run, name="clew-accesses", daemon=True)
                self._writer.start()
            # to wake it for less costs every recall 0.1 ms
            if not before or before < self._settings.batch <= len(self._waiting):
                self._condition.notify()

    def flush(self) -> None:
        """Write what is waiting, now and in this thread.

        What another process's lock is in the way of goes on waiting.
        """
        with self._condition:
            waiting, self._waiting = list(self._waiting.items()), {}
        if not waiting:
            return
        self.failure = None
        written: dict[NodeId, Access] = {}
        # a piece at a time: others want to write too
        for at in range(0, len(waiting), self._settings.batch):
            if at:
                sleep(BREAK_SECONDS)
            piece = dict(waiting[at : at + self._settings.batch])
            error = self._failed(self._count, piece)
            if error is None:
                written |= piece
            elif isinstance(error, StoreBusyError):
                self._keep(waiting[at:])  # the lock is in the way of the others too
                break
        self._failed(self._tell, written)

    def _failed(
        self, write: Callable[[Mapping[NodeId, Access]], None], accesses: Mapping[NodeId, Access]
    ) -> Exception | None:
        """Write; return what was in the way.

        An uncounted access is a loss that statistics report, not a failed recall.
        """
        try:
            write(accesses)
        except (
            Exception
        ) as error:  # whatever a store raises: the thread that writes goes on with the next
            self.failure = (
                error.message
                if isinstance(error, ClewError)
                else f"{type(error).__name__}: {clipped(str(error))}"
            )
            return error
        return None

    def _keep(self, accesses: Sequence[tuple[NodeId, Access]]) -> None:
        """Let as many wait once more as there is room for.

        What was returned again meanwhile counts as of then.
        """
        with self._condition:
            room = max(0, BATCHES_KEPT * self._settings.batch - len(self._waiting))
            self._waiting = {**dict(accesses[:room]), **self._waiting}
            self._retried = monotonic() + PATIENCE_SECONDS
            # a caller's flush may have met the lock, and the writer sleeps
            self._condition.notify()

    def _count(self, piece: Mapping[NodeId, Access]) -> None:
        latest = max(access.at for access in piece.values())
        self._store.touch(
            list(piece), latest, min_interval_seconds=self._settings.min_interval_seconds
        )

    def _tell(self, written: Mapping[NodeId, Access]) -> None:
        """Tell of all of them at once: it takes a transaction for each space."""
        if self._publish is None:
            return
        for space in sorted({access.space for access in written.values()}):
            there = [id for id, access in written.items() if access.space == space]
            self._publish(space, there, max(written[id].at for id in there))

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
                self._condition.wait_for(
                    lambda: len(self._waiting) >= self._settings.batch or self._closing,
                    self._settings.flush_seconds,
                )
                self._condition.wait_for(
                    lambda: self._closing, max(0.0, self._retried - monotonic())
                )
                self._await_pause(
                    min(began + self._settings.flush_seconds, monotonic() + PATIENCE_SECONDS)
                )
                if self._closing:
                    return
            self.flush()

    def _await_pause(self, until: float) -> None:
        """Wait until nobody has asked for a moment, but no longer than `until`."""
        while (
            not self._closing
            and (left := min(self._recorded + PAUSE_SECONDS, until) - monotonic()) > 0
        ):
            self._condition.wait(left)
