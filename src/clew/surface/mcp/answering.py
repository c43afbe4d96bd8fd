"""One tool call, one resource: from what was asked to what is sent. Synchronous.

The server runs it in threads.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from clew.errors import ClewError, InputError, NotFoundError
from clew.surface import payload
from clew.surface.mcp.agent_words import for_agent
from clew.surface.mcp.budget import LEAST_TOKENS, NOTICE, Answer, Told, fitted, tokens
from clew.surface.mcp.tools import Tool, checked

if TYPE_CHECKING:
    from clew.engine.authorised import Guarded

Opened = Callable[[], "Guarded"]
"""Returns the Clew of whoever asks; the first time it may have to be opened."""

STATUS_URI = "clew://status"
MEMORY_URI = "clew://memory/"
log = logging.getLogger("clew.mcp")


class Answered(NamedTuple):
    """What a call is answered with."""

    told: Told
    failed: bool = False


def call(opened: Opened, tool: Tool, given: Mapping[str, Any] | None) -> Answered:
    """Return a tool's answer within the budget; what goes wrong is an answer too."""
    try:
        arguments = checked(tool, given)
        memory = opened()
        # The engine, which listing the tools does not need
        from clew.surface.mcp.calls import CALLS  # noqa: PLC0415

        limit = _budget(memory, arguments.pop("max_tokens", None))
        return Answered(fitted(_worded(CALLS[tool.name](memory, arguments)), limit))
    except Exception as error:
        return Answered(fitted(Answer(facts=failure(error)), LEAST_TOKENS), failed=True)


def _worded(answer: Answer) -> Answer:
    """Return an answer whose notes speak to an agent."""
    notes = answer.facts.get("notes")
    return (
        replace(answer, facts={**answer.facts, "notes": [for_agent(note) for note in notes]})
        if notes
        else answer
    )


def _budget(memory: Guarded, asked: int | None) -> int:
    """Return how many tokens an answer may have.

    Those of the settings, or fewer if the caller says so.
    """
    most = memory.clew.settings.mcp.answer_tokens
    if asked is not None and asked < LEAST_TOKENS:
        raise InputError(
            "max_tokens",
            asked,
            f"is fewer than the {LEAST_TOKENS} that an answer needs",
            "Ask for more, or for fewer hits.",
        )
    return most if asked is None else min(most, asked)


def failure(error: Exception) -> dict[str, Any]:
    """Return an error for the caller: the core's code and words.

    Of what nobody foresaw only its kind, the rest goes to the log.
    """
    if isinstance(error, ClewError):
        told = payload.error(error)["error"]
        return {"error": {**told, "message": for_agent(told["message"])}}
    if isinstance(error, OSError):
        return {"error": {"code": "system", "message": error.strerror or type(error).__name__}}
    log.exception("a call failed")
    return {
        "error": {
            "code": "bug",
            "message": f"{type(error).__name__}. This is a bug; the server's log tells where it happened.",
        }
    }


def read(opened: Opened, uri: str) -> str:
    """Return a resource as JSON, within the budget; raise NotFoundError for what is none."""
    memory = opened()
    limit = memory.clew.settings.mcp.answer_tokens
    if uri == STATUS_URI:
        from clew.surface.mcp import calls  # noqa: PLC0415 - as in `call`

        return payload.dumps(fitted(calls.status(memory, {}), limit).structured)
    if not uri.startswith(MEMORY_URI):
        raise NotFoundError(
            f"No resource {uri}. There are {STATUS_URI} and {MEMORY_URI}{{id}}.", uri=uri
        )
    id = unquote(uri.removeprefix(MEMORY_URI))
    node = memory.get(id)
    if node is None:
        raise NotFoundError(f"No memory {id}.", id=id)
    notice = {"notice": NOTICE}
    told = fitted(Answer(facts=payload.memory(node)), limit - tokens(payload.dumps(notice)))
    return payload.dumps({**notice, **told.structured})
