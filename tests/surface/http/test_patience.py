"""A connection on which nothing comes, or nothing is read, is ended.

It must not keep a place from others.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
import uvicorn

from clew.surface.http.timeouts import patience
from tests.surface.http.conftest import Process
from tests.waiting import LONG_SECONDS, wait_until

HEAD = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"
LONG = b"x" * 20_000_000  # more than the buffers of both ends hold
BRIEFLY = 0.05  # seconds


async def answering(scope: Any, receive: Any, send: Any) -> None:
    body = LONG if scope["path"] == "/long" else b"done"
    status = 413 if scope["method"] == "POST" else 200  # before the body has come
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [(b"content-length", str(len(body)).encode())],
        }
    )
    await send({"type": "http.response.body", "body": body})


@contextmanager
def listening(seconds: float) -> Iterator[tuple[str, int]]:
    """Serve with so much patience, and yield the address."""
    place = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        answering,
        http=patience(seconds, seconds),
        log_config=None,
        lifespan="off",
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [place]})
    thread.start()
    try:
        yield place.getsockname()
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, int]]:
    """Where a server with little patience listens."""
    with listening(0.2) as place:
        yield place


def end(connection: socket.socket, *, drip: bytes) -> None:
    """Return when the server has ended the connection, on which the client goes on sending as slowly as it can."""
    connection.settimeout(BRIEFLY)  # between two pieces
    while True:
        try:
            connection.send(drip)
            if connection.recv(65536) == b"":
                return
        except TimeoutError:
            continue
        except OSError:
            return


def test_a_client_that_says_nothing_is_let_go(address: tuple[str, int]) -> None:
    with socket.create_connection(address) as connection:
        assert connection.recv(100) == b""


@pytest.mark.parametrize(
    "begun",
    [
        HEAD,
        HEAD + b"\r\n" + HEAD,
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000\r\n\r\n",
    ],
    ids=["head", "second head", "rest of a refused body"],
)
def test_one_that_drips_is_let_go_however_often_it_sends(
    address: tuple[str, int], begun: bytes
) -> None:
    with socket.create_connection(address) as connection:
        connection.sendall(begun)
        end(connection, drip=b"a")  # would go on for ever


def test_one_that_does_not_read_its_answer_is_let_go(address: tuple[str, int]) -> None:
    with socket.create_connection(address) as connection:
        connection.sendall(b"GET /long HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        with pytest.raises(OSError, match=r"reset|pipe"):
            # answered with a reset as soon as nobody is there
            wait_until(lambda: connection.send(b"a") == 0)


def test_one_that_is_only_slow_is_served() -> None:
    with listening(LONG_SECONDS) as address, socket.create_connection(address) as connection:
        for part in (HEAD[:10], HEAD[10:], b"\r\n"):
            connection.sendall(part)
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")


def test_connections_without_a_request_keep_nobody_out_for_long(
    process: Callable[..., Process],
) -> None:
    server = process(CLEW_SERVE__MAX_CONNECTIONS="4", CLEW_SERVE__RECEIVE_SECONDS="0.5")
    host, port = server.url.removeprefix("http://").split(":")
    idle = [socket.create_connection((host, int(port))) for _ in range(6)]

    def answers() -> bool:
        try:
            return server.ask("GET", "/health").status_code == 200
        except httpx.TransportError:  # a client that is slow to send is let go as well
            return False

    wait_until(answers)
    for each in idle:
        assert each.recv(100) == b""
        each.close()
