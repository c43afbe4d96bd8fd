"""Pydantic AI: the tools `remember` and `recall` as a toolset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic_ai.toolsets import FunctionToolset

from clew.integrations.tools import memory_tools

if TYPE_CHECKING:
    from clew.integrations.keyed import Memory


def memory_toolset(memory: Memory, *, space: str | None = None, k: int = 5) -> FunctionToolset[Any]:
    """Return a toolset for `Agent(toolsets=[…])`; the functions run in threads."""
    return FunctionToolset(tools=list(memory_tools(memory, space=space, k=k)))
