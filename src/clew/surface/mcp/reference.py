"""The page docs/mcp.md, made from the tools and snippets themselves; a test keeps it true."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from clew.surface.mcp.answering import MEMORY_URI, STATUS_URI
from clew.surface.mcp.clients import CLIENTS
from clew.surface.mcp.prompts import PROMPTS
from clew.surface.mcp.tools import TOOLS, Tool

COMMAND = ("/path/to/clew", "mcp", "--store", "/path/to/memory.clew")

INTRODUCTION = """\
# MCP

<!-- Generated: python -m clew.surface.mcp.reference > docs/mcp.md; a test keeps it true. -->

Clew as the memory of an agent: nine tools, two resources and two prompts of the Model Context Protocol, by the official SDK.

```sh
pip install 'clew[mcp]'
clew mcp --print-config claude-code     # a snippet with this machine's command and store
```

- `clew mcp` serves one client on stdin and stdout and ends with it. stdout carries the protocol alone; logs go to stderr.
- `clew serve` has the same under `/mcp` (streamable HTTP). Every request stands alone and says by its bearer token who asks; no session
  is kept.
- Clients of the revisions 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 (with a handshake) and 2026-07-28 (without) are served alike.
- **Who may do what.** On stdio the caller is the owner of the store, or what the token in `CLEW_TOKEN` says; `--space NAME` and
  `--read-only` narrow that. Over HTTP it is the token's spaces and rights. A memory of another space is as unknown as none.
- **Budget.** An answer never has more than `mcp.answer_tokens` tokens, structured content and text together; `max_tokens` asks for fewer,
  but for no fewer than 800.
  What did not fit is said: `left_out` counts what is missing from a list, `cut` names what was shortened and how long it was.
  Tokens are counted on the safe side: four letters, one sign or two bytes of other writing are one, three signs of an id are two.
- **Data, not instructions.** What is recalled comes with id, space, source and time. In the text of an answer every line of a stored
  text begins with `| `; all else that was stored stands in JSON on one line. Hidden and bidirectional control characters are escaped
  (`\\u202e`) in the text and in the structured content; [JSON elsewhere](json.md) carries the exact text.
  What the firewall marked carries its `trust` and `flags`.
- **Same answers.** Ids, order, confidences and explanations are those of Python, the command line and HTTP ([json.md](json.md)). A hit
  has only its id, date, category, confidence (two decimals) and text, with the neighbours of a short passage; `explain` has its origin,
  reasons and the parts of its score.
- **Categories and triggers** in the list of tools are those of the settings.
- **Errors** of a call are results with `isError`: `error` has the code of [json.md](json.md), a message and the way out that an agent
  has. Only an unknown tool, resource or prompt is an error of the protocol.
- A write that was answered survives `kill -9`.

## Clients
"""
RESOURCES = f"""\
## Resources

| address | what it is |
|---|---|
| `{STATUS_URI}` | what `status` answers |
| `{MEMORY_URI}{{id}}` | a memory with all its fields, cut to the budget |
"""
PROMPTS_HEADING = """\
## Prompts

| prompt | arguments | what it says |
|---|---|---|
"""


def reference_markdown() -> str:
    """Return the page."""
    return "\n".join(
        [
            INTRODUCTION,
            *_clients(),
            "## Tools",
            "",
            *(line for tool in TOOLS for line in _tool(tool)),
            RESOURCES,
            _prompts(),
        ]
    )


def _prompts() -> str:
    rows = (
        f"| `{each.name}` | {', '.join(f'`{name}`' for name in each.takes) or '–'} | {each.title} {each.description} |"
        for each in PROMPTS
    )
    return PROMPTS_HEADING + "".join(f"{row}\n" for row in rows)


def _clients() -> Iterator[str]:
    for name, client in CLIENTS.items():
        kind = {"claude-code": "sh", "codex": "toml"}.get(name, "json")
        yield from (
            f"`{name}`: {client.place}",
            "",
            f"```{kind}",
            client.snippet(COMMAND),
            "```",
            "",
        )


def _tool(tool: Tool) -> Iterator[str]:
    yield from (f"### {tool.name}", "", tool.description, "")
    manners = {
        "reads only": tool.reads,
        "destructive": tool.destroys,
        "idempotent": tool.repeatable,
        "closed world": True,
    }
    yield from (f"Marked as: {', '.join(name for name, holds in manners.items() if holds)}.", "")
    if tool.takes:
        yield from ("| argument | kind | what it says |", "|---|---|---|")
        yield from (
            f"| `{name}`{' (needed)' if name in tool.needs else ''} | {_kind(each)} | {each['description']}{_values(each)} |"
            for name, each in tool.takes.items()
        )
        yield ""
    yield from (
        f"Answers with {', '.join(f'`{name}`' for name in tool.gives)}, and more where there is more.",
        "",
    )


def _values(schema: dict[str, Any]) -> str:
    return f": {', '.join(schema['enum'])}" if "enum" in schema else ""


def _kind(schema: dict[str, Any]) -> str:
    return f"list of {schema['items']['type']}" if "items" in schema else str(schema["type"])


if __name__ == "__main__":
    sys.stdout.write(reference_markdown())
