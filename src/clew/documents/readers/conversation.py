"""Turns of a conversation become one text whose every message knows where it stands."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from clew.documents.readers.document import Document, Message, legible
from clew.errors import InputError
from clew.memories.validation import SPEAKER_CHARACTERS, role_of
from clew.times import parse_time
from clew.types import Message as Said

TITLE_WORDS = 10
TITLE_CHARACTERS = 80
ASKING = frozenset({"user", "human"})  # whose first words name a conversation that has no title
# set-up and machinery, not what was said
NOISE = frozenset({"system", "developer", "tool", "function"})
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Turn:
    """Who said what, and when."""

    speaker: str
    text: str
    time: datetime | None = None
    role: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Turns in order, before they are one text.

    `left_out` counts by kind what is not among them.
    """

    turns: Sequence[Turn]
    title: str = ""
    key: str = ""
    time: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def document(conversation: Conversation) -> Document | None:
    r"""Return a conversation as "Speaker.

    Text" with a blank line between messages, or nothing if nobody said anything.

    >>> made = document(Conversation(turns=[Turn("user", "Where is Ada?"), Turn("assistant", "In London.")]))
    >>> made.text, made.title, [made.text[message.start : message.end] for message in made.messages]
    ('user: Where is Ada?\n\nassistant: In London.', 'Where is Ada?', ['user: Where is Ada?', 'assistant: In London.'])
    """
    said = [turn for turn in map(_tidied, conversation.turns) if turn.text]
    if not said:
        return None
    left_out = {
        "messages without text": len(conversation.turns) - len(said),
        **conversation.left_out,
    }
    text, messages = _written(said)
    return Document(
        text=text,
        format="conversation",
        title=line(conversation.title) or _opening(said),
        key=line(conversation.key),
        time=said[0].time or conversation.time,
        messages=messages,
        metadata=dict(conversation.metadata),
        notes=(
            *conversation.notes,
            *(f"{number} {kind} left out" for kind, number in sorted(left_out.items()) if number),
        ),
    )


def documents(conversations: Iterable[Conversation]) -> tuple[Document, ...]:
    """Return the conversations that hold text, each of several with a key of its own.

    The first notes how many hold none.
    """
    offered = list(conversations)
    found = [each for each in map(document, offered) if each is not None]
    silent = len(offered) - len(found)
    if found and silent:
        found[0] = replace(
            found[0], notes=(*found[0].notes, f"{silent} conversations without text left out")
        )
    return tuple(_keyed(found)) if len(found) > 1 else tuple(found)


def messages_of(document: Document) -> list[Said]:
    """Return the messages of a conversation as `remember_conversation` takes them."""
    return [_said(document, message) for message in document.messages]


def _said(document: Document, message: Message) -> Said:
    text = document.text[message.start : message.end].removeprefix(f"{message.speaker}: ")
    named = message.speaker != UNKNOWN and message.speaker.casefold() != message.role
    return Said(
        text, speaker=message.speaker if named else "", role=message.role, time=message.time
    )


def line(text: str, *, limit: int = 10 * TITLE_CHARACTERS) -> str:
    """Return a text on one line without control characters, of limited length."""
    return " ".join(legible(text[:limit])[0].split())


def _keyed(found: Sequence[Document]) -> Iterable[Document]:
    """Yield every document with its own key, or its number.

    A key that came before is numbered too.
    """
    seen: Counter[str] = Counter()
    for number, each in enumerate(found, start=1):
        key = each.key or str(number)
        seen[key] += 1
        yield replace(each, key=key if seen[key] == 1 else f"{key}#{seen[key]}")


def _tidied(turn: Turn) -> Turn:
    text = turn.text.replace("\r\n", "\n").replace("\r", "\n").strip()
    speaker = line(turn.speaker, limit=SPEAKER_CHARACTERS)
    return Turn(speaker or UNKNOWN, text, turn.time, turn.role or role_of(speaker))


def _written(said: Sequence[Turn]) -> tuple[str, tuple[Message, ...]]:
    parts: list[str] = []
    messages: list[Message] = []
    at = 0
    for turn in said:
        parts.append(f"{turn.speaker}: {turn.text}")
        messages.append(Message(at, at + len(parts[-1]), turn.speaker, turn.time, turn.role))
        at += len(parts[-1]) + len("\n\n")
    return "\n\n".join(parts), tuple(messages)


def _opening(said: Sequence[Turn]) -> str:
    """Return the first words of whoever asked first, or else of whoever spoke first."""
    first = next((turn for turn in said if turn.speaker.casefold() in ASKING), said[0])
    words = first.text[: 10 * TITLE_CHARACTERS].split()
    opening = line(" ".join(words[:TITLE_WORDS]))
    cut = len(words) > TITLE_WORDS or len(opening) > TITLE_CHARACTERS
    return f"{opening[:TITLE_CHARACTERS].rstrip()}…" if cut else opening


# When something was said, out of the many ways in which exports write it.

# March 1973: a smaller number counts messages or seconds of a recording, not years
EARLIEST_SECONDS = 1e8
# A number beyond these is in milliseconds, microseconds, nanoseconds: in seconds it would be after
# the year 5138.
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
LONGEST_CHARACTERS = 40


def moment(value: object) -> datetime | None:
    """Return a moment in UTC from ISO 8601, or from seconds, milliseconds … since 1970 as number or text; nothing if it is none.

    >>> moment("2024-03-01T10:00:00Z") == moment(1709287200) == moment("1709287200.000") == moment(1709287200000)
    True
    >>> moment("soon"), moment(17), moment(None)
    (None, None, None)
    """
    if isinstance(value, str):
        text = value.strip()
        return _moments_written(text) if len(text) <= LONGEST_CHARACTERS else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return _counted(value)


def _moments_written(text: str) -> datetime | None:
    try:
        return _counted(float(text))
    except ValueError:
        pass
    try:
        return parse_time(text, "time")
    except InputError:
        return None


def _counted(value: float) -> datetime | None:
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond all floats
        return None
    if not math.isfinite(number) or number < EARLIEST_SECONDS:
        return None
    divisor = next((divisor for bound, divisor in _UNITS if number > bound), 1.0)
    try:
        return datetime.fromtimestamp(number / divisor, UTC)
    except (ValueError, OverflowError, OSError):  # beyond the year 9999
        return None


# What a message says: a text, or a list of parts of which some are text and some pictures, calls
# and results.

_TEXTS = ("text", "content", "value")
_LISTS = ("parts", "content")
# {"content": {"parts": [{"text": …}]}} is the deepest seen; what lies deeper is not what was said
_DEPTH = 4
# beginnings of the types of parts that nobody said
_MACHINERY = ("tool", "function", "think", "reason", "redacted")


def told(content: object, *, depth: int = _DEPTH) -> tuple[str, Mapping[str, int]]:
    r"""Return the text of a message's content, and how many of its parts are none, by kind.

    >>> told([{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": "…"}])
    ('Look:', {'pictures, files and calls': 1})
    >>> told(["see ", {"type": "link", "text": "the page"}, "!"])[0]
    'see the page!'
    """
    if isinstance(content, str):
        return content, {}
    if isinstance(content, Mapping) and depth:
        return _of_mapping(content, depth)
    if isinstance(content, Sequence) and not isinstance(content, bytes) and depth:
        return _of_list(content, depth)
    return "", {}


def _of_mapping(content: Mapping[str, Any], depth: int) -> tuple[str, Mapping[str, int]]:
    kind = content.get("type", content.get("content_type"))
    if isinstance(kind, str) and kind.startswith(_MACHINERY):
        return "", {}
    for key in _TEXTS:
        if isinstance(content.get(key), str):
            return content[key], {}
    for key in _LISTS:
        if isinstance(content.get(key), list):
            return told(content[key], depth=depth - 1)
    return "", {}


def _of_list(content: Sequence[Any], depth: int) -> tuple[str, Mapping[str, int]]:
    found = [told(part, depth=depth - 1) for part in content]
    texts = [text for text, _ in found if text.strip()]
    left_out: Counter[str] = Counter()
    for part, (text, dropped) in zip(content, found, strict=True):
        left_out.update(
            dropped
            if text or dropped or isinstance(part, str)
            else {"pictures, files and calls": 1}
        )
    # A text with links in it comes as texts and mappings in turn; a list of one kind holds
    # paragraphs.
    running = len({isinstance(part, str) for part in content}) > 1 and all(
        text for text, _ in found
    )
    return ("".join(text for text, _ in found) if running else "\n\n".join(texts)), dict(left_out)
