"""What the routes share: the Clew, the threads it works in, the door, the jobs, and whether the server is about to stop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.responses import Response

from clew.engine.access import Grant
from clew.engine.guarded import Guarded
from clew.surface.http.described import JSON
from clew.surface.http.problems import encoded

if TYPE_CHECKING:
    from clew.engine import Clew
    from clew.settings import ServeSettings
    from clew.surface.http.door import Door
    from clew.surface.http.jobs import Jobs
    from clew.surface.http.meter import Meter
    from clew.surface.http.pool import Pool

BEARER = HTTPBearer(
    auto_error=False,
    description="A token of `clew token create`, bound to spaces and rights. Needed if the store has or has had one, or the server listens "
    "beyond its own machine.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A Clew as it is served."""

    clew: Clew
    settings: ServeSettings
    pool: Pool
    door: Door
    jobs: Jobs
    meter: Meter
    draining: Event = field(default_factory=Event)


class Caller:
    """Whoever made a request, and the Clew as they may use it."""

    def __init__(self, service: Service, grant: Grant) -> None:
        """Take what the edge found out."""
        self.service = service
        self.face = Guarded(service.clew, grant)

    async def answered(
        self,
        work: Callable[[Guarded], Mapping[str, Any]],
        *,
        status: int | Callable[[Mapping[str, Any]], int] = 200,
        headers: Callable[[Mapping[str, Any]], Mapping[str, str]] | None = None,
    ) -> Response:
        """Ask the Clew in a thread and return its answer, made into JSON there too."""

        def worked() -> Response:
            document = work(self.face)
            code = status(document) if callable(status) else status
            return Response(encoded(document), code, None if headers is None else headers(document), media_type=JSON)

        return await self.service.pool.run(worked)


def caller(request: Request, _: Annotated[HTTPAuthorizationCredentials | None, Security(BEARER)] = None) -> Caller:
    """Return the caller that the edge let in; the header is declared here for the documentation alone."""
    return Caller(request.app.state.service, request.scope["state"]["grant"])


Known = Annotated[Caller, Depends(caller)]
