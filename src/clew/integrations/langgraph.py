"""A LangGraph store in Clew.

`BaseStore` with namespaces, filters, semantic search and time to live.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    ensure_embeddings,
    get_text_at_path,
    validate_op_namespace,
)

import clew
from clew.integrations.embedding import UNBOUNDED, FunctionEmbedder
from clew.integrations.keyed import MOST_HITS, Entry, KeyedMemories

if TYPE_CHECKING:
    from clew.integrations.keyed import Memory

WHOLE = "$"
OPERATORS = ("$eq", "$ne", "$gt", "$gte", "$lt", "$lte")
SEARCHED, PARENT = "_searched", "_parent"


class ClewStore(BaseStore):
    """Long-term memory of a graph.

    The memory stays the caller's to close, unless the store was made by `open`.

    Without `index` the searched text is the whole value, found by Clew's own ranking; with `index`
    scores are cosines of `index["embed"]`.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: Memory,
        *,
        space: str = "langgraph",
        fields: Sequence[str] | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        self.memory = memory
        self.ttl_config = ttl
        self.index_config: IndexConfig | None = None
        self._fields = list(fields or [WHOLE])
        self._kept = KeyedMemories(memory, space=space, collection="langgraph")

    @classmethod
    def open(
        cls,
        path: str | Path = ":memory:",
        *,
        space: str = "langgraph",
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
    ) -> ClewStore:
        """Open a store of its own, with the embedding function of `index` if there is one.

        Close it or use `with`.
        """
        if index is None:
            return cls(clew.open(path), space=space, ttl=ttl)
        embeddings = ensure_embeddings(index["embed"])
        embedder = FunctionEmbedder(
            f"langgraph-{type(embeddings).__name__}-{index['dims']}",
            index["dims"],
            passages=lambda texts: embeddings.embed_documents(list(texts)),
            queries=lambda texts: [embeddings.embed_query(text) for text in texts],
        )
        memory = clew.open(path, embedder=embedder, recall=UNBOUNDED)
        store = cls(memory, space=space, fields=index.get("fields"), ttl=ttl)
        store.index_config = index
        return store

    def close(self) -> None:
        """Close the memory."""
        self.memory.close()

    def __enter__(self) -> ClewStore:
        """Return itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the memory."""
        self.close()

    # --- operations ---

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do operations; what is read is what was there before the writes of the same batch."""
        given = list(ops)
        for op in given:
            validate_op_namespace(op)
        puts = {(op.namespace, op.key): op for op in given if isinstance(op, PutOp)}
        results = [None if isinstance(op, PutOp) else self._read(op) for op in given]
        self._write(list(puts.values()))
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do operations in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            return self._get(op)
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        raise ValueError(
            f"Unknown operation {type(op).__name__}. Use get, put, search or list_namespaces."
        )

    def _write(self, puts: Sequence[PutOp]) -> None:
        old = {
            name_of(op.namespace, op.key): self._kept.get(name_of(op.namespace, op.key))
            for op in puts
        }
        entries = [
            entry
            for op in puts
            if op.value is not None
            for entry in self._entries(op, old[name_of(op.namespace, op.key)])
        ]
        self._kept.put(entries)
        kept = {entry.key for entry in entries}
        gone = [
            key
            for name, node in old.items()
            if node is not None
            for key in keys_of(name, node)
            if key not in kept
        ]
        self._kept.delete(gone)

    def _entries(self, op: PutOp, old: clew.Node | None) -> Iterator[Entry]:
        """Yield a value under its key with its first text, and each further text that it is found by."""
        name = name_of(op.namespace, op.key)
        texts = self._texts(op)
        now = datetime.now(UTC)
        minutes = op.ttl if op.ttl is not None else (self.ttl_config or {}).get("default_ttl")
        labels = labels_of(op.namespace)
        yield Entry(
            name,
            texts[0] if texts else "",
            {
                **labels,
                SEARCHED: bool(texts),
                "namespace": list(op.namespace),
                "key": op.key,
                "value": op.value,
                "created_at": now.isoformat() if old is None else old.metadata["created_at"],
                "updated_at": now.isoformat(),
                "ttl_minutes": minutes,
                "expires_at": None
                if minutes is None
                else (now + timedelta(minutes=minutes)).isoformat(),
                "texts": len(texts),
            },
        )
        for number, text in enumerate(texts[1:], start=1):
            yield Entry(part_of(name, number), text, {**labels, SEARCHED: True, PARENT: name})

    def _texts(self, op: PutOp) -> list[str]:
        """Return the texts that a value is found by."""
        if op.index is False:
            return []
        paths = self._fields if op.index is None else op.index
        found = (text for path in paths for text in get_text_at_path(op.value, path))
        return list(dict.fromkeys(found))

    def _get(self, op: GetOp) -> Item | None:
        node = self._kept.get(name_of(op.namespace, op.key))
        if node is None or expired(node):
            return None
        self._refresh([node], op.refresh_ttl)
        return Item(**item_fields(node))

    def _search(self, op: SearchOp) -> list[SearchItem]:
        scored = self._scored(op) if op.query and op.query.strip() else self._listed(op)
        matching = (
            (node, score)
            for node, score in scored
            if not expired(node) and matches(node.metadata["value"], op.filter)
        )
        page = list(matching)[op.offset : op.offset + op.limit]
        self._refresh([node for node, _ in page], op.refresh_ttl)
        return [SearchItem(**item_fields(node), score=score) for node, score in page]

    def _listed(self, op: SearchOp) -> Iterator[tuple[clew.Node, float | None]]:
        items = [
            node
            for node in self._kept.list(labels_of(op.namespace_prefix))
            if PARENT not in node.metadata
        ]
        items.sort(key=lambda node: (node.metadata["namespace"], node.metadata["key"]))
        items.sort(key=lambda node: str(node.metadata["updated_at"]), reverse=True)
        return ((node, None) for node in items)

    def _scored(self, op: SearchOp) -> Iterator[tuple[clew.Node, float | None]]:
        """Yield items by the best score of their texts, and at the end those that were put with `index=False`, without a score."""
        asked = MOST_HITS if op.filter or self._fields != [WHOLE] else op.offset + op.limit
        hits = self._kept.search(
            str(op.query),
            k=asked,
            metadata={**labels_of(op.namespace_prefix), SEARCHED: True},
            recipe=None if self.index_config is None else "dense",
            min_similarity=None if self.index_config is None else -1.0,
        )
        seen: set[str] = set()
        for hit in hits:
            if hit.node is None:
                continue
            name = str(hit.node.metadata.get(PARENT, hit.node.metadata["_key"]))
            if name not in seen:
                seen.add(name)
                node = self._kept.get(name) if PARENT in hit.node.metadata else hit.node
                if node is not None:
                    yield (
                        node,
                        hit.score if self.index_config is None else hit.channels["dense"].score,
                    )

        for node in self._kept.list({**labels_of(op.namespace_prefix), SEARCHED: False}):
            yield node, None

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        found = {
            tuple(node.metadata["namespace"])
            for node in self._kept.list()
            if PARENT not in node.metadata and not expired(node)
        }
        matching = [
            each
            for each in found
            if all(fits(each, condition) for condition in op.match_conditions or ())
        ]
        cut = sorted({each[: op.max_depth] if op.max_depth else each for each in matching})
        return cut[op.offset : op.offset + op.limit]

    # --- time to live ---

    def _refresh(self, nodes: Sequence[clew.Node], refresh: bool) -> None:
        """Let what was read live on for as long as it was put for."""
        for node in nodes if refresh else ():
            if (minutes := node.metadata["ttl_minutes"]) is not None:
                until = datetime.now(UTC) + timedelta(minutes=minutes)
                # Replaced rather than updated: its metadata may be larger than those of other
                # memories.
                metadata = {**node.metadata, "expires_at": until.isoformat()}
                self._kept.put([Entry(str(node.metadata["_key"]), node.text, metadata)])

    def sweep_ttl(self) -> int:
        """Delete what has expired, and return how many items that were."""
        gone = [node for node in self._kept.list() if PARENT not in node.metadata and expired(node)]
        self._kept.delete(
            [key for node in gone for key in keys_of(str(node.metadata["_key"]), node)]
        )
        return len(gone)


def name_of(namespace: Sequence[str], key: str) -> str:
    """Return namespace and key as one text that no other pair has."""
    return json.dumps([*namespace, key], ensure_ascii=False)


def part_of(name: str, number: int) -> str:
    """Return the name of a further text of an item; no item has such a name."""
    return f"{name}#{number}"


def keys_of(name: str, node: clew.Node) -> list[str]:
    """Return the names of all texts of an item."""
    return [name, *(part_of(name, number) for number in range(1, node.metadata["texts"]))]


def labels_of(namespace: Sequence[str]) -> dict[str, str]:
    """Return metadata by which a namespace is found under each of its prefixes."""
    return {f"_ns{position}": label for position, label in enumerate(namespace)}


def expired(node: clew.Node) -> bool:
    """Tell whether an item's time to live is over."""
    until = node.metadata.get("expires_at")
    return until is not None and datetime.fromisoformat(until) <= datetime.now(UTC)


def item_fields(node: clew.Node) -> dict[str, Any]:
    """Return the arguments of an Item."""
    kept = node.metadata
    return {
        "namespace": tuple(kept["namespace"]),
        "key": kept["key"],
        "value": kept["value"],
        "created_at": datetime.fromisoformat(kept["created_at"]),
        "updated_at": datetime.fromisoformat(kept["updated_at"]),
    }


def fits(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    """Tell whether a namespace begins or ends with a path; `*` stands for one label."""
    path = condition.path
    if len(path) > len(namespace):
        return False
    part = (
        namespace[: len(path)]
        if condition.match_type == "prefix"
        else namespace[len(namespace) - len(path) :]
    )
    return all(wanted in ("*", label) for label, wanted in zip(part, path, strict=True))


def matches(value: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    """Tell whether a value has everything that a filter names.

    A key with dots leads into nested values.
    """
    return all(
        compares(reached(value, key), condition) for key, condition in (wanted or {}).items()
    )


def reached(value: Any, key: str) -> Any:
    """Return what a key leads to, or None."""
    if isinstance(value, Mapping) and key in value:
        return value[key]
    for name in key.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def compares(found: Any, wanted: Any) -> bool:
    """Tell whether a value is equal to the wanted one, or stands to it as the operators say."""
    if not (isinstance(wanted, Mapping) and any(name in OPERATORS for name in wanted)):
        return same(found, wanted)
    return all(_compared(found, name, other) for name, other in wanted.items())


def same(found: Any, wanted: Any) -> bool:
    """Tell whether two JSON values are equal; a truth value is no number."""
    return isinstance(found, bool) == isinstance(wanted, bool) and bool(found == wanted)


def _compared(found: Any, operator: str, other: Any) -> bool:
    if operator not in OPERATORS:
        raise ValueError(f"Unknown operator {operator!r}. Use one of: {', '.join(OPERATORS)}.")
    if operator in ("$eq", "$ne"):
        return same(found, other) == (operator == "$eq")
    try:
        order = cast("Any", found)
        return bool(
            {
                "$gt": order > other,
                "$gte": order >= other,
                "$lt": order < other,
                "$lte": order <= other,
            }[operator]
        )
    except TypeError:  # values that have no order
        return False
