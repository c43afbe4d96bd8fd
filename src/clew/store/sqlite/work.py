"""Work in parts for several threads: whoever is free takes the next, and nobody waits for a part that no thread has begun."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import Generic, TypeVar

T = TypeVar("T")

SMALLEST = 4  # parts of the smallest size for each thread: the last to finish is waited for no longer than one of them takes


def portions(size: int, *, threads: int) -> list[slice]:
    """Return cuts that begin with one thread's fair share and become smaller, each a fair share of what is left.

    Large ones first, for between two parts a thread must wait for Python's lock; small ones last, so that all finish together
    (Polychronopoulos and Kuck, Guided self-scheduling, 1987).

    >>> [cut.stop - cut.start for cut in portions(800, threads=2)]
    [400, 200, 100, 100]
    """
    least = -(-size // (SMALLEST * threads))
    cuts: list[slice] = []
    at = 0
    while at < size:
        end = min(size, at + max(least, -(-(size - at) // threads)))
        cuts.append(slice(at, end))
        at = end
    return cuts


class Work(Generic[T]):
    """Parts that need no Python while they run: threads do them from the first on, and whoever needs them all from the last."""

    __slots__ = ("_do", "_done", "_finished", "_found", "_left", "_parts", "_process")

    def __init__(self, do: Callable[[slice], T], parts: Sequence[slice]) -> None:
        self._do = do
        self._parts = parts
        self._left = deque(enumerate(parts))  # taken from either end in one step, so by one thread only
        self._found: dict[int, T] = {}
        self._done: SimpleQueue[BaseException | None] = SimpleQueue()
        self._process = os.getpid()
        self._finished: list[T] | None = None

    def offer(self, *, threads: int) -> None:
        """Let up to so many threads begin."""
        helpers().offer(self._help, threads=threads)

    def finish(self) -> list[T]:
        """Do what nobody has begun, wait for the rest, and return what came of each part; an error that a thread met is raised here."""
        if self._finished is None:
            self._finished = (
                self._waited() if os.getpid() == self._process else [*map(self._do, self._parts)]
            )  # a child has no such threads
        return self._finished

    def _waited(self) -> list[T]:
        mine = 0
        while part := _taken(self._left.pop):
            self._found[part[0]] = self._do(part[1])
            mine += 1
        for _ in range(len(self._parts) - mine):
            if (error := self._done.get()) is not None:
                raise error
        return [self._found[number] for number in range(len(self._parts))]

    def _help(self) -> None:
        while part := _taken(self._left.popleft):
            try:
                self._found[part[0]] = self._do(part[1])
            except BaseException as error:  # told to the one who waits
                self._done.put(error)
            else:
                self._done.put(None)


def _taken(take: Callable[[], tuple[int, slice]]) -> tuple[int, slice] | None:
    try:
        return take()
    except IndexError:
        return None


class Helpers:
    """Threads that wait for work. Not an executor's: to begin in one of those takes twice as long."""

    def __init__(self) -> None:
        self._offers: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lock = threading.Lock()
        self._count = 0

    def offer(self, help: Callable[[], None], *, threads: int) -> None:
        """Let up to so many of them do it as soon as they are free."""
        if self._count < threads:
            self._begin(threads)
        for _ in range(min(threads, self._count)):
            self._offers.put(help)

    def _begin(self, threads: int) -> None:
        with self._lock, suppress(RuntimeError):  # no further thread may be begun: then fewer help, or nobody
            while self._count < threads:
                threading.Thread(target=self._run, name=f"clew-scan-{self._count}", daemon=True).start()
                self._count += 1

    def _run(self) -> None:
        while True:
            self._offers.get()()


_helpers: dict[int, Helpers] = {}


def helpers() -> Helpers:
    """Return the threads of this process; a forked child, which has none of its parent's, gets its own."""
    process = os.getpid()
    found = _helpers.get(process)
    return found if found is not None else _helpers.setdefault(process, Helpers())  # in one step: they are the same for all
