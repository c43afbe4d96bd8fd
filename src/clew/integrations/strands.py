"""Strands Agents: the tools `remember` and `recall`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strands import tool

from clew.integrations.tools import memory_tools

if TYPE_CHECKING:
    from clew.integrations.keyed import Memory


def strands_tools(memory: Memory, *, space: str | None = None, k: int = 5) -> list[Any]:
    """Return the tools for `Agent(tools=[…])`."""
    return [tool(function) for function in memory_tools(memory, space=space, k=k)]
