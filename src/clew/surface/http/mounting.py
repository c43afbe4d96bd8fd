"""Further applications below a path, made when they are first called: what nobody calls costs no start."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

from starlette.concurrency import run_in_threadpool
from starlette.routing import Mount, Route

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import ASGIApp, Receive, Scope, Send

    from clew.engine import Clew

Lifespan: TypeAlias = Callable[[], AbstractAsyncContextManager[Any]]
Made: TypeAlias = tuple[Callable[..., Awaitable[None]], Lifespan]
MCP_PATH = "/mcp"


class Mounted:
    """An application at a path; an object and no function, so that the router calls it as an application."""

    def __init__(self, path: str, app: ASGIApp) -> None:
        """Take where it is and what it is."""
        self.path = path
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; in the log it has the name of its path."""
        scope["route"] = self
        await self._app(scope, receive, send)


def mount(app: FastAPI, path: str, mounted: ASGIApp) -> None:
    """Serve an application under a path, with and without a slash at its end."""
    target = Mounted(path, mounted)
    app.router.routes += [Route(path, target, methods=None, include_in_schema=False), Mount(path, target)]


class Later:
    """An application that is made at the first request, in a thread, and runs until the server ends."""

    def __init__(self, make: Callable[[], Made]) -> None:
        """Take what makes it, and what must run around it."""
        self._make = make
        self._lock, self._over = asyncio.Lock(), asyncio.Event()
        self._app: Callable[..., Awaitable[None]] | None = None
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Make it if it is not there yet, and pass the request on."""
        async with self._lock:
            if self._app is None:
                self._app = await self._started()
        await self._app(scope, receive, send)

    async def _started(self) -> Callable[..., Awaitable[None]]:
        app, lifespan = await run_in_threadpool(self._make)
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._running = asyncio.create_task(self._run(lifespan, ready))  # one task enters and leaves: it may hold a task group
        await ready
        return app

    async def _run(self, lifespan: Lifespan, ready: asyncio.Future[None]) -> None:
        try:
            async with lifespan():
                ready.set_result(None)
                await self._over.wait()
        except Exception as error:
            if ready.done():
                raise
            ready.set_exception(error)

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """End it with the server."""
        try:
            yield
        finally:
            self._over.set()
            if self._running is not None:
                await self._running


def mcp(clew: Clew) -> Later | None:
    """Return the Model Context Protocol over HTTP, if its extra is installed; whoever calls it is known from the edge."""
    if find_spec("mcp") is None:
        return None

    def made() -> Made:
        from clew.surface.mcp.http import streamable_app  # noqa: PLC0415 - half a second that only agents need

        return streamable_app(clew, authorise=lambda scope: scope["state"]["grant"])

    return Later(made)
