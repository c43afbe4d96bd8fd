"""What an agent passed to a tool, checked against what the tool takes; the values themselves are judged by the engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clew.errors import InputError
from clew.surface.mcp.tools import Tool

KINDS: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def checked(tool: Tool, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the arguments that say something: null counts as left out, and 5.0 as 5.

    >>> from clew.surface.mcp.tools import RECALL
    >>> checked(RECALL, {"query": "ports", "k": 5.0, "where": None})
    {'query': 'ports', 'k': 5}
    """
    said = {name: value for name, value in (given or {}).items() if value is not None}
    for name, value in said.items():
        if name not in tool.takes:
            raise InputError(name, value, f"is nothing that {tool.name} takes", _way_out(tool, name))
    for name in tool.needs:
        if name not in said:
            raise InputError(name, None, f"is what {tool.name} needs", f"It takes {', '.join(tool.takes)}.")
    return {name: _value(name, value, str(tool.takes[name]["type"])) for name, value in said.items()}


def _value(name: str, value: Any, kind: str) -> Any:
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(value, KINDS[kind]) or (isinstance(value, bool) and kind != "boolean"):
        raise InputError(name, value, f"is no {kind}", f"Give {name} as a JSON {kind}, or leave it out.")
    return value


def _way_out(tool: Tool, name: str) -> str:
    import difflib  # noqa: PLC0415 - only the way to an error needs it

    near = difflib.get_close_matches(name[:64], tool.takes, n=1)
    known = f"It takes {', '.join(tool.takes)}." if tool.takes else "It takes nothing."
    return f"Did you mean {near[0]}? {known}" if near else known
