"""Prompts that a person can choose in a client.

Ask the memory about something, or have a session kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew.errors import InputError, NotFoundError
from clew.surface.mcp.budget import fitted, quoted

if TYPE_CHECKING:
    from clew.engine.authorised import Guarded


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt, and what it asks for."""

    name: str
    title: str
    description: str
    takes: Mapping[str, str]
    """Its arguments with their descriptions; all are needed."""


ABOUT = Prompt(
    name="about",
    title="What do you know about …?",
    description="Answer from memory, with ids, and say what is not known.",
    takes={"topic": "A person, a project or a question"},
)
KEEP = Prompt(
    name="keep",
    title="Keep what we learned",
    description="Remember the decisions, preferences, corrections and fixes of this conversation.",
    takes={},
)
PROMPTS = (ABOUT, KEEP)
KEEP_TEXT = (
    "Go through this conversation and use the tool remember for each decision, preference, correction, fix or failure that a later "
    "session will need: one memory each, in a sentence that stands alone, with category and trigger. Leave out secrets and what was "
    "recalled. Use update where a memory has changed. Then list what you kept."
)


def prompt_text(memory: Guarded, name: str, given: Mapping[str, str]) -> str:
    """Return what a prompt says to the model; for `about` with what is remembered, as data."""
    prompt = next((each for each in PROMPTS if each.name == name), None)
    if prompt is None:
        raise NotFoundError(
            f"No prompt {name[:64]}. There are {', '.join(each.name for each in PROMPTS)}.",
            name=name,
        )
    for needed in prompt.takes:
        if not given.get(needed, "").strip():
            raise InputError(
                needed,
                given.get(needed),
                f"is what the prompt {name} needs",
                f"It is: {prompt.takes[needed]}.",
            )
    if prompt is KEEP:
        return KEEP_TEXT
    # The engine, which listing the prompts does not need
    from clew.surface.mcp.calls import recall  # noqa: PLC0415

    told = fitted(recall(memory, {"query": given["topic"]}), memory.clew.settings.mcp.answer_tokens)
    return (
        f"What do you know about this?\n{quoted(given['topic'])}\n\nAnswer from what Clew remembers, below, and name the ids you used. "
        f"If it does not answer, say so; the tool recall searches further.\n\n{told.text}"
    )
