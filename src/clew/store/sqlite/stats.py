"""Counts and sizes of a store, and counts of one space in it."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from clew.token_codes import CODED_KINDS

MODEL = "(SELECT value FROM meta WHERE key = 'model')"
COUNTS = """
SELECT count(*), count(*) FILTER (WHERE t_expired IS NULL AND archived = 0), count(*) FILTER (WHERE t_expired IS NOT NULL),
       count(*) FILTER (WHERE archived = 1), count(*) FILTER (WHERE protected = 1),
       count(*) FILTER (WHERE kind = 'memory' AND root IS NULL), count(*) FILTER (WHERE kind = 'memory' AND root IS NOT NULL),
       count(*) FILTER (WHERE kind = 'memory' AND root IS NULL AND t_expired IS NULL AND archived = 0 AND t_invalid IS NOT NULL)
FROM node n WHERE {there}
"""
CATEGORIES = "SELECT n.category, count(*) FROM node n WHERE {there} GROUP BY n.category ORDER BY n.category"
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
# Of a space by way of its nodes, and of the last words on those that were forgotten. An edge out of it is not counted.
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


def statistics(connection: sqlite3.Connection, path: Path, *, space: str | None = None) -> dict[str, Any]:
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
        **dict(zip(("nodes", "live", "expired", "archived", "protected", "memories", "versions", "ending"), counts, strict=True)),
        "by_kind": _groups(
            connection, "SELECT kind, sum(nodes) FROM counted WHERE ?1 IS NULL OR name = ?1 GROUP BY kind ORDER BY kind", space
        ),
        "by_category": _groups(connection, CATEGORIES.format(there=there), space),
        "by_space": _groups(
            connection, "SELECT name, sum(nodes) FROM counted WHERE ?1 IS NULL OR name = ?1 GROUP BY name ORDER BY name", space
        ),
        "events": sum(events.values()),
        "by_event": events,
        "edges": _one(connection, ways["edges"], space),
        "vectors": _one(connection, ways["vectors"], space),
        "coverage": {
            kind: {"nodes": nodes, "vectors": vectors, "context_keys": keys, "context_vectors": contexts}
            for kind, nodes, vectors, keys, contexts in connection.execute(LEVELS.format(there=there), (space,))
        },
        "unembedded": _one(connection, UNEMBEDDED.format(there=there), space),
        "token_codes": dict(
            zip(("nodes", "missing", "bytes"), connection.execute(CODES.format(there=there), (space,)).fetchone(), strict=True)
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
