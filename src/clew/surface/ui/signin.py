"""Sign in to the page that `clew ui` opened.

A link that works once is exchanged for a key that the browser's tab keeps.

The key lives in this process alone and ends with it. Whoever started `clew ui` can open the file,
so the key is the owner's.
"""

from __future__ import annotations

import hmac
import secrets
from threading import Lock

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from clew.engine.auth import OWNER, Grant
from clew.errors import UnauthorisedError
from clew.surface.http.problems import JSON, encoded

SECRET_BYTES = 32
PATH = "/ui/session"
routes = APIRouter(include_in_schema=False)


class PageKey:
    """The secret of a link, and the key that it was exchanged for."""

    def __init__(self) -> None:
        """Make a link's secret; there is no key before it is exchanged."""
        self.once: str = secrets.token_urlsafe(SECRET_BYTES)
        self._used = False
        self._key = secrets.token_urlsafe(SECRET_BYTES)
        self._lock = Lock()

    def exchange(self, given: str) -> str | None:
        """Return the key for the link's secret, the first time; else None."""
        if not _same(given, self.once):
            return None
        with self._lock:
            first, self._used = not self._used, True
        return self._key if first else None

    def grant(self, secret: str) -> Grant | None:
        """Return what the bearer of the key may do: everything, as the owner of the file."""
        return OWNER if self._used and _same(secret, self._key) else None


def _same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode())


class SignIn(BaseModel):
    """The secret of a link of `clew ui`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    once: str = Field(max_length=200)


@routes.post(PATH)
async def sign_in(body: SignIn, request: Request) -> Response:
    """Exchange a link's secret for the key of the page."""
    page_key: PageKey | None = request.app.state.page_key
    key = None if page_key is None else page_key.exchange(body.once)
    if key is None:
        raise UnauthorisedError(
            "This link was used already, or is not one of this server. Stop clew ui with Ctrl+C and start it again."
        )
    return Response(encoded({"key": key}), media_type=JSON)
