"""Questions, and questions about their answers."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from clew.engine.authorised import Guarded
from clew.engine.tracing import encoded
from clew.errors import InputError
from clew.surface import payload
from clew.surface.http import bodies
from clew.surface.http.problems import described
from clew.surface.http.service import Known

routes = APIRouter(prefix="/v1", tags=["recall"])
ANSWER = described({200: ("Answer", "The answer; it may hold no hit.")})
MOST_REJECTIONS = 100  # told one by one, the nearest to their limits first; the stats count all


def _asked(body: bodies.Narrowed, *without: str) -> dict[str, Any]:
    given = body.given("query", *without)
    return {name: value for name, value in given.items() if value is not None}


@routes.post("/recall", **ANSWER)
async def recall(body: bodies.Question, caller: Known) -> Response:
    """Bring back what answers a question, best first, each hit with the reason for it."""

    def recalled(clew: Guarded) -> dict[str, Any]:
        if body.trace and body.spaces is not None:
            raise InputError(
                "trace", True, "cannot be made of an answer from several spaces", "Ask one space."
            )
        answer = clew.recall(body.query, **_asked(body, "trace", "question"))
        question = {"question": encoded(answer.question)} if body.question else {}
        return {
            **payload.recall(answer),
            **question,
            **({"trace": clew.trace(answer)} if body.trace else {}),
        }

    return await caller.answered(recalled)


@routes.post("/search/hybrid", **ANSWER)
async def hybrid(body: bodies.Hybrid, caller: Known) -> Response:
    """Search by words and by meaning at once; staged, in sections first."""
    recipe = "staged" if body.staged else "balanced"
    return await caller.answered(
        lambda clew: payload.recall(
            clew.recall(body.query, **_asked(body, "staged"), recipe=recipe)
        )
    )


@routes.post(
    "/search/agent", **described({200: ("AgentAnswer", "The answer; it may hold no hit.")})
)
async def agent(body: bodies.Search, caller: Known) -> Response:
    """Search for what is worth an agent's time.

    Poor chunks are turned away, short ones come amid their neighbours.
    """

    def searched(clew: Guarded) -> dict[str, Any]:
        answer = clew.recall(body.query, **_asked(body), recipe="agent")
        nearest = sorted(answer.rejected, key=lambda each: (each.distance, each.id))[
            :MOST_REJECTIONS
        ]
        return {**payload.recall(answer), "rejections": [asdict(each) for each in nearest]}

    return await caller.answered(searched)


@routes.post(
    "/why",
    **described({200: ("Why", "Its place and its reasons; a rank of null: it was not ranked.")}),
)
async def why(body: bodies.Doubt, caller: Known) -> Response:
    """Tell a memory's place in the whole ranking for a question, and what put it there."""
    return await caller.answered(
        lambda clew: payload.why(clew.why(body.query, body.id, **_asked(body, "id")))
    )


@routes.post(
    "/why-not",
    **described({200: ("WhyNot", "Where it was lost; an unknown memory at the stage `store`.")}),
)
async def why_not(body: bodies.Doubt, caller: Known) -> Response:
    """Tell the stage, value and threshold that kept a memory out of an answer."""
    return await caller.answered(
        lambda clew: payload.why_not(clew.why_not(body.query, body.id, **_asked(body, "id")))
    )


@routes.post("/replay", **described({200: ("Replayed", "What came again, and what changed.")}))
async def replay(body: bodies.Replayable, caller: Known) -> Response:
    """Ask a traced question again, by the trace's clock, and tell what changed."""
    return await caller.answered(lambda clew: payload.replayed(clew.replay(body.trace)))
