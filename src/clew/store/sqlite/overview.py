"""Counts over time and by quality, as SQL over `node n`.

`clew.store.overview.Counting` is their definition.
"""

from __future__ import annotations

import sqlite3
from datetime import datetime
from typing import Any

from clew.store.overview import Assessed, Densities, Span
from clew.store.sqlite.rows import EPOCH, MICROSECOND, SELECTED, micros, node_of
from clew.store.sqlite.where import condition
from clew.types import BEGINNING, Filter, Node

QUALITY = "json_extract(n.quality, '$[0]')"
STUB = "json_extract(n.quality, '$[5]')"


def extent(
    connection: sqlite3.Connection, where: Filter, *, outliers: float
) -> tuple[datetime, datetime] | None:
    """Return between which valid times the nodes lie, without a share of outliers at each end."""
    clause, values = condition(where)
    dated = f"{clause} AND n.t_valid > {micros(BEGINNING)}"
    (count,) = connection.execute(f"SELECT count(*) FROM node n WHERE {dated}", values).fetchone()
    if not count:
        return None
    skipped = int(count * outliers)
    query = f"SELECT n.t_valid FROM node n WHERE {dated} ORDER BY n.t_valid {{}} LIMIT 1 OFFSET ?"
    ends = [
        connection.execute(query.format(order), (*values, skipped)).fetchone()[0]
        for order in ("ASC", "DESC")
    ]
    return EPOCH + ends[0] * MICROSECOND, EPOCH + ends[1] * MICROSECOND


def densities(connection: sqlite3.Connection, where: Filter, span: Span) -> Densities:
    """Return the counts by bucket of when nodes began, ended and were recorded, with what lies before and after the axis."""
    clause, values = condition(where)
    buckets, first, step = span.buckets, micros(span.start), span.width // MICROSECOND
    last = first + step * buckets

    def counted(column: str) -> list[int]:
        # Both divided numbers are positive, so that SQLite's division rounds as Python's does.
        place = f"CASE WHEN n.{column} < ? THEN 0 WHEN n.{column} >= ? THEN ? ELSE (n.{column} - ?) / ? + 1 END"
        query = f"SELECT {place}, count(*) FROM node n WHERE {clause} AND n.{column} IS NOT NULL GROUP BY 1"
        counts = [0] * (buckets + 2)
        for at, count in connection.execute(
            query, (first, last, buckets + 1, first, step, *values)
        ):
            counts[at] = count
        return counts

    return Densities(counted("t_valid"), counted("t_invalid"), counted("t_created"))


def differing(
    connection: sqlite3.Connection, seen: Filter, unseen: Filter, *, limit: int
) -> tuple[int, tuple[Node, ...]]:
    """Return how many nodes pass the first filter and not the second, and the latest of them."""
    (yes, known), (no, other) = condition(seen), condition(unseen)
    there, values = f"FROM node n WHERE {yes} AND NOT ({no})", [*known, *other]
    (count,) = connection.execute(f"SELECT count(*) {there}", values).fetchone()
    rows = connection.execute(
        f"SELECT {SELECTED} {there} ORDER BY n.t_valid DESC, n.id LIMIT ?", (*values, limit)
    )
    return count, tuple(map(node_of, rows))


def assessed(connection: sqlite3.Connection, where: Filter, *, bins: int, lowest: int) -> Assessed:
    """Return how many nodes there are, how many of each quality and of each kind of stub, and the poorest."""
    clause, values = condition(where)
    rated = f"FROM node n WHERE {clause} AND n.quality IS NOT NULL"
    (nodes,) = connection.execute(f"SELECT count(*) FROM node n WHERE {clause}", values).fetchone()
    counts = [0] * bins
    place = f"min({bins - 1}, CAST({QUALITY} * {bins} AS INTEGER))"
    for at, count in connection.execute(f"SELECT {place}, count(*) {rated} GROUP BY 1", values):
        counts[at] = count
    stubs: dict[str, Any] = dict(
        connection.execute(
            f"SELECT {STUB}, count(*) {rated} GROUP BY 1 ORDER BY 1", values
        ).fetchall()
    )
    poorest = connection.execute(
        f"SELECT {SELECTED} {rated} ORDER BY {QUALITY}, n.id LIMIT ?", (*values, lowest)
    )
    return Assessed(nodes, counts, stubs, tuple(map(node_of, poorest)))
