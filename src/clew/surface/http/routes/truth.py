"""What is true since when, and what no longer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from clew.engine.guarded import Guarded
from clew.surface import payload
from clew.surface.http import bodies
from clew.surface.http.described import described
from clew.surface.http.service import Known

routes = APIRouter(prefix="/v1", tags=["truth"])
INTERVAL = described({200: ("Interval", "Since and until when it is true, and is believed.")}, 404, 507)


def _replaced(outcome: Mapping[str, Any]) -> int:
    return 201 if "supersedes" in outcome else 200


@routes.post(
    "/memories/{id}/supersede",
    **described({201: ("Superseded", "It took the place."), 200: ("Superseded", "Nothing has changed.")}, 404, 409, 507),
)
async def supersede(id: str, body: bodies.Successor, caller: Known) -> Response:
    """Put a new text in the place of a memory, which ends where the new one begins."""

    def superseded(clew: Guarded) -> dict[str, Any]:
        return payload.superseded(clew.supersede(id, **body.given()), id)

    return await caller.answered(superseded, status=_replaced)


@routes.post("/memories/{id}/invalidate", **INTERVAL)
async def invalidate(id: str, caller: Known, body: bodies.End | None = None) -> Response:
    """Say that a memory stopped being true, by default now; said again with another time, that one counts."""
    given = body.given() if body else {}
    return await caller.answered(lambda clew: payload.interval(clew.invalidate(id, **given)))


@routes.post("/memories/{id}/expire", **INTERVAL)
async def expire(id: str, caller: Known) -> Response:
    """Say that a memory is no longer believed, for any time."""
    return await caller.answered(lambda clew: payload.interval(clew.expire(id)))


@routes.post("/memories/{id}/reassert", **INTERVAL)
async def reassert(id: str, caller: Known, body: bodies.Again | None = None) -> Response:
    """Say that a memory that had ended or expired is true again, by default from now on."""
    given = body.given() if body else {}
    return await caller.answered(lambda clew: payload.interval(clew.reassert(id, **given)))


@routes.post("/memories/{id}/protect", **described({200: ("Protected", "Whether it is protected.")}, 404, 507))
async def protect(id: str, caller: Known, body: bodies.Protection | None = None) -> Response:
    """Keep a memory from being forgotten, or let it go again."""

    def protected(clew: Guarded) -> dict[str, Any]:
        node = clew.protect(id, body.protected if body else True)
        return {"id": node.id, "protected": node.protected}

    return await caller.answered(protected)


@routes.post("/memories/{id}/unarchive", **described({200: ("Unarchived", "Whether it is in the archive.")}, 404, 507))
async def unarchive(id: str, caller: Known) -> Response:
    """Bring back a memory from the archive."""

    def unarchived(clew: Guarded) -> dict[str, Any]:
        node = clew.unarchive(id)
        return {"id": node.id, "archived": node.archived}

    return await caller.answered(unarchived)
