"""The tables of a store, as SQL you can look at, and how an older file becomes a newer one.

Truth: node, event, access, edge, embedding (float16), token_code, model, meta, record. Derived,
rebuilt at will: label (what the nodes' rows carry), segment and posting (vectors and words for
quick opening), space; from the texts, by whoever reads them: name, mention and alias (names.py).
What FTS5 had until version 4 is made and dropped again in a new file: old steps stay. `change` and
`node_change` tell every process which vectors and nodes moved since it last looked; what was added
it knows by the numbers, which only rise, and a log of that would cost two pages a commit. For the
same reason a node's ADD event stands in its own row.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import cache
from itertools import count
from pathlib import Path
from urllib.parse import quote

from clew.errors import CorruptStoreError, NewerSchemaError, NotAStoreError
from clew.files import is_special
from clew.store.bm25 import CONTEXT_WEIGHT, TEXT_WEIGHT, TITLE_WEIGHT
from clew.store.sqlite.backup import copy_to
from clew.store.sqlite.names import MARK_OPENINGS, NAMES
from clew.store.sqlite.rows import ADDED, CHECKSUM, LABELS, snapshot
from clew.store.sqlite.stats import COUNTED_BY_TRIGGERS, LENT_COUNTS
from clew.text.words import ANALYSER_VERSION

SIDE_FILES = ("-wal", "-shm", "-journal")
APPLICATION_ID = 0x434C4557  # "CLEW" in ASCII: how `file` and this module recognise a store

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE space (                -- how many nodes there are, how many of them live, and how many of those have a context key
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    nodes INTEGER NOT NULL,
    live INTEGER NOT NULL,
    keyed INTEGER NOT NULL,
    PRIMARY KEY (name, kind)
) WITHOUT ROWID;
CREATE TABLE model (mid INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, dimension INTEGER NOT NULL);

CREATE TABLE node (
    nid INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    space TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    title TEXT NOT NULL,
    category TEXT NOT NULL,
    trigger TEXT NOT NULL,
    importance REAL NOT NULL,
    stability TEXT NOT NULL,
    t_valid INTEGER NOT NULL,    -- all times: microseconds since 1970, UTC
    t_invalid INTEGER,
    t_created INTEGER NOT NULL,
    t_expired INTEGER,
    source TEXT NOT NULL,
    parent TEXT,
    root TEXT,
    position INTEGER,
    start INTEGER,
    "end" INTEGER,
    context TEXT NOT NULL,       -- the key under which a small unit is also found
    quality TEXT,                -- JSON list, as clew.types.Quality
    content_hash TEXT NOT NULL,
    keywords TEXT NOT NULL,      -- JSON list
    tags TEXT NOT NULL,          -- JSON list
    metadata TEXT NOT NULL,      -- JSON object
    idempotency_key TEXT,
    protected INTEGER NOT NULL,
    archived INTEGER NOT NULL
);
CREATE INDEX node_by_hash ON node (space, content_hash);
CREATE UNIQUE INDEX node_by_key ON node (space, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX node_by_time ON node (space, t_valid);
CREATE INDEX node_by_importance ON node (space, importance) WHERE importance > 0.5; -- the usual: most nodes need no place in it

CREATE INDEX node_by_root ON node (root) WHERE root IS NOT NULL;
CREATE INDEX node_by_parent ON node (parent, position) WHERE parent IS NOT NULL;

CREATE TABLE label (
    key TEXT NOT NULL,           -- a metadata key behind '.', or '#' for a tag
    value TEXT NOT NULL,         -- canonical JSON
    nid INTEGER NOT NULL REFERENCES node (nid) ON DELETE CASCADE,
    PRIMARY KEY (key, value, nid)
) WITHOUT ROWID;
CREATE INDEX label_by_node ON label (nid);

CREATE TABLE claim (               -- idempotency keys whose text was there already
    space TEXT NOT NULL,
    key TEXT NOT NULL,
    nid INTEGER NOT NULL REFERENCES node (nid) ON DELETE CASCADE,
    PRIMARY KEY (space, key)
) WITHOUT ROWID;
CREATE INDEX claim_by_node ON claim (nid);

CREATE TABLE event (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    node TEXT NOT NULL,          -- not a reference: a FORGET event outlives its node
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    detail TEXT NOT NULL
);
CREATE INDEX event_by_node ON event (node, seq);

CREATE TABLE access (
    nid INTEGER PRIMARY KEY REFERENCES node (nid) ON DELETE CASCADE,
    count INTEGER NOT NULL,
    last_at INTEGER NOT NULL
);
CREATE INDEX access_by_count ON access (count);

CREATE TABLE rejection (rule TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE edge (
    source INTEGER NOT NULL REFERENCES node (nid) ON DELETE CASCADE,
    target INTEGER NOT NULL REFERENCES node (nid) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    weight REAL NOT NULL,
    confidence REAL NOT NULL,
    evidence TEXT NOT NULL,
    t_created INTEGER NOT NULL,
    PRIMARY KEY (source, kind, target)
) WITHOUT ROWID;
CREATE INDEX edge_by_target ON edge (target, kind);

CREATE TABLE embedding (
    eid INTEGER PRIMARY KEY AUTOINCREMENT,
    nid INTEGER NOT NULL REFERENCES node (nid) ON DELETE CASCADE,
    model INTEGER NOT NULL REFERENCES model (mid),
    role TEXT NOT NULL,
    text_hash TEXT NOT NULL,
    vector BLOB NOT NULL,        -- float16, little endian: the truth
    UNIQUE (nid, model, role)
);

CREATE TABLE segment (
    segment INTEGER PRIMARY KEY, -- holds the vectors with eid // 4096 = segment
    codes BLOB NOT NULL,         -- int8 rows
    columns BLOB NOT NULL        -- what a filter asks, one record a row
);
CREATE TABLE change (seq INTEGER PRIMARY KEY AUTOINCREMENT, eid INTEGER NOT NULL);

CREATE TABLE posting (
    segment INTEGER PRIMARY KEY, -- holds the words of the nodes with nid // 4096 = segment
    checksum INTEGER NOT NULL,   -- of all that follows
    terms BLOB NOT NULL,         -- 64-bit hashes in order
    offsets BLOB NOT NULL,       -- where each term's rows begin
    rows BLOB NOT NULL,
    counts BLOB NOT NULL,
    columns BLOB NOT NULL        -- what BM25 and a filter ask, one record a row
);
CREATE TABLE node_change (seq INTEGER PRIMARY KEY AUTOINCREMENT, nid INTEGER NOT NULL, reworded INTEGER NOT NULL);

CREATE VIEW analysed AS SELECT
    nid, clew_terms(title) AS title, clew_body(kind, text) AS text, clew_terms(context) AS context, clew_facet(space) AS facet
FROM node;
"""

WORD_INDEX = f"""
CREATE VIRTUAL TABLE word_index USING fts5 (
    title, text, context, facet, content='analysed', content_rowid='nid', tokenize='ascii', detail=full
);
INSERT INTO word_index (word_index, rank) VALUES ('rank', 'bm25({TITLE_WEIGHT}, {TEXT_WEIGHT}, {CONTEXT_WEIGHT}, 0.0)');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab ('word_index', 'row');
"""

TRIGGERS = """
CREATE TRIGGER node_added AFTER INSERT ON node BEGIN
    INSERT INTO space SELECT new.space, new.kind, 1, live, live AND new.context <> ''
        FROM (SELECT new.t_expired IS NULL AND new.archived = 0 AS live) WHERE TRUE
        ON CONFLICT (name, kind) DO UPDATE SET nodes = nodes + 1, live = live + excluded.live, keyed = keyed + excluded.keyed;
END;
CREATE TRIGGER node_removed AFTER DELETE ON node BEGIN
    UPDATE space SET nodes = nodes - 1, live = live - (old.t_expired IS NULL AND old.archived = 0),
        keyed = keyed - (old.t_expired IS NULL AND old.archived = 0 AND old.context <> '') WHERE name = old.space AND kind = old.kind;
    DELETE FROM space WHERE name = old.space AND kind = old.kind AND nodes = 0;
    INSERT INTO node_change (nid, reworded) VALUES (old.nid, 1);
END;
CREATE TRIGGER node_moved AFTER UPDATE OF kind, context, archived, t_expired ON node BEGIN
    UPDATE space SET nodes = nodes - 1, live = live - (old.t_expired IS NULL AND old.archived = 0),
        keyed = keyed - (old.t_expired IS NULL AND old.archived = 0 AND old.context <> '') WHERE name = old.space AND kind = old.kind;
    DELETE FROM space WHERE name = old.space AND kind = old.kind AND nodes = 0;
    INSERT INTO space SELECT new.space, new.kind, 1, live, live AND new.context <> ''
        FROM (SELECT new.t_expired IS NULL AND new.archived = 0 AS live) WHERE TRUE
        ON CONFLICT (name, kind) DO UPDATE SET nodes = nodes + 1, live = live + excluded.live, keyed = keyed + excluded.keyed;
END;
CREATE TRIGGER node_reworded AFTER UPDATE OF title, text, context, kind ON node BEGIN
    INSERT INTO node_change (nid, reworded) VALUES (new.nid, 1);
END;
CREATE TRIGGER node_refiled
AFTER UPDATE OF category, kind, archived, context, parent, t_valid, t_invalid, t_created, t_expired ON node BEGIN
    INSERT INTO change (eid) SELECT eid FROM embedding WHERE nid = new.nid;
    INSERT INTO node_change (nid, reworded) VALUES (new.nid, 0);
END;
CREATE TRIGGER embedding_changed AFTER UPDATE ON embedding BEGIN INSERT INTO change (eid) VALUES (new.eid); END;
CREATE TRIGGER embedding_removed AFTER DELETE ON embedding BEGIN INSERT INTO change (eid) VALUES (old.eid); END;
"""

# Apart from the others: a store that gets postings loses them.
WORD_TRIGGERS = """
CREATE TRIGGER words_added AFTER INSERT ON node BEGIN
    INSERT INTO word_index (rowid, title, text, context, facet)
        VALUES (new.nid, clew_terms(new.title), clew_body(new.kind, new.text), clew_terms(new.context), clew_facet(new.space));
END;
CREATE TRIGGER words_removed AFTER DELETE ON node BEGIN
    INSERT INTO word_index (word_index, rowid, title, text, context, facet)
        VALUES ('delete', old.nid, clew_terms(old.title), clew_body(old.kind, old.text), clew_terms(old.context),
        clew_facet(old.space));
END;
CREATE TRIGGER words_changed AFTER UPDATE OF title, text, context, kind ON node BEGIN
    INSERT INTO word_index (word_index, rowid, title, text, context, facet)
        VALUES ('delete', old.nid, clew_terms(old.title), clew_body(old.kind, old.text), clew_terms(old.context),
        clew_facet(old.space));
    INSERT INTO word_index (rowid, title, text, context, facet)
        VALUES (new.nid, clew_terms(new.title), clew_body(new.kind, new.text), clew_terms(new.context), clew_facet(new.space));
END;
"""

TOMBSTONE_KEY = "SELECT value, (SELECT value FROM meta WHERE key = 'tombstone_sum' AND typeof(value) = 'integer') FROM meta WHERE key = 'tombstone_key'"  # noqa: E501
TOMBSTONES = "CREATE TABLE tombstone (digest BLOB PRIMARY KEY) WITHOUT ROWID; -- keyed hashes of forgotten texts"
CODES = """
CREATE TABLE token_code (
    eid INTEGER PRIMARY KEY REFERENCES embedding (eid) ON DELETE CASCADE,
    codes BLOB NOT NULL,         -- of each token the signs of its vector, as clew.token_codes
    checksum INTEGER NOT NULL
);
"""
RECORDS = "CREATE TABLE record (kind TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (kind, id)) WITHOUT ROWID;"


def _create(connection: sqlite3.Connection) -> None:
    """Version 1: everything but names."""
    for script in (TABLES, WORD_INDEX, TRIGGERS, WORD_TRIGGERS):
        for statement in statements(script):
            connection.execute(statement)
    connection.execute("INSERT INTO meta VALUES ('analyser', ?)", (ANALYSER_VERSION,))


def _name(connection: sqlite3.Connection) -> None:
    """Version 2: names and mentions. What was written before has none yet.

    Whoever reads texts is told by `meta` up to which node.
    """
    for statement in statements(NAMES):
        connection.execute(statement)
    connection.execute("INSERT INTO meta SELECT 'unnamed', max(nid) FROM node HAVING count(*) > 0")


def _keep(connection: sqlite3.Connection) -> None:
    """Version 3: the records of surfaces, which are no memories: tokens and jobs."""
    connection.execute(RECORDS)


def _leave_fts5(connection: sqlite3.Connection) -> None:
    """Version 4: words are in postings alone.

    FTS5 weighs a word by all rows of its table, so that a score told of other spaces.
    """
    # a store with postings has lost them already
    for trigger in ("words_added", "words_removed", "words_changed"):
        connection.execute(f"DROP TRIGGER IF EXISTS {trigger}")
    for statement in ("DROP TABLE vocabulary", "DROP TABLE word_index", "DROP VIEW analysed"):
        connection.execute(statement)


def _note_adding(connection: sqlite3.Connection) -> None:
    """Version 5: a node's row holds its ADD event. In the log it cost every write two pages more.

    What is there already stays there.
    """
    for column, type_ in zip(ADDED, ("INTEGER", "TEXT"), strict=True):
        connection.execute(f"ALTER TABLE node ADD COLUMN {column} {type_}")


def _count_later(connection: sqlite3.Connection) -> None:
    """Version 6: nodes are counted several at a time.

    A count at each cost every write a page and a trigger.
    """
    for trigger in ("node_added", "node_removed", "node_moved"):
        connection.execute(f"DROP TRIGGER {trigger}")
    for statement in statements(COUNTED_BY_TRIGGERS):
        connection.execute(statement)
    connection.execute("INSERT INTO meta SELECT 'counted', coalesce(max(nid), 0) FROM node")


def _label_by_value(connection: sqlite3.Connection) -> None:
    """Version 7: labels have no index by node, which every write had to write to.

    The nodes' rows say what they carry.
    """
    for statement in statements(LABELS):
        connection.execute(statement)


def _mark_openings(connection: sqlite3.Connection) -> None:
    """Version 8: mentions tell with what a text begins, and so what it tells of."""
    connection.execute(MARK_OPENINGS)


def _add_checksums(connection: sqlite3.Connection) -> None:
    """Version 9: nodes and vectors carry a checksum of their row. NULL means unknown.

    `verify --repair` fills it in.
    """
    for table in ("node", "embedding"):
        connection.execute(f"ALTER TABLE {table} ADD COLUMN checksum INTEGER")


def _add_tombstones(connection: sqlite3.Connection) -> None:
    """Version 10: remember forgotten texts by keyed hashes."""
    connection.execute(TOMBSTONES)


def _add_token_codes(connection: sqlite3.Connection) -> None:
    """Version 11: vectors have token codes beside them.

    What was written before has none until `reembed`.
    """
    for statement in statements(CODES):
        connection.execute(statement)


Migration = Callable[[sqlite3.Connection], None]
MIGRATIONS: tuple[Migration, ...] = (
    _create,
    _name,
    _keep,
    _leave_fts5,
    _note_adding,
    _count_later,
    _label_by_value,
    _mark_openings,
    _add_checksums,
    _add_tombstones,
    _add_token_codes,
)
"""The step at index n brings a file of version n to version n + 1."""


def statements(script: str) -> list[str]:
    """Split a script into statements, so that they run inside the caller's transaction (executescript commits)."""
    found, pending = [], ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            found.append(pending)
            pending = ""
    return found


def refuse_foreign(path: Path) -> None:
    """Raise if a file is something else, before it is opened for writing.

    SQLite may then change it on closing.

    Opened as immutable, the file is read without its journal and without a lock. A new store has no
    tables there until its first checkpoint, so only a file with tables tells. It must be SQLite
    that reads: POSIX takes a process all its locks on a file when any descriptor of it is closed,
    and SQLite sees to that.
    """
    if path.is_dir():
        raise NotAStoreError(
            f"{path} is a folder. Name a file in it with --store or CLEW_STORE.", path=str(path)
        )
    _refuse_special(path)
    if not path.exists():
        return
    if path.stat().st_size == 1:  # which SQLite takes for none
        raise _foreign(path, "is not")
    try:
        with closing(
            sqlite3.connect(f"file:{quote(os.fsencode(path))}?mode=ro&immutable=1", uri=True)
        ) as look:
            (application,) = look.execute("PRAGMA application_id").fetchone()
            (tables,) = look.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except UnicodeDecodeError:
        return  # a damaged schema: opening it says so
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorname == "SQLITE_NOTADB":
            raise _foreign(path, "is not") from error
        return  # cannot be read, or damaged: opening it says so
    if tables and application != APPLICATION_ID:
        raise _foreign(path, "is a SQLite file but not")


def _refuse_special(path: Path) -> None:
    """Raise if SQLite would wait for the writer of a pipe, or write to a device what it then takes for kept."""
    if is_special(path):
        raise NotAStoreError(
            f"{path} is a pipe or a device, not a store. Name a regular file.", path=str(path)
        )
    for journal in (f"{path.resolve()}{side}" for side in SIDE_FILES):
        if is_special(journal):
            raise NotAStoreError(
                f"{journal} is a pipe or a device, not a journal. Remove it.", path=journal
            )


def _foreign(path: Path, what: str) -> NotAStoreError:
    return NotAStoreError(
        f"{path} {what} a Clew store. Name another file with --store or CLEW_STORE; this one was left as it is.",
        path=str(path),
    )


def check(connection: sqlite3.Connection, path: Path, *, migrations: tuple[Migration, ...]) -> int:
    """Return the file's version.

    Raise if it is not a store, one of a later Clew, or one with objects that Clew did not make.
    """
    with snapshot(connection):  # another process may be making the store just now
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        found = _objects(connection)
    if application != APPLICATION_ID and (application or version or found):
        raise _foreign(path, "is a SQLite file but not")
    if version > len(migrations):
        raise NewerSchemaError(
            f"{path} was written by a newer Clew (schema {version}; this one knows up to {len(migrations)}). "
            "Upgrade with: pip install --upgrade clew. The file was left as it is.",
            path=str(path),
            schema=version,
            known=len(migrations),
        )
    if version < 0:
        raise CorruptStoreError(
            f"{path} says schema {version}, which never was. Put a backup in its place: clew restore BACKUP",
            path=str(path),
        )
    if found != _expected(migrations[:version]):
        _refuse_objects(connection, path, migrations[:version])
    return int(version)


def migrate(
    connection: sqlite3.Connection, path: Path, *, migrations: tuple[Migration, ...] = MIGRATIONS
) -> Path | None:
    """Bring the file to the newest version in one transaction, after a backup.

    Return the backup's path, if one was made.
    """
    if check(connection, path, migrations=migrations) == len(migrations):
        return None
    connection.execute("BEGIN IMMEDIATE")
    try:
        # another process may have been first
        version = check(connection, path, migrations=migrations)
        backup = _backup(path, version) if 0 < version < len(migrations) else None
        for step in migrations[version:]:
            step(connection)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(migrations)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk has rolled back already
            connection.execute("ROLLBACK")
        raise
    return backup


Objects = dict[str, str]
"""The SQL of every table, index, trigger and view by its kind and name, as in `table node`."""

# Quoted text is matched first and kept: a comment sign inside it must not hide what follows.
QUOTED_OR_BLANK = re.compile(r"""('(?:[^']|'')*'|"[^"]*")|(?:--[^\n]*|\s)+""")
# What SQLite makes itself, and the triggers that a store of version 1 to 3 dropped once it had
# postings.
OPTIONAL_OBJECTS = frozenset({"table sqlite_stat1", "table sqlite_stat4"})
OPTIONAL_TRIGGERS = frozenset(
    {"trigger words_added", "trigger words_removed", "trigger words_changed"}
)


def _objects(connection: sqlite3.Connection) -> Objects:
    rows = connection.execute(
        "SELECT type || ' ' || name, CAST(sql AS TEXT) FROM sqlite_master"
    ).fetchall()
    return {
        str(name): _normalised(str(name), sql) for name, sql in rows if name not in OPTIONAL_OBJECTS
    }


@cache
def _normalised(name: str, sql: str | None) -> str:
    """Return SQL without comments and line breaks.

    Nothing for the tables inside FTS5, which are the SQLite version's own.
    """
    if name.startswith(("table word_index_", "table vocabulary")):
        return ""
    return QUOTED_OR_BLANK.sub(lambda found: found[1] or " ", sql or "").strip()


@cache
def _expected(made_by: tuple[Migration, ...]) -> Objects:
    """Return the objects of a store that these steps make."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as model:
        for step in made_by:
            step(model)
        return _objects(model)


def unexpected_objects(
    connection: sqlite3.Connection, made_by: tuple[Migration, ...]
) -> tuple[list[str], list[str]]:
    """Return the objects that Clew did not make in this form, and those that are missing."""
    found, expected = _objects(connection), _expected(made_by)
    foreign = sorted(name for name, sql in found.items() if expected.get(name) != sql)
    return foreign, sorted(expected.keys() - found.keys() - OPTIONAL_TRIGGERS)


def _refuse_objects(
    connection: sqlite3.Connection, path: Path, made_by: tuple[Migration, ...]
) -> None:
    """Raise if the file lacks what its version has, or has what no version has.

    A trigger or a view that somebody added runs with every write, and steps onto other tables would
    leave a file that no Clew reads. Before its first release Clew wrote version 1 in several forms,
    and a damaged file may lack a table too.
    """
    foreign, missing = unexpected_objects(connection, made_by)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as model:
        for step in made_by:
            step(model)
        lacking = sorted(_columns(model) - _columns(connection)) or missing
    if lacking:
        raise CorruptStoreError(
            f"{path} says schema {len(made_by)} but lacks {', '.join(lacking[:3])}. It was left as it is. "
            "Export it with the Clew that wrote it (clew export), then: clew load; or: clew restore BACKUP",
            path=str(path),
            schema=len(made_by),
        )
    if foreign:
        raise CorruptStoreError(
            f"{path} has a {foreign[0]} that Clew did not make, so it was not opened. "
            "If you know where it comes from, remove it with the sqlite3 program; otherwise: clew restore BACKUP",
            path=str(path),
            object=foreign[0],
        )


def _columns(connection: sqlite3.Connection) -> set[str]:
    """Return every column that Clew's statements may name; FTS5's own tables are FTS5's."""
    query = "SELECT m.name || '.' || c.name FROM main.sqlite_master m, pragma_table_info(m.name, 'main') c WHERE m.type = 'table'"
    return {
        column
        for (column,) in connection.execute(
            f"{query} AND m.name NOT LIKE 'word!_index%' ESCAPE '!' AND m.name <> 'vocabulary'"
        )
    }


def lend_tables(connection: sqlite3.Connection) -> None:
    """Give a file that cannot be brought to the newest version the tables and columns it has not got, empty, for this connection alone."""
    there = {
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    }
    for statement in statements(f"{NAMES}{RECORDS}\n{TOMBSTONES}{CODES}"):
        what, kind, name = statement.split()[:3]
        if kind == "TABLE" and name not in there:
            connection.execute(statement.replace(f"{what} {kind}", f"{what} TEMP {kind}", 1))
    known = _columns(connection)
    if lacking := [column for column in (*ADDED, CHECKSUM) if f"node.{column}" not in known]:
        empty = ", ".join(f"NULL AS {column}" for column in lacking)
        # a name is looked for there first
        connection.execute(f"CREATE TEMP VIEW node AS SELECT *, {empty} FROM main.node")
    if connection.execute("SELECT 1 FROM meta WHERE key = 'counted'").fetchone() is None:
        connection.execute(LENT_COUNTS)


def _backup(path: Path, version: int) -> Path:
    """Copy the file beside itself under a name that says from which version it is.

    Never over an earlier copy.

    Over a connection of its own: SQLite copies nothing from one that is about to write.
    """
    names = (
        path.with_name(f"{path.name}.v{version}.backup{f'.{number}' if number > 1 else ''}")
        for number in count(1)
    )
    target = next(name for name in names if not name.exists())
    with closing(sqlite3.connect(path)) as reader:
        copy_to(reader, target)
    return target
