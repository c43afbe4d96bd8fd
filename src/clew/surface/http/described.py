"""Which statuses a route may answer with, for the OpenAPI document."""

from __future__ import annotations

from typing import Any

from clew.surface.http.problems import MEDIA_TYPE

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
    """Return what a route declares: by status which of `documents` it answers with and what that says, and how it may be refused.

    Names, not classes: the forms of answers are made when somebody asks for the OpenAPI document, not at every start.

    >>> described({200: ("Health", "It lives.")})["responses"][200]["content"]
    {'application/json': {'schema': {'$ref': '#/components/schemas/Health'}}}
    """
    answered = {status: {"description": about, **_content(JSON, name)} for status, (name, about) in done.items()}
    refused = {status: {"description": REASONS[status], **_content(MEDIA_TYPE, "Problem")} for status in (*EVERYWHERE, *also)}
    first, *_ = done
    return {"responses": {**answered, **refused}, "status_code": first, "response_model": None}


def _content(media_type: str, name: str) -> dict[str, Any]:
    return {"content": {media_type: {"schema": {"$ref": f"#/components/schemas/{name}"}}}}
