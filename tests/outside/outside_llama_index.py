"""The memory block for LlamaIndex, inside its own Memory."""

from __future__ import annotations

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory
from outside_common import open_memory

from clew.integrations.llama_index import ClewMemoryBlock


async def test_what_leaves_the_history_is_found_again() -> None:
    block = ClewMemoryBlock(memory=open_memory(), k=1)
    memory = Memory.from_defaults(
        session_id="s1",
        token_limit=30,
        chat_history_token_ratio=0.5,
        token_flush_size=5,
        memory_blocks=[block],
    )
    for text in (
        "The staging port is 5433",
        "Dana likes short summaries",
        "The crane is inspected in March",
        "And so on it goes",
    ):
        await memory.aput(ChatMessage(role="user", content=text))
    kept = [node.text for node in block.memory.recent(10, where={"space": "llama-index"})]
    assert "The staging port is 5433" in kept
    found = await block.aget(
        [ChatMessage(role="user", content="which port does staging use")], session_id="s1"
    )
    assert "5433" in found and "Dana" not in found


async def test_another_session_is_not_seen() -> None:
    block = ClewMemoryBlock(memory=open_memory())
    await block.aput(
        [ChatMessage(role="user", content="The staging port is 5433")], session_id="s1"
    )
    assert (
        await block.aget([ChatMessage(role="user", content="staging port")], session_id="s2") == ""
    )
    assert "5433" in await block.aget([ChatMessage(role="user", content="staging port")])
    assert await block.aget([]) == ""
