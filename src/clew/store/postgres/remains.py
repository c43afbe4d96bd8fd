"""What stands beside the nodes of a database: read and written as a whole when a store is moved."""

from __future__ import annotations

import zlib

from clew.errors import StoreError
from clew.store.postgres.database import Database, Session, Statement
from clew.store.postgres.writing import insert_events
from clew.store.remains import Remains
from clew.store.sqlite.remains import OTHER_KEY
from clew.store.sqlite.rows import mapping_of, moment
from clew.types import Event, EventKind

QUERIES = (
    "SELECT value FROM meta WHERE key = 'tombstone_key'",
    "SELECT digest FROM tombstone",
    "SELECT c.space, c.key, n.id FROM claim c JOIN node n ON n.space = c.space AND n.nid = c.nid",
    "SELECT node, kind, at, detail FROM event e WHERE NOT EXISTS (SELECT 1 FROM place p WHERE p.id = e.node) ORDER BY seq",
    "SELECT kind, id, body FROM record",
    "SELECT rule, count FROM rejection",
)


def read(database: Database) -> Remains:
    """Return what stands beside the nodes."""
    key, digests, claims, events, records, rejections = database.ask_all(
        None, *((query, ()) for query in QUERIES)
    )
    return Remains(
        tombstone_key=bytes.fromhex(key[0][0].partition(" ")[0]) if key else None,
        tombstones=frozenset(bytes(digest) for (digest,) in digests),
        claims=frozenset((space, key, id) for space, key, id in claims),
        last_words=tuple(
            Event(node=node, kind=EventKind(kind), at=moment(at), detail=mapping_of(detail))
            for node, kind, at, detail in events
        ),
        records={(kind, without_escapes(id)): body for kind, id, body in records},
        rejections=dict(rejections),
    )


def write(database: Database, session: Session, remains: Remains) -> None:
    """Take over what is not there yet."""
    there = read(database)
    statements: list[Statement] = []
    if remains.tombstones:
        if there.tombstones and there.tombstone_key != remains.tombstone_key:
            raise StoreError(OTHER_KEY)
        key = remains.tombstone_key or b""
        made = "INSERT INTO meta VALUES ('tombstone_key', %s) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
        statements.append((made, [f"{key.hex()} {zlib.crc32(key)}"]))
        statements.append(
            (
                "INSERT INTO tombstone SELECT unnest(%s::bytea[]) ON CONFLICT DO NOTHING",
                [sorted(remains.tombstones)],
            )
        )
    claim = "INSERT INTO claim SELECT space, %s, nid FROM node WHERE space = %s AND id = %s ON CONFLICT DO NOTHING"
    statements += [(claim, [key, space, id]) for space, key, id in sorted(remains.claims)]
    statements += insert_events(
        [event for event in remains.last_words if event not in there.last_words], {}
    )
    if remains.records:
        rows = [
            (kind, with_escapes(id), body) for (kind, id), body in sorted(remains.records.items())
        ]
        kept = "INSERT INTO record SELECT * FROM unnest(%s::text[], %s::text[], %s::text[]) ON CONFLICT DO NOTHING"
        statements.append((kept, list(map(list, zip(*rows, strict=True)))))
    if remains.rejections:
        counts = "INSERT INTO rejection SELECT * FROM unnest(%s::text[], %s::bigint[]) ON CONFLICT DO NOTHING"
        statements.append((counts, [list(remains.rejections), list(remains.rejections.values())]))
    if statements:
        session.run(None, *statements)


def with_escapes(id: str) -> str:
    r"""Return the id of a record as PostgreSQL can hold it: any text may be one, also with a NUL.

    >>> without_escapes(with_escapes("a\\0b\0")) == "a\\0b\0"
    True
    """
    return id.replace("\\", "\\\\").replace("\0", "\\0")


def without_escapes(id: str) -> str:
    """Return the id that was given to `with_escapes`."""
    return "\\".join(part.replace("\\0", "\0") for part in id.split("\\\\"))
