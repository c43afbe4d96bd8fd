"""Imports as jobs: asked for here, done in the background, looked after by their ids."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from clew.engine.guarded import Guarded
from clew.errors import InputError
from clew.surface.http import bodies
from clew.surface.http.described import described
from clew.surface.http.job import Job
from clew.surface.http.service import Known

routes = APIRouter(prefix="/v1", tags=["import"])
SOURCE = ("data", "encoding", "name", "path")


@routes.post("/import", **described({202: ("Job", "Taken on; Location tells where to look after it.")}, 507))
async def import_(body: bodies.Import, caller: Known) -> Response:
    """Bring in a text, a file or a folder. Said again, what has not changed is left as it is."""
    options = {name: value for name, value in body.given(*SOURCE).items() if value is not None}
    jobs = caller.service.jobs

    def offered(clew: Guarded) -> dict[str, Any]:
        if (body.data is None) == (body.path is None):
            raise InputError("data", None, "must be given, or path, and not both", 'Send {"data": "…"} or {"path": "…"}.')
        if body.path is not None:
            return jobs.offer_path(clew, body.path, options).shown()
        return jobs.offer_data(clew, _decoded(body), body.name, options).shown()

    return await caller.answered(offered, status=202, headers=lambda job: {"Location": f"/v1/jobs/{job['id']}"})


def _decoded(body: bodies.Import) -> bytes:
    data = body.data or ""
    if body.encoding == "text":
        return data.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InputError("data", data, "is not base64", 'Encode it, or send text with "encoding": "text".') from error


@routes.get("/jobs", **described({200: ("Jobs", "The imports.")}))
async def jobs(caller: Known) -> Response:
    """List the imports of the caller's spaces, newest first; what became of each file is told by `/v1/jobs/{id}`."""
    return await caller.answered(lambda clew: {"jobs": [job.shown() for job in _jobs(caller, clew)]})


def _jobs(caller: Known, clew: Guarded) -> tuple[Job, ...]:
    return caller.service.jobs.list(clew.grant)


@routes.get("/jobs/{id}", **described({200: ("Job", "The import.")}, 404))
async def job(id: str, caller: Known) -> Response:
    """Tell how far an import is, and what became of every file."""
    return await caller.answered(lambda clew: caller.service.jobs.get(clew.grant, id).shown())
