"""What the operator of a store asks: settings, recalls, a check, a backup, reports.

Each needs a right over the whole store.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from clew.engine.auth import Right
from clew.engine.authorised import Guarded
from clew.errors import RefusedError
from clew.ids import new_id
from clew.settings import Loaded, describe
from clew.surface import payload
from clew.surface.http.problems import described
from clew.surface.http.service import Known

routes = APIRouter(prefix="/v1", tags=["operating"])
GIVEN = "given by the program"


@routes.get("/settings", **described({200: ("Settings", "The settings.")}))
async def settings(caller: Known) -> Response:
    """List every setting with its value and where it came from.

    Needs the right admin over the whole store.
    """

    def listed(clew: Guarded) -> dict[str, Any]:
        clew.whole_store()
        sources = Sources(clew.clew.setting_sources)
        return {
            "settings": [
                payload.setting(row) for row in describe(Loaded(clew.clew.settings, sources))
            ]
        }

    return await caller.answered(listed)


class Sources(dict[str, str]):
    """Where settings came from; of one that nobody noted, that a program gave it."""

    def __missing__(self, key: str) -> str:
        """Answer for a setting without a note."""
        return GIVEN


@routes.get("/recalls", **described({200: ("Recalls", "The recalls.")}))
async def recalls(caller: Known) -> Response:
    """List the last recalls of this server with the time of each stage.

    Needs the right admin over the whole store.

    The text of a question is there only with the setting telemetry.include_text.
    """

    def listed(clew: Guarded) -> dict[str, Any]:
        clew.whole_store()
        return {"recalls": caller.service.recall_log.entries(), "totals": clew.clew.watch.totals()}

    return await caller.answered(listed)


@routes.post(
    "/verify", **described({200: ("Verified", "What is wrong; nothing, where the store is sound.")})
)
async def verify(caller: Known) -> Response:
    """Check every row of the store and change nothing.

    Needs the right admin over the whole store.
    """

    def verified(clew: Guarded) -> dict[str, Any]:
        found = clew.verify()
        return {"sound": not found, "problems": [payload.problem(each) for each in found]}

    return await caller.answered(verified)


@routes.post("/backup", **described({200: ("BackedUp", "Where the copy is.")}, 409, 507))
async def backup(caller: Known) -> Response:
    """Copy the store to a new file beside it and tell where.

    Needs the right admin over the whole store.
    """

    def backed_up(clew: Guarded) -> dict[str, Any]:
        clew.whole_store()
        target = clew.backup(_beside(clew))
        return {"path": str(target), "bytes": target.stat().st_size}

    return await caller.answered(backed_up)


def _beside(clew: Guarded) -> Path:
    """Return a new name beside the store's file; the caller names no path."""
    opened = clew.clew.opened_with
    if opened is None:
        raise RefusedError(
            "This store is in memory alone, or was opened by a program. Copy it there with: clew.backup(path)"
        )
    file = Path(str(opened["path"]))
    now = clew.clew.now()
    return file.with_name(f"{file.name}.backup-{now:%Y%m%dT%H%M%S}-{new_id(now)[-6:]}")


@routes.get("/evaluations", **described({200: ("Evaluations", "The reports.")}))
async def evaluations(caller: Known) -> Response:
    """List the reports of `clew eval` below serve.report_roots.

    Needs the right read over the whole store.
    """

    def listed(clew: Guarded) -> dict[str, Any]:
        clew.whole_store(Right.READ)
        reports = caller.service.reports
        return {"configured": reports.configured, "evaluations": reports.summaries()}

    return await caller.answered(listed)


@routes.get("/evaluation", **described({200: ("Evaluation", "The report.")}, 404))
async def evaluation(
    caller: Known, name: Annotated[str, Query(description="Its name in the list.", examples=["0"])]
) -> Response:
    """Return a report of `clew eval` with its table; needs the right read over the whole store."""

    def found(clew: Guarded) -> dict[str, Any]:
        clew.whole_store(Right.READ)
        return caller.service.reports.report(name)

    return await caller.answered(found)


@routes.get(
    "/evaluation/questions", **described({200: ("EvaluationQuestions", "The questions.")}, 404)
)
async def questions(
    caller: Known,
    name: Annotated[str, Query(description="The report's name in the list.", examples=["0"])],
    category: Annotated[str | None, Query(description="Only of this category.")] = None,
    offset: Annotated[int, Query(ge=0, le=10_000_000, description="How many to pass over.")] = 0,
    limit: Annotated[int, Query(ge=1, le=500, description="At most so many.")] = 50,
) -> Response:
    """Return what every system got on single questions.

    Needs the right read over the whole store.
    """

    def found(clew: Guarded) -> dict[str, Any]:
        clew.whole_store(Right.READ)
        return caller.service.reports.questions(name, offset=offset, limit=limit, category=category)

    return await caller.answered(found)
