"""When a memory may stand for an offered one: how near it lies, and how long it is true (mission V3, V4); for its words see wordings."""

from __future__ import annotations

from datetime import datetime

from clew.ingest.draft import Draft
from clew.settings import DuplicateSettings
from clew.types import Node


def near_threshold(offered: Draft, settings: DuplicateSettings) -> float:
    """Return the cosine from which a memory of this category counts as said before."""
    return settings.near_threshold_by_category.get(offered.category, settings.near_threshold)


def holds(node: Node, offered: Draft, *, at: datetime) -> bool:
    """Tell whether a memory is true all the time that the offered one is said to be: up to its end, or without one up to now.

    What begins later, or has ended, leaves a time of which only the offered one speaks.
    """
    begins = offered.valid_from or at
    return node.t_valid <= begins and lasts(node, offered, at=at)


def lasts(node: Node, offered: Draft, *, at: datetime) -> bool:
    """Tell whether a memory is true as long as the offered one."""
    if node.t_invalid is None:
        return True
    return offered.valid_to <= node.t_invalid if offered.valid_to else max(offered.valid_from or at, at) < node.t_invalid
