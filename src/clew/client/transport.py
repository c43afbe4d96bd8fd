"""Send requests, repeat those that may be repeated, and turn every failure into a ClewError.

No I/O happens here: generators yield requests and pauses, and a client with or without `async` does
what they ask.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

import httpx

from clew import errors
from clew.errors import ClewError, InputError, RemoteError, UnreachableError

T = TypeVar("T")
MAX_PAUSE_SECONDS = 30.0
FIRST_PAUSE_SECONDS = 0.2
TOKEN_VARIABLE = "CLEW_TOKEN"  # noqa: S105 - the name of a variable
REFUSED = frozenset({"http.too_many", "http.crowded", "http.draining", "store.busy"})
"""Codes of answers that say that nothing was done."""
UNCLEAR = frozenset({408, 429, 502, 503, 504})
"""Statuses after which nobody knows whether something was done."""
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
NO_FACTS = ("type", "title", "detail", "code", "status", "message")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request to the server."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    repeatable: bool = False
    """Whether doing it twice is the same as doing it once."""
    lines: bool = False
    """Whether the answer is text and not a JSON document."""


@dataclass(frozen=True, slots=True)
class Pause:
    """A wait before the next request."""

    seconds: float


Reply: TypeAlias = httpx.Response | httpx.HTTPError | None
Flow: TypeAlias = Generator[Request | Pause, Any, T]
"""Yields requests, is sent their documents, and returns the result."""
Steps: TypeAlias = Generator[Request | Pause, Reply, T]
"""Yields requests, is sent replies as they came, and returns the result."""


def _is_server_address(url: object) -> bool:
    try:
        parts = httpx.URL(url) if isinstance(url, str) else None
    except httpx.InvalidURL:
        return False
    return (
        parts is not None
        and parts.scheme in ("http", "https")
        and bool(parts.host)
        and not (parts.userinfo or parts.query)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """Where the server is, and how often a request is tried."""

    url: str
    token: str | None = None
    timeout: float = 60.0
    retries: int = 3

    @classmethod
    def checked(cls, url: str, *, token: str | None, timeout: float, retries: int) -> Connection:
        """Return a connection, with the token of CLEW_TOKEN if none is given.

        Raise if the address cannot be one.
        """
        if not _is_server_address(url):
            raise InputError(
                "url", url, "is not the address of a server", "Write it as http://127.0.0.1:7411."
            )
        if not isinstance(retries, int) or retries < 0:
            raise InputError(
                "retries",
                retries,
                "must be a whole number from 0",
                "Leave it out for the default, 3.",
            )
        given = os.environ.get(TOKEN_VARIABLE) if token is None else token
        return cls(url=url.rstrip("/"), token=given or None, timeout=timeout, retries=retries)

    def options(self) -> dict[str, Any]:
        """Return the arguments of the httpx client."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return {
            "base_url": self.url,
            "headers": headers,
            "timeout": httpx.Timeout(self.timeout, connect=min(5.0, self.timeout)),
        }

    def steps(self, flow: Flow[T]) -> Steps[T]:
        """Run a flow: send what it asks for, with repetitions, and give it the documents or the errors."""
        document: Any = None
        failure: ClewError | None = None
        while True:
            try:
                step = flow.send(document) if failure is None else flow.throw(failure)
            except StopIteration as done:
                result: T = done.value
                return result
            document = failure = None
            if isinstance(step, Pause):
                yield step
                continue
            try:
                document = yield from self._exchanged(step)
            except ClewError as error:
                failure = error

    def _exchanged(self, request: Request) -> Steps[Any]:
        for attempt in range(self.retries + 1):
            reply = yield request
            if attempt == self.retries or not may_repeat(request, reply):
                break
            yield Pause(pause(reply, attempt))
        return read(request, reply, self.url)


def arguments(request: Request) -> dict[str, Any]:
    """Return a request as the arguments of httpx."""
    body = (
        {}
        if request.body is None
        else {"content": encoded(request.body), "headers": {"Content-Type": "application/json"}}
    )
    return {"method": request.method, "url": request.path, "params": dict(request.query), **body}


def encoded(body: Any) -> bytes:
    """Return a body as JSON; a value that has no form in JSON is an InputError."""
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    except (
        TypeError,
        ValueError,
        RecursionError,
    ) as error:  # half a character cannot be encoded: a ValueError too
        raise InputError(
            "body",
            type(body).__name__,
            f"is not JSON: {error}",
            "Pass texts, numbers, lists and mappings.",
        ) from error


def may_repeat(request: Request, reply: Reply) -> bool:
    """Tell whether a request may be sent again after a reply."""
    if isinstance(reply, httpx.Response):
        if reply.status_code not in UNCLEAR:
            return False
        return request.repeatable or problem(reply).get("code") in REFUSED
    return isinstance(reply, NOT_SENT) or (
        request.repeatable and isinstance(reply, httpx.TransportError)
    )


def pause(reply: Reply, attempt: int) -> float:
    """Return how long to wait before the next attempt.

    As the server says, else twice as long each time.
    """
    if isinstance(reply, httpx.Response):
        told = reply.headers.get("Retry-After", "")
        if told.isascii() and told.isdigit():
            return min(float(told), MAX_PAUSE_SECONDS)
    return min(FIRST_PAUSE_SECONDS * 2.0**attempt * random.uniform(0.5, 1.0), MAX_PAUSE_SECONDS)  # noqa: S311 - spreads clients


def read(request: Request, reply: Reply, url: str) -> Any:
    """Return the document of a reply, or raise the error that it stands for."""
    if not isinstance(reply, httpx.Response):
        what = (
            "does not answer"
            if isinstance(reply, (*NOT_SENT, httpx.TimeoutException))
            else "broke the connection"
        )
        raise UnreachableError(
            f"The server {url} {what} ({reply}). Is it running? Start it with: clew serve", url=url
        ) from reply
    if reply.status_code >= 400:
        raise error_of(problem(reply), status=reply.status_code, url=url)
    try:
        return reply.text if request.lines else reply.json()
    except ValueError as error:
        raise RemoteError(
            f"{url} is not a Clew server: its answer is not JSON. Check the address and the port.",
            url=url,
        ) from error


def problem(reply: httpx.Response) -> dict[str, Any]:
    """Return the problem document of a reply, empty if it has none."""
    try:
        document = reply.json()
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def error_of(document: Mapping[str, Any], *, status: int, url: str) -> ClewError:
    """Return the error of the local API that a problem document stands for.

    Others become a RemoteError.
    """
    kind = KINDS.get(str(document.get("code")))
    if kind is None:
        detail = document.get("detail") or f"{url} answered with status {status}."
        return RemoteError(
            str(detail),
            reason=document.get("code"),
            status=status,
            request_id=document.get("request_id"),
            url=url,
        )
    facts = {name: value for name, value in document.items() if name not in NO_FACTS}
    made = kind.__new__(kind)
    ClewError.__init__(made, str(document.get("detail", "")), **facts)
    if isinstance(made, InputError):
        made.field, made.value, made.problem = (
            str(facts.get("field", "")),
            facts.get("value"),
            made.message,
        )
    return made


def _kinds(kind: type[ClewError]) -> dict[str, type[ClewError]]:
    own = {kind.code: kind} if kind.__module__ == errors.__name__ else {}
    return {
        **own,
        **{code: each for below in kind.__subclasses__() for code, each in _kinds(below).items()},
    }


KINDS = _kinds(ClewError)
