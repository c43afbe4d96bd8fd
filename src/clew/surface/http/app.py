"""Makes the application: the routes, what every request passes, and what begins and ends with the server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response

from clew import __version__
from clew.engine.access import Right, may
from clew.engine.tokens import Tokens
from clew.errors import ClewError
from clew.surface.http import problems
from clew.surface.http.deadline import LEAVE_SECONDS
from clew.surface.http.door import Door, loopback
from clew.surface.http.edge import Edge, bare, note
from clew.surface.http.jobs import Jobs
from clew.surface.http.meter import Meter
from clew.surface.http.mounting import Lifespan, mount
from clew.surface.http.pool import Pool
from clew.surface.http.refusals import from_http, from_validation
from clew.surface.http.roots import Roots
from clew.surface.http.routes import asking, care, importing, memories, truth, watching
from clew.surface.http.schema import document
from clew.surface.http.service import Service
from clew.surface.http.worker import Worker

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from clew.engine import Clew
    from clew.settings import ServeSettings

ANYWHERE = frozenset({"0.0.0.0", "::", ""})  # noqa: S104 - compared with, not bound to
# Clew tells nobody anything unless its own settings say so; FastAPI's spans would also hold addresses with what was asked.
SILENT: Any = {"tracing": False, "metrics": False, "logs": False, "operation_spans": False, "auto_configure": False}


def make_app(
    clew: Clew,
    settings: ServeSettings | None = None,
    *,
    mounts: Sequence[tuple[str, ASGIApp]] = (),
    lifespans: Sequence[Lifespan] = (),
) -> FastAPI:
    """Return the application that serves a Clew, which stays the caller's to close.

    `mounts` are further applications by path; they stand behind the same host, origin, token and size checks and find the caller's
    grant in `scope["state"]["grant"]`. `lifespans` are entered when the server starts and left when it has drained.
    """
    chosen = settings or clew.settings.serve
    service = make_service(clew, chosen)
    app = FastAPI(
        title="Clew",
        version=__version__,
        description="A memory and retrieval engine for agents: it brings the right pieces back, with the reason for each.",
        lifespan=lambda app: _lifespan(app, lifespans),
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        telemetry=SILENT,
        exception_handlers={ClewError: _refused, HTTPException: _refused, RequestValidationError: _refused},
    )
    app.state.service = service
    for each in (memories, truth, asking, importing, care, watching):
        app.include_router(each.routes)
    app.openapi = lambda: document(app)  # type: ignore[method-assign]  # FastAPI's own way to say it
    for path, mounted in mounts:
        mount(app, path, mounted)
    _surround(app, service, chosen)
    return app


def make_service(clew: Clew, settings: ServeSettings) -> Service:
    """Return what the routes share."""
    pool = Pool(threads=settings.threads, queue=settings.queue, seconds=settings.answer_seconds)
    jobs = Jobs(clew, settings=settings, roots=Roots(settings.import_roots))
    gauges: dict[str, tuple[str, Callable[[], float]]] = {
        "clew_http_pool_taken": ("Requests at work or waiting for a thread.", lambda: pool.taken),
        "clew_jobs_unfinished": ("Imports that wait or run.", jobs.unfinished),
    }
    # Whoever comes from elsewhere needs a token, also when the owner has allowed callers without one on this machine.
    door = Door(Tokens(clew.store, clew.now), required=settings.require_token or not loopback(settings.host))
    return Service(clew=clew, settings=settings, pool=pool, door=door, jobs=jobs, meter=Meter(gauges))


def _surround(app: FastAPI, service: Service, settings: ServeSettings) -> None:
    own = () if settings.host in ANYWHERE else (f"[{settings.host}]" if ":" in settings.host else settings.host,)
    app.add_middleware(Edge, service=service, hosts=frozenset(map(bare, (*settings.allowed_hosts, *own))))
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
