"""The application while it is still on its way: the server listens first and loads its routes meanwhile, which takes half a second.

Until then it says that it lives and is starting; every other request waits for the application and is answered by it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from fastapi import FastAPI

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

ALIVE = {"/health/live": {"status": "live"}, "/health": {"status": "starting"}}  # what is asked meanwhile waits and is answered
READY = "/health/ready"
STARTING = {
    "type": "urn:clew:problem:http.starting",
    "title": "Service Unavailable",
    "status": 503,
    "detail": "The server is starting.",
    "code": "http.starting",
}


class Arriving:
    """Stands in for an application until that is made, in a thread; then passes everything on to it."""

    def __init__(self, make: Callable[[], FastAPI]) -> None:
        """Take what makes the application."""
        self.app: FastAPI | None = None
        self.failure: Exception | None = None
        self._make = make
        self._settled, self._over = asyncio.Event(), asyncio.Event()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer for the application, or let it answer."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif self.app is not None:
            await self.app(scope, receive, send)
        elif scope["path"] in ALIVE:
            await _answer(send, 200, "application/json", ALIVE[scope["path"]])
        elif scope["path"] == READY:
            await _answer(send, 503, "application/problem+json", STARTING)
        else:
            await self._settled.wait()
            await (self(scope, receive, send) if self.app is not None else _answer(send, 503, "application/problem+json", STARTING))

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()  # that the server starts
        running = asyncio.create_task(self._run())
        await send({"type": "lifespan.startup.complete"})
        await receive()  # that it is about to stop
        self._over.set()
        await running
        await send({"type": "lifespan.shutdown.complete"})

    async def _run(self) -> None:
        """Make the application and stay inside its lifespan: one task enters and leaves, for it may hold a task group."""
        try:
            made = await asyncio.to_thread(self._make)
            async with made.router.lifespan_context(made):
                self.app = made
                self._settled.set()
                await self._over.wait()
        except Exception as error:  # whatever it is, the server tells it when it has stopped
            self.failure = error
        finally:
            self._settled.set()


async def _answer(send: Send, status: int, media_type: str, body: dict[str, Any]) -> None:
    """Answer in the form that the application has for the same."""
    headers = [(b"content-type", media_type.encode()), *([(b"retry-after", b"1")] if status == 503 else [])]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})
