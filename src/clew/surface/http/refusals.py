"""What the framework refuses, said as the core would say it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.errors import NAME_CHARACTERS, ClewError, InputError, clipped
from clew.surface.http.problems import BugError, MalformedError, MethodError, NoRouteError

if TYPE_CHECKING:
    from fastapi.exceptions import RequestValidationError
    from starlette.exceptions import HTTPException

WAY_OUT = "See docs/http.md, or the OpenAPI document at /openapi.json."
MOST_ERRORS = 10  # told at once


def from_validation(error: RequestValidationError) -> ClewError:
    """Return the first thing that is wrong with a request, and the fields of the others."""
    first, *others = error.errors()
    if first["type"] == "json_invalid":
        said = first.get("ctx", {}).get("error", "")
        return MalformedError(f"The body is not JSON ({said}). {WAY_OUT}")
    if isinstance(first.get("input"), bytes):
        return InputError("body", "bytes", "is not sent as JSON", "Send it with the header content-type: application/json.")
    found = InputError(_field(first["loc"]), first.get("input"), f"is wrong: {first['msg']}", WAY_OUT)
    if others:
        found.facts["also"] = ", ".join(dict.fromkeys(_field(each["loc"]) for each in others[:MOST_ERRORS]))
    return found


def _field(place: tuple[int | str, ...]) -> str:
    """Return the field's name as callers write it.

    >>> _field(("body", "memories", 0, "text")), _field(("body",))
    ('memories[0].text', 'body')
    """
    name = ""
    for part in place[1:]:
        known = (
            part if isinstance(part, int) else clipped(part, over=NAME_CHARACTERS, to=NAME_CHARACTERS)
        )  # an unknown field is named by the caller
        name += f"[{known}]" if isinstance(part, int) else f".{known}" if name else str(known)
    return name or str(place[0])


def from_http(error: HTTPException) -> ClewError:
    """Return what a path or method that is not served, or a body that cannot be read, means."""
    if error.status_code == 404:
        return NoRouteError(f"Nothing is served there. {WAY_OUT}")
    if error.status_code == 405:
        return MethodError(f"That path is served by another method. {WAY_OUT}")
    if error.status_code < 500:
        return MalformedError(f"The request cannot be read. {WAY_OUT}")
    return BugError("Something went wrong. The server's log tells more under this request_id.")
