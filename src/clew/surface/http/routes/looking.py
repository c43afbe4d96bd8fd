"""Look at a space as a whole: over time, between two moments, around a memory, by quality."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from clew.surface import overview
from clew.surface.http import bodies
from clew.surface.http.problems import described
from clew.surface.http.service import Known

routes = APIRouter(prefix="/v1", tags=["looking"])


class Axis(BaseModel):
    """Which time is shown, and how finely."""

    model_config = ConfigDict(extra="forbid")

    space: bodies.Space | None = None
    known_at: bodies.Time | None = None
    since: bodies.Time | None = None
    until: bodies.Time | None = None
    buckets: int = Field(100, ge=1, le=1000, description="Into how many parts it is divided.")


class Moments(BaseModel):
    """Two points in both times; without a time a point is now."""

    model_config = ConfigDict(extra="forbid")

    space: bodies.Space | None = None
    as_of: bodies.Time | None = Field(None, description="The first point: what was true then.")
    known_at: bodies.Time | None = Field(
        None, description="The first point: what was believed then."
    )
    to_as_of: bodies.Time | None = Field(None, description="The second point: what was true then.")
    to_known_at: bodies.Time | None = Field(
        None, description="The second point: what was believed then."
    )
    limit: int = Field(100, ge=1, le=1000, description="At most so many of each side.")


@routes.get("/me", **described({200: ("Me", "The caller.")}))
async def me(caller: Known) -> Response:
    """Tell who is calling, with which rights in which spaces, and what a question may choose from."""
    return await caller.answered(overview.caller)


@routes.get("/timeline", **described({200: ("Timeline", "The counts.")}))
async def timeline(axis: Annotated[Axis, Query()], caller: Known) -> Response:
    """Count over time when memories of a space began and ended to be true, and when they were recorded."""
    given = axis.model_dump(exclude_unset=True, exclude_none=True)
    return await caller.answered(lambda clew: overview.timeline(clew.timeline(**given)))


@routes.get("/diff", **described({200: ("Differences", "What differs.")}))
async def diff(moments: Annotated[Moments, Query()], caller: Known) -> Response:
    """Tell what one point in time sees and another does not.

    Of what was true, of what was believed, or of both.
    """
    first, second = (moments.as_of, moments.known_at), (moments.to_as_of, moments.to_known_at)
    where = None if moments.space is None else {"space": moments.space}
    return await caller.answered(
        lambda clew: overview.differences(
            clew.differences(where=where, before=first, after=second, limit=moments.limit)
        )
    )


@routes.get(
    "/memories/{id}/graph", **described({200: ("Neighbourhood", "The nodes and edges.")}, 404)
)
async def graph(
    id: str,
    caller: Known,
    hops: Annotated[int, Query(ge=1, le=2, description="How many edges away.")] = 1,
    limit: Annotated[int, Query(ge=1, le=200, description="At most so many nodes.")] = 50,
) -> Response:
    """Tell what lies around a memory, one or two hops away, nearest and strongest first."""
    return await caller.answered(
        lambda clew: overview.neighbourhood(clew.around(id, hops=hops, limit=limit))
    )


@routes.get("/quality", **described({200: ("Assessed", "The counts.")}))
async def quality(caller: Known, space: Annotated[bodies.Space | None, Query()] = None) -> Response:
    """Count the live texts of a space by quality, and name the poorest."""
    return await caller.answered(lambda clew: overview.quality(clew.quality(space=space)))
