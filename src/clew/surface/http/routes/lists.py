"""Look memories up by key, list them by a filter, and connect them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from clew.engine.authorised import Guarded
from clew.errors import NotFoundError
from clew.surface import payload
from clew.surface.http import bodies
from clew.surface.http.problems import described
from clew.surface.http.service import Known

routes = APIRouter(prefix="/v1", tags=["memories"])


class Selected(bodies.Body):
    """Which memories are listed."""

    limit: int = Field(10, description="How many.", ge=1, le=10_000)
    where: bodies.Where | None = Field(None, description="Which memories are seen.")
    as_of: bodies.Time | None = None
    known_at: bodies.Time | None = None

    def options(self, *without: str) -> dict[str, Any]:
        """Return the arguments that the caller wrote."""
        return {name: value for name, value in self.given(*without).items() if value is not None}


class Paged(Selected):
    """A page of a list."""

    sort: bodies.Sort = Field("recent", description="By what.")
    cursor: str | None = Field(None, description="The `cursor` of the page before.")


class Ranked(Selected):
    """A list above a limit."""

    least: float | None = Field(
        None,
        description="The least importance (0 to 1) or number of accesses; else that of the settings.",
    )


class NewLink(bodies.Body):
    """A connection from one memory to another."""

    target: str = Field(description="The other memory.", examples=[bodies.EXAMPLE_ID])
    kind: str = Field("RELATED", description="What connects them.")
    weight: float = Field(1.0, description="How strong the connection is, from 0 to 1.")
    evidence: str = Field("", description="Why they are connected.")


class Decay(bodies.Body):
    """Which memories may fade."""

    dry_run: bool = Field(True, description="Only tell what would be archived.")
    space: bodies.Space | None = None
    now: bodies.Time | None = None
    force: bool = Field(False, description="Run for a time that is still to come.")


@routes.get("/memories/by-key", **described({200: ("Memory", "The memory.")}, 404))
async def by_key(
    key: Annotated[str, Query(description="The idempotency key that it was written under.")],
    caller: Known,
    space: Annotated[bodies.Space | None, Query()] = None,
) -> Response:
    """Return the memory that was written under an idempotency key."""

    def found(clew: Guarded) -> dict[str, Any]:
        node = clew.find(key, space=space)
        if node is None:
            raise NotFoundError(f"No memory has the key {key}.", key=key)
        return payload.memory(node)

    return await caller.answered(found)


@routes.post("/memories/list", **described({200: ("Memories", "A page.")}))
async def page(body: Paged, caller: Known) -> Response:
    """List memories page by page, narrowed by a whole filter."""

    def listed(clew: Guarded) -> dict[str, Any]:
        found = clew.page(**body.options())
        return {**payload.memories(found.nodes), "cursor": found.cursor}

    return await caller.answered(listed)


@routes.post("/lists/{name}", **described({200: ("Memories", "The memories, best first.")}))
async def best(
    name: Literal["recent", "important", "popular"], body: Ranked, caller: Known
) -> Response:
    """List the newest, the most important or the most recalled memories above a limit."""

    def listed(clew: Guarded) -> dict[str, Any]:
        options = body.options("limit", "least" if name == "recent" else "")
        if name == "popular" and body.least is not None and body.least.is_integer():
            options["least"] = int(body.least)
        found = {"recent": clew.recent, "important": clew.important, "popular": clew.popular}[name](
            body.limit, **options
        )
        return {**payload.memories(found), "cursor": None}

    return await caller.answered(listed)


@routes.post("/memories/{id}/link", **described({200: ("Link", "The connection.")}, 404, 507))
async def link(id: str, body: NewLink, caller: Known) -> Response:
    """Connect a memory with another one of its space."""
    return await caller.answered(
        lambda clew: payload.link(clew.link(id, body.target, **body.given("target")))
    )


@routes.post("/decay", **described({200: ("Decayed", "What faded, or would.")}, 507))
async def decay(body: Decay, caller: Known) -> Response:
    """Archive the memories that have faded, or tell which would be; needs the right admin."""
    return await caller.answered(lambda clew: payload.decayed(clew.decay(**body.given())))
