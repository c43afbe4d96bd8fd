"""The memory for AutoGen, used as an agent uses it."""

from __future__ import annotations

import pytest
from autogen_core.memory import MemoryContent, MemoryMimeType
from autogen_core.model_context import BufferedChatCompletionContext
from autogen_core.models import UserMessage
from outside_common import open_memory

from clew.integrations.autogen import HEADER, ClewMemory


def text(said: str, **metadata: object) -> MemoryContent:
    return MemoryContent(content=said, mime_type=MemoryMimeType.TEXT, metadata=metadata or None)


async def test_what_was_added_is_found_as_it_was() -> None:
    memory = ClewMemory(open_memory())
    await memory.add(text("The staging port is 5433", team="db"))
    await memory.add(MemoryContent(content={"crane": "four"}, mime_type=MemoryMimeType.JSON))
    (best,) = (await memory.query("staging port")).results[:1]
    assert best.content == "The staging port is 5433"
    assert (
        best.metadata is not None and best.metadata["team"] == "db" and best.metadata["score"] > 0
    )
    (best,) = (await memory.query("crane four")).results[:1]
    assert best.content == {"crane": "four"}


async def test_equal_and_short_contents_are_kept() -> None:
    memory = ClewMemory(open_memory())
    for _ in range(2):
        await memory.add(text("ok"))
    assert [each.content for each in (await memory.query("ok")).results] == ["ok", "ok"]


async def test_the_context_gets_what_is_relevant() -> None:
    memory = ClewMemory(open_memory(), k=1)
    await memory.add(text("The staging port is 5433"))
    await memory.add(text("Dana likes short summaries"))
    context = BufferedChatCompletionContext(buffer_size=10)
    await context.add_message(UserMessage(content="which port does staging use", source="user"))
    await memory.update_context(context)
    added = (await context.get_messages())[-1].content
    assert str(added).startswith(HEADER) and "5433" in str(added) and "Dana" not in str(added)


async def test_clear_deletes_only_what_was_added_here() -> None:
    clew = open_memory()
    clew.remember("A memory of somebody else stays", space="autogen")
    memory = ClewMemory(clew)
    await memory.add(text("one"))
    await memory.clear()
    assert (await memory.query("one")).results == []
    assert len(clew.recent(where={"space": "autogen"})) == 1


async def test_bytes_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot be kept"):
        await ClewMemory(open_memory()).add(
            MemoryContent(content=b"x", mime_type=MemoryMimeType.BINARY)
        )
