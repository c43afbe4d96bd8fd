"""JSON: a chat export becomes its conversations, everything else stays the text it is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from clew.ingest.readers import exports, roles, transcript
from clew.ingest.readers.conversation import Conversation, documents
from clew.ingest.readers.document import Document, UnreadableError
from clew.parsing import ParseError, parse_json

LINE_SHARE = 0.8  # of a file's lines must be JSON for it to be JSON lines: a log cut off at its end still is


def read_json(text: str, notes: tuple[str, ...], *, name: str = "json") -> tuple[Document, ...]:
    """Return the conversations of a JSON file, or the file as text; what is not valid JSON says so."""
    value, problem = _parsed(text)
    if problem:
        lines = read_lines(text, notes, name=name)
        return lines if lines[0].format == "conversation" else (_as_text(text, name, (*notes, f"{problem}: kept as text")),)
    return _told(value, notes) or (_as_text(text, name, notes),)


def read_lines(text: str, notes: tuple[str, ...], *, name: str = "jsonl") -> tuple[Document, ...]:
    """Return the conversations of JSON lines, or the file as text; lines that are not JSON are counted."""
    parsed = [_parsed(line) for line in text.split("\n") if line.strip()]
    values = [value for value, problem in parsed if not problem]
    broken = len(parsed) - len(values)
    if not values or len(values) < LINE_SHARE * len(parsed) - 1:  # the last of a few lines may be cut off
        return (_as_text(text, name, notes),)
    more = (f"{broken} lines that are not JSON left out",) if broken else ()
    return _told(values, (*notes, *more)) or (_as_text(text, name, notes),)


def _told(value: object, notes: tuple[str, ...]) -> tuple[Document, ...]:
    """Return the conversations of a value as documents, of which the first bears the notes; none if it holds none."""
    conversations = _conversations(value)
    found = documents(conversations)
    if conversations and not found:
        raise UnreadableError("its conversations hold no text", "Export them again with their messages.")
    return (replace(found[0], notes=(*found[0].notes, *notes)), *found[1:]) if found else ()


def _parsed(text: str) -> tuple[Any, str]:
    """Return the value, or nothing and what is wrong."""
    try:
        return parse_json(text), ""
    except ParseError as error:
        if isinstance(error.__cause__, json.JSONDecodeError):
            return None, f"not valid JSON ({error.__cause__.msg}, line {error.line})"
        return None, f"JSON that {error}"


def _conversations(value: object) -> Sequence[Conversation]:
    """Return the conversations in a value: of one of the known exports, of lists of messages, or none at all."""
    if isinstance(value, dict):
        one = _one(value)
        return [one] if one else _inside(value)
    if not isinstance(value, list):
        return ()
    if whole := roles.conversation(value):
        return (whole,)
    return _several(value)


def _one(value: Mapping[str, Any]) -> Conversation | None:
    return exports.chatgpt(value) or exports.claude(value) or roles.nested(value) or _transcribed(value)


def _transcribed(value: Mapping[str, Any]) -> Conversation | None:
    """Return a record whose text is a transcript as a conversation, under the name that the record gives it."""
    text = value.get("text", value.get("transcript"))
    found = transcript.conversation(text) if isinstance(text, str) else None
    if found is None:
        return None
    key = next((value[name] for name in (*roles.KEYS, "file") if isinstance(value.get(name), str)), "")
    title = next((value[name] for name in roles.TITLES if isinstance(value.get(name), str)), found.title)
    return replace(found, key=key, title=title)


def _inside(value: Mapping[str, Any]) -> Sequence[Conversation]:
    """Return the conversations of {"conversations": […]} and its like."""
    for key in (*roles.LISTS, "chats", "data", "items"):
        if isinstance(value.get(key), list) and (found := _several(value[key])):
            return found
    return ()


def _several(values: Sequence[object]) -> Sequence[Conversation]:
    found = [_one(each) if isinstance(each, dict) else roles.conversation(each) if isinstance(each, list) else None for each in values]
    kept = [each for each in found if each is not None]
    if not kept or len(kept) < roles.MESSAGE_SHARE * len(values):
        return ()
    other = {"entries that are no conversations": len(values) - len(kept)}
    return [replace(kept[0], left_out={**kept[0].left_out, **other}), *kept[1:]]


def _as_text(text: str, name: str, notes: tuple[str, ...]) -> Document:
    return Document(text=text, format=name, notes=notes)
