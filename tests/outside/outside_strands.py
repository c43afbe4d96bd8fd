"""The tools for Strands Agents."""

from __future__ import annotations

from outside_common import open_memory

from clew.integrations.strands import strands_tools


def test_the_tools_have_names_descriptions_and_work() -> None:
    memory = open_memory()
    remember, recall = strands_tools(memory)
    assert (remember.tool_name, recall.tool_name) == ("remember", "recall")
    schema = remember.tool_spec["inputSchema"]["json"]
    assert (
        schema["required"] == ["text"]
        and "complete sentence" in schema["properties"]["text"]["description"]
    )
    assert remember("The staging database listens on port 5433") == "inserted"
    assert "5433" in recall("which port does the staging database use")
