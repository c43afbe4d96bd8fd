"""Counts and sizes of a store."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

COUNTS = """
SELECT count(*), count(*) FILTER (WHERE t_expired IS NULL AND archived = 0), count(*) FILTER (WHERE t_expired IS NOT NULL),
       count(*) FILTER (WHERE archived = 1), count(*) FILTER (WHERE protected = 1) FROM node
"""
LEVELS = """
SELECT n.kind, count(*), count(c.eid), count(nullif(n.context, '')), count(k.eid) FROM node n
LEFT JOIN embedding c ON c.nid = n.nid AND c.role = 'content' AND c.model = (SELECT value FROM meta WHERE key = 'model')
LEFT JOIN embedding k ON k.nid = n.nid AND k.role = 'context' AND k.model = (SELECT value FROM meta WHERE key = 'model')
WHERE n.t_expired IS NULL AND n.archived = 0 GROUP BY n.kind ORDER BY n.kind
"""
UNEMBEDDED = """
SELECT count(*) FROM node n WHERE n.t_expired IS NULL AND n.archived = 0 AND NOT EXISTS (
    SELECT 1 FROM embedding e WHERE e.nid = n.nid AND e.role = 'content' AND e.text_hash = n.content_hash
    AND e.model = (SELECT value FROM meta WHERE key = 'model')
    AND (n.context = '' OR EXISTS (SELECT 1 FROM embedding c WHERE c.nid = n.nid AND c.role = 'context' AND c.model = e.model)))
"""


def statistics(connection: sqlite3.Connection, path: Path) -> dict[str, Any]:
    """Return what `clew stats` shows."""
    nodes, live, expired, archived, protected = connection.execute(COUNTS).fetchone()
    model = connection.execute(
        "SELECT m.name, m.dimension FROM meta JOIN model m ON m.mid = meta.value WHERE meta.key = 'model'"
    ).fetchone()
    return {
        "nodes": nodes,
        "live": live,
        "expired": expired,
        "archived": archived,
        "protected": protected,
        "by_kind": _groups(connection, "SELECT kind, count(*) FROM node GROUP BY kind ORDER BY kind"),
        "by_category": _groups(connection, "SELECT category, count(*) FROM node GROUP BY category ORDER BY category"),
        "by_space": _groups(connection, "SELECT name, sum(nodes) FROM space GROUP BY name ORDER BY name"),
        "events": _one(connection, "SELECT count(*) FROM event"),
        "by_event": _groups(connection, "SELECT kind, count(*) FROM event GROUP BY kind ORDER BY kind"),
        "rejected": _groups(connection, "SELECT rule, count FROM rejection ORDER BY rule"),
        "edges": _one(connection, "SELECT count(*) FROM edge"),
        "vectors": _one(connection, "SELECT count(*) FROM embedding WHERE model = (SELECT value FROM meta WHERE key = 'model')"),
        "coverage": {
            kind: {"nodes": nodes, "vectors": vectors, "context_keys": keys, "context_vectors": contexts}
            for kind, nodes, vectors, keys, contexts in connection.execute(LEVELS)
        },
        "unembedded": _one(connection, UNEMBEDDED),
        "model": model[0] if model else None,
        "dimension": model[1] if model else None,
        "schema": _one(connection, "PRAGMA user_version"),
        "bytes": sum(file.stat().st_size for file in (path, Path(f"{path}-wal")) if file.exists()),
    }


def _groups(connection: sqlite3.Connection, query: str) -> dict[str, int]:
    return dict(connection.execute(query).fetchall())


def _one(connection: sqlite3.Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])
