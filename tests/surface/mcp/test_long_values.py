"""No error of a tool repeats more than 200 characters of an argument, and none is nested too deeply to be refused."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from clew.engine import Clew
from clew.engine.auth import OWNER
from clew.engine.authorised import Guarded
from clew.surface.mcp.answering import call, read
from clew.surface.mcp.serving import objection
from clew.surface.mcp.tools import TOOLS, Tool
from tests.long_values import DIGIT, KEY, LONG, UNKNOWN, check_echo
from tests.surface.http.test_long_values import nested
from tests.surface.mcp.conftest import over_stdio

VALUES: tuple[Any, ...] = (LONG, [LONG], {KEY: [LONG]}, int(DIGIT * 4000), nested(450))


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_no_error_of_a_tool_repeats_a_long_argument(opened: Clew, tool: Tool) -> None:
    id = opened.remember("The staging database listens on port 5433").id
    needed = {
        name: {
            "text": "A sentence that is fine by itself",
            "query": "which port",
            "id": id,
            "name": "ports.md",
        }[name]
        for name in tool.needs
    }
    for name in (*tool.takes, UNKNOWN):
        for value in VALUES:
            answer = call(lambda: Guarded(opened, OWNER), tool, {**needed, name: value})
            if answer.failed:
                check_echo(json.dumps(answer.told.structured), (tool.name, name, value))
                check_echo(answer.told.text, (tool.name, name, value))
                assert "This is a bug" not in answer.told.text, (name, answer.told.text)


def test_no_error_of_the_protocol_repeats_a_long_value(environment: dict[str, str]) -> None:
    async def script(client: Client) -> list[str]:
        told = []
        acts: list[Any] = [
            partial(client.call_tool, LONG, {}),
            partial(client.read_resource, f"clew://memory/{LONG}"),
            partial(client.read_resource, LONG),
        ]
        for act in acts:
            try:
                told.append(str(await act()))
            except MCPError as error:
                told += [str(error), str(error.error.data)]
        return told

    for told in over_stdio(environment, script):
        check_echo(told, told[:300])


@pytest.mark.parametrize(
    "line",
    [
        LONG,
        f'{{"jsonrpc": "2.0", "id": 1, "method": "{LONG}", "{KEY}": 1',
        f'"{LONG}"',
        "[" * 100_000,
        f'{{"jsonrpc": "{LONG}", "id": 1}}',
    ],
)
def test_no_answer_to_a_line_that_is_no_message_repeats_it(line: str) -> None:
    check_echo(objection(line) or "", line)


def test_no_error_of_a_resource_repeats_its_address(opened: Clew) -> None:
    for uri in (LONG, f"clew://memory/{LONG}"):
        with pytest.raises(Exception, match=r"No|longer") as caught:
            read(lambda: Guarded(opened, OWNER), uri)
        check_echo(str(caught.value), uri)
