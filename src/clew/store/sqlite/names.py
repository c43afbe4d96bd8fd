"""What nodes name and are about.

Names by space and key, who mentions them, and which parts stand for people's names.

`name.holders` counts the mentions of nodes that are not expired. `mention` adds to it; what leaves
or expires is taken off by triggers, which also remove a name with its last mention. Adding has no
trigger: a statement with one must be undoable by itself, and inside a savepoint SQLite then goes
through all pages changed since it began, for each row.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from clew.ports import Problem
from clew.store.name_index import each_once, parts_of
from clew.store.sqlite.where import condition
from clew.types import Filter, Mention, Named, NodeId

NAMES = """
CREATE TABLE name (
    id INTEGER PRIMARY KEY,
    space TEXT NOT NULL,
    key TEXT NOT NULL,           -- joins all ways to write it
    name TEXT NOT NULL,          -- as it was written first
    type TEXT NOT NULL,
    holders INTEGER NOT NULL,    -- mentions by nodes that are not expired
    UNIQUE (space, key)
);
CREATE TABLE mention (
    name INTEGER NOT NULL,       -- name.id
    subject INTEGER NOT NULL,    -- 1: the node is about it, 2: its text begins with it (since version 8), 0: neither
    nid INTEGER NOT NULL REFERENCES node (nid) ON DELETE CASCADE,
    confidence REAL NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    spelled TEXT,                -- NULL: as the name is
    type TEXT,                   -- NULL: the name's
    PRIMARY KEY (name, subject, nid)
) WITHOUT ROWID;
CREATE INDEX mention_by_node ON mention (nid);
CREATE TABLE alias (             -- the parts that may stand for a person's name
    space TEXT NOT NULL,
    part TEXT NOT NULL,
    name INTEGER NOT NULL REFERENCES name (id) ON DELETE CASCADE,
    PRIMARY KEY (space, part, name)
) WITHOUT ROWID;
CREATE INDEX alias_by_name ON alias (name);

CREATE TRIGGER mention_removed AFTER DELETE ON mention BEGIN
    UPDATE name SET holders = holders - 1 WHERE id = old.name AND (SELECT t_expired IS NULL FROM node WHERE nid = old.nid);
    DELETE FROM name WHERE id = old.name AND NOT EXISTS (SELECT 1 FROM mention WHERE name = old.name);
END;
CREATE TRIGGER node_leaving BEFORE DELETE ON node BEGIN -- not by the cascade: mention_removed must still find the node
    DELETE FROM mention WHERE nid = old.nid;
END;
CREATE TRIGGER node_ended AFTER UPDATE OF t_expired ON node WHEN (old.t_expired IS NULL) <> (new.t_expired IS NULL) BEGIN
    UPDATE name SET holders = holders + iif(new.t_expired IS NULL, 1, -1) WHERE id IN (SELECT name FROM mention WHERE nid = new.nid);
END;
CREATE TRIGGER node_unsaid AFTER UPDATE OF title, text ON node WHEN old.title <> new.title OR old.text <> new.text BEGIN
    DELETE FROM mention WHERE nid = new.nid; -- they point into a text that is no longer there
END;
"""
# What `mention.subject` says of a node and a name.
NAMING, ABOUT, OPENING = 0, 1, 2

# Version 8: of what memories name, it was not told apart what they begin with. A colon behind it
# makes it a speaker, a genitive an owner.
MARK_OPENINGS = f"""
UPDATE mention SET subject = {OPENING} WHERE subject = {NAMING} AND start = 0 AND "end" > 0
AND nid IN (SELECT nid FROM node WHERE kind = 'memory' AND title = '' AND substr(text, mention."end" + 1, 1) NOT IN (':', char(39), '’'))
"""

MOST_LOOKED_AT = 4096
"""How many of a name's latest holders a filter is asked about: what more nodes than this name
connects nothing.
"""
_COUNTED = "SELECT count(*) FROM mention m JOIN node n ON n.nid = m.nid WHERE m.name = k.id AND n.t_expired IS NULL"

# For each key asked for, by its place: the whole that it stands for, and every name that means that
# whole.
_MEANT = """
WITH asked AS (SELECT key AS place, value AS key FROM json_each(?1)),
     whole AS (SELECT place, coalesce(
        (SELECT max(name) FROM (SELECT name FROM alias WHERE space = ?2 AND part = asked.key LIMIT 2) HAVING count(*) = 1),
        (SELECT id FROM name WHERE space = ?2 AND key = asked.key)) AS id FROM asked),
     meant AS (
        SELECT place, id AS whole, id FROM whole WHERE id IS NOT NULL
        UNION ALL
        SELECT w.place, w.id, p.id FROM whole w CROSS JOIN alias a ON a.name = w.id
        CROSS JOIN name p ON p.space = ?2 AND p.key = a.part
        WHERE (SELECT count(*) FROM (SELECT 1 FROM alias WHERE space = ?2 AND part = a.part LIMIT 2)) = 1)
"""

# The same for each key by itself.
_ITSELF = """
WITH meant AS (SELECT j.key AS place, k.id AS whole, k.id FROM json_each(?1) j CROSS JOIN name k ON k.space = ?2 AND k.key = j.value)
"""


def named(
    connection: sqlite3.Connection, keys: Sequence[str], where: Filter, *, limit: int, parts: bool
) -> dict[str, Named]:
    """Return where the filter's space speaks of each key.

    One statement, whatever the number of keys and of holders.
    """
    clause, values = condition(where)
    query = (
        f"{_MEANT if parts else _ITSELF} "
        f"SELECT m.place, w.name, w.type, k.holders, {', '.join(_holding(way, clause, limit) for way in (ABOUT, NAMING, OPENING))} "
        "FROM meant m CROSS JOIN name k ON k.id = m.id CROSS JOIN name w ON w.id = m.whole ORDER BY m.place"
    )
    rows = connection.execute(
        query, (json.dumps(list(keys)), where.space, *values, *values, *values)
    ).fetchall()
    return {
        keys[place]: _joined(list(group), limit)
        for place, group in groupby(rows, key=itemgetter(0))
    }


def _holding(way: int, clause: str, limit: int) -> str:
    """Return an expression for the latest nodes that mention `k` in one way and pass, as JSON.

    A hub is neither sorted nor looked through.

    The inner query is read row by row, latest first, and no further than the outer one needs.
    """
    theirs = f"SELECT nid FROM mention WHERE name = k.id AND subject = {way} ORDER BY nid DESC LIMIT {MOST_LOOKED_AT}"
    return (
        "(SELECT json_group_array(json_array(nid, id)) FROM (SELECT n.nid, n.id "
        f"FROM ({theirs}) h CROSS JOIN node n ON n.nid = h.nid WHERE {clause} LIMIT {max(0, int(limit))}))"
    )


def _joined(rows: Sequence[tuple[Any, ...]], limit: int) -> Named:
    """Return as one what is known of a name and of the parts that stand for it."""
    _, name, type_, *_ = rows[0]
    if {type(name), type(type_)} != {str}:
        raise TypeError("a name is damaged")
    subjects, openers = (_latest((row[column] for row in rows), limit) for column in (4, 6))
    holders = _latest((each for row in rows for each in row[5:]), limit)
    # Of a time when more named it than do now, all who are shown count.
    count = max(sum(row[3] for row in rows), len({*subjects, *holders}))
    return Named(name, type_, subjects, holders, count, openers)


def _latest(found: Iterable[str], limit: int) -> tuple[NodeId, ...]:
    nodes = {number: id for each in found if each != "[]" for number, id in json.loads(each)}
    return tuple(id for _, id in sorted(nodes.items(), reverse=True))[: max(0, limit)]


def mentions(
    connection: sqlite3.Connection, ids: Sequence[NodeId]
) -> dict[NodeId, tuple[Mention, ...]]:
    """Return what each of the nodes names and is about."""
    rows = connection.execute(
        'SELECT n.id, k.key, coalesce(m.spelled, k.name), coalesce(m.type, k.type), m.confidence, m.subject, m.start, m."end" '
        "FROM (SELECT DISTINCT value FROM json_each(?)) j CROSS JOIN node n ON n.id = j.value CROSS JOIN mention m ON m.nid = n.nid "
        "CROSS JOIN name k ON k.id = m.name ORDER BY n.id, m.subject = 1 DESC, m.confidence DESC, k.key",
        (json.dumps(list(ids)),),
    )
    found = map(_mention, rows)
    return {id: tuple(group) for id, group in groupby(found, key=lambda mention: mention.node)}


def _mention(row: tuple[Any, ...]) -> Mention:
    id, key, name, type_, sure, way, start, end = row
    if tuple(map(type, row)) != (str, str, str, str, float, int, int, int):
        raise TypeError("what a memory names is damaged")
    return Mention(id, key, name, type_, sure, way == ABOUT, start, end, way == OPENING)


def mention(connection: sqlite3.Connection, noted: Sequence[Mention]) -> None:
    """Note what nodes name in place of what was noted of them before.

    Nodes that are gone are passed over.
    """
    noted = each_once(noted)
    nodes = _nodes(connection, dict.fromkeys(each.node for each in noted))
    if named := [(node.number,) for node in nodes.values() if node.mentions]:
        connection.executemany("DELETE FROM mention WHERE nid = ?", named)
    known = [(each, nodes[each.node]) for each in noted if each.node in nodes]
    rows = [(_row(connection, each, node), node) for each, node in known]
    # What a damaged store still holds of a name that is gone may stand in the way: `mend` sees to
    # that.
    connection.executemany(
        "INSERT OR IGNORE INTO mention VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [row for row, _ in rows]
    )
    counts = Counter(row[0] for row, node in rows if node.believed)
    connection.executemany(
        "UPDATE name SET holders = holders + ? WHERE id = ?",
        [(count, name) for name, count in counts.items()],
    )


class _Node(NamedTuple):
    number: int
    space: str
    believed: int
    mentions: int


def _nodes(connection: sqlite3.Connection, ids: Iterable[NodeId]) -> dict[NodeId, _Node]:
    query = (
        "SELECT n.id, n.nid, n.space, n.t_expired IS NULL, EXISTS (SELECT 1 FROM mention m WHERE m.nid = n.nid) "
        "FROM json_each(?) j CROSS JOIN node n ON n.id = j.value"
    )
    return {id: _Node(*row) for id, *row in connection.execute(query, (json.dumps(list(ids)),))}


def _row(connection: sqlite3.Connection, noted: Mention, node: _Node) -> tuple[Any, ...]:
    known = connection.execute(
        "SELECT id, name, type FROM name WHERE space = ? AND key = ?", (node.space, noted.key)
    ).fetchone()
    name, spelled, type_ = known or (_made(connection, noted, node.space), noted.name, noted.type)
    return (
        name,
        ABOUT if noted.subject else OPENING if noted.opens else NAMING,
        node.number,
        noted.confidence,
        noted.start,
        noted.end,
        None if spelled == noted.name else noted.name,
        None if type_ == noted.type else noted.type,
    )


def _made(connection: sqlite3.Connection, noted: Mention, space: str) -> int:
    cursor = connection.execute(
        "INSERT INTO name VALUES (NULL, ?, ?, ?, ?, 0)",
        (space, noted.key, noted.name, str(noted.type)),
    )
    number = int(cursor.lastrowid or 0)
    connection.executemany(
        "INSERT OR IGNORE INTO alias VALUES (?, ?, ?)",
        [(space, part, number) for part in parts_of(noted.key)],
    )
    return number


def mentioned(connection: sqlite3.Connection, numbers: Sequence[int]) -> list[int]:
    """Return the names that nodes mention."""
    query = "SELECT DISTINCT m.name FROM json_each(?) j CROSS JOIN mention m ON m.nid = j.value"
    return [name for (name,) in connection.execute(query, (json.dumps(list(numbers)),))]


def respell(connection: sqlite3.Connection, numbers: Sequence[int]) -> None:
    """Write names as the first node does that still mentions them, where nobody is left who spells them as they are."""
    connection.execute(
        "UPDATE name AS k SET name = (SELECT m.spelled FROM mention m WHERE m.name = k.id ORDER BY m.nid LIMIT 1) "
        "WHERE k.id IN (SELECT value FROM json_each(?)) "
        "AND NOT EXISTS (SELECT 1 FROM mention m WHERE m.name = k.id AND coalesce(m.spelled, k.name) = k.name)",
        (json.dumps(list(numbers)),),
    )


def visible(
    connection: sqlite3.Connection, ids: Sequence[NodeId], where: Filter
) -> frozenset[NodeId]:
    """Return those of the nodes that pass the filter."""
    clause, values = condition(where)
    query = f"SELECT n.id FROM json_each(?) j CROSS JOIN node n ON n.id = j.value WHERE {clause}"
    return frozenset(id for (id,) in connection.execute(query, (json.dumps(list(ids)), *values)))


def wrong(connection: sqlite3.Connection) -> Iterator[Problem]:
    """Yield what is wrong with names.

    Counts, names that nobody mentions, mentions of no name, parts.
    """
    way_out = "Run: clew verify --repair"
    if connection.execute("SELECT 1 FROM meta WHERE key = 'unnamed'").fetchone():
        yield Problem(
            "names", "what an earlier Clew wrote has not been read for names yet", way_out
        )
    for key, space in connection.execute(
        f"SELECT k.key, k.space FROM name k WHERE k.holders <> ({_COUNTED}) ORDER BY k.space, k.key"
    ):
        yield Problem("names", f"the count of {key!r} in space {space!r} is wrong", way_out)
    for (key,) in connection.execute(
        "SELECT key FROM name WHERE id NOT IN (SELECT name FROM mention) ORDER BY space, key"
    ):
        yield Problem("names", f"nobody mentions {key!r} any more", way_out)
    (lost,) = connection.execute(
        "SELECT count(*) FROM mention WHERE name NOT IN (SELECT id FROM name)"
    ).fetchone()
    if lost:
        yield Problem("names", f"{lost} mentions are of no known name", way_out)
    known = connection.execute("SELECT space, part, name FROM alias ORDER BY 1, 2, 3").fetchall()
    if known != sorted(_aliases(connection)):
        yield Problem("names", "the parts of people's names are not those of the names", way_out)


def mend(connection: sqlite3.Connection) -> None:
    """Make counts and parts anew, and drop what belongs to nothing."""
    connection.execute("DELETE FROM meta WHERE key = 'unnamed'")
    connection.execute("DELETE FROM mention WHERE name NOT IN (SELECT id FROM name)")
    connection.execute("DELETE FROM name WHERE id NOT IN (SELECT name FROM mention)")
    connection.execute(f"UPDATE name AS k SET holders = ({_COUNTED})")
    connection.execute("DELETE FROM alias")
    connection.executemany("INSERT INTO alias VALUES (?, ?, ?)", list(_aliases(connection)))


def _aliases(connection: sqlite3.Connection) -> Iterator[tuple[str, str, int]]:
    for number, space, key in connection.execute(
        "SELECT id, space, key FROM name ORDER BY id"
    ).fetchall():
        yield from ((space, part, number) for part in parts_of(key))
