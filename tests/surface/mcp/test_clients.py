"""The SDK's own client drives every tool and resource, over stdio and over HTTP, in every revision of the protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from jsonschema import validate  # type: ignore[import-untyped]  # comes with the SDK, without types
from mcp import Client, MCPError
from mcp.types import INVALID_PARAMS, CallToolResult, TextContent, TextResourceContents

from clew.engine import Clew
from clew.engine import open as open_clew
from clew.engine.auth import Tokens
from clew.surface import payload
from clew.surface.mcp.greeting import HANDSHAKE_VERSIONS
from clew.surface.mcp.tools import TOOLS, tool_list
from tests.surface.mcp.conftest import HANDSHAKE, STATELESS, over_http, over_stdio, served

OUTPUTS = {tool.name: tool.answers for tool in TOOLS}
MODES = pytest.mark.parametrize("mode", [HANDSHAKE, "auto", STATELESS])


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


async def done(client: Client, name: str, **given: Any) -> dict[str, Any]:
    """Call a tool that must succeed, and hold its answer against its schema."""
    result = await client.call_tool(name, given)
    assert not result.is_error, text_of(result)
    assert text_of(result)
    validate(result.structured_content, OUTPUTS[name])
    structured: dict[str, Any] = result.structured_content
    return structured


async def refused(client: Client, name: str, **given: Any) -> str:
    """Call a tool that must fail, and return the code of its error."""
    result = await client.call_tool(name, given)
    assert result.is_error
    assert "Traceback" not in text_of(result)
    error = result.structured_content["error"]
    assert error["message"]
    assert error["code"] in text_of(result)
    return str(error["code"])


async def resource(client: Client, uri: str) -> dict[str, Any]:
    (contents,) = (await client.read_resource(uri)).contents
    assert isinstance(contents, TextResourceContents)
    document: dict[str, Any] = json.loads(contents.text)
    return document


async def everything(client: Client) -> str:
    """Drive every tool, resource and kind of error once; return the id of a memory that stays."""
    listed = await client.list_tools()
    assert [
        tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in listed.tools
    ] == tool_list()

    port = await done(
        client,
        "remember",
        text="The staging database listens on port 5433",
        category="fact",
        source="runbook",
        key="one",
    )
    assert port["outcome"] == "inserted"
    again = await done(
        client, "remember", text="The staging database listens on port 5433", key="one"
    )
    assert again["id"] == port["id"]
    assert (await done(client, "remember", text="ok"))["rule"] == "chatter"
    dana = await done(
        client,
        "remember",
        text="Dana wants summaries as three bullet points",
        tags=["style"],
        importance=0.9,
        space="team",
    )

    found = await done(client, "recall", query="which port does the staging database use", k=3)
    assert found["hits"][0]["id"] == port["id"]
    assert set(found["hits"][0]) == {"id", "date", "category", "confidence", "text"}
    assert [
        hit["id"]
        for hit in (await done(client, "recall", query="summaries", where={"space": "team"}))[
            "hits"
        ]
    ] == [dana["id"]]

    why = await done(client, "explain", query="staging port", id=port["id"])
    assert why["rank"] == 1
    assert why["source"] == "runbook"
    assert why["explanation"].startswith("Found by")
    assert sum(part["contribution"] for part in why["components"].values()) == why["score"]
    missing = await done(
        client, "explain", query="staging port", id=port["id"], where={"category": "plan"}
    )
    assert missing["rank"] is None
    assert missing["why_not"]["stage"]

    edited = await done(
        client, "update", id=port["id"], title="Staging database", tags=["infra"], protected=True
    )
    assert edited == {"id": port["id"], "changed": ["title", "tags", "protected"]}
    assert await refused(client, "forget", id=port["id"]) == "refused.protected"
    moved = await done(
        client,
        "update",
        id=port["id"],
        text="The staging database listens on port 6000",
        valid_from="2027-01-01",
        protected=False,
    )
    assert moved["outcome"] == "inserted"
    ended = await done(client, "update", id=dana["id"], ended_at="2027-02-01")
    assert ended["changed"] == ["ended_at"]

    history = await done(client, "timeline", id=port["id"], as_of="2026-12-31")
    assert {entry["kind"] for entry in history["entries"] if entry["entry"] == "event"} >= {
        "ADD",
        "UPDATE",
        "SUPERSEDE",
    }
    assert any(
        entry["entry"] == "version" and entry["text"].endswith("6000")
        for entry in history["entries"]
    )
    listing = await done(client, "timeline", limit=1)
    assert len(listing["entries"]) == 1
    assert (await done(client, "related", id=port["id"]))["id"] == port["id"]

    told = await done(client, "status")
    assert {each["space"] for each in told["spaces"]} == {"default", "team"}
    assert await resource(client, "clew://status") == told
    assert (await resource(client, f"clew://memory/{dana['id']}"))[
        "text"
    ] == "Dana wants summaries as three bullet points"
    assert [str(each.uri) for each in (await client.list_resources()).resources] == [
        "clew://status"
    ]
    assert [
        each.uri_template for each in (await client.list_resource_templates()).resource_templates
    ] == ["clew://memory/{id}"]

    counted = await done(client, "forget", where={"space": "team", "query": "three bullet points"})
    assert (counted["forgotten"], counted["dry_run"]) == ([{"id": dana["id"]}], True)
    assert (
        await refused(
            client, "forget", where={"space": "team", "query": "three bullet points"}, expect=2
        )
        == "input.invalid"
    )
    gone = await done(
        client, "forget", where={"space": "team", "query": "three bullet points"}, expect=1
    )
    assert (gone["forgotten"], gone["found"], gone["dry_run"]) == ([{"id": dana["id"]}], 0, False)
    assert await refused(client, "forget", id=dana["id"]) == "refused.not_found"
    assert await refused(client, "update", id=moved["id"]) == "input.invalid"
    assert await refused(client, "recall", query="x", where={"categry": "fact"}) == "input.invalid"
    assert await refused(client, "recall") == "input.invalid"
    assert await refused(client, "timeline", cursor="nonsense") == "input.invalid"
    for wrong in (
        client.call_tool("recal", {}),
        client.read_resource(f"clew://memory/{dana['id']}"),
        client.read_resource("clew://nothing"),
    ):
        with pytest.raises(MCPError) as raised:
            await wrong
        assert raised.value.code == INVALID_PARAMS
    return str(moved["id"])


@MODES
def test_a_client_on_stdio_can_do_everything(
    environment: dict[str, str], store: Path, mode: str
) -> None:
    kept = over_stdio(environment, everything, mode=mode)
    with open_clew(store, model={"embedder": "hashing"}) as clew:
        assert clew.get(kept) is not None
        assert clew.verify() == ()


@MODES
def test_a_client_over_http_can_do_everything(opened: Clew, mode: str) -> None:
    with served(opened) as address:
        kept = over_http(address, everything, mode=mode)
    assert opened.get(kept) is not None


def test_every_revision_of_the_protocol_is_negotiated_over_http(opened: Clew) -> None:
    with (
        served(opened) as address,
        httpx.Client(
            headers={"accept": "application/json, text/event-stream"}, timeout=None
        ) as client,
    ):
        for version in HANDSHAKE_VERSIONS:
            params = {
                "protocolVersion": version,
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            }
            answer = client.post(
                address, json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
            )
            assert answer.json()["result"]["protocolVersion"] == version
            headers = {"mcp-protocol-version": version}
            listed = client.post(
                address, json={"jsonrpc": "2.0", "id": 2, "method": "tools/list"}, headers=headers
            )
            assert listed.json()["result"]["tools"] == tool_list()


@pytest.fixture
def spaces(opened: Clew) -> Iterator[dict[str, str]]:
    """Two tokens: one that may write in `red`, one that may read in `blue`."""
    opened.remember("The red team meets on Mondays in Hall 4", space="red")
    opened.remember("The blue team meets on Fridays in Hall 9", space="blue")
    tokens = Tokens(opened.store, opened.now)
    yield {
        "red": tokens.create("red", spaces=["red"], rights=["write"])[0],
        "blue": tokens.create("blue", spaces=["blue"], rights=["read"])[0],
    }


def asked_with(address: str, secret: str, name: str, **given: Any) -> dict[str, Any]:
    headers = {
        "authorization": f"Bearer {secret}",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2025-06-18",
    }
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": name, "arguments": given},
    }
    answer = httpx.post(address, json=call, headers=headers, timeout=None)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()["result"]
    return result


def test_a_token_reaches_its_own_space_and_no_other(opened: Clew, spaces: dict[str, str]) -> None:
    hidden = opened.recall("meets", where={"space": "red"}).hits[0].id
    with served(opened) as address:
        own = asked_with(address, spaces["blue"], "recall", query="when does the team meet")[
            "structuredContent"
        ]
        assert [hit["text"] for hit in own["hits"]] == ["The blue team meets on Fridays in Hall 9"]
        status = asked_with(address, spaces["blue"], "status")["structuredContent"]
        assert status["spaces"] == [{"space": "blue", "memories": 1}]
        beyond: dict[str, dict[str, Any]] = {
            "recall": {"query": "team", "where": {"space": "red"}},
            "timeline": {"where": {"space": "red"}},
            "remember": {"text": "A reader cannot write this down", "space": "blue"},
        }
        for name, given in beyond.items():
            refusal = asked_with(address, spaces["blue"], name, **given)
            assert refusal["isError"]
            assert refusal["structuredContent"]["error"]["code"] == "refused.forbidden"
        by_id: dict[str, dict[str, Any]] = {
            "related": {},
            "timeline": {},
            "forget": {},
            "update": {"title": "mine"},
        }
        for name, given in by_id.items():
            other, nobody = (
                asked_with(address, spaces["blue"], name, id=id, **given)
                for id in (hidden, "0" * 26)
            )
            assert json.dumps(other).replace(hidden, "ID") == json.dumps(nobody).replace(
                "0" * 26, "ID"
            )


def test_nobody_comes_in_without_a_token_once_there_is_one(
    opened: Clew, spaces: dict[str, str]
) -> None:
    with served(opened) as address:
        for headers in ({}, {"authorization": "Bearer clew_wrong"}):
            answer = httpx.post(
                address,
                json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
                headers=headers,
                timeout=None,
            )
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"].startswith("Bearer")
            assert answer.json()["error"]["code"] == "refused.unauthorised"


def test_many_clients_at_once_lose_nothing(opened: Clew) -> None:
    async def write(address: str, number: int) -> None:
        async with Client(address, mode=STATELESS) as client:
            for turn in range(5):
                await done(
                    client,
                    "remember",
                    text=f"Berth {number}-{turn} is let to vessel {number * 10 + turn}",
                )

    async def all_of_them(address: str) -> None:
        async with anyio.create_task_group() as tasks:
            for number in range(6):
                tasks.start_soon(write, address, number)

    with served(opened) as address:
        anyio.run(all_of_them, address)
    assert opened.stats()["nodes"] == 30


def test_scores_and_reasons_are_those_of_python(opened: Clew) -> None:
    for text in (
        "The staging database listens on port 5433",
        "The mail server listens on port 25",
        "Dana wants three bullet points",
    ):
        opened.remember(text)
    # nothing that depends on the clock
    plain = opened.variant(score={"presets": {"plain": [1.0, 0.0, 0.0, 0.0]}})
    expected = payload.recall(
        plain.recall("which port does staging use", preset="plain", track=False)
    )

    async def ask(client: Client) -> dict[str, Any]:
        asked = {"query": "which port does staging use", "preset": "plain"}
        answer = await done(client, "recall", **asked)
        for hit in answer["hits"]:
            told = await done(client, "explain", id=hit["id"], **asked)
            assert hit["confidence"] == round(told["confidence"], 2)
            hit.update(
                {name: told[name] for name in ("confidence", "explanation", "space", "method")},
                rank=told["answer_rank"],
            )
        return answer

    with served(plain) as address:
        answer = over_http(address, ask)
    assert answer["hits"]
    for hit, same in zip(answer["hits"], expected["hits"], strict=True):
        assert (
            hit.items()
            >= {
                name: same[name]
                for name in (
                    "id",
                    "rank",
                    "confidence",
                    "text",
                    "explanation",
                    "space",
                    "category",
                    "method",
                )
            }.items()
        )
