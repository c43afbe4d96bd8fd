"""Memories that contradict each other."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from clew.surface import payload
from clew.surface.http import bodies
from clew.surface.http.problems import described
from clew.surface.http.service import Known

routes = APIRouter(prefix="/v1", tags=["conflicts"])
KIND = "Only conflicts of this kind; repeatable."


@routes.get("/conflicts", **described({200: ("Conflicts", "The conflicts.")}))
async def conflicts(
    caller: Known,
    space: Annotated[bodies.Space | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="How many.")] = 50,
    kind: Annotated[
        list[Literal["value", "number", "negation", "state"]] | None, Query(description=KIND)
    ] = None,
) -> Response:
    """List pairs of memories that contradict each other, the surest first.

    They are found by rules, without a language model.
    """
    return await caller.answered(
        lambda clew: payload.conflicts(clew.conflicts(space=space, limit=limit, kinds=kind))
    )


@routes.post(
    "/conflicts/{id}/dismiss", **described({200: ("Dismissed", "It is listed no more.")}, 404, 507)
)
async def dismiss(id: str, caller: Known) -> Response:
    """Keep both memories of a conflict. It is listed again when the text of one of them changes."""
    return await caller.answered(lambda clew: payload.dismissed(clew.dismiss_conflict(id)))
