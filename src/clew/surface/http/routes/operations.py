"""The store as a whole: counts, and everything in it."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from clew.engine.authorised import Guarded
from clew.errors import InputError
from clew.surface import payload
from clew.surface.http import bodies
from clew.surface.http.jobs import Job
from clew.surface.http.pool import Stream, chunks
from clew.surface.http.problems import JSON, DrainingError, described, encoded
from clew.surface.http.service import Known, Service

routes = APIRouter(prefix="/v1", tags=["care"])
LINES = "application/x-ndjson"
EXPORTED = described({200: ("Document", "Lines of JSON, as of `clew export`.")})
EXPORTED["responses"][200] = {
    "description": "Lines of JSON, as of `clew export`.",
    "content": {LINES: {"schema": {"type": "string"}}},
}


@routes.get("/stats", **described({200: ("Stats", "The counts.")}))
async def stats(caller: Known, space: Annotated[bodies.Space | None, Query()] = None) -> Response:
    """Count what is there: in the whole store for whoever may administer it, else in one space."""
    return await caller.answered(lambda clew: clew.stats(space))


@routes.get("/export", response_class=StreamingResponse, **EXPORTED)
async def export(
    caller: Known,
    space: Annotated[bodies.Space | None, Query()] = None,
    vectors: Annotated[bool, Query(description="With the vectors.")] = True,
) -> Response:
    """Send a space, or the whole store, as lines of JSON; needs the right admin.

    A broken connection means that it is not whole.
    """
    face = caller.face
    lines = await caller.service.pool.run(lambda: face.export(space=space, vectors=vectors))
    stream = Stream(caller.service.pool, chunks(lines))
    return StreamingResponse(stream.rest(await stream.first()), media_type=LINES)


# For whoever watches over the server: does it live, does it take requests, how much does it do.

health_routes = APIRouter(tags=["watching"])
LIVE = described({200: ("Health", "It lives.")})
READY = described({200: ("Health", "It takes requests.")})
MEASURED = described({200: ("Document", "")})
TEXT = "text/plain"
MEASURED["responses"][200] = {
    "description": "The text format of Prometheus.",
    "content": {TEXT: {"schema": {"type": "string"}}},
}


@health_routes.get("/health/live", **LIVE)
async def live() -> Response:
    """Tell that the server lives."""
    return Response(encoded({"status": "live"}), media_type=JSON)


@health_routes.get("/health/ready", **READY)
@health_routes.get("/health", **READY)
async def ready(request: Request) -> Response:
    """Tell whether the server takes requests.

    Not while it is about to stop, nor while its store cannot be read.

    In its first moments `/health` says `starting`: what is asked then waits for the routes.
    `/health/ready` is not there before them.
    """
    service: Service = request.app.state.service
    if service.draining.is_set():
        raise DrainingError("The server is about to stop.")
    # not in the pool: a crowded server is still a sound one
    await run_in_threadpool(service.clew.store.model)
    return Response(encoded({"status": "ready"}), media_type=JSON)


@health_routes.get("/metrics", **MEASURED)
async def metrics(caller: Known) -> Response:
    """Tell how many requests there were and how long they took.

    Needs the right admin over the whole store.
    """
    caller.face.whole_store()
    return Response(
        await caller.service.pool.run(caller.service.meter.exposition),
        media_type=f"{TEXT}; version=1.0.0",
    )


# Imports as jobs: asked for here, done in the background, looked after by their ids.

import_routes = APIRouter(prefix="/v1", tags=["import"])
SOURCE = ("data", "encoding", "name", "path")


@import_routes.post(
    "/import", **described({202: ("Job", "Taken on; Location tells where to look after it.")}, 507)
)
async def import_(body: bodies.Import, caller: Known) -> Response:
    """Bring in a text, a file or a folder. Said again, what has not changed is left as it is."""
    options = {name: value for name, value in body.given(*SOURCE).items() if value is not None}
    jobs = caller.service.jobs

    def offered(clew: Guarded) -> dict[str, Any]:
        if (body.data is None) == (body.path is None):
            raise InputError(
                "data",
                None,
                "must be given, or path, and not both",
                'Send {"data": "…"} or {"path": "…"}.',
            )
        if body.path is not None:
            return jobs.offer_path(clew, body.path, options).shown()
        return jobs.offer_data(clew, _decoded(body), body.name, options).shown()

    return await caller.answered(
        offered, status=202, headers=lambda job: {"Location": f"/v1/jobs/{job['id']}"}
    )


def _decoded(body: bodies.Import) -> bytes:
    data = body.data or ""
    if body.encoding == "text":
        return data.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InputError(
            "data", data, "is not base64", 'Encode it, or send text with "encoding": "text".'
        ) from error


@import_routes.get("/sources", **described({200: ("Sources", "The imported files.")}))
async def sources(caller: Known, space: Annotated[bodies.Space | None, Query()] = None) -> Response:
    """List the imported files of a space, by path, with the ids of their documents."""
    return await caller.answered(
        lambda clew: {"sources": [payload.source(each) for each in clew.sources(space)]}
    )


@import_routes.get("/jobs", **described({200: ("Jobs", "The imports.")}))
async def jobs(caller: Known) -> Response:
    """List the imports of the caller's spaces, newest first.

    What became of each file is told by `/v1/jobs/{id}`.
    """
    return await caller.answered(
        lambda clew: {"jobs": [job.shown() for job in _jobs(caller, clew)]}
    )


def _jobs(caller: Known, clew: Guarded) -> tuple[Job, ...]:
    return caller.service.jobs.list(clew.grant)


@import_routes.get("/jobs/{id}", **described({200: ("Job", "The import.")}, 404))
async def job(id: str, caller: Known) -> Response:
    """Tell how far an import is, and what became of every file."""
    return await caller.answered(lambda clew: caller.service.jobs.get(clew.grant, id).shown())
