"""OpenAI Agents: a session whose history is kept in Clew, and is found by recall."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

from agents.memory.session import SessionABC
from agents.memory.session_settings import (
    SessionSettings,
    coerce_session_settings,
    resolve_session_limit,
)

from clew.integrations.keyed import Entry, KeyedMemories, key_of

if TYPE_CHECKING:
    from agents import TResponseInputItem

    import clew
    from clew.integrations.keyed import Memory

SESSION, ORDER = "session", "order"


class ClewSession(SessionABC):
    """The history of one conversation; the memory stays the caller's to close.

    Every item is kept exactly as it was given. What it says in words is searched by `recall` in the
    space of the session.
    """

    def __init__(
        self,
        session_id: str,
        memory: Memory,
        *,
        space: str = "openai-agents",
        session_settings: SessionSettings | dict[str, Any] | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = (
            SessionSettings()
            if session_settings is None
            else coerce_session_settings(session_settings)
        )
        self._kept = KeyedMemories(memory, space=space, collection="openai-agents")
        self._lock = Lock()
        self._last = 0

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the history in order, or its latest items."""
        chosen = resolve_session_limit(limit, self.session_settings)
        nodes = await asyncio.to_thread(self._nodes)
        latest = nodes if chosen is None else nodes[-chosen:] if chosen > 0 else []
        return [cast("TResponseInputItem", node.metadata["item"]) for node in latest]

    async def add_items(self, items: Sequence[TResponseInputItem]) -> None:
        """Add items to the end of the history, all or none."""
        await asyncio.to_thread(self._add, [cast("Mapping[str, Any]", item) for item in items])

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the latest item and return it, or None."""
        return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        """Remove the history."""
        await asyncio.to_thread(
            lambda: self._kept.delete_nodes([node.id for node in self._nodes()])
        )

    def _nodes(self) -> list[clew.Node]:
        return sorted(
            self._kept.list({SESSION: self.session_id}), key=lambda node: int(node.metadata[ORDER])
        )

    def _add(self, items: Sequence[Mapping[str, Any]]) -> None:
        with self._lock:  # the order is that of the calls; between processes that of their clocks
            entries = []
            for item in items:
                self._last = max(self._last + 1, time.time_ns())
                metadata = {SESSION: self.session_id, ORDER: self._last, "item": item}
                entries.append(
                    Entry(
                        json.dumps([self.session_id, self._last]),
                        "\n".join(texts_of(item)),
                        metadata,
                    )
                )
            self._kept.put(entries)

    def _pop(self) -> TResponseInputItem | None:
        with self._lock:
            nodes = self._nodes()
            if not nodes:
                return None
            self._kept.delete([key_of(nodes[-1])])
            return cast("TResponseInputItem", nodes[-1].metadata["item"])


def texts_of(item: Mapping[str, Any]) -> Iterator[str]:
    """Yield what an item says in words.

    >>> list(texts_of({"role": "user", "content": [{"type": "input_text", "text": "Hello"}]}))
    ['Hello']
    """
    content = item.get("content", item.get("output", ""))
    if isinstance(content, str):
        yield content
    elif isinstance(content, Sequence):
        yield from (
            str(part["text"])
            for part in content
            if isinstance(part, Mapping) and isinstance(part.get("text"), str)
        )
