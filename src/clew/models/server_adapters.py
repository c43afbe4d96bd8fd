"""JSON over HTTP to a model server.

Retries, waiting when told to, and errors that name the host but no secret.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse, IncompleteRead
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

import numpy as np

from clew.errors import InputError, ModelMissingError, ModelServiceError
from clew.models.card import OFFLINE_VARIABLE, offline
from clew.models.vectors import from_service, sendable
from clew.parsing import parse_json
from clew.ports import EmbedRole
from clew.types import Vectors

ATTEMPTS = 5
FIRST_WAIT_SECONDS = 0.5  # doubled each time: at most 7.5 s in all where the server does not say
# the usual window of rate limits; a server that asks for more is taken as a refusal
LONGEST_WAIT_SECONDS = 60.0
LARGEST_ANSWER = 1 << 28
LAST_WORDS = 200  # characters of the server's own message that are passed on
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
# these messages like to quote the key
SECRETIVE = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})


class _NoRedirect(HTTPRedirectHandler):
    """Follows nothing: a redirect would carry the key to another host."""

    def redirect_request(self, *_: Any) -> None:
        """Decline, which turns the redirect into an error."""


class _TryAgainError(Exception):
    """The attempt failed in a way that may pass; `wait` is what the server asked for."""

    def __init__(self, problem: str, wait: float | None = None) -> None:
        super().__init__(problem)
        self.wait = wait


@dataclass(frozen=True)
class Server:
    """An HTTP server that answers JSON with JSON."""

    base: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secret: str = field(default="", repr=False)
    timeout_seconds: float = 60.0
    attempts: int = ATTEMPTS
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.time

    def __post_init__(self) -> None:
        """Refuse an address that is not one, or that holds a password, which would end up in messages and logs."""
        if "@" in urlsplit(self.base).netloc:
            raise InputError(
                "server",
                self.host,
                "an address must not hold a name or password",
                "Use the server's key variable instead.",
            )
        if urlsplit(self.base).scheme not in {"http", "https"} or not urlsplit(self.base).hostname:
            raise InputError(
                "server",
                self.base,
                "not an http or https address",
                "Write it as http://HOST:PORT or https://HOST/PATH.",
            )

    @property
    def host(self) -> str:
        """The host and port, which is all of the address that messages show."""
        return urlsplit(self.base).netloc.rpartition("@")[2]

    def post(self, path: str, payload: Mapping[str, Any]) -> Any:
        """Send JSON and return the JSON of the answer, trying again where that may help."""
        if offline() and urlsplit(self.base).hostname not in LOOPBACK:
            raise ModelMissingError(
                f"{OFFLINE_VARIABLE} forbids asking {self.host}. Unset it, or use a model on this machine.",
                host=self.host,
            )
        for wait in _waits(self.attempts):
            try:
                return self._once(path, payload)
            except _TryAgainError as error:
                pause = wait if error.wait is None or wait is None else error.wait
                if pause is None or pause > LONGEST_WAIT_SECONDS:
                    raise ModelServiceError(
                        f"{self.host} {error}. Try again later.", host=self.host
                    ) from error.__cause__
                self.sleep(pause)
        raise AssertionError("the last wait is None")  # pragma: no cover

    def _once(self, path: str, payload: Mapping[str, Any]) -> Any:
        request = Request(  # noqa: S310 - the scheme was checked
            self.base.rstrip("/") + path,
            json.dumps(payload).encode(),
            {"Content-Type": "application/json", "User-Agent": "clew"} | dict(self.headers),
        )
        try:
            with self._opener().open(request, timeout=self.timeout_seconds) as response:
                return parse_json(_whole(response))
        except HTTPError as error:
            with error:
                raise self._refusal(error) from error
        except ValueError as error:
            raise ModelServiceError(
                f"{self.host} answered with something that is not JSON. Is it a model server?",
                host=self.host,
            ) from error
        except (OSError, HTTPException) as error:
            raise self._broken(error) from error

    def _refusal(self, error: HTTPError) -> Exception:
        problem = f"answered {error.code} {error.reason}"
        if (
            error.code == HTTPStatus.TOO_MANY_REQUESTS
            or error.code >= HTTPStatus.INTERNAL_SERVER_ERROR
        ):
            return _TryAgainError(problem, self._asked_wait(error.headers.get("Retry-After")))
        said = "" if error.code in SECRETIVE else self._message(error)
        return ModelServiceError(f"{self.host} {problem}{said}.", host=self.host, status=error.code)

    def _broken(self, error: Exception) -> Exception:
        reason = error.reason if isinstance(error, URLError) else error
        # nobody listens: waiting seconds would not change that
        if isinstance(reason, ConnectionRefusedError):
            return ModelServiceError(
                f"{self.host} cannot be reached (connection refused). Is the server running?",
                host=self.host,
            )
        return _TryAgainError(f"could not be asked ({type(reason).__name__}: {reason})")

    def _message(self, error: HTTPError) -> str:
        try:
            answer = parse_json(error.read(1 << 16))
        except (ValueError, OSError, HTTPException):
            return ""
        said = answer.get("error", "") if isinstance(answer, dict) else ""
        said = said.get("message", "") if isinstance(said, dict) else said
        text = str(said).replace(self.secret, "…") if self.secret else str(said)
        return f": {text[:LAST_WORDS].rstrip('.')}" if text else ""

    def _asked_wait(self, header: str | None) -> float | None:
        """Read Retry-After, which is a number of seconds or a date."""
        if header is None:
            return None
        try:
            return max(0.0, float(header))
        except ValueError:
            pass
        try:
            return max(0.0, parsedate_to_datetime(header).timestamp() - self.now())
        except ValueError:
            return None

    def _opener(self) -> OpenerDirector:
        # A proxy of the company cannot reach a server on this machine.
        own = urlsplit(self.base).hostname in LOOPBACK
        return build_opener(_NoRedirect, *([ProxyHandler({})] if own else []))


def _whole(response: HTTPResponse) -> bytes:
    """Read the answer; a bounded read does not notice by itself that the line broke."""
    body = response.read(LARGEST_ANSWER)
    if response.length:
        raise IncompleteRead(body, response.length)
    return body


def _waits(attempts: int) -> Iterator[float | None]:
    """Yield the wait after each failed attempt; None after the last."""
    yield from (FIRST_WAIT_SECONDS * 2**attempt for attempt in range(attempts - 1))
    yield None


# An embedder on the other side of a network connection.

BATCH = 32  # with the longest texts still below the 300,000 tokens that OpenAI takes in one request


class ServiceEmbedder:
    """Embeds by asking a server, in batches; every answer is checked before it is believed."""

    def __init__(
        self, id: str, *, host: str, ask: Callable[[list[str]], Sequence[Any]], max_tokens: int
    ) -> None:
        """Take the function that sends texts and returns rows of numbers in the same order."""
        self._id, self._host, self._ask, self._max_tokens = id, host, ask, max_tokens
        self._dimension: int | None = None

    @property
    def id(self) -> str:
        """The name under which vectors are stored."""
        return self._id

    @property
    def dimension(self) -> int:
        """The length of every vector; asks the server once."""
        if self._dimension is None:
            self._batch(["dimension"])
        return self._dimension or 0

    @property
    def max_tokens(self) -> int:
        """Longer texts are cut, by their bytes, to about this many tokens."""
        return self._max_tokens

    # These protocols know no sides
    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> Vectors:  # noqa: ARG002
        """Return one unit vector per text, in order."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        ready = [sendable(text, max_tokens=self._max_tokens) for text in texts]
        return np.concatenate(
            [self._batch(ready[start : start + BATCH]) for start in range(0, len(ready), BATCH)]
        )

    def _batch(self, texts: list[str]) -> Vectors:
        vectors = from_service(
            self._ask(texts), count=len(texts), dimension=self._dimension, who=self._host
        )
        # the first answer sets it; from_service holds every later one to it
        self._dimension = vectors.shape[1]
        return vectors


# Models of OpenAI, or of any server that speaks its `POST /embeddings`.

KEY_VARIABLE = "OPENAI_API_KEY"
BASE_VARIABLE = "OPENAI_BASE_URL"
DEFAULT_BASE = "https://api.openai.com/v1"
MAX_TOKENS = 8191  # of the text-embedding-3 models, which refuse longer texts


def openai_embedder(
    name: str,
    *,
    base: str | None = None,
    key: str | None = None,
    timeout_seconds: float = 60.0,
    sleep: Callable[[float], None] = time.sleep,
) -> ServiceEmbedder:
    """Return an embedder; address and key come from OPENAI_BASE_URL and OPENAI_API_KEY unless given."""
    secret = os.environ.get(KEY_VARIABLE, "") if key is None else key
    server = Server(
        base or os.environ.get(BASE_VARIABLE) or DEFAULT_BASE,
        # local servers often want none
        headers={"Authorization": f"Bearer {secret}"} if secret else {},
        secret=secret,
        timeout_seconds=timeout_seconds,
        sleep=sleep,
    )

    def ask(texts: list[str]) -> Sequence[Any]:
        answer = server.post(
            "/embeddings", {"model": name, "input": texts, "encoding_format": "float"}
        )
        try:
            rows = {row["index"]: row["embedding"] for row in answer["data"]}
            # the protocol promises no order, the index does
            return [rows[at] for at in range(len(rows))]
        except (KeyError, TypeError) as error:
            raise ModelServiceError(
                f"{server.host} answered without usable embeddings. Is it an embedding server?",
                host=server.host,
            ) from error

    return ServiceEmbedder(f"openai:{name}", host=server.host, ask=ask, max_tokens=MAX_TOKENS)


# Models of an Ollama server, by its `POST /api/embed`.

HOST_VARIABLE = "OLLAMA_HOST"  # the name Ollama's own client uses
DEFAULT_HOST = "http://127.0.0.1:11434"
DEFAULT_PORT = 11434
OLLAMA_MAX_TOKENS = 2048  # Ollama's default context; the server cuts to the model's own limit


def ollama_embedder(
    name: str,
    *,
    host: str | None = None,
    timeout_seconds: float = 120.0,
    sleep: Callable[[float], None] = time.sleep,
) -> ServiceEmbedder:
    """Return an embedder of a model that the server has pulled.

    Loading a model there may take a minute.
    """
    server = Server(
        _address(host or os.environ.get(HOST_VARIABLE) or DEFAULT_HOST),
        timeout_seconds=timeout_seconds,
        sleep=sleep,
    )

    def ask(texts: list[str]) -> Sequence[Any]:
        answer = server.post("/api/embed", {"model": name, "input": texts, "truncate": True})
        rows = answer.get("embeddings") if isinstance(answer, dict) else None
        if not isinstance(rows, list):
            raise ModelServiceError(
                f"{server.host} answered without embeddings. Is it an Ollama server?",
                host=server.host,
            )
        return rows

    return ServiceEmbedder(
        f"ollama:{name}", host=server.host, ask=ask, max_tokens=OLLAMA_MAX_TOKENS
    )


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
