"""Google ADK: a memory service that keeps the events of sessions for each user of an application."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import uuid4

from google.adk.memory import BaseMemoryService
from google.adk.memory.base_memory_service import SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.genai import types

from clew.integrations.keyed import Entry, KeyedMemories

if TYPE_CHECKING:
    from google.adk.events.event import Event
    from google.adk.sessions.session import Session

    from clew.integrations.keyed import Memory


class ClewMemoryService(BaseMemoryService):
    """Events with words in them, under their ids; the memory stays the caller's to close."""

    def __init__(self, memory: Memory, *, space: str = "google-adk", k: int = 10) -> None:
        self._kept = KeyedMemories(memory, space=space, collection="google-adk")
        self._k = k

    async def add_session_to_memory(self, session: Session) -> None:
        """Keep the events of a session; told again, only what is new is added."""
        await self.add_events_to_memory(
            app_name=session.app_name,
            user_id=session.user_id,
            events=session.events,
            session_id=session.id,
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Keep events of a user."""
        entries = [
            self._entry(
                app_name,
                user_id,
                event.id,
                content=event.content,
                author=event.author,
                timestamp=moment(event.timestamp),
                metadata=custom_metadata,
                session_id=session_id,
            )
            for event in events
            if event.content and words_of(event.content)
        ]
        await asyncio.to_thread(self._kept.put, entries)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Keep memories of a user."""
        entries = [
            self._entry(
                app_name,
                user_id,
                each.id or uuid4().hex,
                content=each.content,
                author=each.author,
                timestamp=each.timestamp,
                metadata=custom_metadata or each.custom_metadata,
            )
            for each in memories
        ]
        await asyncio.to_thread(self._kept.put, entries)

    def _entry(
        self,
        app_name: str,
        user_id: str,
        id: str,
        *,
        content: types.Content,
        author: str | None,
        timestamp: str | None,
        metadata: Mapping[str, object] | None,
        session_id: str | None = None,
    ) -> Entry:
        kept = {
            "id": id,
            "author": author,
            "timestamp": timestamp,
            "session": session_id,
            "custom": dict(metadata or {}),
        }
        content_ = content.model_dump(mode="json", exclude_none=True)
        return Entry(
            json.dumps([app_name, user_id, id]),
            words_of(content),
            {"app": app_name, "user": user_id, **kept, "content": content_},
        )

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """Return what answers a question among the memories of a user."""
        hits = await asyncio.to_thread(
            self._kept.search, query, k=self._k, metadata={"app": app_name, "user": user_id}
        )
        return SearchMemoryResponse(
            memories=[entry_of(hit.node.metadata) for hit in hits if hit.node is not None]
        )


def entry_of(kept: Mapping[str, object]) -> MemoryEntry:
    """Return a memory as it was added."""
    return MemoryEntry(
        id=kept["id"],
        content=types.Content.model_validate(kept["content"]),
        author=kept["author"],
        timestamp=kept["timestamp"],
        custom_metadata=kept["custom"],
    )


def words_of(content: types.Content) -> str:
    """Return what a content says in words."""
    return "\n".join(part.text for part in content.parts or () if part.text)


def moment(timestamp: float) -> str:
    """Return a time as ISO 8601."""
    return datetime.fromtimestamp(timestamp, UTC).isoformat()
