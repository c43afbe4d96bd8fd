"""A connection on which nothing comes, or nothing is read, is ended: it must not keep a place from others."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import uvicorn

from clew.surface.http.patience import patience
from tests.surface.http.conftest import Process

HEAD = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"
LONG = b"x" * 20_000_000  # more than the buffers of both ends hold


async def answering(scope: Any, receive: Any, send: Any) -> None:
    body = LONG if scope["path"] == "/long" else b"done"
    status = 413 if scope["method"] == "POST" else 200  # before the body has come
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-length", str(len(body)).encode())]})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def address() -> Iterator[tuple[str, int]]:
    """Where a server with little patience listens."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(answering, http=patience(0.2, 0.2), log_config=None, lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield listening.getsockname()
    server.should_exit = True
    thread.join()


def connected(address: tuple[str, int]) -> socket.socket:
    return socket.create_connection(address, timeout=20)


def ended(connection: socket.socket, *, drip: bytes = b"") -> bool:
    """Tell whether the server ends the connection while the client goes on as slowly as it can."""
    connection.settimeout(0.05)
    for _ in range(400):
        try:
            if drip:
                connection.send(drip)
            if connection.recv(65536) == b"":
                return True
        except TimeoutError:
            continue
        except OSError:
            return True
    return False


def test_a_client_that_says_nothing_is_let_go(address: tuple[str, int]) -> None:
    with connected(address) as connection:
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
def test_one_that_drips_is_let_go_however_often_it_sends(address: tuple[str, int], begun: bytes) -> None:
    with connected(address) as connection:
        connection.sendall(begun)
        assert ended(connection, drip=b"a")


def test_one_that_does_not_read_its_answer_is_let_go(address: tuple[str, int]) -> None:
    with connected(address) as connection:
        connection.sendall(b"GET /long HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        with pytest.raises(OSError, match=r"reset|pipe"):
            for _ in range(400):
                connection.send(b"a")  # answered with a reset as soon as nobody is there
                threading.Event().wait(0.05)


def test_one_that_is_only_slow_is_served(address: tuple[str, int]) -> None:
    with connected(address) as connection:
        for part in (HEAD[:10], HEAD[10:], b"\r\n"):
            connection.sendall(part)
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")


def test_connections_without_a_request_keep_nobody_out_for_long(process: Callable[..., Process]) -> None:
    server = process(CLEW_SERVE__MAX_CONNECTIONS="4", CLEW_SERVE__RECEIVE_SECONDS="0.5")
    host, port = server.url.removeprefix("http://").split(":")
    idle = [connected((host, int(port))) for _ in range(6)]
    server.until(lambda: server.ask("GET", "/health").status_code == 200, seconds=30)
    for each in idle:
        assert each.recv(100) == b""
        each.close()
