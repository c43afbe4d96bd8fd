"""Models of an Ollama server, by its `POST /api/embed`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any

from clew.errors import ModelServiceError
from clew.models.adapters.server import Server
from clew.models.adapters.services import ServiceEmbedder

HOST_VARIABLE = "OLLAMA_HOST"  # the name Ollama's own client uses
DEFAULT_HOST = "http://127.0.0.1:11434"
DEFAULT_PORT = 11434
MAX_TOKENS = 2048  # Ollama's default context; the server cuts to the model's own limit


def embedder(
    name: str, *, host: str | None = None, timeout_seconds: float = 120.0, sleep: Callable[[float], None] = time.sleep
) -> ServiceEmbedder:
    """Return an embedder of a model that the server has pulled; loading a model there may take a minute."""
    server = Server(_address(host or os.environ.get(HOST_VARIABLE) or DEFAULT_HOST), timeout_seconds=timeout_seconds, sleep=sleep)

    def ask(texts: list[str]) -> Sequence[Any]:
        answer = server.post("/api/embed", {"model": name, "input": texts, "truncate": True})
        rows = answer.get("embeddings") if isinstance(answer, dict) else None
        if not isinstance(rows, list):
            raise ModelServiceError(f"{server.host} answered without embeddings. Is it an Ollama server?", host=server.host)
        return rows

    return ServiceEmbedder(f"ollama:{name}", host=server.host, ask=ask, max_tokens=MAX_TOKENS)


def _address(host: str) -> str:
    """Complete what Ollama takes in OLLAMA_HOST: a host alone, or one with a port.

    >>> _address("box"), _address("box:80"), _address("0.0.0.0"), _address("https://box/x")
    ('http://box:11434', 'http://box:80', 'http://127.0.0.1:11434', 'https://box/x')
    """
    if "://" in host:
        return host
    name, _, port = host.partition(":")
    # The variable is also where the server listens; a listening address is no address to ask.
    return f"http://{'127.0.0.1' if name in {'', '0.0.0.0'} else name}:{port or DEFAULT_PORT}"  # noqa: S104 - replaced, not bound
