"""What every request passes before the routes, and on its way out.

Host, origin, token, rate, size, time, log.

Plain ASGI, so that mounted applications stand behind it too. A body is read whole before the route
sees it: its size and the time it takes are counted as it arrives, whatever its headers say, and a
caller without a token gets none of it read.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders

from clew.engine.auth import Grant, Right, may
from clew.engine.telemetry.operation import requested
from clew.errors import ClewError, StoreError, UnauthorisedError
from clew.surface.http import problems
from clew.surface.http.service import UNROUTED
from clew.surface.ui.assets import is_page

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from clew.surface.http.service import Service

# How often a caller may ask: a bucket of tokens for each, which fills at a steady rate.

# remembered at once; the one not seen for longest is forgotten, and then has a full bucket
MOST_CALLERS = 10_000


class Buckets:
    """A bucket for each caller. Used by one thread: the event loop's."""

    def __init__(
        self, *, per_second: float, burst: int, timer: Callable[[], float] = time.monotonic
    ) -> None:
        """Take the rate, 0 for no limit, and how many may come at once."""
        self._rate = per_second
        self._burst = float(burst)
        self._timer = timer
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str) -> float:
        """Count one request; return 0 if it may go on, else in how many seconds the next may.

        >>> buckets = Buckets(per_second=2, burst=1, timer=lambda: 0.0)
        >>> buckets.take("a"), buckets.take("a"), buckets.take("b")
        (0.0, 0.5, 0.0)
        """
        wait = self.wait(caller)
        if not wait and self._rate:
            now = self._timer()
            self._levels[caller] = (self._level(caller, now) - 1.0, now)
            self._levels.move_to_end(caller)
            if len(self._levels) > MOST_CALLERS:
                self._levels.popitem(last=False)
        return wait

    def wait(self, caller: str) -> float:
        """Return in how many seconds a request may come; nothing is counted."""
        if not self._rate:
            return 0.0
        return max(0.0, 1.0 - self._level(caller, self._timer())) / self._rate

    def _level(self, caller: str, now: float) -> float:
        level, then = self._levels.get(caller, (self._burst, now))
        return min(self._burst, level + (now - then) * self._rate)


# The body of a request, read whole before anything is done with it, and no longer or larger than it
# may be.


class GoneError(Exception):
    """The caller hung up before the request was whole."""


async def received(receive: Receive, *, declared: str | None, limit: int, seconds: float) -> bytes:
    """Return the whole body, or raise as soon as it is too large or too late."""
    if declared is not None and declared.isdigit() and len(declared) < 20 and int(declared) > limit:
        raise _too_large(limit)
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise GoneError
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > limit:
                    raise _too_large(limit)
                if not message.get("more_body", False):
                    return b"".join(parts)
    except TimeoutError:
        raise problems.SlowRequestError(
            f"The request was not whole after {seconds:g} s.", seconds=seconds
        ) from None


def _too_large(limit: int) -> ClewError:
    return problems.TooLargeError(
        f"The body is larger than {limit} bytes. Send less at once, or raise serve.max_request_mb.",
        limit=limit,
    )


def replayed(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the body once and then whatever comes after it."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


MEGABYTE = 1_000_000
# for those who watch over it: no host, token or rate is asked for
OPEN_PATHS = frozenset({"/health", "/health/live", "/health/ready"})
PUBLIC_PATHS = frozenset({"/openapi.json"})  # says what every copy of Clew says
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
# any header of its own makes a browser ask first, and no other page is allowed to
PAGE_HEADER = "x-clew-page"
log = logging.getLogger("clew.http")


@dataclass(slots=True)
class Exchange:
    """One request and what has been answered so far."""

    scope: Scope
    send_on: Send
    id: str
    status: int = 0
    grant: Grant | None = None

    async def send(self, message: Message) -> None:
        """Pass a message on, with the request's id in its headers."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["X-Request-ID"] = self.id
            headers.setdefault("X-Content-Type-Options", "nosniff")
            headers.setdefault("Cache-Control", "no-store")
        await self.send_on(message)

    async def refuse(self, error: ClewError, receive: Receive) -> None:
        """Answer with a problem.

        Too late for one, the connection breaks instead, so that half an answer is not taken for
        one.
        """
        if self.status:
            raise error
        trusted = self.grant is not None and may(self.grant, Right.ADMIN, None)
        await problems.answer(error, request_id=self.id, trusted=trusted)(
            self.scope, receive, self.send
        )


class Edge:
    """The outermost layer of the application."""

    def __init__(self, app: ASGIApp, *, service: Service, hosts: frozenset[str]) -> None:
        """Take what lies behind, and the names under which the server may be called."""
        self._app = app
        self._service = service
        self._hosts = hosts
        self._origins = frozenset(
            origin.casefold().rstrip("/") for origin in service.settings.allowed_origins
        )
        settings = service.settings
        self._callers = Buckets(per_second=settings.requests_per_second, burst=settings.burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._exchange(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})  # nothing is served over sockets

    async def _exchange(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        began = time.perf_counter()
        with requested(headers.get("x-request-id")) as id:
            exchange = Exchange(scope, send, id)
            try:
                await self._admitted(exchange, headers, receive)
            except ClewError as error:
                note(error, id)
                await exchange.refuse(error, receive)
            except GoneError:
                pass
            except Exception:
                log.exception("unexpected", extra={"request_id": id})
                await exchange.refuse(
                    problems.BugError(
                        "Something went wrong. The server's log tells more under this request_id."
                    ),
                    receive,
                )
            finally:
                self._told(exchange, time.perf_counter() - began)

    async def _admitted(self, exchange: Exchange, headers: Headers, receive: Receive) -> None:
        scope, settings = exchange.scope, self._service.settings
        state = scope.setdefault("state", {})
        state["request_id"] = exchange.id
        if "content-length" in headers and "transfer-encoding" in headers:
            raise problems.AmbiguousLengthError(
                "The request has both Content-Length and Transfer-Encoding. Send one of them."
            )
        if scope["path"] not in OPEN_PATHS:
            self._check_place(headers)
            self._check_intent(scope["method"], headers)
            if scope["path"] not in PUBLIC_PATHS and not is_page(scope["path"]):
                exchange.grant = state["grant"] = await self._let_in(scope, headers)
        limit = round(settings.max_request_mb * MEGABYTE)
        body = await received(
            receive,
            declared=headers.get("content-length"),
            limit=limit,
            seconds=settings.receive_seconds,
        )
        await self._app(scope, replayed(body, receive), exchange.send)

    def _check_place(self, headers: Mapping[str, str]) -> None:
        """Refuse other names than our own, behind which a page may have hidden this machine, and pages that are not ours."""
        host = headers.get("host", "")
        if "*" not in self._hosts and bare(host) not in self._hosts:
            raise problems.WrongHostError(
                "This server does not go by that name. Add it to the setting serve.allowed_hosts if it should.",
                host=host,
            )
        origin = headers.get("origin")
        if origin is not None and origin.casefold() not in self._origins | {
            f"http://{host}".casefold(),
            f"https://{host}".casefold(),
        }:
            raise problems.WrongOriginError(
                "Pages of that origin may not call this server. Add it to the setting serve.allowed_origins if they should.",
                origin=origin,
            )

    def _check_intent(self, method: str, headers: Mapping[str, str]) -> None:
        """Refuse changes that a browser sends without our header.

        A form of another page cannot add one, whatever its origin says.
        """
        # which browsers send and no page can take away
        if method in SAFE_METHODS or "sec-fetch-site" not in headers:
            return
        if headers.get("origin", "").casefold() not in self._origins and PAGE_HEADER not in headers:
            raise problems.WrongOriginError(
                f"A browser that changes something must send the header {PAGE_HEADER}: 1.",
                header=PAGE_HEADER,
            )

    async def _let_in(self, scope: Scope, headers: Headers) -> Grant:
        address = (scope.get("client") or ("",))[0]
        given = headers.getlist("authorization")
        # of two, a proxy might have checked the other: together they are no token
        secret = ", ".join(given) if given else None
        try:
            grant = await self._service.pool.run(self._service.door.grant, secret)
        except UnauthorisedError:
            # not before: behind a proxy others, who have tokens, come from there too
            check(self._callers.take(address))
            raise
        # By the token's name, which is its own: one secret can be written in many ways, each with a
        # bucket of its own.
        check(self._callers.take(address if secret is None else f"token {grant.name}"))
        return grant

    def _told(self, exchange: Exchange, seconds: float) -> None:
        route = getattr(exchange.scope.get("route"), "path", UNROUTED)
        method = exchange.scope["method"] if exchange.scope["method"] in METHODS else "OTHER"
        self._service.meter.count(method, route, exchange.status, seconds)
        # The route, not the path, and no query: what people ask and keep is not for logs.
        facts = {
            "method": method,
            "route": route,
            "status": exchange.status,
            "milliseconds": round(seconds * 1e3, 1),
        }
        by = exchange.grant.name if exchange.grant else ""
        line = f"{method} {route} {exchange.status} {facts['milliseconds']} ms"
        log.info("%s", line, extra={**facts, "request_id": exchange.id, "caller": by})


METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})


def note(error: ClewError, request_id: str) -> None:
    """Log what is the server's fault.

    Of a store's also its message, which names files and never what they hold.
    """
    if problems.status_of(error.code) >= problems.INTERNAL:
        detail = {"detail": error.message} if isinstance(error, StoreError) else {}
        log.warning("%s", error.code, extra={"request_id": request_id, **detail})


def check(wait: float) -> None:
    """Raise unless there is nothing to wait for."""
    if wait > 0:
        seconds = max(1, ceil(wait))
        raise problems.TooManyError(
            f"Too many requests. Try again in {seconds} s.", retry_after=seconds
        )


def bare(host: str) -> str:
    """Return a host without its port, in small letters.

    >>> bare("Localhost:7411"), bare("[::1]:7411"), bare("[::1]")
    ('localhost', '[::1]', '[::1]')
    """
    name, colon, port = host.casefold().rpartition(":")
    return name if colon and port.isdigit() else host.casefold()
