"""For whoever watches over the server: does it live, does it take requests, how much does it do."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from clew.surface.http.described import JSON, described
from clew.surface.http.problems import DrainingError, encoded
from clew.surface.http.service import Known, Service

routes = APIRouter(tags=["watching"])
LIVE = described({200: ("Health", "It lives.")})
READY = described({200: ("Health", "It takes requests.")})
MEASURED = described({200: ("Document", "")})
TEXT = "text/plain"
MEASURED["responses"][200] = {"description": "The text format of Prometheus.", "content": {TEXT: {"schema": {"type": "string"}}}}


@routes.get("/health/live", **LIVE)
async def live() -> Response:
    """Tell that the server lives."""
    return Response(encoded({"status": "live"}), media_type=JSON)


@routes.get("/health/ready", **READY)
@routes.get("/health", **READY)
async def ready(request: Request) -> Response:
    """Tell whether the server takes requests: not while it is about to stop, nor while its store cannot be read.

    In its first moments `/health` says `starting`: what is asked then waits for the routes. `/health/ready` is not there before them.
    """
    service: Service = request.app.state.service
    if service.draining.is_set():
        raise DrainingError("The server is about to stop.")
    await run_in_threadpool(service.clew.store.model)  # not in the pool: a crowded server is still a sound one
    return Response(encoded({"status": "ready"}), media_type=JSON)


@routes.get("/metrics", **MEASURED)
async def metrics(caller: Known) -> Response:
    """Tell how many requests there were and how long they took; needs the right admin over the whole store."""
    caller.face.whole_store()
    return Response(await caller.service.pool.run(caller.service.meter.exposition), media_type=f"{TEXT}; version=1.0.0")
