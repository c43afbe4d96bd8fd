"""Who carries a tag or an entry of metadata: a row for each, by key and value, made from what the node's own row says.

There is no index by node, which every add would have to write to: what a node carries is read from its row.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from clew.ports import Problem
from clew.store.sqlite.rows import READ, Label, labels_of
from clew.types import Node

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
    if rows := [(*label, number) for number, node in nodes if node.tags or node.metadata for label in labels_of(node.tags, node.metadata)]:
        connection.executemany(_ADD, rows)


def remove(connection: sqlite3.Connection, numbers: Sequence[int]) -> None:
    """Take off what nodes carry, while their rows still say what that is."""
    for number in numbers:
        carried = [(*label, nid) for label, nid in _carried(connection, f"{_CARRYING} AND nid = ?", number)]
        connection.executemany("DELETE FROM label WHERE key = ? AND value = ? AND nid = ?", carried)


def wrong(connection: sqlite3.Connection) -> Iterator[Problem]:
    """Yield whether a node is not found by what it carries, or by what it does not."""
    there = "SELECT 1 FROM label WHERE key = ? AND value = ? AND nid = ?"
    carried = missing = 0
    for label, nid in _carried(connection, _CARRYING):
        carried += 1
        missing += connection.execute(there, (*label, nid)).fetchone() is None
    (kept,) = connection.execute("SELECT count(*) FROM label").fetchone()
    for many, fault in ((missing, "are missing"), (kept - (carried - missing), "belong to no node")):
        if many:
            yield Problem("labels", f"{many} labels of tags and metadata {fault}", "Run: clew verify --repair")


def mend(connection: sqlite3.Connection) -> None:
    """Make all labels anew."""
    connection.execute("DELETE FROM label")
    connection.executemany(_ADD, ((*label, nid) for label, nid in _carried(connection, _CARRYING)))


def _carried(connection: sqlite3.Connection, query: str, *values: int) -> Iterator[tuple[Label, int]]:
    """Yield each label that a node's row speaks of, once."""
    for nid, tags, metadata in connection.execute(query, values).fetchall():
        yield from ((label, nid) for label in dict.fromkeys(labels_of(READ["tags"](tags), READ["metadata"](metadata))))
