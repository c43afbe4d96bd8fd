"""How many nodes a space has of each kind, how many of them live, and how many of those have a context key.

The table `space` holds the counts of the nodes up to a number, which `meta` knows as `counted`; triggers keep them true as these nodes
change or go. What was added since is few, and counted when it is asked for: a count at every add would write a page more each time.
"""

from __future__ import annotations

import sqlite3

MOST_UNCOUNTED = 64  # nodes: whoever asks counts them in 30 microseconds

_LIVE = "t_expired IS NULL AND archived = 0"
# By their numbers: to group them, SQLite would rather go through an index of all nodes, which has them by space.
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
    (nid,) = connection.execute("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'node'), 0)").fetchone()
    return int(nid)


def count_if_due(connection: sqlite3.Connection) -> int:
    """Add what is not counted yet to the counts if it is no longer little; return how many more nodes may be added until then."""
    uncounted = newest(connection) - _counted(connection)
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


def _counted(connection: sqlite3.Connection) -> int:
    (nid,) = connection.execute("SELECT coalesce((SELECT value FROM meta WHERE key = 'counted'), 0)").fetchone()
    return int(nid)
