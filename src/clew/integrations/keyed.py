"""Texts under keys in one space of a memory, kept exactly as they were put.

What the adapters have in common.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeAlias

import clew

if TYPE_CHECKING:
    Memory: TypeAlias = clew.Clew | clew.Client

# metadata: to which adapter a text belongs, its key, and when it was put
COLLECTION, KEY, ORDER = "_collection", "_key", "_order"
PAGE = 500
MOST_HITS = 1000  # of one recall


@dataclass(frozen=True, slots=True)
class Entry:
    """A text to keep under a key, with metadata that a search can be narrowed by."""

    key: str
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""


class KeyedMemories:
    """The texts of one adapter in one space of a memory."""

    def __init__(self, memory: Memory, *, space: str, collection: str) -> None:
        self.memory = memory
        self.space = space
        self.collection = collection

    def put(self, entries: Iterable[Entry], *, replace: bool = True) -> None:
        """Keep texts under their keys; what was there before is replaced, or left as it is."""
        first = time.time_ns()
        offers = [self._offer(entry, first + number) for number, entry in enumerate(entries)]
        way = "replace" if replace else "insert"
        for outcome in self.memory.remember_many(
            offers, verbatim=True, on_duplicate=way, near=False, force=True
        ):
            if outcome.id is None:
                raise clew.ClewError(
                    f"A text was not kept (rule {outcome.rule}: {outcome.value}, limit {outcome.limit})."
                )

    def _offer(self, entry: Entry, order: int) -> dict[str, Any]:
        return {
            "text": entry.text,
            "title": entry.title or None,
            "space": self.space,
            "source": self.collection,
            "metadata": {
                **entry.metadata,
                COLLECTION: self.collection,
                KEY: entry.key,
                ORDER: order,
            },
            "idempotency_key": self._name(entry.key),
        }

    def _name(self, key: str) -> str:
        """Return a key of any length and content as an idempotency key."""
        digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()
        return f"{self.collection}:{digest}"

    def get(self, key: str) -> clew.Node | None:
        """Return what is kept under a key, or None."""
        return self.memory.find(self._name(key), space=self.space)

    def delete(self, keys: Iterable[str]) -> int:
        """Delete what is kept under keys, and return how much there was."""
        found = [node.id for node in map(self.get, dict.fromkeys(keys)) if node is not None]
        return self.delete_nodes(found)

    def delete_nodes(self, ids: Sequence[str]) -> int:
        """Delete texts by the ids of their memories."""
        if not ids:
            return 0
        return len(self.memory.forget(ids, tombstone=False, check=False, only=True).ids)

    def list(self, metadata: Mapping[str, Any] | None = None) -> Iterator[clew.Node]:
        """Yield the texts that have all of the metadata, newest first."""
        cursor: str | None = None
        while True:
            page = self.memory.page(limit=PAGE, where=self._where(metadata), cursor=cursor)
            yield from page.nodes
            cursor = page.cursor
            if cursor is None:
                return

    def in_order(self, metadata: Mapping[str, Any] | None = None) -> Sequence[clew.Node]:
        """Return the texts that have all of the metadata in the order in which they were put."""
        return sorted(self.list(metadata), key=lambda node: int(node.metadata[ORDER]))

    def search(
        self,
        query: str,
        *,
        k: int,
        metadata: Mapping[str, Any] | None = None,
        recipe: str | None = None,
        min_similarity: float | None = None,
    ) -> Sequence[clew.Hit]:
        """Return the texts that answer a question, best first, among those that have all of the metadata."""
        if not query.strip():
            return ()
        limit = min(max(k, 1), MOST_HITS)
        where = self._where(metadata)
        return self.memory.recall(
            query, k=limit, where=where, recipe=recipe, min_similarity=min_similarity
        ).hits

    def _where(self, metadata: Mapping[str, Any] | None) -> dict[str, Any]:
        return {
            "space": self.space,
            "kind": "memory",
            "metadata": {**(metadata or {}), COLLECTION: self.collection},
        }


def key_of(node: clew.Node) -> str:
    """Return the key that a text is kept under."""
    return str(node.metadata[KEY])


def own_metadata(node: clew.Node) -> dict[str, Any]:
    """Return the metadata that a text was put with."""
    return {
        name: value for name, value in node.metadata.items() if name not in (COLLECTION, KEY, ORDER)
    }
