"""What several stages ask the store for: read once in a recall, and passed on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from clew.ports import Coverage, Store
from clew.recall.state import Recall
from clew.types import NodeId


def with_nodes(recall: Recall, ids: Iterable[NodeId], *, store: Store) -> Recall:
    """Return the recall with those of these memories among its nodes that exist."""
    missing = [id for id in ids if id not in recall.nodes]
    return replace(recall, nodes={**recall.nodes, **store.get(missing)}) if missing else recall


def space_coverage(recall: Recall, *, store: Store) -> Coverage:
    """Return how much the question's space holds, as the first stage that asked was told."""
    return store.coverage(recall.question.where.space) if recall.coverage is None else recall.coverage
