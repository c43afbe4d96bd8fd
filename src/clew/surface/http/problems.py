"""Every failure as a problem document (RFC 9457).

One table from the core's codes to the statuses of HTTP.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.responses import Response

from clew.errors import ClewError, UnauthorisedError
from clew.surface import payload

MEDIA_TYPE = "application/problem+json"
TYPE = "urn:clew:problem:"  # a name, not an address: nothing is fetched from it
INTERNAL = 500  # from here on the fault is the server's


class HttpError(ClewError):
    """A request that does not reach the core, or whose answer does not reach the caller."""

    code = "http.error"


class MalformedError(HttpError):
    """The request is not one that can be read."""

    code = "http.malformed"


class AmbiguousLengthError(MalformedError):
    """The request states its length in two ways, and a proxy may have read the other one.

    The connection is closed.
    """


class NoRouteError(HttpError):
    """Nothing is served under this path."""

    code = "http.no_route"


class MethodError(HttpError):
    """The path is served, by another method."""

    code = "http.method"


class SlowRequestError(HttpError):
    """The request took too long to arrive."""

    code = "http.slow_request"


class TooLargeError(HttpError):
    """The body is larger than the server takes."""

    code = "http.too_large"


class WrongHostError(HttpError):
    """The request names a host that this server does not go by."""

    code = "http.wrong_host"


class WrongOriginError(HttpError):
    """The request comes from a web page that may not call this server."""

    code = "http.wrong_origin"


class TooManyError(HttpError):
    """The caller asks more often than it may."""

    code = "http.too_many"


class CrowdedError(HttpError):
    """All threads are at work and the queue is full."""

    code = "http.crowded"


class DrainingError(HttpError):
    """The server is about to stop."""

    code = "http.draining"


class SlowAnswerError(HttpError):
    """The answer was not there in time."""

    code = "http.slow_answer"


class BugError(HttpError):
    """Something that should not happen."""

    code = "bug"


# By code; what is not here goes by the part before its first dot.
STATUSES: Mapping[str, int] = {
    "input": 422,
    "refused": 409,
    "refused.unauthorised": 401,
    "refused.forbidden": 403,
    "refused.not_found": 404,
    "store": 503,
    "store.full": 507,
    "model": 503,
    "remote": 502,
    "package": 503,
    "http.malformed": 400,
    "http.wrong_origin": 403,
    "http.no_route": 404,
    "http.method": 405,
    "http.slow_request": 408,
    "http.too_large": 413,
    "http.wrong_host": 421,
    "http.too_many": 429,
    "http.crowded": 503,
    "http.draining": 503,
    "http.slow_answer": 504,
}
RETRY_SECONDS: Mapping[str, int] = {"store.busy": 1, "http.crowded": 1, "http.draining": 5}
"""After how long it is worth while to ask again, where an error does not say itself."""
CHALLENGE = 'Bearer realm="clew"'


def status_of(code: str) -> int:
    """Return the status that a code is answered with.

    >>> status_of("refused.not_found"), status_of("store.corrupt"), status_of("bug")
    (404, 503, 500)
    """
    return STATUSES.get(code, STATUSES.get(code.partition(".")[0], INTERNAL))


def problem(error: ClewError, *, request_id: str, trusted: bool) -> dict[str, Any]:
    """Return the document of an error.

    What a failing store or model says of this machine is for whoever administers it.
    """
    status = status_of(error.code)
    phrase = HTTPStatus(status).phrase
    open_ = status < INTERNAL or trusted or isinstance(error, HttpError)
    facts = dict(payload.error(error)["error"]) if open_ else {}
    detail = str(
        facts.pop("message", f"{phrase}. The server's log tells more under this request_id.")
    )
    for name in ("code", "type", "title", "status", "detail", "request_id"):
        facts.pop(name, None)
    known = {
        "type": TYPE + error.code,
        "title": phrase,
        "status": status,
        "detail": detail,
        "code": error.code,
        "request_id": request_id,
    }
    return {**known, **facts}


def answer(
    error: ClewError, *, request_id: str, trusted: bool, headers: Mapping[str, str] | None = None
) -> Response:
    """Return the response to an error."""
    document = problem(error, request_id=request_id, trusted=trusted)
    return Response(
        encoded(document),
        document["status"],
        {**_headers(error), **(headers or {})},
        media_type=MEDIA_TYPE,
    )


def _headers(error: ClewError) -> dict[str, str]:
    wait = error.facts.get("retry_after", RETRY_SECONDS.get(error.code))
    retry = {} if wait is None else {"Retry-After": str(wait)}
    closing = {"Connection": "close"} if isinstance(error, AmbiguousLengthError) else {}
    return {
        **retry,
        **closing,
        **({"WWW-Authenticate": CHALLENGE} if isinstance(error, UnauthorisedError) else {}),
    }


def encoded(document: Mapping[str, Any]) -> bytes:
    """Return a document as the bytes of docs/json.md.

    Half a character in an echoed value is escaped.
    """
    try:
        return payload.dumps(document).encode()
    except UnicodeEncodeError:
        return payload.dumps(document, ascii_only=True).encode()


# Which statuses a route may answer with, for the OpenAPI document.

JSON = "application/json"
REASONS = {
    400: "The request cannot be read.",
    401: "A token is needed, or this one is not known.",
    403: "The caller may not do this, or not there; or the calling page may not.",
    404: "There is no such memory or job.",
    405: "Another method is meant.",
    408: "The request took too long to arrive.",
    409: "It is there already, or protected.",
    413: "The body is too large.",
    421: "The server does not go by this name.",
    422: "A value cannot be used; `field` names it.",
    429: "Too many requests; Retry-After says when to come again.",
    500: "Something that should not happen.",
    503: "The store or the server is busy, or a model is missing.",
    504: "The answer took too long.",
    507: "The disk is full.",
}
EVERYWHERE = (400, 401, 403, 405, 408, 413, 421, 422, 429, 500, 503, 504)


def described(done: dict[int, tuple[str, str]], *also: int) -> dict[str, Any]:
    """Return what a route declares.

    By status which of `documents` it answers with and what that says, and how it may be refused.

    Names, not classes: the forms of answers are made when somebody asks for the OpenAPI document,
    not at every start.

    >>> described({200: ("Health", "It lives.")})["responses"][200]["content"]
    {'application/json': {'schema': {'$ref': '#/components/schemas/Health'}}}
    """
    answered = {
        status: {"description": about, **_content(JSON, name)}
        for status, (name, about) in done.items()
    }
    refused = {
        status: {"description": REASONS[status], **_content(MEDIA_TYPE, "Problem")}
        for status in (*EVERYWHERE, *also)
    }
    first, *_ = done
    return {"responses": {**answered, **refused}, "status_code": first, "response_model": None}


def _content(media_type: str, name: str) -> dict[str, Any]:
    return {"content": {media_type: {"schema": {"$ref": f"#/components/schemas/{name}"}}}}
