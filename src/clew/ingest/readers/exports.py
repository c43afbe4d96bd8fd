"""Chat exports whose shape is known: ChatGPT's tree of messages and Claude's list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from clew.ingest.readers.conversation import NOISE, Conversation, Turn
from clew.ingest.readers.moments import moment
from clew.ingest.readers.parts import told

_EARLIEST = datetime.min.replace(tzinfo=UTC)
_SAID = frozenset({"text", "multimodal_text"})  # of ChatGPT's content types; the others are calls, results and reasoning


def chatgpt(value: Mapping[str, Any]) -> Conversation | None:
    """Return one conversation of ChatGPT's export, along the branch that was last on the screen; nothing if it is none."""
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
            len(files) for files in (message.get("attachments"), message.get("files")) if isinstance(files, list)
        )
        turns.append(Turn(_text(message.get("sender")), text or _text(message.get("text")), moment(message.get("created_at"))))
    return Conversation(
        turns=turns,
        title=_text(value.get("name")),
        key=_text(value.get("uuid")),
        time=moment(value.get("created_at")),
        metadata={"original_format": "claude"},
        left_out=left_out,
    )


def _branch(tree: Mapping[str, Any], current: object) -> Iterator[Mapping[str, Any]]:
    """Yield the messages from the root to the current one; a tree that bites its tail ends where it would repeat."""
    path: dict[str, Mapping[str, Any]] = {}
    at: object = current if isinstance(current, str) and current in tree else _latest_leaf(tree)
    while isinstance(at, str) and at not in path and isinstance(tree.get(at), dict):
        path[at] = tree[at]
        at = tree[at].get("parent")
    for node in reversed(path.values()):
        if isinstance(node.get("message"), dict):
            yield node["message"]


def _latest_leaf(tree: Mapping[str, Any]) -> str | None:
    """Return the message without an answer that was written last; of equals the last in the file."""
    leaves = [(key, node) for key, node in tree.items() if isinstance(node, dict) and not node.get("children")]
    ranked = sorted(range(len(leaves)), key=lambda index: (_written(leaves[index][1]), index))
    return leaves[ranked[-1]][0] if ranked else None


def _written(node: Mapping[str, Any]) -> datetime:
    message = node.get("message")
    return (moment(message.get("create_time")) if isinstance(message, dict) else None) or _EARLIEST


def _is_noise(message: Mapping[str, Any]) -> bool:
    content, metadata = message.get("content"), message.get("metadata")
    hidden = isinstance(metadata, dict) and bool(metadata.get("is_visually_hidden_from_conversation"))
    kind = content.get("content_type", "text") if isinstance(content, dict) else "text"
    recipient = message.get("recipient") or "all"
    return hidden or _role(message) in NOISE or recipient != "all" or kind not in _SAID


def _role(message: Mapping[str, Any]) -> str:
    author = message.get("author")
    return _text(author.get("role")) if isinstance(author, dict) else ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
