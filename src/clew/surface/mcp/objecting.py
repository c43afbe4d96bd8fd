"""A line that is no message is answered too: the SDK drops it without a word, and whoever sent it would wait for ever.

It need not be hostile: a client that cuts a text in the middle of an emoji sends half a character, which is not JSON.
"""

from __future__ import annotations

import json

from mcp.types import INVALID_REQUEST, PARSE_ERROR, jsonrpc_message_adapter
from pydantic import ValidationError

from clew.surface.mcp.greeting import read


def objection(line: str) -> str | None:
    """Return the answer to a line that the SDK cannot read, or None for one that it can; an empty line says nothing."""
    if not line.strip():
        return None
    try:
        jsonrpc_message_adapter.validate_json(line, by_name=False)  # as the SDK does
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)[0]
        broken = found["type"] == "json_invalid"
        told = {
            "code": PARSE_ERROR if broken else INVALID_REQUEST,
            "message": f"{found['msg']}. Send one message as JSON on a line." if broken else "This is no message of JSON-RPC 2.0.",
        }
        id = read(line).get("id")
        return json.dumps({"jsonrpc": "2.0", "id": id if isinstance(id, int | str) else None, "error": told}) + "\n"
    return None
