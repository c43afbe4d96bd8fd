"""The clients of the HTTP API, with the methods and results of a local Clew."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from functools import wraps
from types import TracebackType
from typing import Any, Generic, ParamSpec, Self, TypeVar

import httpx

from clew.client import flows
from clew.client.transport import Connection, Flow, Pause, Reply, Request, arguments

P = ParamSpec("P")
T = TypeVar("T")


class Method(Generic[P, T]):
    """A method of `Client` with the signature and the documentation of a flow."""

    def __init__(self, flow: Callable[P, Flow[T]]) -> None:
        self._flow = flow
        self.__doc__ = flow.__doc__

    def __get__(self, client: Client, owner: type[Client] | None = None) -> Callable[P, T]:
        """Return the method, bound to a client."""
        flow = self._flow

        @wraps(flow)
        def call(*args: P.args, **options: P.kwargs) -> T:
            return client.run(flow(*args, **options))

        return call


class AsyncMethod(Generic[P, T]):
    """A method of `AsyncClient` with the signature and the documentation of a flow."""

    def __init__(self, flow: Callable[P, Flow[T]]) -> None:
        self._flow = flow
        self.__doc__ = flow.__doc__

    def __get__(
        self, client: AsyncClient, owner: type[AsyncClient] | None = None
    ) -> Callable[P, Coroutine[Any, Any, T]]:
        """Return the method, bound to a client."""
        flow = self._flow

        @wraps(flow)
        async def call(*args: P.args, **options: P.kwargs) -> T:
            return await client.run(flow(*args, **options))

        return call


class Client:
    """A Clew that a server keeps: the methods and results of a local one. Thread-safe.

    Close it or use `with`.

    The token is `token`, else the environment variable CLEW_TOKEN. A request that may be repeated
    is sent up to `retries` times more when the server is busy or the connection breaks; memories
    get an idempotency key, so that none is stored twice.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        timeout: float = 60.0,
        retries: int = 3,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.connection = Connection.checked(url, token=token, timeout=timeout, retries=retries)
        self._http = httpx.Client(**self.connection.options(), transport=transport)

    def run(self, flow: Flow[T]) -> T:
        """Run a flow of requests and return its result."""
        steps = self.connection.steps(flow)
        reply: Reply = None
        while True:
            try:
                step = steps.send(reply)
            except StopIteration as done:
                result: T = done.value
                return result
            reply = self._sent(step)

    def _sent(self, step: Request | Pause) -> Reply:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        try:
            return self._http.request(**arguments(step))
        except httpx.HTTPError as error:
            return error

    def close(self) -> None:
        """Close the connections; the server and its store stay open."""
        self._http.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    remember = Method(flows.remember)
    remember_many = Method(flows.remember_many)
    remember_conversation = Method(flows.remember_conversation)
    import_path = Method(flows.import_path)
    import_data = Method(flows.import_data)
    recall = Method(flows.recall)
    why = Method(flows.why)
    why_not = Method(flows.why_not)
    replay = Method(flows.replay)
    get = Method(flows.get)
    find = Method(flows.find)
    history = Method(flows.history)
    questions = Method(flows.questions)
    versions = Method(flows.versions)
    related = Method(flows.related)
    recent = Method(flows.recent)
    important = Method(flows.important)
    popular = Method(flows.popular)
    page = Method(flows.page)
    stats = Method(flows.stats)
    export = Method(flows.export)
    link = Method(flows.link)
    supersede = Method(flows.supersede)
    invalidate = Method(flows.invalidate)
    expire = Method(flows.expire)
    reassert = Method(flows.reassert)
    protect = Method(flows.protect)
    unarchive = Method(flows.unarchive)
    update = Method(flows.update)
    forget = Method(flows.forget)
    decay = Method(flows.decay)


class AsyncClient:
    """`Client` for an event loop: the same methods, to be awaited.

    Close it with `aclose` or use `async with`.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        timeout: float = 60.0,
        retries: int = 3,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.connection = Connection.checked(url, token=token, timeout=timeout, retries=retries)
        self._http = httpx.AsyncClient(**self.connection.options(), transport=transport)

    async def run(self, flow: Flow[T]) -> T:
        """Run a flow of requests and return its result."""
        steps = self.connection.steps(flow)
        reply: Reply = None
        while True:
            try:
                step = steps.send(reply)
            except StopIteration as done:
                result: T = done.value
                return result
            reply = await self._sent(step)

    async def _sent(self, step: Request | Pause) -> Reply:
        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return None
        try:
            return await self._http.request(**arguments(step))
        except httpx.HTTPError as error:
            return error

    async def aclose(self) -> None:
        """Close the connections; the server and its store stay open."""
        await self._http.aclose()

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

    remember = AsyncMethod(flows.remember)
    remember_many = AsyncMethod(flows.remember_many)
    remember_conversation = AsyncMethod(flows.remember_conversation)
    import_path = AsyncMethod(flows.import_path)
    import_data = AsyncMethod(flows.import_data)
    recall = AsyncMethod(flows.recall)
    why = AsyncMethod(flows.why)
    why_not = AsyncMethod(flows.why_not)
    replay = AsyncMethod(flows.replay)
    get = AsyncMethod(flows.get)
    find = AsyncMethod(flows.find)
    history = AsyncMethod(flows.history)
    questions = AsyncMethod(flows.questions)
    versions = AsyncMethod(flows.versions)
    related = AsyncMethod(flows.related)
    recent = AsyncMethod(flows.recent)
    important = AsyncMethod(flows.important)
    popular = AsyncMethod(flows.popular)
    page = AsyncMethod(flows.page)
    stats = AsyncMethod(flows.stats)
    export = AsyncMethod(flows.export)
    link = AsyncMethod(flows.link)
    supersede = AsyncMethod(flows.supersede)
    invalidate = AsyncMethod(flows.invalidate)
    expire = AsyncMethod(flows.expire)
    reassert = AsyncMethod(flows.reassert)
    protect = AsyncMethod(flows.protect)
    unarchive = AsyncMethod(flows.unarchive)
    update = AsyncMethod(flows.update)
    forget = AsyncMethod(flows.forget)
    decay = AsyncMethod(flows.decay)
