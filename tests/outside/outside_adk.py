"""The memory service for Google ADK."""

from __future__ import annotations

from google.adk.events.event import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session
from google.genai import types
from outside_common import open_memory

from clew.integrations.google_adk import ClewMemoryService


def said(text: str, author: str = "user") -> Event:
    return Event(author=author, content=types.Content(parts=[types.Part(text=text)], role="user"))


def session(user: str, *texts: str) -> Session:
    return Session(
        id=f"s-{user}", app_name="app", user_id=user, events=[said(text) for text in texts]
    )


async def test_a_session_is_found_by_its_user_alone() -> None:
    service = ClewMemoryService(open_memory())
    await service.add_session_to_memory(session("ann", "The staging port is 5433", "ok"))
    found = (
        await service.search_memory(app_name="app", user_id="ann", query="staging port")
    ).memories
    assert found[0].content.parts[0].text == "The staging port is 5433"
    assert found[0].author == "user" and found[0].timestamp
    assert (
        await service.search_memory(app_name="app", user_id="bob", query="staging port")
    ).memories == []
    assert (
        await service.search_memory(app_name="other", user_id="ann", query="staging port")
    ).memories == []


async def test_a_session_told_again_is_kept_once() -> None:
    service = ClewMemoryService(open_memory())
    told = session("ann", "The staging port is 5433")
    for _ in range(2):
        await service.add_session_to_memory(told)
    assert (
        len(
            (
                await service.search_memory(app_name="app", user_id="ann", query="staging port")
            ).memories
        )
        == 1
    )


async def test_memories_are_kept_as_they_are() -> None:
    service = ClewMemoryService(open_memory())
    content = types.Content(parts=[types.Part(text="Dana likes short summaries")])
    entry = MemoryEntry(id="m1", content=content, author="agent", custom_metadata={"n": 1})
    await service.add_memory(app_name="app", user_id="ann", memories=[entry])
    (found,) = (
        await service.search_memory(app_name="app", user_id="ann", query="summaries")
    ).memories
    assert (found.id, found.author, found.custom_metadata) == ("m1", "agent", {"n": 1})
    assert found.content.parts[0].text == "Dana likes short summaries"
