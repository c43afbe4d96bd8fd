"""JSON over HTTP to a model server: retries, waiting when told to, and errors that name the host but no secret."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse, IncompleteRead
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from clew.errors import InputError, ModelMissingError, ModelServiceError
from clew.models.home import OFFLINE_VARIABLE, offline
from clew.parsing import parse_json

ATTEMPTS = 5
FIRST_WAIT_SECONDS = 0.5  # doubled each time: at most 7.5 s in all where the server does not say
LONGEST_WAIT_SECONDS = 60.0  # the usual window of rate limits; a server that asks for more is taken as a refusal
LARGEST_ANSWER = 1 << 28
LAST_WORDS = 200  # characters of the server's own message that are passed on
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
SECRETIVE = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})  # these messages like to quote the key


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
            raise InputError("server", self.host, "an address must not hold a name or password", "Use the server's key variable instead.")
        if urlsplit(self.base).scheme not in {"http", "https"} or not urlsplit(self.base).hostname:
            raise InputError("server", self.base, "not an http or https address", "Write it as http://HOST:PORT or https://HOST/PATH.")

    @property
    def host(self) -> str:
        """The host and port, which is all of the address that messages show."""
        return urlsplit(self.base).netloc.rpartition("@")[2]

    def post(self, path: str, payload: Mapping[str, Any]) -> Any:
        """Send JSON and return the JSON of the answer, trying again where that may help."""
        if offline() and urlsplit(self.base).hostname not in LOOPBACK:
            raise ModelMissingError(
                f"{OFFLINE_VARIABLE} forbids asking {self.host}. Unset it, or use a model on this machine.", host=self.host
            )
        for wait in _waits(self.attempts):
            try:
                return self._once(path, payload)
            except _TryAgainError as error:
                pause = wait if error.wait is None or wait is None else error.wait
                if pause is None or pause > LONGEST_WAIT_SECONDS:
                    raise ModelServiceError(f"{self.host} {error}. Try again later.", host=self.host) from error.__cause__
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
                f"{self.host} answered with something that is not JSON. Is it a model server?", host=self.host
            ) from error
        except (OSError, HTTPException) as error:
            raise self._broken(error) from error

    def _refusal(self, error: HTTPError) -> Exception:
        problem = f"answered {error.code} {error.reason}"
        if error.code == HTTPStatus.TOO_MANY_REQUESTS or error.code >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return _TryAgainError(problem, self._asked_wait(error.headers.get("Retry-After")))
        said = "" if error.code in SECRETIVE else self._message(error)
        return ModelServiceError(f"{self.host} {problem}{said}.", host=self.host, status=error.code)

    def _broken(self, error: Exception) -> Exception:
        reason = error.reason if isinstance(error, URLError) else error
        if isinstance(reason, ConnectionRefusedError):  # nobody listens: waiting seconds would not change that
            return ModelServiceError(f"{self.host} cannot be reached (connection refused). Is the server running?", host=self.host)
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
