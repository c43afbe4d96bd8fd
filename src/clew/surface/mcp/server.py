"""The server: the official SDK's handlers, each a short way to `answering`.

Importing this loads the SDK, and not the engine.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import mcp.types as wire
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_REQUEST

from clew import __version__
from clew.errors import ClewError
from clew.surface import payload
from clew.surface.mcp import answering
from clew.surface.mcp.greeting import INSTRUCTIONS, NAME, TITLE
from clew.surface.mcp.prompts import PROMPTS, prompt_text
from clew.surface.mcp.tools import BY_NAME, tool_list

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from clew.engine import Clew
    from clew.engine.auth import Grant
    from clew.engine.authorised import Guarded

AT_ONCE = 8  # calls that run side by side; the store has one writer, and a recall keeps a core busy
JSON = "application/json"

Caller = Callable[[Any], "Guarded"]
"""From the HTTP request, or None on stdio, to the Clew of whoever sent it; called in a worker
thread.
"""


class Handlers:
    """What the protocol asks, answered in threads: the core is synchronous."""

    def __init__(self, caller: Caller, tools: list[dict[str, Any]]) -> None:
        self._caller = caller
        self._limiter: anyio.CapacityLimiter | None = None
        self._tools = [wire.Tool.model_validate(tool) for tool in tools]

    async def _in_thread(self, work: Callable[[], Any]) -> Any:
        # made inside the loop that it belongs to
        self._limiter = self._limiter or anyio.CapacityLimiter(AT_ONCE)
        # Never abandoned: a write that was begun ends before its connection does.
        return await anyio.to_thread.run_sync(work, limiter=self._limiter)

    async def list_tools(self, ctx: ServerRequestContext[Any], params: Any) -> wire.ListToolsResult:  # noqa: ARG002 - the SDK's signature
        """Return the tools, all on one page."""
        return wire.ListToolsResult(tools=self._tools)

    async def call_tool(
        self, ctx: ServerRequestContext[Any], params: wire.CallToolRequestParams
    ) -> wire.CallToolResult:
        """Return a tool's answer; only a tool that does not exist is an error of the protocol."""
        tool = BY_NAME.get(params.name)
        if tool is None:
            raise MCPError(
                wire.INVALID_PARAMS,
                f"Unknown tool: {params.name[:64]}. There are {', '.join(BY_NAME)}.",
            )
        opened = partial(self._caller, ctx.request)
        told, failed = await self._in_thread(
            partial(answering.call, opened, tool, params.arguments)
        )
        text = wire.TextContent(type="text", text=told.text)
        return wire.CallToolResult(
            content=[text], structured_content=told.structured, is_error=failed
        )

    async def list_resources(
        self,
        ctx: ServerRequestContext[Any],  # noqa: ARG002
        params: Any,  # noqa: ARG002
    ) -> wire.ListResourcesResult:
        """Return the one resource that has no parameter."""
        status = wire.Resource(
            name="status",
            uri=answering.STATUS_URI,
            description="What is remembered, in numbers",
            mime_type=JSON,
        )
        return wire.ListResourcesResult(resources=[status])

    async def list_templates(
        self,
        ctx: ServerRequestContext[Any],  # noqa: ARG002
        params: Any,  # noqa: ARG002
    ) -> wire.ListResourceTemplatesResult:
        """Return the resource of each memory."""
        memory = wire.ResourceTemplate(
            name="memory",
            uri_template=answering.MEMORY_URI + "{id}",
            description="A memory with all its fields",
            mime_type=JSON,
        )
        return wire.ListResourceTemplatesResult(resource_templates=[memory])

    async def read_resource(
        self, ctx: ServerRequestContext[Any], params: wire.ReadResourceRequestParams
    ) -> wire.ReadResourceResult:
        """Return a resource; an unknown one is an error of the protocol, which has no other way to say so."""
        uri = str(params.uri)
        text = await self._answered(
            partial(answering.read, partial(self._caller, ctx.request), uri)
        )
        return wire.ReadResourceResult(
            contents=[wire.TextResourceContents(uri=uri, mime_type=JSON, text=text)]
        )

    async def list_prompts(
        self,
        ctx: ServerRequestContext[Any],  # noqa: ARG002
        params: Any,  # noqa: ARG002
    ) -> wire.ListPromptsResult:
        """Return the prompts, all on one page."""
        return wire.ListPromptsResult(
            prompts=[
                wire.Prompt(
                    name=each.name,
                    title=each.title,
                    description=each.description,
                    arguments=[
                        wire.PromptArgument(name=name, description=about, required=True)
                        for name, about in each.takes.items()
                    ],
                )
                for each in PROMPTS
            ]
        )

    async def get_prompt(
        self, ctx: ServerRequestContext[Any], params: wire.GetPromptRequestParams
    ) -> wire.GetPromptResult:
        """Return a prompt as one message of the user.

        An unknown one is an error of the protocol.
        """
        opened, given = partial(self._caller, ctx.request), params.arguments or {}
        text = await self._answered(lambda: prompt_text(opened(), params.name, given))
        message = wire.PromptMessage(role="user", content=wire.TextContent(type="text", text=text))
        return wire.GetPromptResult(messages=[message])

    async def _answered(self, work: Callable[[], str]) -> str:
        """Return what the work in a thread returns; its failure is an error of the protocol."""
        try:
            text: str = await self._in_thread(work)
        except ClewError as error:
            facts = answering.failure(error)["error"]
            raise MCPError(wire.INVALID_PARAMS, facts["message"], facts) from error
        except Exception as error:
            facts = answering.failure(error)["error"]
            raise MCPError(wire.INTERNAL_ERROR, facts["message"], facts) from error
        return text


def make_server(caller: Caller, *, tools: list[dict[str, Any]] | None = None) -> Server[Any]:
    """Return the server for callers that are told apart by `caller`.

    `tools` are those for the settings in force.
    """
    handlers = Handlers(caller, tool_list() if tools is None else tools)
    return Server(
        NAME,
        version=__version__,
        title=TITLE,
        instructions=INSTRUCTIONS,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


# MCP over streamable HTTP, for `clew serve` to mount: every request says by its own token who asks,
# and no session is kept.
#
# Importing this loads the SDK: whoever mounts it does so when the first request comes.

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Authorise = Callable[[Scope], "Grant"]
"""From a request to what its sender may do, or an UnauthorisedError; called in a thread, for it may
read the store.
"""

GRANT = "clew.grant"  # where the grant stands in the request's scope


def streamable_app(
    clew: Clew, *, authorise: Authorise
) -> tuple[App, Callable[[], AbstractAsyncContextManager[None]]]:
    """Return the ASGI application and what must run around it.

    Give it a path of its own, matched without a redirect.

    Requests stand alone, also those of the revisions that know sessions: a session would have to be
    tied to its token and kept in this process. Host, Origin and the size of a request are checked
    by whoever mounts it.
    """

    def caller(request: Any) -> Guarded:
        # The engine, which listing the tools does not need
        from clew.engine.authorised import Guarded  # noqa: PLC0415

        return Guarded(clew, request.scope[GRANT])

    memory = clew.settings.memory
    manager = StreamableHTTPSessionManager(
        make_server(
            caller, tools=tool_list(categories=memory.categories, triggers=memory.triggers)
        ),
        json_response=True,
        stateless=True,
    )
    return Entrance(manager.handle_request, authorise), manager.run


class Entrance:
    """Lets in who is known; an object and no function, so that a router calls it as an application."""

    def __init__(self, app: App, authorise: Authorise) -> None:
        self._app = app
        self._authorise = authorise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request with the grant of its sender.

        A stream for what the server has to say unasked is declined, as the protocol allows: there
        is nothing, and each would hold a connection for as long as its client runs.
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
    error = {
        "code": INVALID_REQUEST,
        "message": "Method Not Allowed: nothing is sent unasked. Send requests with POST.",
    }
    headers = [(b"content-type", b"application/json"), (b"allow", b"POST")]
    await send({"type": "http.response.start", "status": 405, "headers": headers})
    await send(
        {
            "type": "http.response.body",
            "body": json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode(),
        }
    )


async def _refused(error: ClewError, send: Send) -> None:
    """Answer a request of nobody that is known."""
    headers = [
        (b"content-type", b"application/json"),
        (b"www-authenticate", b'Bearer realm="clew"'),
    ]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(payload.error(error)).encode()})
