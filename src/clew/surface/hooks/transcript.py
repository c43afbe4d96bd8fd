"""Read a coding agent's transcript: JSON lines, each an entry of the user, the assistant or a tool.

The format is Claude Code's: `type` user or assistant, `message.content` a text or a list of blocks
(text, tool_use, tool_result), `isSidechain` for sub-agents and `isMeta` for what the program wrote
itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from clew.files import open_file
from clew.parsing import parse_json
from clew.surface.hooks.block import CLOSE, OPEN

MOST_READ = 8 << 20  # bytes of a transcript at a time; of a longer rest the end is read
LONGEST_LINE = 2 << 20
LONGEST_TEXT = 20_000  # characters of an entry that are looked at
NOT_SAID = (
    "isSidechain",
    "isMeta",
    "isCompactSummary",
    "isVisibleInTranscriptOnly",
    "isApiErrorMessage",
)
BY_PROGRAM = (
    "<command-",
    "<local-command",
    "<bash-",
    "<user-memory",
    "Caveat:",
    "[Request interrupted",
    "<task-",
)
_WRAPPED = (
    ("<system-reminder>", "</system-reminder>"),
    (OPEN, CLOSE),
    ("```", "```"),
    ("<ide_", "</ide_"),
)
_QUOTED = re.compile(r"^[ \t]*>.*$", re.MULTILINE)


class Entry(NamedTuple):
    """One thing that was said or done."""

    id: str
    role: str
    """user, assistant, command (a shell command that is about to run) or result (of a tool)."""
    text: str
    call: str = ""
    """The id of the tool call that a command begins and a result ends."""
    failed: bool = False


def read_new(path: str | Path, offset: int) -> tuple[list[Entry], int]:
    """Return the entries behind an offset, and the offset behind the last complete line."""
    with open_file(path) as file:
        size = file.seek(0, 2)
        start = offset if offset <= size else 0  # a file that became shorter is another one
        cut = max(start, size - MOST_READ)
        file.seek(cut)
        content = file.read(MOST_READ)
    end = content.rfind(b"\n") + 1
    lines = content[:end].split(b"\n")
    if cut > start:
        lines = lines[1:]  # the middle of a line
    return [entry for line in lines for entry in entries(line)], cut + end


def entries(line: bytes) -> Iterator[Entry]:
    """Yield what a line of a transcript says.

    Nothing of a line that is not an entry of the conversation.

    >>> list(entries(b'{"type": "user", "uuid": "u1", "message": {"role": "user", "content": "Use pnpm here."}}'))
    [Entry(id='u1', role='user', text='Use pnpm here.', call='', failed=False)]
    """
    if not line.strip() or len(line) > LONGEST_LINE:
        return
    try:
        record = parse_json(line)
    except ValueError:
        return
    if (
        not isinstance(record, dict)
        or record.get("type") not in ("user", "assistant")
        or any(record.get(flag) for flag in NOT_SAID)
    ):
        return
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for number, block in enumerate(blocks if isinstance(blocks, list) else ()):
        if isinstance(block, dict):
            yield from _of_block(
                block,
                str(record["type"]),
                f"{record.get('uuid', '')}{f'.{number}' if number else ''}",
            )


def _of_block(block: Mapping[str, Any], role: str, id: str) -> Iterator[Entry]:
    kind = block.get("type")
    if kind == "text" and isinstance(block.get("text"), str):
        text = block["text"][:LONGEST_TEXT]
        if not text.lstrip().startswith(BY_PROGRAM):
            yield Entry(id, role, spoken(text))
    elif kind == "tool_use" and isinstance(block.get("input"), dict):
        command = block["input"].get("command")
        if isinstance(command, str):
            yield Entry(id, "command", command[:LONGEST_TEXT], call=str(block.get("id", "")))
    elif kind == "tool_result":
        yield Entry(
            id,
            "result",
            _result(block.get("content")),
            call=str(block.get("tool_use_id", "")),
            failed=block.get("is_error") is True,
        )


def _result(content: Any) -> str:
    parts = content if isinstance(content, list) else [content]
    texts = [each.get("text") if isinstance(each, dict) else each for each in parts]
    return "\n".join(each for each in texts if isinstance(each, str))[:LONGEST_TEXT]


def spoken(text: str) -> str:
    r"""Return a text without what its speaker did not say.

    Injected blocks, reminders, code and quotations.

    >>> spoken("Use pnpm.<system-reminder>x</system-reminder>\n> quoted\n```sh\nnpm i\n```\nThanks")
    'Use pnpm.\n\n\nThanks'
    """
    for begin, end in _WRAPPED:
        kept, rest = [], text
        while (at := rest.find(begin)) >= 0:
            close = rest.find(end, at + len(begin))
            kept.append(rest[:at])
            rest = "" if close < 0 else rest[close + len(end) :]
        text = "".join(kept) + rest
    return _QUOTED.sub("", text).strip()
