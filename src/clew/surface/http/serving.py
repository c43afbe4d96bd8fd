"""Runs the server: binds, says where it is, and when it is told to stop lets what has begun come to its end."""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeAlias

import uvicorn

from clew.engine.auth import Tokens
from clew.errors import InputError, RefusedError
from clew.surface.http.service import loopback
from clew.surface.http.timeouts import STOPPING, Deadline, patience

if TYPE_CHECKING:
    from fastapi import FastAPI

    from clew.engine import Clew
    from clew.settings import ServeSettings
    from clew.surface.ui.signin import PageKey

# The application while it is still on its way: the server listens first and loads its routes
# meanwhile, which takes half a second.
#
# Until then it says that it lives and is starting; every other request waits for the application
# and is answered by it.

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

# what is asked meanwhile waits and is answered
ALIVE = {"/health/live": {"status": "live"}, "/health": {"status": "starting"}}
READY = "/health/ready"
STARTING = {
    "type": "urn:clew:problem:http.starting",
    "title": "Service Unavailable",
    "status": 503,
    "detail": "The server is starting.",
    "code": "http.starting",
}


class Arriving:
    """Stands in for an application until that is made, in a thread.

    Then passes everything on to it.
    """

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
            await (
                self(scope, receive, send)
                if self.app is not None
                else _answer(send, 503, "application/problem+json", STARTING)
            )

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()  # that the server starts
        running = asyncio.create_task(self._run())
        await send({"type": "lifespan.startup.complete"})
        await receive()  # that it is about to stop
        self._over.set()
        await running
        await send({"type": "lifespan.shutdown.complete"})

    async def _run(self) -> None:
        """Make the application and stay inside its lifespan.

        One task enters and leaves, for it may hold a task group.
        """
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
    headers = [
        (b"content-type", media_type.encode()),
        *([(b"retry-after", b"1")] if status == 503 else []),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})


BACKLOG = 128
M_ARENA_MAX = -8  # malloc.h
HEAPS = 2


class Server(uvicorn.Server):
    """Turns unready at the first signal to stop, drains, and ends as one who was asked to.

    With 0.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        arriving: Arriving,
        deadline: Deadline,
        started: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._arriving = arriving
        self._deadline = deadline
        self._say_started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, and only then say so: from here on signals are heard."""
        await super().startup(sockets)
        self._say_started()

    async def on_tick(self, counter: int) -> bool:
        """Tell several times a second whether to stop: also when there is nothing to serve."""
        return await super().on_tick(counter) or self._arriving.failure is not None

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Hear the signals that say stop.

        Uvicorn would raise them again at the end, and the process would seem to have died of them.
        """
        # Python hears signals there alone
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        earlier = {sign: signal.signal(sign, self.handle_exit) for sign in STOPPING}
        try:
            yield
        finally:
            for sign, handler in earlier.items():
                signal.signal(sign, handler)

    # The signature of a signal's handler
    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002
        """Turn unready and begin to drain; a second interrupt does not wait."""
        self._deadline.begin()
        if self._arriving.app is not None:
            self._arriving.app.state.service.draining.set()
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True


def serve(
    clew: Clew,
    settings: ServeSettings,
    *,
    announce: Callable[[str], None],
    page_key: PageKey | None = None,
) -> None:
    """Serve a Clew, to agents too if the extra is there, until a signal says stop, and close it.

    `announce` is told the address.

    With a `page_key` every caller needs a token or that key.
    """
    check_exposure(clew, settings)
    _share_heaps()
    deadline = Deadline(max(1, settings.drain_seconds), _leave)
    try:
        with deadline.watched():
            _run(clew, settings, deadline, announce, page_key)
            clew.close()  # another process may hold the store, and the deadline counts for this too
    finally:
        deadline.cancel()


def _run(
    clew: Clew,
    settings: ServeSettings,
    deadline: Deadline,
    announce: Callable[[str], None],
    page_key: PageKey | None,
) -> None:
    arriving = Arriving(lambda: _made(clew, settings, page_key))
    with bound(settings) as listening:
        host, port = listening.getsockname()[:2]
        url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        config = uvicorn.Config(
            arriving,
            http=patience(settings.receive_seconds),
            loop="asyncio",  # others take over the pipe by which Python tells of signals
            log_config=None,
            access_log=False,  # ours has no paths and no questions
            server_header=False,
            proxy_headers=False,  # anyone could write them
            ws="none",
            lifespan="on",
            limit_concurrency=settings.max_connections,
            backlog=BACKLOG,
            timeout_graceful_shutdown=max(1, round(settings.drain_seconds)),
        )
        Server(config, arriving, deadline, lambda: announce(url)).run(sockets=[listening])
    if arriving.failure is not None:
        raise arriving.failure
    if arriving.app is not None and (
        arriving.app.state.service.pool.taken or arriving.app.state.worker.working
    ):
        _leave()


def _share_heaps() -> None:
    """Let the threads share two heaps.

    By default glibc gives a thread its own, and each keeps what its dearest request once needed.
    """
    with suppress(OSError, AttributeError, TypeError):  # other systems have other ways
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, HEAPS)


def _made(clew: Clew, settings: ServeSettings, page_key: PageKey | None) -> FastAPI:
    """Return the application.

    FastAPI and the routes are loaded here, when the server listens already.
    """
    from clew.surface.http import app as mounting  # noqa: PLC0415
    from clew.surface.http.app import make_app  # noqa: PLC0415

    agents = mounting.mcp(clew)
    if agents is None:
        return make_app(clew, settings, page_key=page_key)
    return make_app(
        clew,
        settings,
        mounts=[(mounting.MCP_PATH, agents)],
        lifespans=[agents.lifespan],
        page_key=page_key,
    )


def check_exposure(clew: Clew, settings: ServeSettings) -> None:
    """Refuse to listen beyond this machine while nobody needs a token.

    Whoever reached it would be the owner.
    """
    if not loopback(settings.host) and not Tokens(clew.store, clew.now).list():
        raise RefusedError(
            f"Listening on {settings.host} needs a token. Make one first: clew token create NAME --space SPACE, or listen on 127.0.0.1.",
            host=settings.host,
        )


def bound(settings: ServeSettings) -> socket.socket:
    """Return a socket that listens where the settings say, or raise an InputError that says why not."""
    try:
        family, _, _, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM
        )[0]
        return socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except OSError as error:
        where = f"{settings.host}:{settings.port}"
        raise InputError(
            "serve",
            where,
            f"cannot be listened on ({error.strerror or error})",
            "Choose another --host or --port.",
        ) from error


def _leave() -> None:
    """End although a thread is still at work past the drain.

    What is committed is safe, the rest of it was not acknowledged.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
