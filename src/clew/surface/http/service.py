"""What the routes share.

The Clew, the threads it works in, the door, the jobs, and whether the server is about to stop.
"""

from __future__ import annotations

import ipaddress
import threading
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.responses import Response

from clew.engine.auth import OWNER, Grant, Tokens
from clew.engine.authorised import Guarded
from clew.errors import UnauthorisedError
from clew.surface.http.problems import JSON, encoded

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from clew.engine import Clew
    from clew.settings import ServeSettings
    from clew.surface.http.jobs import Jobs
    from clew.surface.http.pool import Pool
    from clew.surface.http.recall_log import RecallLog
    from clew.surface.http.reports import Reports

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
    recall_log: RecallLog
    reports: Reports
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
            return Response(
                encoded(document),
                code,
                None if headers is None else headers(document),
                media_type=JSON,
            )

        return await self.service.pool.run(worked)


def caller(
    request: Request, _: Annotated[HTTPAuthorizationCredentials | None, Security(BEARER)] = None
) -> Caller:
    """Return the caller that the edge let in.

    The header is declared here for the documentation alone.
    """
    return Caller(request.app.state.service, request.scope["state"]["grant"])


Known = Annotated[Caller, Depends(caller)]


# What `/metrics` tells: how many requests there were and how long they took. No space, no text, no
# id is ever in it.

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
# one name for all paths that nothing is served under: a caller must not be able to make names
UNROUTED = "unrouted"


class Meter:
    """Counts requests; written by the event loop and read by whoever asks."""

    def __init__(self, gauges: Mapping[str, tuple[str, Callable[[], float]]]) -> None:
        """Take what is measured at the moment of asking: a description and a function by name."""
        self._gauges = gauges
        self._requests: Counter[tuple[str, str, str]] = Counter()
        self._durations: defaultdict[str, list[int]] = defaultdict(lambda: [0] * (len(BOUNDS) + 1))
        self._seconds: Counter[str] = Counter()
        self._lock = threading.Lock()

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Note one finished request."""
        with self._lock:
            self._requests[method, route, str(status)] += 1
            self._durations[route][bisect_left(BOUNDS, seconds)] += 1
            self._seconds[route] += seconds  # type: ignore[assignment]  # a Counter of floats

    def exposition(self) -> bytes:
        """Return everything in the text format of Prometheus."""
        # 50 ms that only this needs
        from prometheus_client import CollectorRegistry, generate_latest  # noqa: PLC0415

        registry = CollectorRegistry(auto_describe=False)
        registry.register(self)
        return generate_latest(registry)

    def collect(self) -> Iterator[Metric]:
        """Yield the families, as prometheus_client asks a collector for them."""
        from prometheus_client.core import (  # noqa: PLC0415 - as above
            CounterMetricFamily,
            GaugeMetricFamily,
            HistogramMetricFamily,
        )

        with self._lock:
            requests, durations, seconds = (
                dict(self._requests),
                {key: list(each) for key, each in self._durations.items()},
                dict(self._seconds),
            )
        answered = CounterMetricFamily(
            "clew_http_requests",
            "Requests that were answered.",
            labels=("method", "route", "status"),
        )
        for labels, count in sorted(requests.items()):
            answered.add_metric(labels, count)
        yield answered
        took = HistogramMetricFamily(
            "clew_http_request_seconds", "How long answers took.", labels=("route",)
        )
        for route, counts in sorted(durations.items()):
            took.add_metric((route,), _cumulated(counts), sum_value=seconds[route])
        yield took
        for name, (about, measured) in self._gauges.items():
            yield GaugeMetricFamily(name, about, value=measured())

    def describe(self) -> list[Any]:
        """Say that what is told is known only when it is asked for."""
        return []


def _cumulated(counts: list[int]) -> list[tuple[str, float]]:
    bounds = (*map(str, BOUNDS), "+Inf")
    return [(bound, float(sum(counts[: place + 1]))) for place, bound in enumerate(bounds)]


# Who is calling: from the header Authorization to a grant, or no further.

SCHEME = "bearer"
WAY_OUT = "Send the header Authorization: Bearer TOKEN; make a token with: clew token create NAME --space SPACE"


def nobody(secret: str) -> Grant | None:  # noqa: ARG001 - the shape of a lookup
    """Know no secret beside the tokens of the store."""
    return None


class Door:
    """Authenticates callers: by a token if the store has or has had one, or one is required anyway.

    Else every caller is the owner.
    """

    def __init__(
        self, tokens: Tokens, *, required: bool, also: Callable[[str], Grant | None] = nobody
    ) -> None:
        """Take the store's tokens, whether one is needed while there is none, and which other secrets are known."""
        self._tokens = tokens
        self._required = required
        self._also = also

    def grant(self, authorization: str | None) -> Grant:
        """Return what the caller may do, or raise an UnauthorisedError.

        Reads the store, so that a revocation counts at once.
        """
        if authorization is None:
            if self.locked():
                raise UnauthorisedError(f"A token is needed. {WAY_OUT}")
            return OWNER
        scheme, _, secret = authorization.strip().partition(" ")
        found = self._found(secret.strip()) if scheme.casefold() == SCHEME else None
        if found is None:
            raise UnauthorisedError(f"The token is not known, or its time is over. {WAY_OUT}")
        return found

    def _found(self, secret: str) -> Grant | None:
        return self._also(secret) or self._tokens.grant(secret)

    def locked(self) -> bool:
        """Tell whether a token is needed.

        It still is after the last one has expired or was revoked.
        """
        return self._required or self._tokens.required()


def loopback(host: str) -> bool:
    """Tell whether only this machine reaches an address.

    A name other than localhost may mean anything.

    >>> [loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.casefold() == "localhost"
