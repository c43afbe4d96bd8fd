"""Turns of a conversation become one text whose every message knows where it stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from clew.ingest.fields import SPEAKER_CHARACTERS, role_of
from clew.ingest.readers.document import Document, Message
from clew.ingest.readers.encoding import legible
from clew.types import Message as Said

TITLE_WORDS = 10
TITLE_CHARACTERS = 80
ASKING = frozenset({"user", "human"})  # whose first words name a conversation that has no title
NOISE = frozenset({"system", "developer", "tool", "function"})  # set-up and machinery, not what was said
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
    """Turns in order, before they are one text; `left_out` counts by kind what is not among them."""

    turns: Sequence[Turn]
    title: str = ""
    key: str = ""
    time: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def document(conversation: Conversation) -> Document | None:
    r"""Return a conversation as "Speaker: text" with a blank line between messages, or nothing if nobody said anything.

    >>> made = document(Conversation(turns=[Turn("user", "Where is Ada?"), Turn("assistant", "In London.")]))
    >>> made.text, made.title, [made.text[message.start : message.end] for message in made.messages]
    ('user: Where is Ada?\n\nassistant: In London.', 'Where is Ada?', ['user: Where is Ada?', 'assistant: In London.'])
    """
    said = [turn for turn in map(_tidied, conversation.turns) if turn.text]
    if not said:
        return None
    left_out = {"messages without text": len(conversation.turns) - len(said), **conversation.left_out}
    text, messages = _written(said)
    return Document(
        text=text,
        format="conversation",
        title=line(conversation.title) or _opening(said),
        key=line(conversation.key),
        time=said[0].time or conversation.time,
        messages=messages,
        metadata=dict(conversation.metadata),
        notes=(*conversation.notes, *(f"{number} {kind} left out" for kind, number in sorted(left_out.items()) if number)),
    )


def documents(conversations: Iterable[Conversation]) -> tuple[Document, ...]:
    """Return the conversations that hold text, each of several with a key of its own; the first notes how many hold none."""
    offered = list(conversations)
    found = [each for each in map(document, offered) if each is not None]
    silent = len(offered) - len(found)
    if found and silent:
        found[0] = replace(found[0], notes=(*found[0].notes, f"{silent} conversations without text left out"))
    return tuple(_keyed(found)) if len(found) > 1 else tuple(found)


def messages_of(document: Document) -> list[Said]:
    """Return the messages of a conversation as `remember_conversation` takes them."""
    return [_said(document, message) for message in document.messages]


def _said(document: Document, message: Message) -> Said:
    text = document.text[message.start : message.end].removeprefix(f"{message.speaker}: ")
    named = message.speaker != UNKNOWN and message.speaker.casefold() != message.role
    return Said(text, speaker=message.speaker if named else "", role=message.role, time=message.time)


def line(text: str, *, limit: int = 10 * TITLE_CHARACTERS) -> str:
    """Return a text on one line without control characters, of limited length."""
    return " ".join(legible(text[:limit])[0].split())


def _keyed(found: Sequence[Document]) -> Iterable[Document]:
    """Yield every document with its own key, or its number; a key that came before is numbered too."""
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
