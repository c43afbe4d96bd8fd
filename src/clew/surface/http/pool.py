"""Where the synchronous core runs.

Some threads, a queue of some length, and a limit to how long an answer may take.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
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
            self._executor = ThreadPoolExecutor(
                max_workers=self._threads, thread_name_prefix="clew-http"
            )

    @property
    def taken(self) -> int:
        """How many are at work or waiting; also those whose caller waits no longer."""
        return self._taken

    async def run(self, work: Callable[..., T], *arguments: Any) -> T:
        """Return what the function returns, or raise what it raises.

        Late, it is let go on and its answer is lost.
        """
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
                raise CrowdedError(
                    "All threads are at work and the queue is full. Try again in a moment."
                )
            self._taken += 1

        def run_and_release() -> T:
            try:
                return work(*arguments)
            finally:  # before the result is seen: whoever has it can come again at once
                self._release()

        try:
            # what logs call the request goes with it
            future = executor.submit(copy_context().run, run_and_release)
        except BaseException:
            self._release()
            raise
        # then it never ran
        future.add_done_callback(lambda done: self._release() if done.cancelled() else None)
        return future

    def _release(self) -> None:
        with self._lock:
            self._taken -= 1

    def close(self) -> None:
        """Take nothing more and drop what waits; what is at work goes on, and `taken` counts it."""
        if self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)
            self._executor = None


# Long answers line by line: one thread makes them, no faster than they are read.

CHUNK_BYTES = 64 * 1024
AHEAD = 4  # chunks that may lie ready
STALLED_SECONDS = 60.0  # a reader who takes nothing for so long keeps no thread waiting any more


def chunks(lines: Iterable[str]) -> Iterator[bytes]:
    """Yield lines, each with its end, gathered into pieces worth sending."""
    waiting = bytearray()
    for line in lines:
        waiting += line.encode() + b"\n"
        if len(waiting) >= CHUNK_BYTES:
            yield bytes(waiting)
            waiting.clear()
    if waiting:
        yield bytes(waiting)


class StalledError(Exception):
    """The reader came back too late: the rest is not made any more, and the connection breaks."""


class Stream:
    """Pieces made in a thread of the pool. All of them in the same one.

    A store's cursor stays where it was opened.
    """

    def __init__(
        self, pool: Pool, pieces: Iterable[bytes], *, patience: float = STALLED_SECONDS
    ) -> None:
        """Begin at once."""
        self._patience = patience
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[bytes | BaseException | None] = asyncio.Queue(AHEAD)
        self._left = False
        self._future: Future[None] = pool.submit(self._make, pieces)

    def _make(self, pieces: Iterable[bytes]) -> None:
        ending: BaseException | None = None
        try:
            for piece in pieces:
                if self._left or not self._put(piece):
                    return
        except Exception as error:  # raised again where the answer is sent
            ending = error
        self._put(ending)

    def _put(self, piece: bytes | BaseException | None) -> bool:
        """Give a piece to the reader; False if nobody reads on."""
        try:
            placed = asyncio.run_coroutine_threadsafe(self._queue.put(piece), self._loop)
        except RuntimeError:  # the loop has ended
            return False
        try:
            placed.result(self._patience)
        except TimeoutError:
            self._left = True
            placed.cancel()
            self._loop.call_soon_threadsafe(self._wake)
            return False
        return True

    def _wake(self) -> None:
        """End the wait of a reader whose piece was withdrawn because the loop stood still for longer than the patience."""
        if self._queue.empty():
            self._queue.put_nowait(StalledError())

    async def first(self) -> bytes | None:
        """Return the first piece, so that a refusal comes before the answer has begun.

        Raise what making it raised.
        """
        return await self._next()

    async def rest(self, first: bytes | None) -> AsyncIterator[bytes]:
        """Yield the first piece and all others; left early, the thread is let go."""
        piece = first
        try:
            while piece is not None:
                yield piece
                piece = await self._next()
        finally:
            self._left = True
            # a thread that waits for a place finds one, and then that nobody reads
            while not self._queue.empty():
                self._queue.get_nowait()

    async def _next(self) -> bytes | None:
        if self._left and self._queue.empty():
            raise StalledError
        piece = await self._queue.get()
        # the end: the thread gives its place back before the reader hears of it
        if not isinstance(piece, bytes):
            await asyncio.wrap_future(self._future)
        if isinstance(piece, BaseException):
            raise piece
        return piece
