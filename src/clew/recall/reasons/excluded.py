"""Find the filter condition that excludes a node, by testing each condition alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from clew.times import iso
from clew.types import Filter, Node

Passes: TypeAlias = Callable[[Node, Filter], bool]
"""Return whether a node passes a filter."""

# Conditions that every filter has by default, and the node field that decides each.
DEFAULT_CONDITIONS = {"known_at": "t_expired", "as_of": "t_invalid", "archived": "archived"}
NAMES = {"kinds": "kind", "categories": "category", "tags": "tag"}


class Exclusion(NamedTuple):
    """A condition that a node fails: the node's value, and the value required."""

    reason: str
    value: Any
    threshold: Any


def excluded(node: Node, where: Filter, passes: Passes) -> Exclusion | None:
    """Return the first condition, in field order, that excludes a node; None if it passes."""
    if passes(node, where):
        return None
    asked = (each.name for each in fields(where) if each.name not in ("space", "now"))
    condition = next((name for name in asked if not _passes_alone(node, where, name, passes)), None)
    return Exclusion("filter", None, None) if condition is None else _exclusion(node, where, condition)


def _passes_alone(node: Node, where: Filter, name: str, passes: Passes) -> bool:
    """Return whether a node passes a filter with this condition alone."""
    otherwise: dict[str, Any] = {"t_expired": None, "t_invalid": None, "archived": False}
    otherwise.pop(DEFAULT_CONDITIONS.get(name, ""), None)
    asked = {name: getattr(where, name), **({"recorded_until": where.recorded_until} if name == "as_of" else {})}
    return passes(replace(node, **otherwise), Filter(space=node.space, now=where.now, **asked))


def _exclusion(node: Node, where: Filter, condition: str) -> Exclusion:
    asked = getattr(where, condition)
    reason = NAMES.get(condition, condition)
    if condition in ("as_of", "known_at") and asked is None:
        ended = node.t_invalid if condition == "as_of" else node.t_expired
        return Exclusion("invalid" if condition == "as_of" else "expired", _plain(ended), _plain(where.now))
    return Exclusion(reason, _plain(_actual_value(node, where, condition)), _plain(asked))


def _actual_value(node: Node, where: Filter, condition: str) -> Any:
    """Return the value of the node that a condition is compared with."""
    if condition == "as_of":
        return node.t_valid if where.as_of is not None and node.t_valid > where.as_of else node.t_invalid
    if condition == "known_at":
        return node.t_created if where.known_at is not None and node.t_created > where.known_at else node.t_expired
    if condition == "metadata":
        return {key: node.metadata[key] for key in where.metadata if key in node.metadata}
    sources = {"kinds": "kind", "categories": "category", "tags": "tags", "since": "t_valid", "until": "t_valid", "within": "parent"}
    return getattr(node, sources.get(condition, condition), None)


def _plain(value: Any) -> Any:
    """Convert a value for JSON."""
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return dict(value) if isinstance(value, Mapping) else str(value) if isinstance(value, str) else value
