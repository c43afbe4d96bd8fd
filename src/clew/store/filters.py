"""What a filter means: the executable definition of `clew.types.Filter`, which every store must agree with."""

from __future__ import annotations

from typing import Any

from clew.types import Filter, Node


def passes(node: Node, where: Filter) -> bool:
    """Tell whether a question with this filter may see the node."""
    return (
        node.space == where.space
        and (not where.kinds or node.kind in where.kinds)
        and (not where.categories or node.category in where.categories)
        and set(where.tags) <= set(node.tags)
        and all(
            key in node.metadata and same_json(node.metadata[key], value)
            for key, value in where.metadata.items()
        )
        and (where.since is None or where.since <= node.t_valid)
        and (where.until is None or node.t_valid <= where.until)
        and _believed(node, where)
        and _true(node, where)
        and (where.archived or not node.archived)
        and (not where.within or node.parent is None or node.parent in where.within)
    )


def _believed(node: Node, where: Filter) -> bool:
    """Tell whether the node is held as current in transaction time, now or at `known_at`."""
    if where.known_at is None:
        return node.t_expired is None
    return node.t_created <= where.known_at and (
        node.t_expired is None or where.known_at < node.t_expired
    )


def _true(node: Node, where: Filter) -> bool:
    """Tell whether what the node says holds in valid time, by now or at `as_of`.

    Without `as_of` a fact that begins later is shown: what is planned is worth remembering before
    it starts.
    """
    if where.as_of is None:
        return node.t_invalid is None or where.now < node.t_invalid
    begun_until = max(where.as_of, where.recorded_until or where.as_of)
    return node.t_valid <= begun_until and (node.t_invalid is None or where.as_of < node.t_invalid)


def same_json(left: Any, right: Any) -> bool:
    """Tell whether two JSON values are equal: numbers by value, and a truth value is not a number.

    >>> same_json(1, 1.0), same_json(True, 1), same_json([1, {"a": None}], (1.0, {"a": None}))
    (True, False, True)
    """
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same_json, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same_json(left[key], right[key]) for key in left)
    return bool(left == right)
