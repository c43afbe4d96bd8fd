"""How is Clew told to an agent's host? A snippet for each of the common ones, with this machine's command and store. Loads nothing."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

NAME = "clew"


class Client(NamedTuple):
    """A host of MCP servers: where its configuration is, and how a server is written there."""

    place: str
    snippet: Callable[[Sequence[str]], str]


def _document(*path: str, **extra: str) -> Callable[[Sequence[str]], str]:
    """Return how a server is written under a path of keys in a JSON file."""

    def snippet(command: Sequence[str]) -> str:
        entry: Mapping[str, Any] = {**extra, "command": command[0], "args": list(command[1:])}
        for key in reversed((*path, NAME)):
            entry = {key: entry}
        return json.dumps(entry, ensure_ascii=False, indent=2)

    return snippet


def _shell(command: Sequence[str]) -> str:
    return shlex.join(["claude", "mcp", "add", NAME, "--", *command])


def _toml(command: Sequence[str]) -> str:
    # a JSON string is a TOML string
    first, *rest = (json.dumps(part, ensure_ascii=False) for part in command)
    return f"[mcp_servers.{NAME}]\ncommand = {first}\nargs = [{', '.join(rest)}]"


CLIENTS: Mapping[str, Client] = {
    "claude-code": Client("run in a shell; --scope user for all projects", _shell),
    "claude-desktop": Client(
        "claude_desktop_config.json (Settings, Developer, Edit Config)", _document("mcpServers")
    ),
    "codex": Client("~/.codex/config.toml", _toml),
    "cursor": Client(
        "~/.cursor/mcp.json, or .cursor/mcp.json in a project", _document("mcpServers")
    ),
    "gemini": Client("~/.gemini/settings.json", _document("mcpServers")),
    "vscode": Client(".vscode/mcp.json", _document("servers", type="stdio")),
    "windsurf": Client("~/.codeium/windsurf/mcp_config.json", _document("mcpServers")),
    "json": Client("any other client: the command alone", _document()),
}
