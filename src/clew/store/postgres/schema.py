"""The tables of a PostgreSQL store, and how a store is made or brought to the newest version.

Every table with content is split by a hash of the space into a fixed number of partitions, and
every primary key begins with the space: a query with its space touches one partition, and Citus can
distribute the tables by the same column. Row-level security repeats the predicate: a statement sees
the rows of the space that its transaction has named in `clew.space`, or all of them where it has
said so in `clew.every_space`, or none.

Cells hold what the SQLite store writes (times in microseconds, JSON as text), so the checksums of
both stores are the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

from psycopg import Connection, sql

from clew.errors import InputError, NewerSchemaError, NotAStoreError, ReadOnlyError
from clew.store.sqlite.rows import COLUMNS

PARTITIONS = 32
MAX_PARTITIONS = 1024

# Text is compared by code point, as Python and SQLite do, whatever the collation of the database.
T = 'text COLLATE "C"'

_TYPES: dict[str, str] = {
    **dict.fromkeys(("t_valid", "t_created"), "bigint NOT NULL"),
    **dict.fromkeys(("t_invalid", "t_expired", "position", "start", "end"), "bigint"),
    **dict.fromkeys(("parent", "root", "idempotency_key", "quality"), T),
    **dict.fromkeys(("protected", "archived"), "smallint NOT NULL"),
    "importance": "float8 NOT NULL",
}
_NODE = ", ".join(f'"{column}" {_TYPES.get(column, f"{T} NOT NULL")}' for column in COLUMNS)

GLOBAL_TABLES = f"""
CREATE TABLE meta (key {T} PRIMARY KEY, value {T} NOT NULL);
CREATE TABLE model (mid integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY, name {T} NOT NULL UNIQUE, dimension integer NOT NULL,
    active boolean NOT NULL DEFAULT false);
CREATE UNIQUE INDEX model_active ON model (active) WHERE active;
CREATE TABLE place (id {T} PRIMARY KEY, space {T} NOT NULL);
CREATE TABLE space (space {T} PRIMARY KEY, version bigint NOT NULL, nid bigint NOT NULL, eid bigint NOT NULL, floor bigint NOT NULL,
    words_format {T} NOT NULL, words_version bigint NOT NULL, words_nid bigint NOT NULL,
    vectors_model integer NOT NULL, vectors_version bigint NOT NULL, vectors_eid bigint NOT NULL) WITH (fillfactor = 50);
CREATE TABLE rejection (rule {T} PRIMARY KEY, count bigint NOT NULL);
CREATE TABLE record (kind {T} NOT NULL, id {T} NOT NULL, body {T} NOT NULL, PRIMARY KEY (kind, id));
CREATE TABLE tombstone (digest bytea PRIMARY KEY);
"""
"""`place` finds the space of an id; `space` counts what was written to each space and how far its
blocks reach.

The digests of tombstones are keyed and of space and text together: nothing but an equal text of the
same space is known by them.
"""

# name: (columns, primary key behind the space, further statements)
SPLIT_TABLES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "node": (
        f"nid bigint NOT NULL, {_NODE}, added_at bigint, added {T}, checksum bigint, "
        "told_at bigint, accesses bigint NOT NULL DEFAULT 0, accessed_at bigint",
        "nid",
        (
            "CREATE UNIQUE INDEX node_by_id ON node (space, id)",
            "CREATE INDEX node_by_hash ON node (space, content_hash)",
            "CREATE UNIQUE INDEX node_by_key ON node (space, idempotency_key) WHERE idempotency_key IS NOT NULL",
            "CREATE INDEX node_by_time ON node (space, t_valid)",
            "CREATE INDEX node_by_root ON node (space, root) WHERE root IS NOT NULL",
            "CREATE INDEX node_by_parent ON node (space, parent, position) WHERE parent IS NOT NULL",
        ),
    ),
    "label": ("label uuid NOT NULL, nid bigint NOT NULL", "label, nid", ()),
    "claim": (
        f"key {T} NOT NULL, nid bigint NOT NULL",
        "key",
        ("CREATE INDEX claim_by_node ON claim (space, nid)",),
    ),
    "event": (
        f"seq bigint NOT NULL DEFAULT nextval('event_seq'), node {T} NOT NULL, kind {T} NOT NULL, at bigint NOT NULL, detail {T} NOT NULL",
        "seq",
        ("CREATE INDEX event_by_node ON event (node, seq)",),
    ),
    "edge": (
        f"source {T} NOT NULL, target {T} NOT NULL, kind {T} NOT NULL, weight float8 NOT NULL, confidence float8 NOT NULL, "
        f"evidence {T} NOT NULL, t_created bigint NOT NULL, other {T} NOT NULL, mirror boolean NOT NULL",
        "source, kind, target",
        ("CREATE INDEX edge_by_target ON edge (space, target, kind)",),
    ),
    "embedding": (
        f"eid bigint NOT NULL, nid bigint NOT NULL, model integer NOT NULL, role {T} NOT NULL, text_hash {T} NOT NULL, "
        "vector bytea STORAGE EXTERNAL NOT NULL, checksum bigint NOT NULL",
        "eid",
        ("CREATE UNIQUE INDEX embedding_by_node ON embedding (space, nid, model, role)",),
    ),
    "token_code": (
        f"nid bigint NOT NULL, model integer NOT NULL, role {T} NOT NULL, codes bytea STORAGE EXTERNAL NOT NULL, checksum bigint NOT NULL",
        "nid, model, role",
        (),
    ),
    "name": (
        f"key {T} NOT NULL, name {T} NOT NULL, type {T} NOT NULL, holders bigint NOT NULL",
        "key",
        (),
    ),
    "mention": (
        f"key {T} NOT NULL, way smallint NOT NULL, nid bigint NOT NULL, confidence float8 NOT NULL, start bigint NOT NULL, "
        f'"end" bigint NOT NULL, spelled {T}, type {T}',
        "key, way, nid",
        ("CREATE INDEX mention_by_node ON mention (space, nid)",),
    ),
    "alias": (
        f"part {T} NOT NULL, key {T} NOT NULL",
        "part, key",
        ("CREATE INDEX alias_by_name ON alias (space, key)",),
    ),
    "counted": (
        f"kind {T} NOT NULL, nodes bigint NOT NULL, live bigint NOT NULL, keyed bigint NOT NULL",
        "kind",
        (),
    ),
    "change": (
        "version bigint NOT NULL, nid bigint NOT NULL, reworded boolean NOT NULL",
        "version, nid",
        (),
    ),
    "block": (
        "kind char(1) NOT NULL, number bigint NOT NULL, checksum bigint NOT NULL, parts bytea[] STORAGE EXTERNAL NOT NULL",
        "kind, number",
        (),
    ),
}
ISOLATED = ("place", "space", *SPLIT_TABLES)
"""Tables under row-level security."""
POLICY = "space = current_setting('clew.space', true) OR current_setting('clew.every_space', true) = 'on'"

Migration = Callable[["Connection[Any]", int], None]


def _create(connection: Connection[Any], partitions: int) -> None:
    """Version 1: everything."""
    with connection.pipeline():
        for statement in _statements(partitions):
            connection.execute(statement.encode())
        connection.execute("INSERT INTO meta VALUES ('partitions', %s)", [str(partitions)])


def _statements(partitions: int) -> Iterator[str]:
    """Yield what makes the tables. A partition has no policy of its own.

    Past its parent nobody sees anything.
    """
    yield from (statement for statement in GLOBAL_TABLES.split(";") if statement.strip())
    yield "CREATE SEQUENCE event_seq"
    for table, (columns, key, further) in SPLIT_TABLES.items():
        own = "" if table == "node" else f"space {T} NOT NULL, "
        yield f"CREATE TABLE {table} ({own}{columns}, PRIMARY KEY (space, {key})) PARTITION BY HASH (space)"
        yield from further
        for number in range(partitions):
            yield f"CREATE TABLE {table}_{number} PARTITION OF {table} FOR VALUES WITH (MODULUS {partitions}, REMAINDER {number})"
            yield f"ALTER TABLE {table}_{number} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY"
    for table in ISOLATED:
        yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY"
        yield f"CREATE POLICY own_space ON {table} USING ({POLICY}) WITH CHECK ({POLICY})"


MIGRATIONS: tuple[Migration, ...] = (_create,)
"""The step at index n brings a store of version n to version n + 1."""


def lock_key(*parts: str) -> int:
    """Return the number of the advisory lock on something in a schema.

    >>> lock_key("clew", "space", "work") == lock_key("clew", "space", "work") != lock_key("clew", "space", "home")
    True
    """
    return int.from_bytes(
        hashlib.blake2b("\0".join(parts).encode(), digest_size=8).digest(), "big", signed=True
    )


def migrate(connection: Connection[Any], schema: str, *, partitions: int = PARTITIONS) -> None:
    """Make the store or bring it to the newest version, in one transaction.

    Two servers that start at once take turns.
    """
    if not 1 <= partitions <= MAX_PARTITIONS:
        raise InputError(
            "partitions",
            partitions,
            f"must lie between 1 and {MAX_PARTITIONS}",
            "Leave it out for 32.",
        )
    if version(connection, schema) == len(MIGRATIONS):
        return
    with connection.transaction():
        if connection.execute("SELECT current_setting('transaction_read_only')").fetchone() == (
            "on",
        ):
            raise ReadOnlyError(
                f"The schema {schema!r} has to be made or upgraded, and this server is read-only. Name the primary server."
            )
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [lock_key(schema, "migrate")])
        found = version(connection, schema)
        connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(schema)))
        connection.execute("SELECT set_config('search_path', quote_ident(%s), true)", [schema])
        for step in MIGRATIONS[found:]:
            step(connection, partitions)
        connection.execute(
            "INSERT INTO meta VALUES ('schema', %s) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            [str(len(MIGRATIONS))],
        )


def version(connection: Connection[Any], schema: str) -> int:
    """Return the version of the store in a schema, 0 where there is none.

    Raise if it is something else or newer.
    """
    tables = connection.execute(
        "SELECT coalesce(array_agg(c.relname::text), '{}') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = %s AND c.relkind IN ('r', 'p')",
        [schema],
    ).fetchone()
    names = set(tables[0]) if tables else set()
    if not names:
        return 0
    if not {"meta", "place", "space"} <= names:
        raise NotAStoreError(
            f"The schema {schema!r} holds tables that Clew did not make. Name another one: postgresql://…?schema=NAME"
        )
    row = connection.execute(
        sql.SQL("SELECT value FROM {} WHERE key = 'schema'").format(sql.Identifier(schema, "meta"))
    ).fetchone()
    known = int(row[0]) if row and str(row[0]).isdecimal() else 0
    if not known:
        raise NotAStoreError(
            f"The schema {schema!r} is no Clew store: it does not say its version. Name another one: postgresql://…?schema=NAME"
        )
    if known > len(MIGRATIONS):
        raise NewerSchemaError(
            f"The schema {schema!r} was written by a newer Clew (schema {known}; this one knows up to {len(MIGRATIONS)}). "
            "Upgrade with: pip install --upgrade clew",
            schema=known,
            known=len(MIGRATIONS),
        )
    return known
