"""Checks of everything derived against the truth."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import numpy as np

from clew.ports import Problem
from clew.store.sqlite import labels, names, segments
from clew.store.sqlite.dense import ROWS, SEGMENT_ROWS, changed, records_of
from clew.store.sqlite.index import RECORD
from clew.store.sqlite.snapshot import snapshot

COUNTED = """
SELECT space, kind, count(*), count(*) FILTER (WHERE t_expired IS NULL AND archived = 0),
       count(*) FILTER (WHERE t_expired IS NULL AND archived = 0 AND context <> '') FROM node GROUP BY space, kind
"""
"""What the view `counted` must say."""
UNIT_TOLERANCE = 0.01  # float16 rounds a unit vector's length by less than this


def problems(connection: sqlite3.Connection) -> tuple[Problem, ...]:
    """Return what is wrong with the store, most fundamental first."""
    found = [*_file(connection)]
    if not found:  # the rest would only repeat that the file is damaged
        with snapshot(connection):  # others may write meanwhile
            found += [*_spaces(connection), *_events(connection), *_vectors(connection), *_segments(connection), *_postings(connection)]
            found += [*labels.wrong(connection), *names.wrong(connection)]
    return tuple(found)


def _file(connection: sqlite3.Connection) -> list[Problem]:
    rows = connection.execute("PRAGMA integrity_check(20)").fetchall()
    damaged = [Problem("file", str(row[0]), "Load your last backup: clew load BACKUP --store NEW") for row in rows if row[0] != "ok"]
    dangling = connection.execute("PRAGMA foreign_key_check").fetchall()
    return damaged + [
        Problem("references", f"{table} row {row} points at nothing", "Export and load the store: clew export, clew load")
        for table, row, *_ in dangling
    ]


def _spaces(connection: sqlite3.Connection) -> list[Problem]:
    kept = "SELECT name, kind, nodes, live, keyed FROM counted"
    wrong = connection.execute(
        f"SELECT DISTINCT space FROM (SELECT * FROM ({COUNTED} EXCEPT {kept}) UNION SELECT * FROM ({kept} EXCEPT {COUNTED})) ORDER BY 1"
    )
    return [Problem("spaces", f"the count of space {name!r} is wrong", "Run: clew verify --repair") for (name,) in wrong]


def _events(connection: sqlite3.Connection) -> list[Problem]:
    """Every node and its ADD event are written together: one without the other is a half write."""
    rows = connection.execute(
        "SELECT id FROM node n WHERE added_at IS NULL AND NOT EXISTS (SELECT 1 FROM event WHERE node = n.id AND kind = 'ADD') LIMIT 20"
    ).fetchall()
    return [Problem("events", f"memory {id} has no ADD event", "Export and load the store: clew export, clew load") for (id,) in rows]


def _vectors(connection: sqlite3.Connection) -> list[Problem]:
    return [
        Problem(
            "vectors", f"the vector of {id} is not a unit vector of {dimension} numbers", "Run: clew verify --repair, then: clew reembed"
        )
        for _, id, dimension in unsound_vectors(connection)
    ]


def unsound_vectors(connection: sqlite3.Connection) -> Iterator[tuple[int, str, int]]:
    """Yield the number, the memory and the wanted dimension of every vector that no embedder can have given."""
    rows = connection.execute(
        "SELECT e.eid, n.id, e.vector, m.dimension FROM embedding e JOIN node n ON n.nid = e.nid JOIN model m ON m.mid = e.model"
    )
    for eid, id, blob, dimension in rows:
        values = np.frombuffer(blob, "<f2").astype(np.float32) if len(blob) == 2 * dimension else np.empty(0, np.float32)
        if not abs(float(np.linalg.norm(values)) - 1) < UNIT_TOLERANCE:  # also when it is NaN
            yield eid, id, dimension


def _segments(connection: sqlite3.Connection) -> list[Problem]:
    """Rebuild every segment that no later change touches and compare it with what is stored."""
    saved = dict(connection.execute("SELECT key, value FROM meta WHERE key LIKE 'segment%' OR key = 'model'").fetchall())
    if saved.get("segment_model") is None or saved["segment_model"] != saved.get("model"):
        return []
    (dimension,) = connection.execute("SELECT dimension FROM model WHERE mid = ?", (saved["model"],)).fetchone()
    later = {eid // SEGMENT_ROWS for eid in changed(connection, saved["segment_seq"], saved["segment_newest"])}
    wrong = []
    wanted = connection.execute("SELECT DISTINCT eid / ? FROM embedding WHERE model = ?", (SEGMENT_ROWS, saved["model"])).fetchall()
    there = connection.execute("SELECT segment FROM segment").fetchall()
    for (segment,) in sorted({*wanted, *there} - {(touched,) for touched in later}):
        codes, columns = connection.execute("SELECT codes, columns FROM segment WHERE segment = ?", (segment,)).fetchone() or (b"", b"")
        first = segment * SEGMENT_ROWS
        rows = connection.execute(
            ROWS + "e.eid >= ? AND e.eid < ? ORDER BY e.eid", (saved["model"], first, first + SEGMENT_ROWS)
        ).fetchall()
        records, expected = records_of(rows, dimension)
        if expected.tobytes() != codes or records.tobytes() != columns or len(columns) % RECORD.itemsize:
            wrong.append(Problem("segments", f"segment {segment} differs from its vectors", "Run: clew verify --repair"))
    return wrong


def _postings(connection: sqlite3.Connection) -> list[Problem]:
    """Make every segment of words that no later change touches anew and compare it with what is stored."""
    saved = segments.state(connection)
    if saved.get("format") != segments.FORMAT:
        return []
    later = segments.stale(connection, saved)
    there = [number for (number,) in connection.execute("SELECT segment FROM posting")]
    return [
        Problem("postings", f"the words of segment {number} differ from its texts", "Run: clew verify --repair")
        for number in sorted({*segments.wanted(connection), *there} - later.keys())
        if not segments.sound(connection, number)
    ]
