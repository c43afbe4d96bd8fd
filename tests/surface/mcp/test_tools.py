"""The list of tools: small, the same for everyone, and true."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

# Comes with the SDK, without types
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from tokenizers import Tokenizer

from clew.errors import InputError
from clew.settings import MemorySettings
from clew.surface.mcp.budget import tokens
from clew.surface.mcp.calls import CALLS
from clew.surface.mcp.reference import reference_markdown
from clew.surface.mcp.tools import (
    BY_NAME,
    CATEGORIES,
    STABILITIES,
    TOOLS,
    TRIGGERS,
    checked,
    tool_list,
)
from clew.types import Stability

MOST_TOKENS = 2500
DOCS = Path(__file__).parents[3] / "docs"


def as_sent() -> str:
    return json.dumps({"tools": tool_list()}, ensure_ascii=False, separators=(",", ":"))


def test_there_are_nine_tools_and_each_does_something() -> None:
    names = "remember recall explain related timeline update forget import status".split()
    assert [tool["name"] for tool in tool_list()] == names
    assert list(CALLS) == list(BY_NAME)


def test_the_list_fits_into_its_tokens_by_characters() -> None:
    assert len(as_sent()) / 4 <= MOST_TOKENS


@pytest.mark.model
def test_the_list_fits_into_its_tokens_as_the_default_model_counts_them(real_model: Path) -> None:
    tokenizer = Tokenizer.from_file(str(real_model / "tokenizer.json"))
    tokenizer.no_truncation()
    assert len(tokenizer.encode(as_sent(), add_special_tokens=False).ids) <= MOST_TOKENS


@pytest.mark.parametrize("tool", tool_list(), ids=lambda tool: str(tool["name"]))
def test_a_tool_says_what_it_takes_what_it_gives_and_how_careful_to_be(
    tool: dict[str, Any],
) -> None:
    for schema in (tool["inputSchema"], BY_NAME[str(tool["name"])].answers):
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
    assert all(each["description"] for each in tool["inputSchema"]["properties"].values())
    hints = {
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": False,
        "openWorldHint": True,
        **tool["annotations"],
    }
    made = BY_NAME[str(tool["name"])]
    assert hints["openWorldHint"] is False
    assert hints["readOnlyHint"] is made.reads
    if not made.reads:  # of what only reads the protocol ignores the other two
        assert (hints["destructiveHint"], hints["idempotentHint"]) == (
            made.destroys,
            made.repeatable,
        )


def test_categories_and_triggers_are_listed_as_the_settings_have_them() -> None:
    memory = MemorySettings()
    assert (memory.categories, memory.triggers, tuple(Stability)) == (
        CATEGORIES,
        TRIGGERS,
        STABILITIES,
    )
    remember = tool_list(categories=("idea",), triggers=("whim",))[0]["inputSchema"]["properties"]
    assert (remember["category"]["enum"], remember["trigger"]["enum"]) == (["idea"], ["whim"])
    assert remember["stability"]["enum"] == list(STABILITIES)


def test_only_what_looks_says_that_it_only_looks_and_only_what_overwrites_that_it_destroys() -> (
    None
):
    assert {tool.name for tool in TOOLS if tool.reads} == {
        "recall",
        "explain",
        "related",
        "timeline",
        "status",
    }
    assert {tool.name for tool in TOOLS if tool.destroys} == {"update", "forget", "import"}


def test_the_page_of_tools_is_the_generated_one() -> None:
    page = (DOCS / "mcp.md").read_text(encoding="utf-8")
    assert page == reference_markdown(), "run: python -m clew.surface.mcp.reference > docs/mcp.md"


@pytest.mark.parametrize(
    ("name", "given", "field", "way_out"),
    [
        ("recall", {}, "query", "It takes query"),
        ("recall", {"query": "x", "quary": "y"}, "quary", "Did you mean query?"),
        ("recall", {"query": 7}, "query", "JSON string"),
        ("recall", {"query": "x", "k": "5"}, "k", "JSON integer"),
        ("recall", {"query": "x", "k": True}, "k", "JSON integer"),
        ("recall", {"query": "x", "k": 2.5}, "k", "JSON integer"),
        ("recall", {"query": "x", "where": "fact"}, "where", "JSON object"),
        ("remember", {"text": "x", "tags": "a"}, "tags", "JSON array"),
        ("remember", {"text": "x", "importance": "high"}, "importance", "JSON number"),
        ("update", {"id": "x", "protected": 1}, "protected", "JSON boolean"),
        ("status", {"verbose": True}, "verbose", "It takes nothing."),
    ],
)
def test_an_argument_that_cannot_be_used_is_named_with_the_way_out(
    name: str, given: dict[str, Any], field: str, way_out: str
) -> None:
    with pytest.raises(InputError) as raised:
        checked(BY_NAME[name], given)
    assert raised.value.field == field
    assert way_out in raised.value.message


def test_null_counts_as_left_out() -> None:
    assert checked(BY_NAME["recall"], {"query": "x", "k": None, "where": None}) == {"query": "x"}
    assert checked(BY_NAME["status"], None) == {}


@pytest.mark.model
def test_tokens_are_rather_counted_too_many_than_too_few(real_model: Path) -> None:
    tokenizer = Tokenizer.from_file(str(real_model / "tokenizer.json"))
    tokenizer.no_truncation()
    texts = [
        as_sent(),
        (DOCS / "settings.md").read_text(encoding="utf-8"),
        "Müller trinkt 茶 und zahlt in € – immer. Ναι, вода и хлеб. 数据库在端口五四三三上监听。",
        '{"id":"01m7gfwdmr422zgpq588cdfnzy","score":0.9499998844102521,"t_valid":"2026-11-16T05:38:33.159297Z"}',
    ]
    for text in texts:
        assert tokens(text) >= len(tokenizer.encode(text, add_special_tokens=False).ids), text[:60]
