"""Between nodes and rows."""

from __future__ import annotations

import json
import math
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from json.encoder import encode_basestring as quoted
from operator import attrgetter, itemgetter
from typing import Any

from clew.errors import CorruptStoreError, InputError, clipped
from clew.ports import Problem
from clew.text.words import content_hash
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
ADDED = ("added_at", "added")
"""What a node's row says of its ADD event: when, and the detail."""
CHECKSUM = "checksum"
SEALED = (*COLUMNS, *ADDED)
"""What a node's checksum is made of, in this order."""
SUMMED = ", ".join(QUOTE.format(column) for column in SEALED)
SELECTED = ", ".join(f'n."{column}"' for column in (*SEALED, CHECKSUM)) + f", {ACCESSES}"
"""What a node is made of: what its checksum covers, the checksum, and how often it was used."""
TIMES = frozenset({"t_valid", "t_invalid", "t_created", "t_expired"})
LISTS = frozenset({"keywords", "tags"})
FLAGS = frozenset({"protected", "archived"})
NAMED = frozenset({"kind", "stability"})

# Made once: `json.dumps` makes an encoder at every call that is not its plainest.
compact_json = json.JSONEncoder(ensure_ascii=False).encode
_STRICT = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode
# without `json.loads`' search for space around what we wrote ourselves
_DECODED = json.JSONDecoder().raw_decode


def micros(moment: datetime) -> int:
    """Return microseconds since 1970, exactly.

    >>> micros(datetime(1970, 1, 2, tzinfo=UTC))
    86400000000
    """
    return (moment - EPOCH) // MICROSECOND


# When it was first told: a row is made anew when its time changes. What was imported is undated too
# if its time is the import's.
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
    """Return a mapping of texts to texts as JSON, as most are; None of any other.

    An encoder would be made anew for each.

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
            "metadata",
            metadata,
            f"is not JSON ({clipped(str(error))})",
            "Use text, numbers, true, false, null, lists and mappings.",
        ) from error


def _list(values: Sequence[str]) -> str:
    return (
        f"[{', '.join(map(quoted, values))}]"
        if {*map(type, values)} <= {str}
        else compact_json(list(values))
    )


def _quality(value: Quality | None) -> str | None:
    if value is None:
        return None
    *shares, stub, words, version = value
    # JSON writes others in a way of its own
    if {*map(type, shares)} != {float} or not math.isfinite(sum(shares)):
        return compact_json(list(value))
    return f"[{', '.join(map(repr, shares))}, {quoted(stub)}, {words}, {version}]"


def _micros(value: datetime | None) -> int | None:
    return None if value is None else micros(value)


CELLS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(TIMES, _micros),
    **dict.fromkeys(LISTS, _list),
    **dict.fromkeys(FLAGS, int),
    # a plain text: SQLite's binding looks for an adapter of everything else
    **dict.fromkeys(NAMED, str),
    "metadata": _json,
    "quality": _quality,
}
OPTIONAL = (
    "t_invalid",
    "t_expired",
    "parent",
    "root",
    "position",
    "start",
    "end",
    "idempotency_key",
)
_OPTIONAL = attrgetter(*OPTIONAL)
_NOTHING = (None,) * len(OPTIONAL)

Inserting = tuple[str, Callable[[Node], tuple[Any, ...]], list[tuple[int, Callable[[Any], Any]]]]


def _inserting(columns: Sequence[str], further: Sequence[str] = ()) -> Inserting:
    """Return how nodes are inserted by so many columns.

    The statement, the fields, and where these are stored in another form.

    `further` columns are no fields of a node: their values follow.
    """
    named = [*columns, *further]
    statement = f"INSERT INTO node ({', '.join(QUOTE.format(column) for column in named)}) VALUES ({', '.join('?' * len(named))})"
    return (
        statement,
        attrgetter(*columns),
        [(columns.index(column), store) for column, store in CELLS.items() if column in columns],
    )


_FEWER = [column for column in COLUMNS if column not in OPTIONAL]
_WHOLE, _USUAL = _inserting(COLUMNS, [CHECKSUM]), _inserting(_FEWER, [CHECKSUM])
_ADDED_WHOLE, _ADDED_USUAL = (
    _inserting(COLUMNS, [*ADDED, CHECKSUM]),
    _inserting(_FEWER, [*ADDED, CHECKSUM]),
)
_JOINED = "%s\x1f" * len(SEALED)
_IMPORTANCE = COLUMNS.index("importance")
# From the fields of a usual row and a None behind them to those of a whole one.
_WIDENED = itemgetter(
    *(_FEWER.index(column) if column in _FEWER else len(_FEWER) for column in COLUMNS)
)


def insertion(node: Node, added: Event | None = None) -> tuple[str, Sequence[Any]]:
    """Return the statement that inserts a node, with its ADD event if there is one, and its values.

    Most have none of the optional ones.

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
    told = (None, None) if added is None else (micros(added.at), detail_of(added))
    sealed = checksum((*(_WIDENED((*row, None)) if usual else row), *told))
    return statement, (*row, sealed) if added is None else (*row, *told, sealed)


def checksum(values: Sequence[Any]) -> int:
    """Return the checksum of a node's row, from its values as SUMMED selects them."""
    importance = float(values[_IMPORTANCE])  # as SQLite keeps it, whatever was given
    return _read_checksum((*values[:_IMPORTANCE], importance, *values[_IMPORTANCE + 1 :]))


def _read_checksum(values: tuple[Any, ...]) -> int:
    """Return the checksum of values that SQLite has returned."""
    return zlib.crc32((_JOINED % values).encode())


def vector_checksum(text_hash: str, vector: bytes) -> int:
    """Return the checksum of a stored vector and of the hash of the text it was made from."""
    return zlib.crc32(vector, zlib.crc32(text_hash.encode()))


def detail_of(event: Event) -> str:
    """Return what an event tells, as JSON."""
    return flat_json(event.detail) or compact_json(dict(event.detail))


WAY_OUT = "Run: clew verify --repair; or put a backup in its place: clew restore BACKUP"
UNREADABLE = (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError)
"""What decoding a damaged value raises."""


def damaged(what: str, reason: object, **facts: Any) -> CorruptStoreError:
    """Return the error for a row that does not hold what Clew wrote."""
    return CorruptStoreError(f"{what} is damaged ({clipped(str(reason))}). {WAY_OUT}", **facts)


def damaged_node(id: object, reason: object) -> CorruptStoreError:
    """Return the error for a node whose row cannot be read."""
    known = id if isinstance(id, str) else "with an unreadable id"
    return damaged(f"Memory {known}", reason, id=known)


def node_of(row: tuple[Any, ...]) -> Node:
    """Return the node of a row selected as SELECTED.

    Raise a CorruptStoreError that names it if the row is damaged.
    """
    try:
        node = read_node(row)
        if (fault := seal_fault(row)) is None:
            return node
    except UNREADABLE as error:
        raise damaged_node(row[0], error) from error
    raise damaged_node(row[0], fault)


def read_node(row: Sequence[Any]) -> Node:
    """Return the node of a row selected as SELECTED.

    Raise one of UNREADABLE if a value cannot be read.
    """
    shape = tuple(map(type, row))
    if shape not in _SOUND_SHAPES:
        _check_shape(shape)
    values = dict(zip(COLUMNS, row, strict=False))
    for column, read in READ.items():
        values[column] = read(values[column])
    if row[-1] < 0:
        raise ValueError("its count of accesses is negative")
    return Node(**values, accesses=row[-1])


def seal_fault(row: tuple[Any, ...]) -> str | None:
    """Return why a row selected as SELECTED is not the one that was written.

    None if it is, as far as can be told.

    A row that an older Clew wrote has no checksum, only the hash of its text.
    """
    kept = row[len(SEALED)]
    if kept is None:
        same = content_hash(row[_TEXT]) == row[_CONTENT_HASH]
        return None if same else "its text is not the one that was written: content_hash differs"
    return None if _read_checksum(row[: len(SEALED)]) == kept else CHANGED


CHANGED = "it was changed by something else than Clew: its checksum differs"
_TEXT, _CONTENT_HASH = COLUMNS.index("text"), COLUMNS.index("content_hash")
_TYPES: dict[str, type] = {
    **dict.fromkeys(
        (*TIMES, *FLAGS, "position", "start", "end", "added_at", CHECKSUM, "accesses"), int
    ),
    "importance": float,
}
_NULLABLE = frozenset({*OPTIONAL, "quality", *ADDED, CHECKSUM})
# the types of rows that were found right; as many as optional fields are combined
_SOUND_SHAPES: set[tuple[type, ...]] = set()


def _check_shape(shape: tuple[type, ...]) -> None:
    for column, found in zip((*SEALED, CHECKSUM, "accesses"), shape, strict=True):
        wanted = _TYPES.get(column, str)
        if found is not wanted and not (found is type(None) and column in _NULLABLE):
            raise TypeError(f"{column} is of the type {found.__name__}")
    _SOUND_SHAPES.add(shape)


def _moment(value: int | None) -> datetime | None:
    return None if value is None else moment(value)


def _share(value: float) -> float:
    if not 0 <= value <= 1:
        raise ValueError(f"importance is {value}")
    return value


def _decoded(text: str) -> Any:
    """Return what a JSON text holds.

    A part of a character, which no caller can have given, is refused.
    """
    found, end = _DECODED(text)
    if end != len(text):
        raise ValueError("more than JSON")
    if "\\u" in text:  # Clew writes characters as they are, so hardly ever
        compact_json(found).encode()
    return found


def list_of(text: str) -> tuple[str, ...]:
    """Return the texts of a JSON list."""
    if text == "[]":
        return ()
    found = _decoded(text)
    if type(found) is not list or not {*map(type, found)} <= {str}:
        raise ValueError("not a list of texts")
    return tuple(found)


def mapping_of(text: str) -> dict[str, Any]:
    """Return the values of a JSON object."""
    if text == "{}":
        return {}
    found = _decoded(text)
    if type(found) is not dict:
        raise ValueError("not a JSON object")
    return found


def _assessed(text: str | None) -> Quality | None:
    if text is None:
        return None
    overall, substance, specificity, coherence, clarity, stub, words, version = found = _decoded(
        text
    )
    if not {*map(type, found[:5])} <= {int, float} or {type(words), type(version)} != {int}:
        raise ValueError("not a quality")
    return Quality(overall, substance, specificity, coherence, clarity, _stub(stub), words, version)


# Enums looked up once for each name: a call of the class takes several times as long.
_kind, _stability, _stub = cache(Kind), cache(Stability), cache(Stub)


READ: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(TIMES, _moment),
    **dict.fromkeys(LISTS, list_of),
    **dict.fromkeys(FLAGS, bool),
    "importance": _share,
    "kind": _kind,
    "stability": _stability,
    "metadata": mapping_of,
    "quality": _assessed,
}


Label = tuple[str, str]
"""A key and a value, as the table `label` has them."""


def labels_of(tags: Iterable[str], metadata: Mapping[str, Any]) -> list[Label]:
    """Return what a tag or metadata filter can ask of a node that carries these."""
    return [label_of_tag(tag) for tag in tags] + [
        label_of_metadata(key, value) for key, value in metadata.items()
    ]


def label_of_tag(tag: str) -> Label:
    """Return the label of a tag."""
    return "#", canonical(tag)


def label_of_metadata(key: str, value: Any) -> Label:
    """Return the label of a metadata entry."""
    return f".{key}", canonical(value)


# Who carries a tag or an entry of metadata: a row for each, by key and value, made from what the
# node's own row says.
#
# There is no index by node, which every add would have to write to: what a node carries is read
# from its row.

LABELS = """
CREATE TABLE labelled (
    key TEXT NOT NULL,           -- a metadata key behind '.', or '#' for a tag
    value TEXT NOT NULL,         -- canonical JSON
    nid INTEGER NOT NULL,        -- not a reference: SQLite would look through all labels for each node that goes
    PRIMARY KEY (key, value, nid)
) WITHOUT ROWID;
INSERT INTO labelled SELECT key, value, nid FROM label;
DROP TABLE label;
ALTER TABLE labelled RENAME TO label;
"""
_ADD = "INSERT OR IGNORE INTO label VALUES (?, ?, ?)"
_CARRYING = "SELECT nid, tags, metadata FROM node WHERE (tags <> '[]' OR metadata <> '{}')"


def add(connection: sqlite3.Connection, nodes: Iterable[tuple[int, Node]]) -> None:
    """Let nodes be found, each under its number, by what they carry."""
    if rows := [
        (*label, number)
        for number, node in nodes
        if node.tags or node.metadata
        for label in labels_of(node.tags, node.metadata)
    ]:
        connection.executemany(_ADD, rows)


def remove(connection: sqlite3.Connection, numbers: Sequence[int]) -> None:
    """Take off what nodes carry, while their rows still say what that is."""
    for number in numbers:
        carried = [
            (*label, nid) for label, nid in _carried(connection, f"{_CARRYING} AND nid = ?", number)
        ]
        connection.executemany("DELETE FROM label WHERE key = ? AND value = ? AND nid = ?", carried)


def wrong(connection: sqlite3.Connection) -> Iterator[Problem]:
    """Yield whether a node is not found by what it carries, or by what it does not."""
    there = "SELECT 1 FROM label WHERE key = ? AND value = ? AND nid = ?"
    carried = missing = 0
    for label, nid in _carried(connection, _CARRYING):
        carried += 1
        missing += connection.execute(there, (*label, nid)).fetchone() is None
    (kept,) = connection.execute("SELECT count(*) FROM label").fetchone()
    for many, fault in (
        (missing, "are missing"),
        (kept - (carried - missing), "belong to no node"),
    ):
        if many:
            yield Problem(
                "labels", f"{many} labels of tags and metadata {fault}", "Run: clew verify --repair"
            )


def mend(connection: sqlite3.Connection) -> None:
    """Make all labels anew."""
    connection.execute("DELETE FROM label")
    connection.executemany(_ADD, ((*label, nid) for label, nid in _carried(connection, _CARRYING)))


def _carried(
    connection: sqlite3.Connection, query: str, *values: int
) -> Iterator[tuple[Label, int]]:
    """Yield each label that a node's row speaks of, once."""
    for nid, tags, metadata in connection.execute(query, values).fetchall():
        yield from (
            (label, nid)
            for label in dict.fromkeys(labels_of(READ["tags"](tags), READ["metadata"](metadata)))
        )


# Several reads of one moment.


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """Read everything inside as of one moment."""
    begun = not connection.in_transaction
    if begun:
        connection.execute("BEGIN")
    try:
        yield
    finally:
        if begun and connection.in_transaction:  # an error may have ended it
            connection.execute("COMMIT")


# The file as memory, for as long as much of it is read.

MOST_BYTES = 1 << 31  # SQLite maps no more anyway; what lies behind is read as always


@contextmanager
def mapped(connection: sqlite3.Connection) -> Iterator[None]:
    """Read straight from the file's pages inside, not through SQLite's page cache.

    Large blobs arrive several times as fast.

    Not for good: a failing disk ends a process that reads mapped pages, where otherwise it gets an
    error.
    """
    before = connection.execute("PRAGMA mmap_size").fetchone()
    if before is None:  # a SQLite that was built without
        yield
        return
    connection.execute(f"PRAGMA mmap_size = {MOST_BYTES}").fetchall()
    try:
        yield
    finally:
        connection.execute(f"PRAGMA mmap_size = {before[0]}").fetchall()
