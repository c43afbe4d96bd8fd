"""Long answers line by line: one thread makes them, no faster than they are read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from concurrent.futures import Future
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clew.surface.http.pool import Pool

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
    """Pieces made in a thread of the pool. All of them in the same one: a store's cursor stays where it was opened."""

    def __init__(self, pool: Pool, pieces: Iterable[bytes], *, patience: float = STALLED_SECONDS) -> None:
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
        """Return the first piece, so that a refusal comes before the answer has begun; raise what making it raised."""
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
            while not self._queue.empty():  # a thread that waits for a place finds one, and then that nobody reads
                self._queue.get_nowait()

    async def _next(self) -> bytes | None:
        if self._left and self._queue.empty():
            raise StalledError
        piece = await self._queue.get()
        if not isinstance(piece, bytes):  # the end: the thread gives its place back before the reader hears of it
            await asyncio.wrap_future(self._future)
        if isinstance(piece, BaseException):
            raise piece
        return piece
