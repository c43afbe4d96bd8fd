"""Measure how much chunks of one document overlap."""

from __future__ import annotations

from collections.abc import Iterable

from clew.types import Node

SHARE = 0.5  # of the shorter chunk: from here on a hit is a duplicate


def overlap_share(node: Node, kept: Iterable[Node]) -> float:
    """Return the largest overlap of a chunk with one of the kept chunks, as a share of the shorter of the two."""
    return max((_shared(node, other) for other in kept), default=0.0)


def _shared(one: Node, other: Node) -> float:
    if one.root is None or one.root != other.root or None in (one.start, one.end, other.start, other.end):
        return 0.0
    start, end = max(one.start or 0, other.start or 0), min(one.end or 0, other.end or 0)
    shorter = min((one.end or 0) - (one.start or 0), (other.end or 0) - (other.start or 0))
    return max(0, end - start) / shorter if shorter else 0.0
