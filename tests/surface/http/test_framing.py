"""A request whose length can be read in two ways is refused, and nothing behind it on its connection is answered."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

import clew
from clew.surface.http.app import make_app
from clew.surface.http.timeouts import patience

BODY = b'{"query": "harbour"}'
CHUNKED = b"14\r\n" + BODY + b"\r\n0\r\n\r\n"
LENGTH = b"Content-Length: 20\r\n"
CHUNKS = b"Transfer-Encoding: chunked\r\n"
SECOND = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    listening = socket.create_server(("127.0.0.1", 0))
    path: Path = tmp_path_factory.mktemp("framing") / "memory.clew"
    with clew.open(path, model={"embedder": "hashing"}) as memory:
        server = uvicorn.Server(
            uvicorn.Config(
                make_app(memory), http=patience(600), log_config=None, timeout_graceful_shutdown=1
            )
        )
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield listening.getsockname()
        server.should_exit = True
        thread.join()


def statuses(address: tuple[str, int], headers: bytes, body: bytes) -> list[int]:
    """Send a request and another one behind it.

    Return the statuses of the answers until the connection is closed.
    """
    head = b"POST /v1/recall HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with socket.create_connection(address) as client:
        client.sendall(head + headers + b"\r\n" + body + SECOND)
        answer = b"".join(iter(lambda: client.recv(65536), b""))
    return [int(each[:3]) for each in answer.split(b"HTTP/1.1 ")[1:]]


@pytest.mark.parametrize(
    ("headers", "body"), [(LENGTH, BODY), (CHUNKS, CHUNKED)], ids=["length", "chunks"]
)
def test_a_request_with_one_length_is_answered(
    address: tuple[str, int], headers: bytes, body: bytes
) -> None:
    assert statuses(address, headers, body) == [200, 200]


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (LENGTH + CHUNKS, CHUNKED),
        (CHUNKS + LENGTH, CHUNKED),
        (b"transfer-encoding: Chunked\r\ncontent-length: 0\r\n", CHUNKED),
        (b"Transfer-Encoding: identity\r\n" + LENGTH, BODY),
        (CHUNKS + CHUNKS, CHUNKED),
        (LENGTH + b"Content-Length: 5\r\n", BODY),
        (b"Content-Length: 20, 5\r\n", BODY),
        (b"Content-Length: +20\r\n", BODY),
        (b"Content-Length : 20\r\n", BODY),
    ],
)
def test_a_request_whose_length_is_ambiguous_is_refused_and_its_connection_closed(
    address: tuple[str, int], headers: bytes, body: bytes
) -> None:
    assert statuses(address, headers, body) == [400]
