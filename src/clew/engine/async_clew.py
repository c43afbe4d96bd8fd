"""The local API for an event loop.

Each call runs in a thread, so that the loop goes on meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar

from clew.engine.clew import Clew
from clew.engine.opening import open_clew

P = ParamSpec("P")
T = TypeVar("T")
THREADS = 4


class Offloaded(Generic[P, T]):
    """A method of `Clew` that runs in a thread."""

    def __init__(self, method: Callable[Concatenate[Clew, P], T]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    def __get__(
        self, memory: AsyncClew, owner: type[AsyncClew] | None = None
    ) -> Callable[P, Coroutine[Any, Any, T]]:
        """Return the method, bound to a Clew."""
        method = self._method

        @wraps(method)
        async def call(*args: P.args, **options: P.kwargs) -> T:
            return await memory.run(lambda: method(memory.clew, *args, **options))

        return call


def _exported(clew: Clew, *, space: str | None = None, vectors: bool = True) -> Iterator[str]:
    """Return the store as lines of JSON, read before the first is returned."""
    return iter(list(clew.export(space=space, vectors=vectors)))


class AsyncClew:
    """A local Clew whose methods are awaited. It closes the Clew it was given.

    Use `async with`, or await `aclose`.

    A call that is cancelled goes on in its thread: a write that has begun is finished.
    """

    def __init__(self, clew: Clew, *, threads: int = THREADS) -> None:
        self.clew = clew
        self._threads = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="clew-async")

    @classmethod
    async def open(
        cls, path: str | Path | None = None, *, threads: int = THREADS, **options: Any
    ) -> Self:
        """Open a store as `clew.open` does, without blocking the loop."""
        return cls(await asyncio.to_thread(partial(open_clew, path, **options)), threads=threads)

    async def run(self, work: Callable[[], T]) -> T:
        """Run a function in one of the threads and return its result."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def aclose(self) -> None:
        """Wait for calls that are under way, write what is waiting and release the files."""
        await asyncio.to_thread(self._threads.shutdown)
        await asyncio.to_thread(self.clew.close)

    async def __aenter__(self) -> Self:
        """Return itself."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        await self.aclose()

    remember = Offloaded(Clew.remember)
    remember_many = Offloaded(Clew.remember_many)
    remember_conversation = Offloaded(Clew.remember_conversation)
    import_path = Offloaded(Clew.import_path)
    import_data = Offloaded(Clew.import_data)
    recall = Offloaded(Clew.recall)
    why = Offloaded(Clew.why)
    why_not = Offloaded(Clew.why_not)
    trace = Offloaded(Clew.trace)
    replay = Offloaded(Clew.replay)
    get = Offloaded(Clew.get)
    find = Offloaded(Clew.find)
    history = Offloaded(Clew.history)
    questions = Offloaded(Clew.questions)
    versions = Offloaded(Clew.versions)
    related = Offloaded(Clew.related)
    recent = Offloaded(Clew.recent)
    important = Offloaded(Clew.important)
    popular = Offloaded(Clew.popular)
    page = Offloaded(Clew.page)
    stats = Offloaded(Clew.stats)
    export = Offloaded(_exported)
    link = Offloaded(Clew.link)
    supersede = Offloaded(Clew.supersede)
    invalidate = Offloaded(Clew.invalidate)
    expire = Offloaded(Clew.expire)
    reassert = Offloaded(Clew.reassert)
    protect = Offloaded(Clew.protect)
    unarchive = Offloaded(Clew.unarchive)
    update = Offloaded(Clew.update)
    forget = Offloaded(Clew.forget)
    decay = Offloaded(Clew.decay)
    reembed = Offloaded(Clew.reembed)
    load = Offloaded(Clew.load)
    backup = Offloaded(Clew.backup)
    verify = Offloaded(Clew.verify)
    compact = Offloaded(Clew.compact)
