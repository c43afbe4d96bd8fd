"""Checks of every stored row by itself.

Types, ranges, JSON, checksums, and whether a text is the one that was written.

Rows are read by a connection that passes on text that is not UTF-8, so that a damaged row can be
named, copied and removed.
"""

from __future__ import annotations

import math
import sqlite3
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from clew.errors import clipped
from clew.store.sqlite import erasure
from clew.store.sqlite.rows import (
    CHECKSUM,
    SEALED,
    UNREADABLE,
    mapping_of,
    moment,
    read_node,
    seal_fault,
    vector_checksum,
)
from clew.store.tombstones import DIGEST_BYTES, key_fault
from clew.store.vectors import UNIT_TOLERANCE, codes_fault
from clew.text.words import content_hash
from clew.types import EventKind, Role

Row = Mapping[str, Any]

TRUTH = ("node", "event", "edge", "claim", "record", "tombstone")
"""Tables whose rows nothing else holds: a bad one is set aside. `node` first, for the others belong
to nodes.
"""
COMPARED = ("segment", "posting")
OF_FTS5 = ("word_index", "vocabulary")  # of a file of version 1 to 3 that cannot be written
# of a row, in a table that counts up: far above what anybody writes, and safe to add to
MAX_NUMBER = 1 << 62
MAX_DIMENSION = 1 << 16
SUBJECTS = range(3)
NAMED_BY_ID = {"node": "memory", "embedding": "the vector of", "token_code": "the token codes of"}
NUMBERS = ("nid", "eid", "mid", "seq")
"""Columns that number rows, in whichever table."""
NUMBERED = ("node", "event", "embedding", "change", "node_change")
"""Tables whose numbers only rise; `sqlite_sequence` keeps the highest."""


class Undecodable(bytes):
    """Text that is not UTF-8."""


class BadRow(NamedTuple):
    """A row that does not hold what Clew wrote."""

    table: str
    key: dict[str, Any]
    """The columns that tell it from all others, and their values."""
    id: str | None
    """The memory it belongs to, where that can be read."""
    reason: str
    values: dict[str, Any]

    @property
    def name(self) -> str:
        """How a message calls it."""
        if self.id is not None and self.table in NAMED_BY_ID:
            return f"{NAMED_BY_ID[self.table]} {self.id}"
        where = ", ".join(f"{column} {value!r}" for column, value in self.key.items())
        return f"{self.table} row {where}" + (f" of {self.id}" if self.id else "")


@contextmanager
def undecodable_text(connection: sqlite3.Connection) -> Iterator[None]:
    """Let text that is not UTF-8 arrive as `Undecodable` inside, instead of an error."""
    before = connection.text_factory
    connection.text_factory = _text
    try:
        yield
    finally:
        connection.text_factory = before


def _text(raw: bytes) -> str | Undecodable:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return Undecodable(raw)


def bad_rows(connection: sqlite3.Connection) -> Generator[BadRow, None, None]:
    """Yield the rows of all tables that are not what Clew wrote, nodes first."""
    with undecodable_text(connection):
        for table in tables(connection):
            yield from _bad_rows_of(connection, table)


def tables(connection: sqlite3.Connection) -> list[str]:
    """Return the names of Clew's tables, nodes first.

    Without those whose rows are compared with what they are made from.
    """
    rows = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
    )
    return sorted(
        (name for (name,) in rows if name not in COMPARED and not name.startswith(OF_FTS5)),
        key=lambda name: (name != "node", name),
    )


class _Table(NamedTuple):
    columns: dict[str, tuple[str, bool]]  # declared type, whether NULL is allowed
    key: tuple[str, ...]


def _table(connection: sqlite3.Connection, name: str) -> _Table:
    info = connection.execute(f'PRAGMA table_info("{name}")').fetchall()
    columns = {
        column: (declared.upper(), not (required or key))
        for _, column, declared, required, _, key in info
    }
    return _Table(
        columns,
        tuple(column for _, column, _, _, _, key in sorted(info, key=lambda row: row[5]) if key),
    )


def _bad_rows_of(connection: sqlite3.Connection, name: str) -> Iterator[BadRow]:
    table = _table(connection, name)
    for values in connection.execute(_QUERIES.get(name, f'SELECT * FROM "{name}"')):
        row = dict(zip((*table.columns, *_FURTHER.get(name, ())), values, strict=True))
        if reason := _mistyped(row, table.columns) or fault(name, row):
            id = row.get(_IDS.get(name, ""))
            own = {column: row[column] for column in table.columns}
            yield BadRow(
                name,
                {column: row[column] for column in table.key},
                id if type(id) is str else None,
                reason,
                own,
            )


def fault(table: str, row: Row) -> str | None:
    """Return why a row of a table is not what Clew wrote, as far as its values tell.

    None if it can be.
    """
    rule = RULES.get(table)
    try:
        return None if rule is None else rule(row)
    except UNREADABLE as error:
        return clipped(str(error)) or type(error).__name__


TYPES = {"TEXT": str, "INTEGER": int, "REAL": float, "BLOB": bytes}


def _mistyped(row: Row, columns: Mapping[str, tuple[str, bool]]) -> str | None:
    for column, (declared, nullable) in columns.items():
        value = row[column]
        if type(value) is Undecodable:
            return f"{column} is not UTF-8"
        if (
            declared in TYPES
            and type(value) is not TYPES[declared]
            and not (value is None and nullable)
        ):
            return f"{column} is of the type {type(value).__name__}"
        if column in NUMBERS and not 0 < value <= MAX_NUMBER:
            return f"{column} is a number that was never given out"
    return None


# --- one rule for each table: why a row is bad, or None ---


def _node(row: Row) -> str | None:
    values = (*(row.get(column) for column in (*SEALED, CHECKSUM)), 0)
    node = read_node(values)
    if not node.id or not node.space:
        return "its id or its space is empty"
    if content_hash(node.text) != node.content_hash:
        return "its text is not the one that was written: content_hash differs"
    if node.t_invalid is not None and node.t_invalid < node.t_valid:
        return "it ends before it begins to be true"
    return _bounds(row) or _added(row) or seal_fault(values)


def _bounds(row: Row) -> str | None:
    if not {row["protected"], row["archived"]} <= {0, 1}:
        return "protected or archived is neither 0 nor 1"
    if any(row[place] is not None and row[place] < 0 for place in ("position", "start", "end")):
        return "a position is negative"
    return None


def _added(row: Row) -> str | None:
    at, detail = row.get("added_at"), row.get("added")
    if (at is None) != (detail is None):
        return "its ADD event is half there"
    if at is not None and detail is not None:
        moment(at)
        mapping_of(detail)
    return None


def _event(row: Row) -> str | None:
    EventKind(row["kind"])
    moment(row["at"])
    mapping_of(row["detail"])
    return None if row["node"] else "it names no memory"


def _edge(row: Row) -> str | None:
    moment(row["t_created"])
    if not row["kind"]:
        return "it has no kind"
    return _not_shares(row, "weight", "confidence")


def _embedding(row: Row) -> str | None:
    Role(row["role"])
    dimension = row["dimension"]
    if dimension is None:
        return "its model is not known"
    if len(row["vector"]) != 2 * dimension:
        return f"it is not a vector of {dimension} numbers"
    values = np.frombuffer(row["vector"], "<f2").astype(np.float32)
    if (
        not np.isfinite(values).all()
        or not abs(float(np.linalg.norm(values)) - 1) <= UNIT_TOLERANCE
    ):
        return "it is not a unit vector"
    if (
        row.get(CHECKSUM) is not None
        and vector_checksum(row["text_hash"], row["vector"]) != row[CHECKSUM]
    ):
        return "its checksum differs"
    return None


def _token_code(row: Row) -> str | None:
    if row["dimension"] is None:
        return "its vector or its model is not known"
    fault = codes_fault(row["codes"], row["dimension"])
    return (
        f"it {fault}"
        if fault
        else None
        if zlib.crc32(row["codes"]) == row[CHECKSUM]
        else "its checksum differs"
    )


def _model(row: Row) -> str | None:
    return (
        None
        if row["name"] and 0 < row["dimension"] <= MAX_DIMENSION
        else "it has no name, or a dimension that no model has"
    )


def _access(row: Row) -> str | None:
    moment(row["last_at"])
    return None if 0 <= row["count"] <= MAX_NUMBER else "its count is out of range"


def _record(row: Row) -> str | None:
    mapping_of(row["body"])
    return None


def _mention(row: Row) -> str | None:
    if row["subject"] not in SUBJECTS or not 0 <= row["start"] <= row["end"]:
        return "it points at no place in a text"
    return _not_shares(row, "confidence")


def _meta(row: Row) -> str | None:
    key, value = row["key"], row["value"]
    if key in WHOLE_NUMBERS:
        return (
            None
            if type(value) is int and 0 <= value <= MAX_NUMBER
            else "it is not a number that can be"
        )
    if key in TEXTS:
        return None if type(value) is str else "it is not text"
    return key_fault(value) if key == "tombstone_key" else "Clew keeps nothing under this name"


def _tombstone(row: Row) -> str | None:
    return (
        None
        if len(row["digest"]) == DIGEST_BYTES
        else f"it is not a digest of {DIGEST_BYTES} bytes"
    )


def _counts(*columns: str) -> Callable[[Row], str | None]:
    def rule(row: Row) -> str | None:
        return (
            None
            if all(0 <= row[column] <= MAX_NUMBER for column in columns)
            else "a count is out of range"
        )

    return rule


def _not_shares(row: Row, *columns: str) -> str | None:
    wrong = next(
        (
            column
            for column in columns
            if not math.isfinite(row[column]) or not 0 <= row[column] <= 1
        ),
        None,
    )
    return f"{wrong} is not from 0 to 1" if wrong else None


WHOLE_NUMBERS = frozenset(
    {
        "analyser",
        "tombstone_sum",
        "counted",
        "model",
        "unnamed",
        "change_floor",
        *(f"posting_{name}" for name in ("seq", "newest", "segments", "due", "floor")),
        *(f"segment_{name}" for name in ("model", "seq", "newest", "rows")),
    }
)
"""Entries of `meta` that are numbers."""
TEXTS = frozenset({"posting_format", erasure.MARK})
"""Entries of `meta` that are text."""

RULES: dict[str, Callable[[Row], str | None]] = {
    "node": _node,
    "event": _event,
    "edge": _edge,
    "embedding": _embedding,
    "token_code": _token_code,
    "model": _model,
    "access": _access,
    "record": _record,
    "mention": _mention,
    "meta": _meta,
    "tombstone": _tombstone,
    "rejection": _counts("count"),
    "space": _counts("nodes", "live", "keyed"),
    "name": _counts("holders"),
}
_FURTHER = {"embedding": ("dimension", "id"), "token_code": ("dimension", "id"), "edge": ("id",)}
_QUERIES = {
    "embedding": "SELECT e.*, m.dimension, n.id FROM embedding e LEFT JOIN model m ON m.mid = e.model LEFT JOIN node n ON n.nid = e.nid",
    "token_code": "SELECT t.*, m.dimension, n.id FROM token_code t LEFT JOIN embedding e ON e.eid = t.eid "
    "LEFT JOIN model m ON m.mid = e.model LEFT JOIN node n ON n.nid = e.nid",
    "edge": "SELECT e.*, n.id FROM edge e LEFT JOIN node n ON n.nid = e.source",
}
_IDS = {"node": "id", "event": "node", "embedding": "id", "token_code": "id", "edge": "id"}
