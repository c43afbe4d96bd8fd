"""MCP over streamable HTTP, for `clew serve` to mount: every request says by its own token who asks, and no session is kept.

Importing this loads the SDK: whoever mounts it does so when the first request comes.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.types import INVALID_REQUEST

from clew.errors import ClewError
from clew.surface import payload
from clew.surface.mcp.server import make_server

if TYPE_CHECKING:
    from clew.engine import Clew
    from clew.engine.access import Grant
    from clew.engine.guarded import Guarded

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Authorise = Callable[[Scope], "Grant"]
"""From a request to what its sender may do, or an UnauthorisedError; called in a thread, for it may read the store."""

GRANT = "clew.grant"  # where the grant stands in the request's scope


def streamable_app(clew: Clew, *, authorise: Authorise) -> tuple[App, Callable[[], AbstractAsyncContextManager[None]]]:
    """Return the ASGI application and what must run around it; give it a path of its own, matched without a redirect.

    Requests stand alone, also those of the revisions that know sessions: a session would have to be tied to its token and
    kept in this process. Host, Origin and the size of a request are checked by whoever mounts it.
    """

    def caller(request: Any) -> Guarded:
        from clew.engine.guarded import Guarded  # noqa: PLC0415 - the engine, which listing the tools does not need

        return Guarded(clew, request.scope[GRANT])

    manager = StreamableHTTPSessionManager(make_server(caller), json_response=True, stateless=True)
    return Entrance(manager.handle_request, authorise), manager.run


class Entrance:
    """Lets in who is known; an object and no function, so that a router calls it as an application."""

    def __init__(self, app: App, authorise: Authorise) -> None:
        self._app = app
        self._authorise = authorise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request with the grant of its sender.

        A stream for what the server has to say unasked is declined, as the protocol allows: there is nothing, and each would hold a
        connection for as long as its client runs.
        """
        if scope["method"] == "GET":
            await _declined(send)
            return
        try:
            scope[GRANT] = await anyio.to_thread.run_sync(self._authorise, scope)
        except ClewError as error:
            await _refused(error, send)
            return
        await self._app(scope, receive, send)


async def _declined(send: Send) -> None:
    error = {"code": INVALID_REQUEST, "message": "Method Not Allowed: nothing is sent unasked. Send requests with POST."}
    headers = [(b"content-type", b"application/json"), (b"allow", b"POST")]
    await send({"type": "http.response.start", "status": 405, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()})


async def _refused(error: ClewError, send: Send) -> None:
    """Answer a request of nobody that is known."""
    headers = [(b"content-type", b"application/json"), (b"www-authenticate", b'Bearer realm="clew"')]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(payload.error(error)).encode()})
