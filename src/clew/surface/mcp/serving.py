"""The conversation after the greeting, by the SDK. Importing this loads it."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import AsyncIterator, Iterator
from typing import Any, cast

import anyio
import anyio.to_thread
from mcp.server.stdio import stdio_server
from mcp.types import INVALID_REQUEST, PARSE_ERROR, jsonrpc_message_adapter
from pydantic import ValidationError

from clew.surface.mcp.greeting import Greeting, read, unsaid
from clew.surface.mcp.server import make_server
from clew.surface.mcp.stdio import Once, Wire, lines

# A line that is no message is answered too: the SDK drops it without a word, and whoever sent it
# would wait for ever.
#
# It need not be hostile: a client that cuts a text in the middle of an emoji sends half a
# character, which is not JSON.


def objection(line: str) -> str | None:
    """Return the answer to a line that the SDK cannot read, or None for one that it can.

    An empty line says nothing.
    """
    if not line.strip():
        return None
    try:
        jsonrpc_message_adapter.validate_json(line, by_name=False)  # as the SDK does
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)[0]
        broken = found["type"] == "json_invalid"
        told = {
            "code": PARSE_ERROR if broken else INVALID_REQUEST,
            "message": f"{found['msg']}. Send one message as JSON on a line."
            if broken
            else "This is no message of JSON-RPC 2.0.",
        }
        id = read(line).get("id")
        return (
            json.dumps(
                {"jsonrpc": "2.0", "id": id if isinstance(id, int | str) else None, "error": told}
            )
            + "\n"
        )
    return None


CANCELLED = "notifications/cancelled"  # such a request gets no answer
LAST_ANSWERS_SECONDS = 30.0  # how long what was begun may take when the end has come


class Pending:
    """The requests that have no answer yet."""

    def __init__(self) -> None:
        self._ids: set[Any] = set()
        self._none = anyio.Event()

    def asked(self, line: str) -> None:
        """Take note of a request; what is none, or no sound one, gets no answer."""
        message = read(line)
        params = message.get("params", {})
        if not isinstance(params, dict) or "method" not in message:
            return
        if message["method"] == CANCELLED:
            self._settled(params.get("requestId"))
        elif isinstance(id := message.get("id"), int | str):
            self._none = self._none if self._ids else anyio.Event()
            self._ids.add(id)

    def told(self, line: str) -> None:
        """Take note of an answer."""
        self._settled(read(line).get("id"))

    def _settled(self, id: object) -> None:
        self._ids -= {id} if isinstance(id, int | str) else set()
        if not self._ids:
            self._none.set()

    async def over(self) -> None:
        """Wait until all are answered, but not for ever."""
        if self._ids:
            with anyio.move_on_after(LAST_ANSWERS_SECONDS):
                await self._none.wait()


class Incoming:
    """The client's lines, each awaited in a thread.

    The last one is followed by its answer before the conversation ends.
    """

    def __init__(self, wire: Wire, greeting: Greeting, pending: Pending) -> None:
        self._lines: Iterator[str] = lines(wire, greeting)
        self._outgoing = wire.outgoing
        self._pending = pending

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield a line at a time until the client leaves."""
        while (line := await anyio.to_thread.run_sync(next, self._lines, None)) is not None:
            if (answer := objection(line)) is not None:
                await anyio.to_thread.run_sync(self._say, answer)
                continue
            self._pending.asked(line)
            yield line
        await self._pending.over()

    def _say(self, answer: str) -> None:
        self._outgoing.write(answer)
        self._outgoing.flush()


class Outgoing:
    """The SDK's lines, without the answers that the client has already."""

    def __init__(self, wire: Wire, greeting: Greeting, pending: Pending) -> None:
        self._file = wire.outgoing
        self._answered = greeting.answered
        self._pending = pending
        self._line = ""

    async def write(self, line: str) -> None:
        """Write a line whole."""
        self._line = line
        for each in unsaid([line], self._answered):
            await anyio.to_thread.run_sync(self._file.write, each)

    async def flush(self) -> None:
        """Send what was written."""
        await anyio.to_thread.run_sync(self._file.flush)
        self._pending.told(self._line)


def carry_on(once: Once, wire: Wire, greeting: Greeting) -> None:
    """Serve from where the greeting ended."""
    try:
        anyio.run(_serve, once, wire, greeting)
    except* (BrokenPipeError, anyio.BrokenResourceError):
        pass  # as in `serve`


async def _serve(once: Once, wire: Wire, greeting: Greeting) -> None:
    server = make_server(once, tools=greeting.tools)
    pending = Pending()
    # the SDK uses no more of a file than these have
    incoming = cast(Any, Incoming(wire, greeting, pending))
    outgoing = cast(Any, Outgoing(wire, greeting, pending))
    async with (
        anyio.create_task_group() as tasks,
        stdio_server(incoming, outgoing) as (read, write),
    ):
        tasks.start_soon(_end_on_signal, once, pending)
        await server.run(read, write, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _end_on_signal(once: Once, pending: Pending) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            await pending.over()
            # A thread sits in a read of stdin that nothing can interrupt, so the loop would not end
            # before the client does.
            await anyio.to_thread.run_sync(once.close)
            os._exit(0)
