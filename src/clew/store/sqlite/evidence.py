"""What has happened around nodes, read for many of them at once."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from clew.ports import Evidence
from clew.store.sqlite.rows import moment
from clew.store.sqlite.snapshot import snapshot
from clew.types import NodeId, Stability

_ABOUT = (
    "SELECT n.id, n.stability, n.t_valid, (SELECT count(*) FROM edge e WHERE e.target = n.nid AND e.kind = 'RELATED') "
    "FROM json_each(?) j CROSS JOIN node n ON n.id = j.value"
)
_REINFORCED = (
    "SELECT e.node, e.at FROM json_each(?) j CROSS JOIN event e ON e.node = j.value "
    "WHERE e.kind IN ('REINFORCE_EXACT', 'REINFORCE_NEAR') ORDER BY e.at"
)
# From the log: a store that was loaded from an export has its accesses there and not in the table that damps counting.
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
