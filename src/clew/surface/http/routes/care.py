"""The store as a whole: counts, and everything in it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response, StreamingResponse

from clew.surface.http import bodies
from clew.surface.http.described import described
from clew.surface.http.service import Known
from clew.surface.http.streaming import Stream, chunks

routes = APIRouter(prefix="/v1", tags=["care"])
LINES = "application/x-ndjson"
EXPORTED = described({200: ("Document", "Lines of JSON, as of `clew export`.")})
EXPORTED["responses"][200] = {"description": "Lines of JSON, as of `clew export`.", "content": {LINES: {"schema": {"type": "string"}}}}


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
    """Send a space, or the whole store, as lines of JSON; needs the right admin. A broken connection means that it is not whole."""
    face = caller.face
    lines = await caller.service.pool.run(lambda: face.export(space=space, vectors=vectors))
    stream = Stream(caller.service.pool, chunks(lines))
    return StreamingResponse(stream.rest(await stream.first()), media_type=LINES)
