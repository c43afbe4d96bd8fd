"""A Filter as SQL over `node n`; `clew.store.filters.passes` is its definition."""

from __future__ import annotations

import hashlib
import uuid
from typing import Any

from clew.ports import Sort
from clew.store.sqlite.rows import Label, labels_of, micros
from clew.types import Filter, Spot

CARRIED = "EXISTS (SELECT 1 FROM label l WHERE l.space = %s AND l.label = %s AND l.nid = n.nid)"


def label_code(label: Label) -> uuid.UUID:
    """Return 128 bits for a tag or an entry of metadata.

    An index entry holds no more than 2,700 bytes, and a value may be longer.

    >>> label_code(("#", '"x"')) == label_code(("#", '"x"')) != label_code((".x", '"x"'))
    True
    """
    key, value = label
    return uuid.UUID(
        bytes=hashlib.blake2b(f"{len(key)}:{key}{value}".encode(), digest_size=16).digest()
    )


def label_codes(where: Filter) -> list[uuid.UUID]:
    """Return the codes of the labels that every node must carry."""
    return list(dict.fromkeys(map(label_code, labels_of(where.tags, where.metadata))))


def condition(where: Filter) -> tuple[str, list[Any]]:
    """Return a WHERE expression and its parameters."""
    clauses, values = ["n.space = %s"], [where.space]

    def add(clause: str, *parameters: Any) -> None:
        clauses.append(clause)
        values.extend(parameters)

    if where.kinds:
        add("n.kind = ANY(%s::text[])", list(map(str, where.kinds)))
    if where.categories:
        add("n.category = ANY(%s::text[])", list(where.categories))
    for code in label_codes(where):
        add(CARRIED, where.space, code)
    if where.since is not None:
        add("n.t_valid >= %s", micros(where.since))
    if where.until is not None:
        add("n.t_valid <= %s", micros(where.until))
    if where.known_at is None:
        add("n.t_expired IS NULL")
    else:
        add(
            "n.t_created <= %s AND (n.t_expired IS NULL OR n.t_expired > %s)",
            *[micros(where.known_at)] * 2,
        )
    _add_valid_time(where, add)
    if where.within:
        add("(n.parent IS NULL OR n.parent = ANY(%s::text[]))", list(where.within))
    if not where.archived:
        add("n.archived = 0")
    return " AND ".join(clauses), values


def _add_valid_time(where: Filter, add: Any) -> None:
    add("(n.t_invalid IS NULL OR n.t_invalid > %s)", micros(where.moment))
    if where.as_of is None:
        return
    add("n.t_valid <= %s", micros(max(where.as_of, where.recorded_until or where.as_of)))


COUNTED = {Sort.IMPORTANT: "n.importance", Sort.POPULAR: "n.accesses"}
ORDERS = {
    Sort.RECENT: "n.t_valid DESC, n.id",
    Sort.IMPORTANT: "n.importance DESC, n.t_valid DESC, n.id",
    Sort.POPULAR: "n.accesses DESC, n.t_valid DESC, n.id",
}


def behind(spot: Spot, sort: Sort) -> tuple[str, list[Any]]:
    """Return what holds of the nodes that come after the spot."""
    time = micros(spot.t_valid)
    if sort is Sort.RECENT:
        return "n.t_valid <= %s AND (-n.t_valid, n.id) > (%s, %s)", [time, -time, spot.id]
    counted = COUNTED[sort]
    return f"{counted} <= %s AND (-{counted}, -n.t_valid, n.id) > (%s, %s, %s)", [
        spot.value,
        -spot.value,
        -time,
        spot.id,
    ]
