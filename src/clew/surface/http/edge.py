"""What every request passes before the routes, and on its way out: host, origin, token, rate, size, time, log.

Plain ASGI, so that mounted applications stand behind it too. A body is read whole before the route sees it: its size and
the time it takes are counted as it arrives, whatever its headers say, and a caller without a token gets none of it read.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders

from clew.engine.access import Grant, Right, may
from clew.errors import ClewError, StoreError, UnauthorisedError
from clew.surface.http import problems
from clew.surface.http.buckets import Buckets
from clew.surface.http.meter import UNROUTED
from clew.surface.http.receiving import GoneError, received, replayed
from clew.telemetry.request_ids import requested

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from clew.surface.http.service import Service

MEGABYTE = 1_000_000
OPEN_PATHS = frozenset({"/health", "/health/live", "/health/ready"})  # for those who watch over it: no host, token or rate is asked for
PUBLIC_PATHS = frozenset({"/openapi.json"})  # says what every copy of Clew says
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
        """Answer with a problem; too late for one, the connection breaks instead, so that half an answer is not taken for one."""
        if self.status:
            raise error
        trusted = self.grant is not None and may(self.grant, Right.ADMIN, None)
        await problems.answer(error, request_id=self.id, trusted=trusted)(self.scope, receive, self.send)


class Edge:
    """The outermost layer of the application."""

    def __init__(self, app: ASGIApp, *, service: Service, hosts: frozenset[str]) -> None:
        """Take what lies behind, and the names under which the server may be called."""
        self._app = app
        self._service = service
        self._hosts = hosts
        self._origins = frozenset(origin.casefold().rstrip("/") for origin in service.settings.allowed_origins)
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
                    problems.BugError("Something went wrong. The server's log tells more under this request_id."), receive
                )
            finally:
                self._told(exchange, time.perf_counter() - began)

    async def _admitted(self, exchange: Exchange, headers: Headers, receive: Receive) -> None:
        scope, settings = exchange.scope, self._service.settings
        state = scope.setdefault("state", {})
        state["request_id"] = exchange.id
        if "content-length" in headers and "transfer-encoding" in headers:
            raise problems.AmbiguousLengthError("The request has both Content-Length and Transfer-Encoding. Send one of them.")
        if scope["path"] not in OPEN_PATHS:
            self._check_place(headers)
            if scope["path"] not in PUBLIC_PATHS:
                exchange.grant = state["grant"] = await self._let_in(scope, headers)
        limit = round(settings.max_request_mb * MEGABYTE)
        body = await received(receive, declared=headers.get("content-length"), limit=limit, seconds=settings.receive_seconds)
        await self._app(scope, replayed(body, receive), exchange.send)

    def _check_place(self, headers: Mapping[str, str]) -> None:
        """Refuse other names than our own, behind which a page may have hidden this machine, and pages that are not ours."""
        host = headers.get("host", "")
        if "*" not in self._hosts and bare(host) not in self._hosts:
            raise problems.WrongHostError(
                "This server does not go by that name. Add it to the setting serve.allowed_hosts if it should.", host=host
            )
        origin = headers.get("origin")
        if origin is not None and origin.casefold() not in self._origins | {f"http://{host}".casefold(), f"https://{host}".casefold()}:
            raise problems.WrongOriginError(
                "Pages of that origin may not call this server. Add it to the setting serve.allowed_origins if they should.", origin=origin
            )

    async def _let_in(self, scope: Scope, headers: Headers) -> Grant:
        address = (scope.get("client") or ("",))[0]
        given = headers.getlist("authorization")
        secret = ", ".join(given) if given else None  # of two, a proxy might have checked the other: together they are no token
        try:
            grant = await self._service.pool.run(self._service.door.grant, secret)
        except UnauthorisedError:
            check(self._callers.take(address))  # not before: behind a proxy others, who have tokens, come from there too
            raise
        # By the token's name, which is its own: one secret can be written in many ways, each with a bucket of its own.
        check(self._callers.take(address if secret is None else f"token {grant.name}"))
        return grant

    def _told(self, exchange: Exchange, seconds: float) -> None:
        route = getattr(exchange.scope.get("route"), "path", UNROUTED)
        method = exchange.scope["method"] if exchange.scope["method"] in METHODS else "OTHER"
        self._service.meter.count(method, route, exchange.status, seconds)
        # The route, not the path, and no query: what people ask and keep is not for logs.
        facts = {"method": method, "route": route, "status": exchange.status, "milliseconds": round(seconds * 1e3, 1)}
        by = exchange.grant.name if exchange.grant else ""
        line = f"{method} {route} {exchange.status} {facts['milliseconds']} ms"
        log.info("%s", line, extra={**facts, "request_id": exchange.id, "caller": by})


METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})


def note(error: ClewError, request_id: str) -> None:
    """Log what is the server's fault; of a store's also its message, which names files and never what they hold."""
    if problems.status_of(error.code) >= problems.INTERNAL:
        detail = {"detail": error.message} if isinstance(error, StoreError) else {}
        log.warning("%s", error.code, extra={"request_id": request_id, **detail})


def check(wait: float) -> None:
    """Raise unless there is nothing to wait for."""
    if wait > 0:
        seconds = max(1, ceil(wait))
        raise problems.TooManyError(f"Too many requests. Try again in {seconds} s.", retry_after=seconds)


def bare(host: str) -> str:
    """Return a host without its port, in small letters.

    >>> bare("Localhost:7411"), bare("[::1]:7411"), bare("[::1]")
    ('localhost', '[::1]', '[::1]')
    """
    name, colon, port = host.casefold().rpartition(":")
    return name if colon and port.isdigit() else host.casefold()
