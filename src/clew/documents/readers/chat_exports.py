"""JSON: a chat export becomes its conversations, everything else stays the text it is."""

from __future__ import annotations  # noqa: I001

import html
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from clew.documents.readers import transcript
from clew.documents.readers.telegram import read_telegram
from clew.documents.readers.conversation import NOISE, Conversation, Turn, documents, moment, told
from clew.documents.readers.document import Document, UnreadableError
from clew.memories.validation import SPEAKERS, role_of
from clew.parsing import ParseError, parse_json

# Chat exports whose shape is known: ChatGPT's tree of messages and Claude's list.

_EARLIEST = datetime.min.replace(tzinfo=UTC)
# of ChatGPT's content types; the others are calls, results and reasoning
_SAID = frozenset({"text", "multimodal_text"})


def chatgpt(value: Mapping[str, Any]) -> Conversation | None:
    """Return one conversation of ChatGPT's export, along the branch that was last on the screen.

    Nothing if it is none.
    """
    tree = value.get("mapping")
    if not isinstance(tree, dict):
        return None
    left_out: Counter[str] = Counter()
    turns = []
    for message in _branch(tree, value.get("current_node")):
        if _is_noise(message):
            left_out["system, tool and hidden messages"] += 1
        else:
            text, dropped = told(message.get("content"))
            left_out.update(dropped)
            turns.append(Turn(_role(message), text, moment(message.get("create_time"))))
    return Conversation(
        turns=turns,
        title=_text(value.get("title")),
        key=_text(value.get("conversation_id")) or _text(value.get("id")),
        time=moment(value.get("create_time")),
        metadata={"original_format": "chatgpt"},
        left_out=left_out,
    )


def claude(value: Mapping[str, Any]) -> Conversation | None:
    """Return one conversation of Claude's export; nothing if it is none."""
    messages = value.get("chat_messages")
    if not isinstance(messages, list):
        return None
    left_out: Counter[str] = Counter()
    turns = []
    for message in messages:
        if not isinstance(message, dict):
            left_out["messages of unknown form"] += 1
            continue
        text, dropped = told(message.get("content"))
        left_out.update(dropped)
        left_out["attached files"] += sum(
            len(files)
            for files in (message.get("attachments"), message.get("files"))
            if isinstance(files, list)
        )
        turns.append(
            Turn(
                _text(message.get("sender")),
                text or _text(message.get("text")),
                moment(message.get("created_at")),
            )
        )
    return Conversation(
        turns=turns,
        title=_text(value.get("name")),
        key=_text(value.get("uuid")),
        time=moment(value.get("created_at")),
        metadata={"original_format": "claude"},
        left_out=left_out,
    )


def _branch(tree: Mapping[str, Any], current: object) -> Iterator[Mapping[str, Any]]:
    """Yield the messages from the root to the current one.

    A tree that bites its tail ends where it would repeat.
    """
    path: dict[str, Mapping[str, Any]] = {}
    at: object = current if isinstance(current, str) and current in tree else _latest_leaf(tree)
    while isinstance(at, str) and at not in path and isinstance(tree.get(at), dict):
        path[at] = tree[at]
        at = tree[at].get("parent")
    for node in reversed(path.values()):
        if isinstance(node.get("message"), dict):
            yield node["message"]


def _latest_leaf(tree: Mapping[str, Any]) -> str | None:
    """Return the message without an answer that was written last.

    Of equals the last in the file.
    """
    leaves = [
        (key, node)
        for key, node in tree.items()
        if isinstance(node, dict) and not node.get("children")
    ]
    ranked = sorted(range(len(leaves)), key=lambda index: (_written(leaves[index][1]), index))
    return leaves[ranked[-1]][0] if ranked else None


def _written(node: Mapping[str, Any]) -> datetime:
    message = node.get("message")
    return (moment(message.get("create_time")) if isinstance(message, dict) else None) or _EARLIEST


def _is_noise(message: Mapping[str, Any]) -> bool:
    content, metadata = message.get("content"), message.get("metadata")
    hidden = isinstance(metadata, dict) and bool(
        metadata.get("is_visually_hidden_from_conversation")
    )
    kind = content.get("content_type", "text") if isinstance(content, dict) else "text"
    recipient = message.get("recipient") or "all"
    return hidden or _role(message) in NOISE or recipient != "all" or kind not in _SAID


def _role(message: Mapping[str, Any]) -> str:
    author = message.get("author")
    return _text(author.get("role")) if isinstance(author, dict) else ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


# Messages of any program: mappings that name a speaker and hold a text, in a list or one a line.

CONTENTS = ("content", "text", "message", "body", "value")
TIMES = ("timestamp", "time", "created_at", "create_time", "date", "ts")
LISTS = ("messages", "conversations", "conversation", "turns", "dialogue")
KEYS = ("id", "conversation_id", "uuid", "session_id", "key")
TITLES = ("title", "name", "topic", "subject")
_NAMES = ("display_name", "real_name", "name", "username", "role", "id")
# of a list's entries must be messages; below it is a list of something else, and kept as data
MESSAGE_SHARE = 0.8

# Slack's own marks: <@U123>, <#C123|general>, <https://a.b|label>. They cannot nest, so nothing is
# scanned twice.
_SLACK_MARK = re.compile(r"<([@#!]?)([^<>|\n]{1,2000})(?:\|([^<>\n]{0,2000}))?>")
_SLACK_NEWS = frozenset(
    {
        "channel_join",
        "channel_leave",
        "channel_topic",
        "channel_purpose",
        "channel_name",
        "bot_add",
        "bot_remove",
    }
)


def conversation(
    entries: Sequence[object], *, about: Mapping[str, Any] | None = None
) -> Conversation | None:
    """Return a list of messages as a conversation, or nothing if it is a list of something else."""
    messages = [each for each in map(_message, entries) if each is not None]
    if not messages or len(messages) < MESSAGE_SHARE * len(entries):
        return None
    left_out: Counter[str] = Counter({"entries that are no messages": len(entries) - len(messages)})
    about = about or {}
    return Conversation(
        turns=list(_turns(messages, left_out)),
        title=_first_text(about, TITLES),
        key=_first_text(about, KEYS),
        time=_time(about),
        metadata={"original_format": "slack" if _is_slack(messages[0]) else "messages"},
        left_out=left_out,
    )


def nested(value: Mapping[str, Any]) -> Conversation | None:
    """Return a mapping that holds a list of messages as a conversation, with its title, id and time; nothing if it holds none."""
    for key in LISTS:
        if isinstance(value.get(key), list) and (found := conversation(value[key], about=value)):
            return found
    return None


def _message(entry: object) -> Mapping[str, Any] | None:
    """Return what says who and what.

    The entry itself, or the message inside an envelope with the envelope's time.
    """
    if not isinstance(entry, dict):
        return None
    inner = entry.get("message")
    if isinstance(inner, dict) and _has(inner, SPEAKERS) and _has(inner, CONTENTS):
        return {**{key: entry[key] for key in TIMES if key in entry}, **inner}
    return entry if _has(entry, SPEAKERS) and _has(entry, CONTENTS) else None


def _has(entry: Mapping[str, Any], keys: Iterable[str]) -> bool:
    return any(isinstance(entry.get(key), str | dict | list) for key in keys)


def _turns(messages: Iterable[Mapping[str, Any]], left_out: Counter[str]) -> Iterator[Turn]:
    names: dict[str, str] = {}
    for message in messages:
        speaker, role = _speaker(message), message.get("role")
        role = role_of(role) if isinstance(role, str) else ""
        if {speaker.casefold(), role} & NOISE or message.get("subtype") in _SLACK_NEWS:
            left_out["system, tool and hidden messages"] += 1
            continue
        text, dropped = told(
            next(
                message[key] for key in CONTENTS if isinstance(message.get(key), str | dict | list)
            )
        )
        left_out.update(dropped)
        if _is_slack(message):
            names[message["user"]] = speaker
            text = _unmarked(text, names)
        yield Turn(speaker, text, _time(message), role)


def _speaker(message: Mapping[str, Any]) -> str:
    profile = message.get("user_profile")
    if isinstance(profile, dict) and (name := _first_text(profile, _NAMES)):
        return name
    for key in SPEAKERS:
        value = message.get(key)
        spoken: object = _first_text(value, _NAMES) if isinstance(value, dict) else value
        if isinstance(spoken, str) and spoken.strip():
            return spoken
    return ""


def _time(message: Mapping[str, Any]) -> datetime | None:
    return next((found for key in TIMES if (found := moment(message.get(key)))), None)


def _first_text(value: Mapping[str, Any], keys: Iterable[str]) -> str:
    return next(
        (value[key] for key in keys if isinstance(value.get(key), str) and value[key].strip()), ""
    )


def _is_slack(message: Mapping[str, Any]) -> bool:
    return (
        isinstance(message.get("user"), str)
        and isinstance(message.get("ts"), str)
        and isinstance(message.get("text"), str)
    )


def _unmarked(text: str, names: Mapping[str, str]) -> str:
    r"""Return Slack's text as its readers saw it.

    >>> _unmarked("<@U1> see <https://a.b/c|the page> &amp; <#C2|general>", {"U1": "Ada"})
    '@Ada see the page (https://a.b/c) & #general'
    """

    def shown(found: re.Match[str]) -> str:
        sign, name, label = found.groups()
        if sign:
            return f"{'@' if sign == '!' else sign}{label or names.get(name, name)}"
        return f"{label} ({name})" if label and label != name else name

    return html.unescape(_SLACK_MARK.sub(shown, text))


# of a file's lines must be JSON for it to be JSON lines: a log cut off at its end still is
LINE_SHARE = 0.8


def read_json(text: str, notes: tuple[str, ...], *, name: str = "json") -> tuple[Document, ...]:
    """Return the conversations of a JSON file, or the file as text.

    What is not valid JSON says so.
    """
    value, problem = _parsed(text)
    if problem:
        lines = read_lines(text, notes, name=name)
        return (
            lines
            if lines[0].format == "conversation"
            else (_as_text(text, name, (*notes, f"{problem}: kept as text")),)
        )
    return _told(value, notes) or (_as_text(text, name, notes),)


def read_lines(text: str, notes: tuple[str, ...], *, name: str = "jsonl") -> tuple[Document, ...]:
    """Return the conversations of JSON lines, or the file as text.

    Lines that are not JSON are counted.
    """
    parsed = [_parsed(line) for line in text.split("\n") if line.strip()]
    values = [value for value, problem in parsed if not problem]
    broken = len(parsed) - len(values)
    # the last of a few lines may be cut off
    if not values or len(values) < LINE_SHARE * len(parsed) - 1:
        return (_as_text(text, name, notes),)
    more = (f"{broken} lines that are not JSON left out",) if broken else ()
    return _told(values, (*notes, *more)) or (_as_text(text, name, notes),)


def _told(value: object, notes: tuple[str, ...]) -> tuple[Document, ...]:
    """Return the conversations of a value as documents, of which the first bears the notes.

    None if it holds none.
    """
    conversations = _conversations(value)
    found = documents(conversations)
    if conversations and not found:
        raise UnreadableError(
            "its conversations hold no text", "Export them again with their messages."
        )
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
    """Return the conversations in a value.

    Of one of the known exports, of lists of messages, or none at all.
    """
    if isinstance(value, dict):
        if telegram := _telegram(value):
            return telegram
        one = _one(value)
        return [one] if one else _inside(value)
    if not isinstance(value, list):
        return ()
    if whole := conversation(value):
        return (whole,)
    return _several(value)


def _telegram(value: Mapping[str, Any]) -> Sequence[Conversation]:
    if "chats" not in value and "messages" not in value:
        return ()
    return read_telegram(value)


def _one(value: Mapping[str, Any]) -> Conversation | None:
    return chatgpt(value) or claude(value) or nested(value) or _transcribed(value)


def _transcribed(value: Mapping[str, Any]) -> Conversation | None:
    """Return a record whose text is a transcript as a conversation, under the name that the record gives it."""
    text = value.get("text", value.get("transcript"))
    found = transcript.conversation(text) if isinstance(text, str) else None
    if found is None:
        return None
    key = next((value[name] for name in (*KEYS, "file") if isinstance(value.get(name), str)), "")
    title = next((value[name] for name in TITLES if isinstance(value.get(name), str)), found.title)
    return replace(found, key=key, title=title)


def _inside(value: Mapping[str, Any]) -> Sequence[Conversation]:
    """Return the conversations of {"conversations": […]} and its like."""
    for key in (*LISTS, "chats", "data", "items"):
        if isinstance(value.get(key), list) and (found := _several(value[key])):
            return found
    return ()


def _several(values: Sequence[object]) -> Sequence[Conversation]:
    found = [
        _one(each)
        if isinstance(each, dict)
        else conversation(each)
        if isinstance(each, list)
        else None
        for each in values
    ]
    kept = [each for each in found if each is not None]
    if not kept or len(kept) < MESSAGE_SHARE * len(values):
        return ()
    other = {"entries that are no conversations": len(values) - len(kept)}
    return [replace(kept[0], left_out={**kept[0].left_out, **other}), *kept[1:]]


def _as_text(text: str, name: str, notes: tuple[str, ...]) -> Document:
    return Document(text=text, format=name, notes=notes)
