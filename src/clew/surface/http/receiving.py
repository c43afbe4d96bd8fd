"""The body of a request, read whole before anything is done with it, and no longer or larger than it may be."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from clew.errors import ClewError
from clew.surface.http import problems

if TYPE_CHECKING:
    from starlette.types import Message, Receive


class GoneError(Exception):
    """The caller hung up before the request was whole."""


async def received(receive: Receive, *, declared: str | None, limit: int, seconds: float) -> bytes:
    """Return the whole body, or raise as soon as it is too large or too late."""
    if declared is not None and declared.isdigit() and len(declared) < 20 and int(declared) > limit:
        raise _too_large(limit)
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise GoneError
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > limit:
                    raise _too_large(limit)
                if not message.get("more_body", False):
                    return b"".join(parts)
    except TimeoutError:
        raise problems.SlowRequestError(f"The request was not whole after {seconds:g} s.", seconds=seconds) from None


def _too_large(limit: int) -> ClewError:
    return problems.TooLargeError(f"The body is larger than {limit} bytes. Send less at once, or raise serve.max_request_mb.", limit=limit)


def replayed(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the body once and then whatever comes after it."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
