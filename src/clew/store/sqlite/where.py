"""A Filter as SQL over `node n`; `clew.store.filters.passes` is its definition."""

from __future__ import annotations

import sqlite3
from typing import Any

import numpy as np
import numpy.typing as npt

from clew.ports import Sort
from clew.store.sqlite.rows import labels_of, micros
from clew.types import Filter, Spot

CARRYING = "SELECT nid FROM label WHERE key = ? AND value = ?"
# nodes of a label that are read and sorted in less time than an order is walked down to find them
FEW = 1000


def labels(where: Filter) -> list[tuple[str, str]]:
    """Return the labels that every node must carry."""
    return labels_of(where.tags, where.metadata)


def carrying(connection: sqlite3.Connection, where: Filter) -> npt.NDArray[np.int64] | None:
    """Return the nodes that carry every label asked for, ascending; None when none is asked for."""
    wanted = labels(where)
    if not wanted:
        return None
    every = " INTERSECT ".join([CARRYING] * len(wanted))
    # As one text: a common label stands on many nodes, and a row for each takes six times as long.
    (found,) = connection.execute(
        f"SELECT group_concat(nid) FROM ({every})", [part for label in wanted for part in label]
    ).fetchone()
    return np.sort(np.fromstring(found or "", np.int64, sep=","))


def source(connection: sqlite3.Connection, where: Filter) -> tuple[str, list[Any]]:
    """Return where the rows of `node n` come from, and its parameters.

    By the first label asked for that few nodes carry, or the table.

    SQLite knows not how rare a label is, and would look at every node of the space for the one that
    was read from a file.
    """
    for label in labels(where):
        (count,) = connection.execute(
            f"SELECT count(*) FROM ({CARRYING} LIMIT ?)", (*label, FEW + 1)
        ).fetchone()
        if count <= FEW:
            return f"({CARRYING}) carried CROSS JOIN node n ON n.nid = carried.nid", [*label]
    return "node n", []


def condition(where: Filter) -> tuple[str, list[Any]]:
    """Return a WHERE expression and its parameters."""
    clauses, values = ["n.space = ?"], [where.space]

    def add(clause: str, *parameters: Any) -> None:
        clauses.append(clause)
        values.extend(parameters)

    if where.kinds:
        add(f"n.kind IN ({marks(where.kinds)})", *where.kinds)
    if where.categories:
        add(f"n.category IN ({marks(where.categories)})", *where.categories)
    for key, value in labels(where):
        add(
            "EXISTS (SELECT 1 FROM label l WHERE l.key = ? AND l.value = ? AND l.nid = n.nid)",
            key,
            value,
        )
    if where.since is not None:
        add("n.t_valid >= ?", micros(where.since))
    if where.until is not None:
        add("n.t_valid <= ?", micros(where.until))
    if where.known_at is None:
        add("n.t_expired IS NULL")
    else:
        add(
            "n.t_created <= ? AND (n.t_expired IS NULL OR n.t_expired > ?)",
            *[micros(where.known_at)] * 2,
        )
    if where.as_of is None:
        add("(n.t_invalid IS NULL OR n.t_invalid > ?)", micros(where.now))
    else:
        add("(n.t_invalid IS NULL OR n.t_invalid > ?)", micros(where.as_of))
        add("n.t_valid <= ?", micros(max(where.as_of, where.recorded_until or where.as_of)))
    if not where.archived:
        add("n.archived = 0")
    return _placed(" AND ".join(clauses), values, where)


def _placed(clause: str, values: list[Any], where: Filter) -> tuple[str, list[Any]]:
    if not where.within:
        return clause, values
    return f"{clause} AND (n.parent IS NULL OR n.parent IN ({marks(where.within)}))", [
        *values,
        *where.within,
    ]


COUNTED = {Sort.IMPORTANT: "n.importance", Sort.POPULAR: "coalesce(a.count, 0)"}


def behind(spot: Spot, sort: Sort) -> tuple[str, list[Any]]:
    """Return what holds of the nodes that come after the spot, over `node n` and `access a`."""
    # Rows are compared from the left; what counts downwards is negated. The first condition is one
    # that an index can use.
    time = micros(spot.t_valid)
    if sort is Sort.RECENT:
        return "n.t_valid <= ? AND (-n.t_valid, n.id) > (?, ?)", [time, -time, spot.id]
    counted = COUNTED[sort]
    return f"{counted} <= ? AND (-{counted}, -n.t_valid, n.id) > (?, ?, ?)", [
        spot.value,
        -spot.value,
        -time,
        spot.id,
    ]


def marks(values: Any) -> str:
    """Return as many question marks as there are values."""
    return ", ".join("?" * len(values))
