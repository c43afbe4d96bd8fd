"""Counts and sizes of a store, and counts of one space in it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clew.ports import Evidence
from clew.store.sqlite.rows import moment, snapshot
from clew.token_codes import CODED_KINDS
from clew.types import NodeId, Stability

MODEL = "(SELECT value FROM meta WHERE key = 'model')"
COUNTS = """
SELECT count(*), count(*) FILTER (WHERE t_expired IS NULL AND archived = 0), count(*) FILTER (WHERE t_expired IS NOT NULL),
       count(*) FILTER (WHERE archived = 1), count(*) FILTER (WHERE protected = 1),
       count(*) FILTER (WHERE kind = 'memory' AND root IS NULL), count(*) FILTER (WHERE kind = 'memory' AND root IS NOT NULL),
       count(*) FILTER (WHERE kind = 'memory' AND root IS NULL AND t_expired IS NULL AND archived = 0 AND t_invalid IS NOT NULL)
FROM node n WHERE {there}
"""
CATEGORIES = (
    "SELECT n.category, count(*) FROM node n WHERE {there} GROUP BY n.category ORDER BY n.category"
)
LEVELS = f"""
SELECT n.kind, count(*), count(c.eid), count(nullif(n.context, '')), count(k.eid) FROM node n
LEFT JOIN embedding c ON c.nid = n.nid AND c.role = 'content' AND c.model = {MODEL}
LEFT JOIN embedding k ON k.nid = n.nid AND k.role = 'context' AND k.model = {MODEL}
WHERE n.t_expired IS NULL AND n.archived = 0 AND {{there}} GROUP BY n.kind ORDER BY n.kind
"""
UNEMBEDDED = f"""
SELECT count(*) FROM node n WHERE n.t_expired IS NULL AND n.archived = 0 AND {{there}} AND NOT EXISTS (
    SELECT 1 FROM embedding e WHERE e.nid = n.nid AND e.role = 'content' AND e.text_hash = n.content_hash AND e.model = {MODEL}
    AND (n.context = '' OR EXISTS (SELECT 1 FROM embedding c WHERE c.nid = n.nid AND c.role = 'context' AND c.model = e.model)))
"""
CODED = f"({', '.join(map(repr, map(str, CODED_KINDS)))})"
CODES = f"""
SELECT count(codes), count(*) - count(codes), coalesce(sum(length(codes)), 0) FROM (
    SELECT (SELECT t.codes FROM embedding e CROSS JOIN token_code t ON t.eid = e.eid WHERE e.nid = n.nid AND e.model = {MODEL}
        ORDER BY e.role DESC LIMIT 1) AS codes
    FROM node n WHERE n.t_expired IS NULL AND n.archived = 0 AND n.kind IN {CODED} AND {{there}})
"""
# Of a space by way of its nodes, and of the last words on those that were forgotten. An edge out of
# it is not counted.
EVERYWHERE = {
    "events": "SELECT kind, count(*) FROM (SELECT kind FROM event UNION ALL SELECT 'ADD' FROM node WHERE added_at IS NOT NULL) "
    "WHERE ?1 IS NULL GROUP BY kind ORDER BY kind",
    "edges": "SELECT count(*) FROM edge WHERE ?1 IS NULL",
    "vectors": f"SELECT count(*) FROM embedding WHERE model = {MODEL} AND ?1 IS NULL",
}
IN_SPACE = {
    "events": "SELECT kind, count(*) FROM (SELECT e.kind FROM node n CROSS JOIN event e ON e.node = n.id WHERE n.space = ?1 UNION ALL "
    "SELECT 'ADD' FROM node n WHERE n.space = ?1 AND n.added_at IS NOT NULL UNION ALL "
    "SELECT kind FROM event WHERE kind = 'FORGET' AND json_extract(detail, '$.space') = ?1) GROUP BY kind ORDER BY kind",
    "edges": "SELECT count(*) FROM node n CROSS JOIN edge e ON e.source = n.nid CROSS JOIN node t ON t.nid = e.target "
    "WHERE n.space = ?1 AND t.space = ?1",
    "vectors": f"SELECT count(*) FROM node n CROSS JOIN embedding e ON e.nid = n.nid AND e.model = {MODEL} WHERE n.space = ?1",
}


def statistics(
    connection: sqlite3.Connection, path: Path, *, space: str | None = None
) -> dict[str, Any]:
    """Return what `clew stats` shows; of a space nothing that another one changes."""
    model = connection.execute(
        "SELECT m.name, m.dimension FROM meta JOIN model m ON m.mid = meta.value WHERE meta.key = 'model'"
    ).fetchone()
    return {
        **_counted(connection, space),
        **({} if space is not None else _whole(connection, path)),
        "model": model[0] if model else None,
        "dimension": model[1] if model else None,
        "schema": _one(connection, "PRAGMA user_version"),
    }


def _counted(connection: sqlite3.Connection, space: str | None) -> dict[str, Any]:
    there, ways = ("?1 IS NULL", EVERYWHERE) if space is None else ("n.space = ?1", IN_SPACE)
    counts = connection.execute(COUNTS.format(there=there), (space,)).fetchone()
    events = _groups(connection, ways["events"], space)
    return {
        **dict(
            zip(
                (
                    "nodes",
                    "live",
                    "expired",
                    "archived",
                    "protected",
                    "memories",
                    "versions",
                    "ending",
                ),
                counts,
                strict=True,
            )
        ),
        "by_kind": _groups(
            connection,
            "SELECT kind, sum(nodes) FROM counted WHERE ?1 IS NULL OR name = ?1 GROUP BY kind ORDER BY kind",
            space,
        ),
        "by_category": _groups(connection, CATEGORIES.format(there=there), space),
        "by_space": _groups(
            connection,
            "SELECT name, sum(nodes) FROM counted WHERE ?1 IS NULL OR name = ?1 GROUP BY name ORDER BY name",
            space,
        ),
        "events": sum(events.values()),
        "by_event": events,
        "edges": _one(connection, ways["edges"], space),
        "vectors": _one(connection, ways["vectors"], space),
        "coverage": {
            kind: {
                "nodes": nodes,
                "vectors": vectors,
                "context_keys": keys,
                "context_vectors": contexts,
            }
            for kind, nodes, vectors, keys, contexts in connection.execute(
                LEVELS.format(there=there), (space,)
            )
        },
        "unembedded": _one(connection, UNEMBEDDED.format(there=there), space),
        "token_codes": dict(
            zip(
                ("nodes", "missing", "bytes"),
                connection.execute(CODES.format(there=there), (space,)).fetchone(),
                strict=True,
            )
        ),
    }


def _whole(connection: sqlite3.Connection, path: Path) -> dict[str, Any]:
    """Return what is known of the store and of no space."""
    return {
        "rejected": _groups(connection, "SELECT rule, count FROM rejection ORDER BY rule"),
        "bytes": sum(file.stat().st_size for file in (path, Path(f"{path}-wal")) if file.exists()),
    }


def _groups(connection: sqlite3.Connection, query: str, *values: Any) -> dict[str, int]:
    found = dict(connection.execute(query, values).fetchall())
    if not {*map(type, found)} <= {str} or not {*map(type, found.values())} <= {int}:
        raise TypeError("a name or a count is damaged")
    return found


def _one(connection: sqlite3.Connection, query: str, *values: Any) -> int:
    return int(connection.execute(query, values).fetchone()[0])


# What has happened around nodes, read for many of them at once.

_ABOUT = (
    "SELECT n.id, n.stability, n.t_valid, (SELECT count(*) FROM edge e WHERE e.target = n.nid AND e.kind = 'RELATED') "
    "FROM json_each(?) j CROSS JOIN node n ON n.id = j.value"
)
_REINFORCED = (
    "SELECT e.node, e.at FROM json_each(?) j CROSS JOIN event e ON e.node = j.value "
    "WHERE e.kind IN ('REINFORCE_EXACT', 'REINFORCE_NEAR') ORDER BY e.at"
)
# From the log: a store that was loaded from an export has its accesses there and not in the table
# that damps counting.
_ACCESSED = "SELECT e.node, max(e.at) FROM json_each(?) j CROSS JOIN event e ON e.node = j.value WHERE e.kind = 'ACCESS' GROUP BY e.node"


def evidence(connection: sqlite3.Connection, ids: Sequence[NodeId]) -> dict[NodeId, Evidence]:
    """Return the evidence of the nodes that exist, all as of one moment."""
    asked = (json.dumps(list(dict.fromkeys(ids))),)
    with snapshot(connection):
        nodes = connection.execute(_ABOUT, asked).fetchall()
        accessed = dict(connection.execute(_ACCESSED, asked).fetchall())
        reinforced: dict[NodeId, list[int]] = {}
        for id, at in connection.execute(_REINFORCED, asked):
            reinforced.setdefault(id, []).append(at)
    return {
        id: Evidence(
            stability=Stability(stability),
            t_valid=moment(t_valid),
            reinforced=tuple(map(moment, reinforced.get(id, ()))),
            related=related,
            accessed=moment(accessed[id]) if id in accessed else None,
        )
        for id, stability, t_valid, related in nodes
    }


# How many nodes a space has of each kind, how many of them live, and how many of those have a
# context key.
#
# The table `space` holds the counts of the nodes up to a number, which `meta` knows as `counted`;
# triggers keep them true as these nodes
# change or go. What was added since is few, and counted when it is asked for: a count at every add
# would write a page more each time.

MOST_UNCOUNTED = 64  # nodes: whoever asks counts them in 30 microseconds

_LIVE = "t_expired IS NULL AND archived = 0"
# By their numbers: to group them, SQLite would rather go through an index of all nodes, which has
# them by space.
_UNCOUNTED = f"""
SELECT space, kind, count(*), count(*) FILTER (WHERE {_LIVE}), count(*) FILTER (WHERE {_LIVE} AND context <> '')
FROM node NOT INDEXED WHERE nid > (SELECT value FROM meta WHERE key = 'counted') GROUP BY space, kind
"""
_WAS_COUNTED = "old.nid <= (SELECT value FROM meta WHERE key = 'counted')"
_TAKE_OFF = """
    UPDATE space SET nodes = nodes - 1, live = live - (old.t_expired IS NULL AND old.archived = 0),
        keyed = keyed - (old.t_expired IS NULL AND old.archived = 0 AND old.context <> '') WHERE name = old.space AND kind = old.kind
"""

COUNTED_BY_TRIGGERS = f"""
CREATE VIEW counted AS SELECT name, kind, sum(nodes) AS nodes, sum(live) AS live, sum(keyed) AS keyed
    FROM (SELECT * FROM space UNION ALL SELECT * FROM ({_UNCOUNTED})) GROUP BY name, kind;
CREATE TRIGGER node_removed AFTER DELETE ON node BEGIN
    {_TAKE_OFF} AND {_WAS_COUNTED};
    DELETE FROM space WHERE name = old.space AND kind = old.kind AND nodes = 0;
    INSERT INTO node_change (nid, reworded) VALUES (old.nid, 1);
END;
CREATE TRIGGER node_moved AFTER UPDATE OF kind, context, archived, t_expired ON node WHEN {_WAS_COUNTED} BEGIN
    {_TAKE_OFF};
    DELETE FROM space WHERE name = old.space AND kind = old.kind AND nodes = 0;
    INSERT INTO space SELECT new.space, new.kind, 1, live, live AND new.context <> ''
        FROM (SELECT new.t_expired IS NULL AND new.archived = 0 AS live) WHERE TRUE
        ON CONFLICT (name, kind) DO UPDATE SET nodes = nodes + 1, live = live + excluded.live, keyed = keyed + excluded.keyed;
END;
"""
"""The view `counted` is what everybody asks."""
LENT_COUNTS = "CREATE TEMP VIEW counted AS SELECT * FROM space"
"""What an older file that cannot be written has in its place: there each node is counted."""


def newest(connection: sqlite3.Connection) -> int:
    """Return the highest node number given out."""
    (nid,) = connection.execute(
        "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'node'), 0)"
    ).fetchone()
    return int(nid)


def count_if_due(connection: sqlite3.Connection) -> int:
    """Add what is not counted yet to the counts if it is no longer little.

    Return how many more nodes may be added until then.
    """
    uncounted = newest(connection) - _counting_counted(connection)
    if uncounted >= MOST_UNCOUNTED:
        count(connection)
        uncounted = 0
    return MOST_UNCOUNTED - uncounted


def count(connection: sqlite3.Connection) -> None:
    """Add all that is not counted yet to the counts."""
    connection.execute(
        f"INSERT INTO space {_UNCOUNTED} "
        "ON CONFLICT (name, kind) DO UPDATE SET nodes = nodes + excluded.nodes, live = live + excluded.live, keyed = keyed + excluded.keyed"
    )
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('counted', ?)", (newest(connection),))


def recount(connection: sqlite3.Connection) -> None:
    """Count every node anew."""
    connection.execute("DELETE FROM space")
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('counted', 0)")
    count(connection)


def _counting_counted(connection: sqlite3.Connection) -> int:
    (nid,) = connection.execute(
        "SELECT coalesce((SELECT value FROM meta WHERE key = 'counted'), 0)"
    ).fetchone()
    return int(nid)
