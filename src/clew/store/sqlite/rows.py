"""Between nodes and rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from clew.errors import InputError
from clew.types import Kind, Node, Stability

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

COLUMNS = [
    "id",
    "space",
    "kind",
    "text",
    "title",
    "category",
    "trigger",
    "importance",
    "stability",
    "t_valid",
    "t_invalid",
    "t_created",
    "t_expired",
    "source",
    "parent",
    "root",
    "position",
    "start",
    "end",
    "content_hash",
    "keywords",
    "tags",
    "metadata",
    "idempotency_key",
    "protected",
    "archived",
]
QUOTED = ", ".join(f'"{column}"' for column in COLUMNS)
SELECTED = ", ".join(f'n."{column}"' for column in COLUMNS) + ", coalesce((SELECT a.count FROM access a WHERE a.nid = n.nid), 0)"
TIMES = frozenset({"t_valid", "t_invalid", "t_created", "t_expired"})
LISTS = frozenset({"keywords", "tags"})
FLAGS = frozenset({"protected", "archived"})


def micros(moment: datetime) -> int:
    """Return microseconds since 1970, exactly.

    >>> micros(datetime(1970, 1, 2, tzinfo=UTC))
    86400000000
    """
    return (moment - EPOCH) // MICROSECOND


def moment(value: int) -> datetime:
    """Return the time that `micros` was given."""
    return EPOCH + timedelta(microseconds=value)


def canonical(value: Any) -> str:
    """Return JSON that is equal for equal values: 1 and 1.0 alike, keys in order.

    >>> canonical(1.0), canonical(True), canonical({"b": 1, "a": [2.5]})
    ('1', 'true', '{"a":[2.5],"b":1}')
    """
    return json.dumps(_plain(value), sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def cell(column: str, value: Any) -> Any:
    """Return a field's value as SQLite stores it."""
    store = CELLS.get(column)
    return value if store is None else store(value)


def _json(metadata: Mapping[str, Any]) -> str:
    if not metadata:
        return "{}"
    try:
        return json.dumps(dict(metadata), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(
            "metadata", metadata, f"is not JSON ({error})", "Use text, numbers, true, false, null, lists and mappings."
        ) from error


def _list(values: Sequence[str]) -> str:
    return json.dumps(list(values), ensure_ascii=False) if values else "[]"


def _micros(value: datetime | None) -> int | None:
    return None if value is None else micros(value)


CELLS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(TIMES, _micros),
    **dict.fromkeys(LISTS, _list),
    **dict.fromkeys(FLAGS, int),
    "metadata": _json,
}


def row_of(node: Node) -> list[Any]:
    """Return the cells of a node in the order of COLUMNS."""
    return [cell(column, getattr(node, column)) for column in COLUMNS]


def node_of(row: Sequence[Any]) -> Node:
    """Return the node of a row selected as SELECTED."""
    values = dict(zip(COLUMNS, row, strict=False))
    for column in TIMES:
        values[column] = None if values[column] is None else moment(values[column])
    for column in LISTS:
        values[column] = tuple(json.loads(values[column]))
    for column in FLAGS:
        values[column] = bool(values[column])
    values["kind"] = Kind(values["kind"])
    values["stability"] = Stability(values["stability"])
    values["metadata"] = json.loads(values["metadata"])
    return Node(**values, accesses=row[-1])


def labels_of(node: Node) -> list[tuple[str, str]]:
    """Return what a tag or metadata filter can ask of a node, as (key, value) pairs."""
    return [label_of_tag(tag) for tag in node.tags] + [label_of_metadata(key, value) for key, value in node.metadata.items()]


def label_of_tag(tag: str) -> tuple[str, str]:
    """Return the label of a tag."""
    return "#", canonical(tag)


def label_of_metadata(key: str, value: Any) -> tuple[str, str]:
    """Return the label of a metadata entry."""
    return f".{key}", canonical(value)
