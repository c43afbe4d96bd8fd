"""Memories: keep, look at, list, change and forget them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from clew.engine.auth import Right
from clew.engine.authorised import Guarded
from clew.errors import ClewError, ForbiddenError, InputError, NotFoundError, RefusedError
from clew.surface import payload
from clew.surface.http import bodies
from clew.surface.http.problems import described
from clew.surface.http.service import Known

routes = APIRouter(prefix="/v1", tags=["memories"])


def _created(outcome: Mapping[str, Any]) -> int:
    return 201 if outcome["outcome"] == "inserted" else 200


@routes.post(
    "/memories",
    **described(
        {201: ("Outcome", "Kept."), 200: ("Outcome", "There already, or rejected by a rule.")},
        409,
        507,
    ),
)
async def remember(body: bodies.Offer, caller: Known) -> Response:
    """Keep a memory. The outcome says what became of it, and by which rule."""
    return await caller.answered(
        lambda clew: payload.outcome(clew.remember(**body.given())), status=_created
    )


@routes.post("/memories/batch", **described({200: ("Outcomes", "What became of each.")}, 409, 507))
async def remember_many(body: bodies.Batch, caller: Known) -> Response:
    """Keep many memories. One that cannot be taken costs no other.

    It is rejected with its error.
    """
    most = caller.service.settings.max_batch
    if len(body.memories) > most:
        raise InputError(
            "memories",
            f"{len(body.memories)} memories",
            f"are more than {most}",
            "Send them in several requests.",
        )
    offers = [each.given() for each in body.memories]
    return await caller.answered(lambda clew: payload.outcomes(list(_offered(clew, offers))))


@routes.post(
    "/conversations", **described({200: ("Conversation", "What became of each message.")}, 507)
)
async def remember_conversation(body: bodies.NewConversation, caller: Known) -> Response:
    """Keep a conversation message by message.

    Sent again under the same session, only new messages are added.
    """
    most = caller.service.settings.max_batch
    if len(body.messages) > most:
        way_out = "Send them in several requests under the same session."
        raise InputError(
            "messages", f"{len(body.messages)} messages", f"are more than {most}", way_out
        )
    messages, options = [each.given() for each in body.messages], body.given("messages")
    return await caller.answered(
        lambda clew: payload.conversation(clew.remember_conversation(messages, **options))
    )


def _offered(clew: Guarded, offers: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield what became of each.

    A batch is written whole or not at all, so after an error each goes alone.
    """
    try:
        yield from map(payload.outcome, clew.remember_many(offers))
    except ForbiddenError:  # the caller's fault, not a memory's: nothing is written
        raise
    except (InputError, RefusedError):
        _check_spaces(clew, offers)
        yield from (_alone(clew, offer) for offer in offers)


def _check_spaces(clew: Guarded, offers: Sequence[Mapping[str, Any]]) -> None:
    """Refuse all where one is for a space that the caller may not write, also behind one that cannot be taken."""
    for offer in offers:
        with suppress(InputError):  # it is told in its place
            clew.space(offer.get("space"), Right.WRITE)


def _alone(clew: Guarded, offer: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return payload.outcome(clew.remember_many([offer])[0])
    except (InputError, RefusedError) as error:
        return {"outcome": "rejected", "id": None, **payload.error(error)}


@routes.get("/memories", **described({200: ("Memories", "A page.")}))
async def memories(listing: Annotated[bodies.Listing, Query()], caller: Known) -> Response:
    """List memories by recency, importance or use.

    What is written meanwhile neither repeats nor hides one.
    """
    given = listing.model_dump(exclude_unset=True, exclude_none=True)
    options = {
        name: given.pop(name)
        for name in ("sort", "limit", "cursor", "as_of", "known_at")
        if name in given
    }
    where = {"tags" if name == "tag" else name: value for name, value in given.items()}

    def listed(clew: Guarded) -> dict[str, Any]:
        page = clew.page(**options, where=where)
        return {**payload.memories(page.nodes), "cursor": page.cursor}

    return await caller.answered(listed)


@routes.get("/memories/{id}", **described({200: ("Memory", "The memory.")}, 404))
async def memory(id: str, times: Annotated[bodies.Times, Query()], caller: Known) -> Response:
    """Look at a memory; with a time, at what it or what stood in its place was held to be then."""

    def shown(clew: Guarded) -> dict[str, Any]:
        node = clew.get(id, **times.model_dump(exclude_none=True))
        if node is None:
            raise _missing(clew, id)
        questions = list(clew.questions(node.id))
        return {**payload.memory(node), **({"questions": questions} if questions else {})}

    return await caller.answered(shown)


def _missing(clew: Guarded, id: str) -> ClewError:
    if clew.get(id) is None:
        return NotFoundError(f"No memory {id}. List them with: clew list", id=id)
    return NotFoundError(
        f"Nothing of {id} was true and believed then. When it was: clew history {id}", id=id
    )


@routes.patch(
    "/memories/{id}", **described({200: ("Memory", "The memory as it is now.")}, 404, 507)
)
async def update(id: str, body: bodies.Change, caller: Known) -> Response:
    """Change what stands beside a memory's text.

    The text itself is superseded, so that what was believed stays known.
    """
    return await caller.answered(lambda clew: payload.memory(clew.update(id, **body.given())))


@routes.delete("/memories/{id}", **described({200: ("Forgotten", "It is gone.")}, 404, 409, 507))
async def forget(
    id: str,
    caller: Known,
    force: Annotated[bool, Query(description="Forget it although it is protected.")] = False,
    only: Annotated[bool, Query(description="Leave what superseded it.")] = False,
    tombstone: Annotated[
        bool, Query(description="Reject the same text when it is offered again.")
    ] = True,
) -> Response:
    """Forget a memory for good, with its versions and successors.

    The answer says what a search of the files found afterwards.
    """
    return await caller.answered(
        lambda clew: payload.receipt(clew.forget(id, force=force, only=only, tombstone=tombstone))
    )


@routes.post(
    "/forget", **described({200: ("Forgotten", "They are gone, or would go.")}, 404, 409, 507)
)
async def forget_many(body: bodies.Forget, caller: Known) -> Response:
    """Forget memories and documents by ids, or by a filter together with the number that is expected to go."""
    options = body.given("ids", "where")
    where = None if body.where is None else body.where.given()
    return await caller.answered(
        lambda clew: payload.receipt(clew.forget(body.ids, where=where, **options))
    )


@routes.get("/memories/{id}/history", **described({200: ("History", "Its history.")}, 404))
async def history(id: str, caller: Known) -> Response:
    """Tell what happened to a memory, and what it was ever held to be."""
    return await caller.answered(
        lambda clew: payload.history(id, clew.history(id), clew.versions(id))
    )


@routes.get(
    "/memories/{id}/related", **described({200: ("Related", "What hangs together with it.")}, 404)
)
async def related(
    id: str,
    caller: Known,
    limit: Annotated[int, Query(ge=1, le=1000, description="How many.")] = 20,
    full: Annotated[
        bool, Query(description="With every field of memories, names and links.")
    ] = False,
) -> Response:
    """Tell what a memory names, and which memories share that or are linked to it."""
    return await caller.answered(
        lambda clew: payload.related(clew.related(id, limit=limit), full=full)
    )


# What is true since when, and what no longer.

bitemporal_routes = APIRouter(prefix="/v1", tags=["truth"])
INTERVAL = described(
    {200: ("Interval", "Since and until when it is true, and is believed.")}, 404, 507
)


def _replaced(outcome: Mapping[str, Any]) -> int:
    return 201 if "supersedes" in outcome else 200


@bitemporal_routes.post(
    "/memories/{id}/supersede",
    **described(
        {201: ("Superseded", "It took the place."), 200: ("Superseded", "Nothing has changed.")},
        404,
        409,
        507,
    ),
)
async def supersede(id: str, body: bodies.Successor, caller: Known) -> Response:
    """Put a new text in the place of a memory, which ends where the new one begins."""

    def superseded(clew: Guarded) -> dict[str, Any]:
        return payload.superseded(clew.supersede(id, **body.given()), id)

    return await caller.answered(superseded, status=_replaced)


@bitemporal_routes.post("/memories/{id}/invalidate", **INTERVAL)
async def invalidate(id: str, caller: Known, body: bodies.End | None = None) -> Response:
    """Say that a memory stopped being true, by default now.

    Said again with another time, that one counts.
    """
    given = body.given() if body else {}
    return await caller.answered(lambda clew: payload.interval(clew.invalidate(id, **given)))


@bitemporal_routes.post("/memories/{id}/expire", **INTERVAL)
async def expire(id: str, caller: Known) -> Response:
    """Say that a memory is no longer believed, for any time."""
    return await caller.answered(lambda clew: payload.interval(clew.expire(id)))


@bitemporal_routes.post("/memories/{id}/reassert", **INTERVAL)
async def reassert(id: str, caller: Known, body: bodies.Again | None = None) -> Response:
    """Say that a memory that had ended or expired is true again, by default from now on."""
    given = body.given() if body else {}
    return await caller.answered(lambda clew: payload.interval(clew.reassert(id, **given)))


@bitemporal_routes.post(
    "/memories/{id}/protect",
    **described({200: ("Protected", "Whether it is protected.")}, 404, 507),
)
async def protect(id: str, caller: Known, body: bodies.Protection | None = None) -> Response:
    """Keep a memory from being forgotten, or let it go again."""

    def protected(clew: Guarded) -> dict[str, Any]:
        node = clew.protect(id, body.protected if body else True)
        return {"id": node.id, "protected": node.protected}

    return await caller.answered(protected)


@bitemporal_routes.post(
    "/memories/{id}/unarchive",
    **described({200: ("Unarchived", "Whether it is in the archive.")}, 404, 507),
)
async def unarchive(id: str, caller: Known) -> Response:
    """Bring back a memory from the archive."""

    def unarchived(clew: Guarded) -> dict[str, Any]:
        node = clew.unarchive(id)
        return {"id": node.id, "archived": node.archived}

    return await caller.answered(unarchived)
