"""Messages of any program: mappings that name a speaker and hold a text, in a list or one a line."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from clew.ingest.fields import SPEAKERS, role_of
from clew.ingest.readers.conversation import NOISE, Conversation, Turn
from clew.ingest.readers.moments import moment
from clew.ingest.readers.parts import told

CONTENTS = ("content", "text", "message", "body", "value")
TIMES = ("timestamp", "time", "created_at", "create_time", "date", "ts")
LISTS = ("messages", "conversations", "conversation", "turns", "dialogue")
KEYS = ("id", "conversation_id", "uuid", "session_id", "key")
TITLES = ("title", "name", "topic", "subject")
_NAMES = ("display_name", "real_name", "name", "username", "role", "id")
MESSAGE_SHARE = 0.8  # of a list's entries must be messages; below it is a list of something else, and kept as data

# Slack's own marks: <@U123>, <#C123|general>, <https://a.b|label>. They cannot nest, so nothing is scanned twice.
_SLACK_MARK = re.compile(r"<([@#!]?)([^<>|\n]{1,2000})(?:\|([^<>\n]{0,2000}))?>")
_SLACK_NEWS = frozenset({"channel_join", "channel_leave", "channel_topic", "channel_purpose", "channel_name", "bot_add", "bot_remove"})


def conversation(entries: Sequence[object], *, about: Mapping[str, Any] | None = None) -> Conversation | None:
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
    """Return what says who and what: the entry itself, or the message inside an envelope with the envelope's time."""
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
        text, dropped = told(next(message[key] for key in CONTENTS if isinstance(message.get(key), str | dict | list)))
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
    return next((value[key] for key in keys if isinstance(value.get(key), str) and value[key].strip()), "")


def _is_slack(message: Mapping[str, Any]) -> bool:
    return isinstance(message.get("user"), str) and isinstance(message.get("ts"), str) and isinstance(message.get("text"), str)


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
