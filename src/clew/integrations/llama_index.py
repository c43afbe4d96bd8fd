"""LlamaIndex: a memory block that keeps what falls out of the chat history and brings it back."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import BaseMemoryBlock

from clew.integrations.keyed import Entry, KeyedMemories
from clew.integrations.tools import DATA, line_of


class ClewMemoryBlock(BaseMemoryBlock[str]):
    """For `Memory.from_defaults(memory_blocks=[…])`; the memory stays the caller's to close."""

    name: str = "clew"
    memory: Any
    """A `clew.Clew` or `clew.Client`."""
    space: str = "llama-index"
    k: int = 5

    @property
    def _kept(self) -> KeyedMemories:
        return KeyedMemories(self.memory, space=self.space, collection="llama-index")

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        """Return what is relevant to the last message that says something, as text for a prompt."""
        session = block_kwargs.get("session_id")
        asked = next((each.content for each in reversed(messages or []) if each.content), "")
        where = None if session is None else {"session": session}
        hits = await asyncio.to_thread(self._kept.search, asked or "", k=self.k, metadata=where)
        return "\n".join([DATA, *map(line_of, hits)]) if hits else ""

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Keep messages with their roles."""
        entries = [
            Entry(
                uuid4().hex,
                each.content,
                {"role": str(each.role.value), "session": each.additional_kwargs.get("session_id")},
            )
            for each in messages
            if each.content
        ]
        await asyncio.to_thread(self._kept.put, entries)
