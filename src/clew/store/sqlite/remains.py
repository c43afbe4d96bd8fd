"""What stands beside the nodes of a file: read and written as a whole when a store is moved."""

from __future__ import annotations

import sqlite3
import zlib

from clew.errors import StoreError
from clew.store.remains import Remains
from clew.store.sqlite.rows import detail_of, mapping_of, micros, moment
from clew.store.sqlite.schema import TOMBSTONE_KEY
from clew.types import Event, EventKind

OTHER_KEY = "The target has tombstones of its own, made with another key, so those of the source cannot join them. Move into a new store."


def read(connection: sqlite3.Connection) -> Remains:
    """Return what stands beside the nodes."""
    key = connection.execute(TOMBSTONE_KEY).fetchone()
    gone = "SELECT node, kind, at, detail FROM event e WHERE NOT EXISTS (SELECT 1 FROM node n WHERE n.id = e.node) ORDER BY seq"
    return Remains(
        tombstone_key=key[0] if key else None,
        tombstones=frozenset(
            digest for (digest,) in connection.execute("SELECT digest FROM tombstone")
        ),
        claims=frozenset(
            connection.execute(
                "SELECT c.space, c.key, n.id FROM claim c JOIN node n ON n.nid = c.nid"
            ).fetchall()
        ),
        last_words=tuple(
            Event(node=node, kind=EventKind(kind), at=moment(at), detail=mapping_of(detail))
            for node, kind, at, detail in connection.execute(gone)
        ),
        records={
            (kind, id): body
            for kind, id, body in connection.execute("SELECT kind, id, body FROM record")
        },
        rejections=dict(connection.execute("SELECT rule, count FROM rejection").fetchall()),
    )


def write(connection: sqlite3.Connection, remains: Remains) -> None:
    """Take over what is not there yet."""
    there = read(connection)
    if remains.tombstones:
        if there.tombstones and there.tombstone_key != remains.tombstone_key:
            raise StoreError(OTHER_KEY)
        key = remains.tombstone_key or b""
        connection.executemany(
            "INSERT OR REPLACE INTO meta VALUES (?, ?)",
            [("tombstone_key", key), ("tombstone_sum", zlib.crc32(key))],
        )
        connection.executemany(
            "INSERT OR IGNORE INTO tombstone VALUES (?)",
            [(digest,) for digest in remains.tombstones],
        )
    connection.executemany(
        "INSERT OR IGNORE INTO claim SELECT space, ?, nid FROM node WHERE space = ? AND id = ?",
        [(key, space, id) for space, key, id in sorted(remains.claims)],
    )
    fresh = [event for event in remains.last_words if event not in there.last_words]
    connection.executemany(
        "INSERT INTO event (node, kind, at, detail) VALUES (?, ?, ?, ?)",
        [(each.node, str(each.kind), micros(each.at), detail_of(each)) for each in fresh],
    )
    rows = [(kind, id, body) for (kind, id), body in sorted(remains.records.items())]
    connection.executemany("INSERT OR IGNORE INTO record VALUES (?, ?, ?)", rows)
    connection.executemany(
        "INSERT OR IGNORE INTO rejection VALUES (?, ?)", sorted(remains.rejections.items())
    )
