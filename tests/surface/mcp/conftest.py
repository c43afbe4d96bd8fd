"""A real client of the SDK on either transport: a process on stdio, a server on loopback."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
import uvicorn
from mcp import Client, StdioServerParameters
from starlette.applications import Starlette
from starlette.routing import Route

from clew.engine import Clew
from clew.engine import open as open_clew
from clew.engine.auth import OWNER, Tokens
from clew.errors import UnauthorisedError
from clew.surface.mcp.server import Scope, streamable_app
from tests.fork_server import shared_command

HANDSHAKE, STATELESS = "legacy", "2026-07-28"  # as the client calls its modes
Script = Callable[[Client], Awaitable[Any]]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "memory.clew"


@pytest.fixture
def environment(tmp_path: Path, store: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "CLEW_STORE": str(store),
        "CLEW_MODEL__EMBEDDER": "hashing",
        "CLEW_OFFLINE": "1",
    }


@pytest.fixture
def opened(store: Path) -> Iterator[Clew]:
    with open_clew(store, model={"embedder": "hashing"}) as clew:
        yield clew


def over_stdio(
    environment: dict[str, str], script: Script, *options: str, mode: str = HANDSHAKE
) -> Any:
    """Run a script against `clew mcp` as a process of its own."""
    server = StdioServerParameters(
        command=str(shared_command()), args=["mcp", *options], env=environment
    )

    async def run() -> Any:
        async with Client(server, mode=mode) as client:
            return await script(client)

    return anyio.run(run)


def authorised(clew: Clew) -> Callable[[Scope], Any]:
    """Let in whoever has a token, and everybody as the owner while there is none."""
    tokens = Tokens(clew.store, clew.now)

    def authorise(scope: Scope) -> Any:
        given = dict(scope["headers"]).get(b"authorization", b"").decode().removeprefix("Bearer ")
        found = tokens.grant(given) if given else None
        if found is None and (given or tokens.list()):
            raise UnauthorisedError("A token is needed.")
        return found or OWNER

    return authorise


@contextmanager
def served(clew: Clew) -> Iterator[str]:
    """Serve a Clew under /mcp on a port of this machine, and yield the address."""
    app, running = streamable_app(clew, authorise=authorised(clew))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with running():
            yield

    web = Starlette(routes=[Route("/mcp", endpoint=app)], lifespan=lifespan)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(web, log_level="warning", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            thread.join()


def over_http(address: str, script: Script, *, mode: str = HANDSHAKE) -> Any:
    """Run a script against a server."""

    async def run() -> Any:
        async with Client(address, mode=mode) as client:
            return await script(client)

    return anyio.run(run)
