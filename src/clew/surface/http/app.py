"""Makes the application.

The routes, what every request passes, and what begins and ends with the server.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Mount, Route

from clew import __version__
from clew.engine.auth import Right, Tokens, may
from clew.errors import NAME_CHARACTERS, ClewError, InputError, clipped
from clew.surface.http import problems
from clew.surface.http.edge import Edge, bare, note
from clew.surface.http.jobs import Jobs, Roots
from clew.surface.http.pool import Pool
from clew.surface.http.problems import BugError, MalformedError, MethodError, NoRouteError
from clew.surface.http.recall_log import RecallLog
from clew.surface.http.reports import Reports
from clew.surface.http.routes import (
    conflicts,
    lists,
    looking,
    memories,
    operating,
    operations,
    recall,
)
from clew.surface.http.service import Door, Meter, Service, loopback, nobody
from clew.surface.http.timeouts import LEAVE_SECONDS
from clew.surface.http.worker import Worker
from clew.surface.ui import assets, signin

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import ASGIApp, Receive, Scope, Send

    from clew.engine import Clew
    from clew.settings import ServeSettings
    from clew.surface.ui.signin import PageKey

# What the framework refuses, said as the core would say it.

WAY_OUT = "See docs/http.md, or the OpenAPI document at /openapi.json."
MOST_ERRORS = 10  # told at once


def from_validation(error: RequestValidationError) -> ClewError:
    """Return the first thing that is wrong with a request, and the fields of the others."""
    first, *others = error.errors()
    if first["type"] == "json_invalid":
        said = first.get("ctx", {}).get("error", "")
        return MalformedError(f"The body is not JSON ({said}). {WAY_OUT}")
    if isinstance(first.get("input"), bytes):
        return InputError(
            "body",
            "bytes",
            "is not sent as JSON",
            "Send it with the header content-type: application/json.",
        )
    found = InputError(
        _field(first["loc"]), first.get("input"), f"is wrong: {first['msg']}", WAY_OUT
    )
    if others:
        found.facts["also"] = ", ".join(
            dict.fromkeys(_field(each["loc"]) for each in others[:MOST_ERRORS])
        )
    return found


def _field(place: tuple[int | str, ...]) -> str:
    """Return the field's name as callers write it.

    >>> _field(("body", "memories", 0, "text")), _field(("body",))
    ('memories[0].text', 'body')
    """
    name = ""
    for part in place[1:]:
        known = (
            part
            if isinstance(part, int)
            else clipped(part, over=NAME_CHARACTERS, to=NAME_CHARACTERS)
        )  # an unknown field is named by the caller
        name += f"[{known}]" if isinstance(part, int) else f".{known}" if name else str(known)
    return name or str(place[0])


def from_http(error: HTTPException) -> ClewError:
    """Return what a path or method that is not served, or a body that cannot be read, means."""
    if error.status_code == 404:
        return NoRouteError(f"Nothing is served there. {WAY_OUT}")
    if error.status_code == 405:
        return MethodError(f"That path is served by another method. {WAY_OUT}")
    if error.status_code < 500:
        return MalformedError(f"The request cannot be read. {WAY_OUT}")
    return BugError("Something went wrong. The server's log tells more under this request_id.")


# Further applications below a path, made when they are first called: what nobody calls costs no
# start.

Lifespan: TypeAlias = Callable[[], AbstractAsyncContextManager[Any]]
Made: TypeAlias = tuple[Callable[..., Awaitable[None]], Lifespan]
MCP_PATH = "/mcp"


class Mounted:
    """An application at a path.

    An object and no function, so that the router calls it as an application.
    """

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
    app.router.routes += [
        Route(path, target, methods=None, include_in_schema=False),
        Mount(path, target),
    ]


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
        # one task enters and leaves: it may hold a task group
        self._running = asyncio.create_task(self._run(lifespan, ready))
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
    """Return the Model Context Protocol over HTTP, if its extra is installed.

    Whoever calls it is known from the edge.
    """
    if find_spec("mcp") is None:
        return None

    def made() -> Made:
        # Half a second that only agents need
        from clew.surface.mcp.server import streamable_app  # noqa: PLC0415

        return streamable_app(clew, authorise=lambda scope: scope["state"]["grant"])

    return Later(made)


ANYWHERE = frozenset({"0.0.0.0", "::", ""})  # noqa: S104 - compared with, not bound to
# Clew tells nobody anything unless its own settings say so; FastAPI's spans would also hold
# addresses with what was asked.
SILENT: Any = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}


def make_app(
    clew: Clew,
    settings: ServeSettings | None = None,
    *,
    mounts: Sequence[tuple[str, ASGIApp]] = (),
    lifespans: Sequence[Lifespan] = (),
    page_key: PageKey | None = None,
) -> FastAPI:
    """Return the application that serves a Clew, which stays the caller's to close.

    `mounts` are further applications by path; they stand behind the same host, origin, token and
    size checks and find the caller's grant in `scope["state"]["grant"]`. `lifespans` are entered
    when the server starts and left when it has drained. With a `page_key` every caller needs a
    token or that key.
    """
    chosen = settings or clew.settings.serve
    service = make_service(clew, chosen, page_key)
    app = FastAPI(
        title="Clew",
        version=__version__,
        description="A memory and retrieval engine for agents: it brings the right pieces back, with the reason for each.",
        lifespan=lambda app: _lifespan(app, lifespans),
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        telemetry=SILENT,
        exception_handlers={
            ClewError: _refused,
            HTTPException: _refused,
            RequestValidationError: _refused,
        },
    )
    app.state.service = service
    app.state.page_key = page_key
    for routes in (
        lists.routes,
        memories.routes,
        memories.bitemporal_routes,
        conflicts.routes,
        recall.routes,
        looking.routes,
        operations.import_routes,
        operations.routes,
        operating.routes,
        operations.health_routes,
        signin.routes,
        assets.routes,
    ):
        app.include_router(routes)
    # FastAPI's own way to say it
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    for path, mounted in mounts:
        mount(app, path, mounted)
    _surround(app, service, chosen)
    return app


def _openapi(app: FastAPI) -> dict[str, Any]:
    from clew.surface.http.openapi import document  # noqa: PLC0415 - only the document needs it

    return document(app)


def make_service(clew: Clew, settings: ServeSettings, page_key: PageKey | None = None) -> Service:
    """Return what the routes share."""
    pool = Pool(threads=settings.threads, queue=settings.queue, seconds=settings.answer_seconds)
    jobs = Jobs(clew, settings=settings, roots=Roots(settings.import_roots))
    gauges: dict[str, tuple[str, Callable[[], float]]] = {
        "clew_http_pool_taken": ("Requests at work or waiting for a thread.", lambda: pool.taken),
        "clew_jobs_unfinished": ("Imports that wait or run.", jobs.unfinished),
    }
    # Whoever comes from elsewhere needs a token, also when the owner has allowed callers without
    # one on this machine.
    required = settings.require_token or not loopback(settings.host) or page_key is not None
    door = Door(
        Tokens(clew.store, clew.now),
        required=required,
        also=nobody if page_key is None else page_key.grant,
    )
    recall_log = RecallLog(clew.now)
    clew.watch.listen(recall_log)
    return Service(
        clew=clew,
        settings=settings,
        pool=pool,
        door=door,
        jobs=jobs,
        meter=Meter(gauges),
        recall_log=recall_log,
        reports=Reports(settings.report_roots),
    )


def _surround(app: FastAPI, service: Service, settings: ServeSettings) -> None:
    own = (
        ()
        if settings.host in ANYWHERE
        else (f"[{settings.host}]" if ":" in settings.host else settings.host,)
    )
    app.add_middleware(
        Edge, service=service, hosts=frozenset(map(bare, (*settings.allowed_hosts, *own)))
    )
    if settings.allowed_origins:
        from starlette.middleware.cors import CORSMiddleware  # noqa: PLC0415 - off by default

        app.add_middleware(
            CORSMiddleware,
            allow_origins=[origin.rstrip("/") for origin in settings.allowed_origins],
            allow_methods=["GET", "POST", "PATCH", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "X-Request-ID"],
            expose_headers=["X-Request-ID", "Location", "Retry-After"],
        )


@asynccontextmanager
async def _lifespan(app: FastAPI, lifespans: Sequence[Lifespan]) -> AsyncIterator[None]:
    service: Service = app.state.service
    service.draining.clear()
    service.pool.open()
    worker = app.state.worker = Worker(service.jobs, stopping=service.draining)
    async with AsyncExitStack() as stack:
        for each in lifespans:
            await stack.enter_async_context(each())
        worker.start()
        try:
            yield
        finally:
            service.draining.set()
            await run_in_threadpool(worker.stop, service.settings.drain_seconds + LEAVE_SECONDS)
            service.pool.close()


async def _refused(request: Request, error: Exception) -> Response:
    """Answer an error of a route as a problem."""
    told, headers = _told(error)
    grant = request.scope["state"].get("grant")
    trusted = grant is not None and may(grant, Right.ADMIN, None)
    request_id = request.scope["state"]["request_id"]
    note(told, request_id)
    return problems.answer(told, request_id=request_id, trusted=trusted, headers=headers)


def _told(error: Exception) -> tuple[ClewError, dict[str, str]]:
    if isinstance(error, ClewError):
        return error, {}
    if isinstance(error, RequestValidationError):
        return from_validation(error), {}
    if isinstance(error, HTTPException):
        return from_http(error), dict(error.headers or {})
    raise error
