"""Between nodes and rows."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from json.encoder import encode_basestring as quoted
from operator import attrgetter
from typing import Any

from clew.errors import InputError
from clew.types import BEGINNING, Event, Kind, Node, Quality, Stability, Stub

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
    "context",
    "quality",
    "content_hash",
    "keywords",
    "tags",
    "metadata",
    "idempotency_key",
    "protected",
    "archived",
]
QUOTE = '"{}"'
ACCESSES = "coalesce((SELECT a.count FROM access a WHERE a.nid = n.nid), 0)"
SELECTED = ", ".join(f'n."{column}"' for column in COLUMNS) + f", {ACCESSES}"
TIMES = frozenset({"t_valid", "t_invalid", "t_created", "t_expired"})
LISTS = frozenset({"keywords", "tags"})
FLAGS = frozenset({"protected", "archived"})
NAMED = frozenset({"kind", "stability"})

# Made once: `json.dumps` makes an encoder at every call that is not its plainest.
compact_json = json.JSONEncoder(ensure_ascii=False).encode
_STRICT = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode
_DECODED = json.JSONDecoder().raw_decode  # without `json.loads`' search for space around what we wrote ourselves


def micros(moment: datetime) -> int:
    """Return microseconds since 1970, exactly.

    >>> micros(datetime(1970, 1, 2, tzinfo=UTC))
    86400000000
    """
    return (moment - EPOCH) // MICROSECOND


# When it was first told: a row is made anew when its time changes. What was imported is undated too if its time is the import's.
_ADDED = "coalesce(n.added_at, (SELECT min(at) FROM event WHERE node = n.id AND kind = 'ADD'), n.t_created)"
TOLD = (
    f"CASE WHEN n.root IS NULL AND n.kind = '{Kind.MEMORY}' THEN {_ADDED} WHEN n.kind = '{Kind.MEMORY}' THEN n.t_created "
    f"WHEN n.t_valid IN (n.t_created, n.added_at) THEN n.t_valid ELSE {micros(BEGINNING)} END"
)
SIGNALS = f"n.id, n.t_valid, n.importance, {ACCESSES}, n.parent, n.context <> '', {TOLD}"


def moment(value: int) -> datetime:
    """Return the time that `micros` was given."""
    return EPOCH + timedelta(0, 0, value)


def moments(values: Iterable[int]) -> Iterator[datetime]:
    """Yield the times of many numbers."""
    return map(EPOCH.__add__, map(partial(timedelta, 0, 0), values))


def canonical(value: Any) -> str:
    """Return JSON that is equal for equal values: 1 and 1.0 alike, keys in order.

    >>> canonical(1.0), canonical(True), canonical({"b": 1, "a": [2.5]})
    ('1', 'true', '{"a":[2.5],"b":1}')
    """
    if type(value) is str:  # as most are
        return quoted(value)
    return _CANONICAL(_plain(value))


def _plain(value: Any) -> Any:
    if isinstance(value, str | int):  # asking whether a value is a Mapping takes longest
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def cell(column: str, value: Any) -> Any:
    """Return a field's value as SQLite stores it."""
    store = CELLS.get(column)
    return value if store is None else store(value)


def flat_json(values: Mapping[str, Any]) -> str | None:
    """Return a mapping of texts to texts as JSON, as most are; None of any other. An encoder would be made anew for each.

    >>> flat_json({"source": "inbox"}), flat_json({"page": 3}), flat_json({})
    ('{"source": "inbox"}', None, '{}')
    """
    if not {*map(type, values), *map(type, values.values())} <= {str}:
        return None
    return f"{{{', '.join([f'{quoted(key)}: {quoted(value)}' for key, value in values.items()])}}}"


def _json(metadata: Mapping[str, Any]) -> str:
    if (plain := flat_json(metadata)) is not None:
        return plain
    try:
        return _STRICT(dict(metadata))
    except (TypeError, ValueError) as error:
        raise InputError(
            "metadata", metadata, f"is not JSON ({error})", "Use text, numbers, true, false, null, lists and mappings."
        ) from error


def _list(values: Sequence[str]) -> str:
    return f"[{', '.join(map(quoted, values))}]" if {*map(type, values)} <= {str} else compact_json(list(values))


def _quality(value: Quality | None) -> str | None:
    if value is None:
        return None
    *shares, stub, words, version = value
    if {*map(type, shares)} != {float} or not math.isfinite(sum(shares)):  # JSON writes others in a way of its own
        return compact_json(list(value))
    return f"[{', '.join(map(repr, shares))}, {quoted(stub)}, {words}, {version}]"


def _micros(value: datetime | None) -> int | None:
    return None if value is None else micros(value)


CELLS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(TIMES, _micros),
    **dict.fromkeys(LISTS, _list),
    **dict.fromkeys(FLAGS, int),
    **dict.fromkeys(NAMED, str),  # a plain text: SQLite's binding looks for an adapter of everything else
    "metadata": _json,
    "quality": _quality,
}
OPTIONAL = ("t_invalid", "t_expired", "parent", "root", "position", "start", "end", "idempotency_key")
_OPTIONAL = attrgetter(*OPTIONAL)
_NOTHING = (None,) * len(OPTIONAL)

Inserting = tuple[str, Callable[[Node], tuple[Any, ...]], list[tuple[int, Callable[[Any], Any]]]]


def _inserting(columns: Sequence[str], further: Sequence[str] = ()) -> Inserting:
    """Return how nodes are inserted by so many columns: the statement, the fields, and where these are stored in another form.

    `further` columns are no fields of a node: their values follow.
    """
    named = [*columns, *further]
    statement = f"INSERT INTO node ({', '.join(QUOTE.format(column) for column in named)}) VALUES ({', '.join('?' * len(named))})"
    return statement, attrgetter(*columns), [(columns.index(column), store) for column, store in CELLS.items() if column in columns]


ADDED = ("added_at", "added")
"""What a node's row says of its ADD event: when, and the detail."""
_FEWER = [column for column in COLUMNS if column not in OPTIONAL]
_WHOLE, _USUAL = _inserting(COLUMNS), _inserting(_FEWER)
_ADDED_WHOLE, _ADDED_USUAL = _inserting(COLUMNS, ADDED), _inserting(_FEWER, ADDED)


def insertion(node: Node, added: Event | None = None) -> tuple[str, Sequence[Any]]:
    """Return the statement that inserts a node, with its ADD event if there is one, and its values; most have none of the optional ones.

    Those are then left out rather than bound: Python's binding looks for an adapter of every None.
    """
    usual = _OPTIONAL(node) == _NOTHING
    if added is None:
        statement, fields, converted = _USUAL if usual else _WHOLE
    else:
        statement, fields, converted = _ADDED_USUAL if usual else _ADDED_WHOLE
    row = list(fields(node))
    for place, store in converted:
        row[place] = store(row[place])
    if added is not None:
        row += (micros(added.at), detail_of(added))
    return statement, row


def detail_of(event: Event) -> str:
    """Return what an event tells, as JSON."""
    return flat_json(event.detail) or compact_json(dict(event.detail))


def node_of(row: Sequence[Any]) -> Node:
    """Return the node of a row selected as SELECTED."""
    values = dict(zip(COLUMNS, row, strict=False))
    for column, read in READ.items():
        values[column] = read(values[column])
    return Node(**values, accesses=row[-1])


def _moment(value: int | None) -> datetime | None:
    return None if value is None else moment(value)


def _tuple(text: str) -> tuple[str, ...]:
    return () if text == "[]" else tuple(_DECODED(text)[0])


def _mapping(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {} if text == "{}" else _DECODED(text)[0]
    return found


def _assessed(text: str | None) -> Quality | None:
    if text is None:
        return None
    overall, substance, specificity, coherence, clarity, stub, words, version = _DECODED(text)[0]
    return Quality(overall, substance, specificity, coherence, clarity, _stub(stub), words, version)


# Enums looked up once for each name: a call of the class takes several times as long.
_kind, _stability, _stub = cache(Kind), cache(Stability), cache(Stub)


READ: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(TIMES, _moment),
    **dict.fromkeys(LISTS, _tuple),
    **dict.fromkeys(FLAGS, bool),
    "kind": _kind,
    "stability": _stability,
    "metadata": _mapping,
    "quality": _assessed,
}


Label = tuple[str, str]
"""A key and a value, as the table `label` has them."""


def labels_of(tags: Iterable[str], metadata: Mapping[str, Any]) -> list[Label]:
    """Return what a tag or metadata filter can ask of a node that carries these."""
    return [label_of_tag(tag) for tag in tags] + [label_of_metadata(key, value) for key, value in metadata.items()]


def label_of_tag(tag: str) -> Label:
    """Return the label of a tag."""
    return "#", canonical(tag)


def label_of_metadata(key: str, value: Any) -> Label:
    """Return the label of a metadata entry."""
    return f".{key}", canonical(value)
