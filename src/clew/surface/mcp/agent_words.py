"""Word errors and notes for an agent, which has tools and a user but no shell."""

from __future__ import annotations

import re

ASK_USER = "Only the user can give it: ask."
# Of the engine's messages those parts that name commands; the rest of a message is for everybody.
_WORDED = (
    (re.compile(r"List them with: clew list"), "Find ids with recall or timeline."),
    (
        re.compile(r"Lift it with: clew protect \S{1,200} --off, or forget with --force\."),
        "If the user agrees, first use update with protected false.",
    ),
    (
        re.compile(r"Name one for which it has it, or create a token: clew token .*"),
        f"Use a space for which it has it. {ASK_USER}",
    ),
    (re.compile(r"Create a token that has it: clew token .*"), ASK_USER),
    (
        re.compile(r"import it \(clew import, import_path, import_data\), which"),
        "keep it with the tool import, which",
    ),
    (
        re.compile(r"\(clew supersede \S{1,200} TEXT, in MCP the tool update\)"),
        "(with the tool update)",
    ),
    (
        re.compile(r"Add your own to the setting memory\.(categories|triggers)\."),
        r"The user can add others in the setting memory.\1.",
    ),
    (
        re.compile(r"End it first: clew invalidate (\S{1,200}) --at TIME"),
        "End it first: update with ended_at.",
    ),
    (
        re.compile(r"move the end: clew invalidate (\S{1,200}) --at TIME"),
        "move the end: update with ended_at.",
    ),
    (re.compile(r"Look at them first with a dry run\."), "Leave out expect to see how many match."),
)
_COMMAND = re.compile(r"\bclew (?!://)[a-z]")
FOR_SHELL = " (A command for the user's shell, not a tool.)"


def for_agent(message: str) -> str:
    """Return a message with the way out that an agent has.

    What only a shell can do is marked as such.

    >>> for_agent("No memory x. List them with: clew list")
    'No memory x. Find ids with recall or timeline.'
    >>> for_agent("Stored without a vector; clew reembed adds it later")
    "Stored without a vector; clew reembed adds it later (A command for the user's shell, not a tool.)"
    """
    for pattern, words in _WORDED:
        message = pattern.sub(words, message)
    return message + FOR_SHELL if _COMMAND.search(message) else message
