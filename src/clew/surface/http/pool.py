"""Where the synchronous core runs: some threads, a queue of some length, and a limit to how long an answer may take."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

from clew.surface.http.problems import CrowdedError, DrainingError, SlowAnswerError

T = TypeVar("T")


class Pool:
    """Runs functions in threads; refuses what would have to wait behind a full queue."""

    def __init__(self, *, threads: int, queue: int, seconds: float) -> None:
        """Take how many work at once, how many more may wait, and how long one may take."""
        self._threads = threads
        self._most = threads + queue
        self._seconds = seconds
        self._taken = 0
        self._lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None
        self.open()

    def open(self) -> None:
        """Take work; once more after it was closed, if the server starts again."""
        if self._executor is None:
            self._executor = ThreadPoolExecutor(max_workers=self._threads, thread_name_prefix="clew-http")

    @property
    def taken(self) -> int:
        """How many are at work or waiting; also those whose caller waits no longer."""
        return self._taken

    async def run(self, work: Callable[..., T], *arguments: Any) -> T:
        """Return what the function returns, or raise what it raises; late, it is let go on and its answer is lost."""
        future = self.submit(work, *arguments)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._seconds)
        except TimeoutError:
            if future.done() and not future.cancelled():  # its own error, not ours
                raise
            message = f"No answer within {self._seconds:g} s. A write may still be done: say it again under the same idempotency_key."
            raise SlowAnswerError(message, seconds=self._seconds) from None

    def submit(self, work: Callable[..., T], *arguments: Any) -> Future[T]:
        """Start a function without waiting for it."""
        executor = self._executor
        if executor is None:
            raise DrainingError("The server has stopped.")
        with self._lock:
            if self._taken >= self._most:
                raise CrowdedError("All threads are at work and the queue is full. Try again in a moment.")
            self._taken += 1

        def run_and_release() -> T:
            try:
                return work(*arguments)
            finally:  # before the result is seen: whoever has it can come again at once
                self._release()

        try:
            future = executor.submit(copy_context().run, run_and_release)  # what logs call the request goes with it
        except BaseException:
            self._release()
            raise
        future.add_done_callback(lambda done: self._release() if done.cancelled() else None)  # then it never ran
        return future

    def _release(self) -> None:
        with self._lock:
            self._taken -= 1

    def close(self) -> None:
        """Take nothing more and drop what waits; what is at work goes on, and `taken` counts it."""
        if self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)
            self._executor = None
