"""Read nodes and space statistics once per recall and pass them on to later stages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from clew.ports import Coverage, Store
from clew.recall.state import Recall
from clew.types import NodeId


def with_nodes(recall: Recall, ids: Iterable[NodeId], *, store: Store) -> Recall:
    """Return the recall with these nodes loaded, where they exist."""
    missing = [id for id in ids if id not in recall.nodes]
    return replace(recall, nodes={**recall.nodes, **store.get(missing)}) if missing else recall


def space_coverage(recall: Recall, *, store: Store) -> Coverage:
    """Return the coverage statistics of the question's space, cached in the recall by the first stage that read them."""
    return store.coverage(recall.question.where.space) if recall.coverage is None else recall.coverage
