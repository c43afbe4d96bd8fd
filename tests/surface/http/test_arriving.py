"""The server listens before its routes are loaded.

It lives, is not ready yet, and keeps nobody who asks for more from an answer.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from fastapi import FastAPI

from clew.surface.http.serving import Arriving
from tests.surface.http.conftest import Serve


class Asking:
    """Speaks to an application as a server does."""

    def __init__(self, arriving: Arriving) -> None:
        self.arriving = arriving
        self.told: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.said: list[str] = []

    async def lifespan(self) -> None:
        async def send(message: Any) -> None:
            self.said.append(message["type"])

        await self.arriving({"type": "lifespan", "state": {}}, self.told.get, send)

    async def get(self, path: str) -> tuple[int, bytes]:
        answer: list[Any] = []

        async def send(message: Any) -> None:
            answer.append(message)

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        headers = [(b"host", b"127.0.0.1")]
        scope: dict[str, Any] = {
            "type": "http",
            "method": "GET",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": headers,
        }
        scope |= {
            "state": {},
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 2),
            "scheme": "http",
            "http_version": "1.1",
        }
        scope |= {"root_path": "", "asgi": {"version": "3.0"}}
        await self.arriving(scope, receive, send)
        return answer[0]["status"], b"".join(message.get("body", b"") for message in answer[1:])


def during(make: Callable[[], FastAPI], steps: Callable[[Asking], Any]) -> Asking:
    async def run() -> Asking:
        asking = Asking(Arriving(make))
        living = asyncio.create_task(asking.lifespan())
        await asking.told.put({"type": "lifespan.startup"})
        await steps(asking)
        await asking.told.put({"type": "lifespan.shutdown"})
        await living
        return asking

    return asyncio.run(run())


def test_it_lives_at_once_and_answers_the_rest_when_its_routes_are_there(serve: Serve) -> None:
    app, loaded = serve().client.app, threading.Event()

    def make() -> Any:
        loaded.wait()
        return app

    async def steps(asking: Asking) -> None:
        assert await asking.get("/health/live") == (200, b'{"status": "live"}')
        assert await asking.get("/health") == (200, b'{"status": "starting"}')
        status, body = await asking.get("/health/ready")
        assert (status, b"http.starting" in body) == (503, True)
        waiting = asyncio.create_task(asking.get("/v1/stats"))
        for _ in range(10):
            await asyncio.sleep(0)  # every turn of the loop that an answer could use
        assert not waiting.done()
        loaded.set()
        assert (await waiting)[0] == 200
        assert await asking.get("/health") == (200, b'{"status": "ready"}')

    assert during(make, steps).said == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


def test_what_cannot_be_loaded_is_kept_for_the_server_to_tell() -> None:
    def make() -> FastAPI:
        raise ImportError("half an installation")

    async def steps(asking: Asking) -> None:
        assert (await asking.get("/v1/stats"))[0] == 503

    failure = during(make, steps).arriving.failure
    with pytest.raises(ImportError, match="half an installation"):
        raise failure or AssertionError
