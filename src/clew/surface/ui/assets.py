"""Serve the page's files.

A fixed set from the package, each under a strict policy, and one document for every view.

The page itself holds no data and needs no token; everything that it shows it asks of /v1 with the
caller's own rights.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from clew.surface.http.problems import NoRouteError

FOLDER = Path(__file__).parent / "static"
STATIC = "/ui/static/"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",  # asked again with the ETag: a new version of Clew is seen at once
}
TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
}
routes = APIRouter(include_in_schema=False)


class Asset(NamedTuple):
    """A file as it is sent."""

    body: bytes
    type: str
    etag: str


@cache
def assets() -> dict[str, Asset]:
    """Return every file of the page by its name; a request can name nothing else."""
    files = (path for path in sorted(FOLDER.rglob("*")) if path.suffix in TYPES)
    return {path.relative_to(FOLDER).as_posix(): _asset(path) for path in files}


def _asset(path: Path) -> Asset:
    body = path.read_bytes()
    return Asset(
        body, f"{TYPES[path.suffix]}; charset=utf-8", f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    )


def is_page(path: str) -> bool:
    """Tell whether a path belongs to the page, which holds no data: no token is asked for there.

    >>> is_page("/ui/m/01m7"), is_page("/v1/stats"), is_page("/ui/../v1/stats")
    (True, False, True)
    """
    return path in ("/", "/docs", "/ui") or path.startswith("/ui/")


@routes.get("/")
@routes.get("/ui")
async def home() -> Response:
    """Lead to the page."""
    return RedirectResponse("/ui/", 307, HEADERS)


@routes.get("/docs")
async def docs(request: Request) -> Response:
    """Send the reference of the API, which reads /openapi.json."""
    return _sent("docs.html", request)


@routes.get(STATIC + "{name:path}")
async def static(name: str, request: Request) -> Response:
    """Send a file of the page."""
    return _sent(name, request)


@routes.get("/ui/{view:path}")
# The page itself reads its address
async def page(view: str, request: Request) -> Response:  # noqa: ARG001
    """Send the page; every view has an address, which the page reads."""
    return _sent("index.html", request)


def _sent(name: str, request: Request) -> Response:
    asset = assets().get(name)
    if asset is None:
        raise NoRouteError("The page has no such file.")
    headers = {**HEADERS, "ETag": asset.etag}
    if request.headers.get("if-none-match") == asset.etag:
        return Response(status_code=304, headers=headers)
    return Response(asset.body, headers=headers, media_type=asset.type)
