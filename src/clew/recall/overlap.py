"""Do two hits say the same? Overlapping chunks of one document do."""

from __future__ import annotations

from collections.abc import Iterable

from clew.types import Node

SHARE = 0.5  # of the shorter one that the other must hold


def overlap_share(node: Node, kept: Iterable[Node]) -> float:
    """Return the largest share of a chunk, or of one kept before it, that the two have in common in their document."""
    return max((_shared(node, other) for other in kept), default=0.0)


def _shared(one: Node, other: Node) -> float:
    if one.root is None or one.root != other.root or None in (one.start, one.end, other.start, other.end):
        return 0.0
    start, end = max(one.start or 0, other.start or 0), min(one.end or 0, other.end or 0)
    shorter = min((one.end or 0) - (one.start or 0), (other.end or 0) - (other.start or 0))
    return max(0, end - start) / shorter if shorter else 0.0
