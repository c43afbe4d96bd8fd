"""Read Telegram's export, result.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clew.documents.readers.conversation import Conversation, Turn, moment, told


def read_telegram(value: Mapping[str, Any]) -> tuple[Conversation, ...]:
    """Return the chats of Telegram's result.json: all of an account, or a single one.

    None if it is something else.

    >>> one = {"name": "Ada", "type": "personal_chat", "id": 7, "messages": [
    ...     {"type": "message", "date_unixtime": "1709287200", "from": "Ada", "text": ["see ", {"type": "link", "text": "this"}]}]}
    >>> read_telegram(one)[0].turns[0].text
    'see this'
    """
    chats = value.get("chats")
    listed = chats.get("list") if isinstance(chats, dict) else None
    if isinstance(listed, list):
        return tuple(
            _telegram_chat(each)
            for each in listed
            if isinstance(each, dict) and isinstance(each.get("messages"), list)
        )
    is_chat = (
        isinstance(value.get("messages"), list)
        and isinstance(value.get("type"), str)
        and "id" in value
    )
    dated = is_chat and any(
        isinstance(each, dict) and ("date_unixtime" in each or "from" in each)
        for each in value["messages"]
    )
    return (_telegram_chat(value),) if dated else ()


def _telegram_chat(chat: Mapping[str, Any]) -> Conversation:
    messages = [each for each in chat["messages"] if isinstance(each, dict)]
    said = [each for each in messages if each.get("type", "message") == "message"]
    turns = [
        Turn(
            _text(each.get("from")) or "unknown",
            told(each.get("text"))[0],
            moment(each.get("date_unixtime")) or moment(each.get("date")),
        )
        for each in said
    ]
    return Conversation(
        turns=turns,
        title=_text(chat.get("name")),
        key=str(chat.get("id", "")),
        metadata={"original_format": "telegram"},
        left_out={"service messages": len(messages) - len(said)},
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
