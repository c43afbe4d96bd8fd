"""Repair of a store: rebuild what is derived, set aside what cannot be read, and keep a copy of every row that goes.

The copies are lines of JSON in a file beside the store. They are written and flushed before the
rows are removed.
"""

from __future__ import annotations

import base64
import json
import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clew.errors import clipped
from clew.ports import Problem, Repaired
from clew.store.sqlite import names
from clew.store.sqlite import rows as labels
from clew.store.sqlite import stats as counting
from clew.store.sqlite.row_checks import (
    TRUTH,
    BadRow,
    Undecodable,
    bad_rows,
    fault,
    undecodable_text,
)
from clew.store.sqlite.rows import (
    CHECKSUM,
    READ,
    SUMMED,
    UNREADABLE,
    checksum,
    compact_json,
    vector_checksum,
)
from clew.store.sqlite.verify import (
    WITHOUT_ADD,
    are_of_free_pages,
    file_faults,
    tombstone_fault,
    wrong_sequences,
)
from clew.text.words import keywords

QUARANTINE = ".quarantine.jsonl"
MAX_PASSES = 4  # a row that goes may leave others behind that belonged to it
KEYWORDS = 10  # made anew where a list of them cannot be read
# What belongs to a node and would go with it unseen. Vectors are made anew from texts, names and
# labels too.
BELONGING = {
    "event": "node = (SELECT id FROM node WHERE nid = ?1)",
    "edge": "source = ?1 OR target = ?1",
    "claim": "nid = ?1",
    "access": "nid = ?1",
}
REMADE = ("keywords", "quality")
"""Fields of a node that come from its text; the quality is left empty."""


REBUILT = ("alias", "label", "space")
"""Tables that a repair makes anew as a whole."""


def repair(connection: sqlite3.Connection, path: Path) -> Repaired:
    """Put right all but damaged pages; return which rows were set aside, and in which file."""
    pages, indexes = file_faults(connection)
    if pages:  # nothing that is written into such a file is safe; `verify` tells what to do
        return Repaired()
    if indexes:
        connection.execute("REINDEX")
    # until what belongs to a removed row has gone too
    connection.execute("PRAGMA defer_foreign_keys = ON")
    shelf = _Shelf(path)
    _repair_model(connection)
    for _ in range(MAX_PASSES):
        rows = list(bad_rows(connection))
        for row in rows:
            _set_aside(connection, row, shelf)
        if not rows and not _remove_orphans(connection, shelf):
            break
    _repair_model(connection)
    _repair_numbers(connection)
    _repair_tombstones(connection, shelf)
    _repair_events(connection)
    _seal(connection)
    counting.recount(connection)
    labels.mend(connection)
    names.mend(connection)
    connection.execute("DELETE FROM meta WHERE key IN ('segment_model', 'segment_seq')")
    connection.execute("DELETE FROM segment")
    return shelf.close()


def rebuild_free_list(connection: sqlite3.Connection) -> None:
    """Rewrite a file that has free pages; called outside a transaction.

    With a damaged list of them SQLite refuses every write that needs one, and its check does not
    always find the damage.
    """
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    pages, indexes = file_faults(connection)
    if free and not indexes and (not pages or are_of_free_pages(pages)):
        connection.execute("VACUUM")


def _repair_model(connection: sqlite3.Connection) -> None:
    """Forget a model that is not known, and take the only one that is."""
    known = connection.execute(
        "SELECT 1 FROM meta JOIN model m ON m.mid = meta.value WHERE meta.key = 'model'"
    ).fetchone()
    models = connection.execute("SELECT mid FROM model").fetchall()
    if known is None:
        connection.execute("DELETE FROM meta WHERE key = 'model'")
        if len(models) == 1:
            connection.execute("INSERT INTO meta VALUES ('model', ?)", models[0])


def _set_aside(connection: sqlite3.Connection, row: BadRow, shelf: _Shelf) -> None:
    if row.table == "node":
        (nid,) = row.key.values()
        if _remade(connection, row, shelf):
            return
        with undecodable_text(connection):
            for table, condition in BELONGING.items():
                cursor = connection.execute(f"SELECT * FROM {table} WHERE {condition}", (nid,))
                columns = [column[0] for column in cursor.description]
                for values in cursor.fetchall():
                    shelf.copy(
                        table, dict(zip(columns, values, strict=True)), f"belonged to {row.name}"
                    )
        shelf.put(row)
        connection.execute(f"DELETE FROM event WHERE {BELONGING['event']}", (nid,))
        connection.execute("DELETE FROM embedding WHERE nid = ?", (nid,))
    elif row.table in TRUTH:
        shelf.put(row)
    # which have no rowid: SQLite does not find a key again whose type is not the column's
    if row.table in REBUILT:
        _recreate(connection, row.table)
        return
    connection.execute(
        f"DELETE FROM {row.table} WHERE {_matching(row.key)}",
        [_bound(value) for value in row.key.values()],
    )


def _recreate(connection: sqlite3.Connection, table: str) -> None:
    """Make a table anew, empty, with its indexes and triggers."""
    query = "SELECT sql FROM sqlite_master WHERE tbl_name = ? AND sql IS NOT NULL ORDER BY type <> 'table'"
    made_by = connection.execute(query, (table,)).fetchall()
    connection.execute(f"DROP TABLE {table}")
    for (sql,) in made_by:
        connection.execute(sql)


def _remade(connection: sqlite3.Connection, row: BadRow, shelf: _Shelf) -> bool:
    """Make the fields anew that come from the text, where they alone cannot be read and the text is the one that was written."""
    broken = [column for column in REMADE if not _readable(column, row.values[column])]
    mended = {**row.values, **dict.fromkeys(broken), CHECKSUM: None}
    if "keywords" in broken:
        text = row.values["text"]
        mended["keywords"] = (
            compact_json(keywords(text, limit=KEYWORDS)) if type(text) is str else None
        )
    if not broken or fault("node", mended) is not None:
        return False
    shelf.copy(
        "node",
        row.values,
        f"{row.name}: {' and '.join(broken)} could not be read and was made anew",
    )
    for column in (*broken, CHECKSUM):
        connection.execute(
            f"UPDATE node SET {column} = ? WHERE nid = ?", (mended[column], row.values["nid"])
        )
    return True


def _readable(column: str, value: Any) -> bool:
    try:
        READ[column](value)
    except UNREADABLE:
        return False
    return type(value) is not Undecodable


def _matching(key: Mapping[str, Any]) -> str:
    # The plus keeps SQLite from making the type of the column out of the value: the value may be of
    # another, which is the damage.
    return " AND ".join(
        f'+"{column}" IS {"CAST(? AS TEXT)" if type(value) is Undecodable else "?"}'
        for column, value in key.items()
    )


def _bound(value: Any) -> Any:
    return bytes(value) if type(value) is Undecodable else value


def _remove_orphans(connection: sqlite3.Connection, shelf: _Shelf) -> int:
    """Remove rows that belong to nodes or models that are not there; return how many."""
    with undecodable_text(connection):
        removed = 0
        for table, column, parent, key in OWNERS:
            condition = f"{column} NOT IN (SELECT {key} FROM {parent})"
            cursor = connection.execute(f"SELECT * FROM {table} WHERE {condition}")
            columns = [each[0] for each in cursor.description]
            for values in cursor.fetchall() if table in TRUTH else ():
                shelf.copy(
                    table,
                    dict(zip(columns, values, strict=True)),
                    f"belonged to a {parent} that is not there",
                )
            removed += connection.execute(f"DELETE FROM {table} WHERE {condition}").rowcount
    return removed


OWNERS = (
    ("embedding", "model", "model", "mid"),
    ("embedding", "nid", "node", "nid"),
    ("token_code", "eid", "embedding", "eid"),
    ("access", "nid", "node", "nid"),
    ("claim", "nid", "node", "nid"),
    ("edge", "source", "node", "nid"),
    ("edge", "target", "node", "nid"),
    ("mention", "nid", "node", "nid"),
    ("alias", "name", "name", "id"),
)
"""Which column of a table names a row of which other table, by which key."""


def _repair_numbers(connection: sqlite3.Connection) -> None:
    for table, highest in wrong_sequences(connection):
        connection.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
        connection.execute("INSERT INTO sqlite_sequence VALUES (?, ?)", (table, highest))


def _repair_tombstones(connection: sqlite3.Connection, shelf: _Shelf) -> None:
    """Set aside the tombstones if their key is lost.

    They recognise nothing, and a new key must not seem to have made them.
    """
    fault = tombstone_fault(connection)
    if fault is None:
        return
    reason = f"the key of the tombstones is lost ({fault}): forgotten texts are no longer kept out"
    for (digest,) in connection.execute("SELECT digest FROM tombstone").fetchall():
        shelf.put(BadRow("tombstone", {"digest": digest.hex()}, None, reason, {"digest": digest}))
    connection.execute("DELETE FROM tombstone")
    connection.execute("DELETE FROM meta WHERE key IN ('tombstone_key', 'tombstone_sum')")


def _repair_events(connection: sqlite3.Connection) -> None:
    """Note for a node whose ADD event was damaged that it was added when it was written."""
    connection.execute(
        f"UPDATE node AS n SET added_at = t_created, added = '{{}}', checksum = NULL WHERE {WITHOUT_ADD}"
    )


def _seal(connection: sqlite3.Connection) -> None:
    """Give a checksum to the rows that have none.

    Those of an older Clew, and those that were made anew.
    """
    nodes = connection.execute(f"SELECT nid, {SUMMED} FROM node WHERE checksum IS NULL").fetchall()
    connection.executemany(
        "UPDATE node SET checksum = ? WHERE nid = ?",
        [(checksum(values), nid) for nid, *values in nodes],
    )
    vectors = connection.execute(
        "SELECT eid, text_hash, vector FROM embedding WHERE checksum IS NULL"
    ).fetchall()
    connection.executemany(
        "UPDATE embedding SET checksum = ? WHERE eid = ?",
        [(vector_checksum(text, vector), eid) for eid, text, vector in vectors],
    )


class _Shelf:
    """The file that keeps the rows that were set aside; made when the first one is."""

    def __init__(self, store: Path) -> None:
        self._path = store.with_name(store.name + QUARANTINE)
        self._lines: list[str] = []
        self._rows: list[Problem] = []

    def put(self, row: BadRow) -> None:
        """Keep a row that is damaged itself."""
        self.copy(row.table, row.values, row.reason)
        self._rows.append(
            Problem(
                "quarantine",
                clipped(f"{row.name}: {row.reason}"),
                f"Its row was copied to {self._path}.",
            )
        )

    def copy(self, table: str, values: Mapping[str, Any], reason: str) -> None:
        """Keep a row."""
        line = {
            "table": table,
            "reason": reason,
            "row": {column: _plain(value) for column, value in values.items()},
        }
        self._lines.append(json.dumps(line, ensure_ascii=True) + "\n")

    def close(self) -> Repaired:
        """Write the rows behind those of earlier repairs, and flush them to the disk."""
        if not self._lines:
            return Repaired()
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.writelines(self._lines)
            file.flush()
            os.fsync(file.fileno())
        return Repaired(tuple(self._rows), self._path)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; bytes and text that is not UTF-8 as base64."""
    return {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value
