"""Statements that write nodes and what is derived from them: many rows each, sent together."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from clew.errors import InputError, NotFoundError
from clew.store.postgres.database import Row, Session, State, Statement
from clew.store.postgres.where import label_code
from clew.store.sqlite.rows import (
    CHANGED,
    COLUMNS,
    SEALED,
    cell,
    checksum,
    damaged_node,
    detail_of,
    labels_of,
    micros,
    vector_checksum,
)
from clew.store.vectors import as_codes, as_unit
from clew.text.words import content_hash
from clew.types import Embedding, Event, Node, NodeId, Role

_ARRAYS: dict[str, str] = {
    **dict.fromkeys(
        (
            "t_valid",
            "t_created",
            "t_invalid",
            "t_expired",
            "position",
            "start",
            "end",
            "protected",
            "archived",
        ),
        "bigint[]",
    ),
    "importance": "float8[]",
}
_COLUMNS = ", ".join(f'"{column}"' for column in COLUMNS)
_UNNESTED = ", ".join(f"%s::{_ARRAYS.get(column, 'text[]')}" for column in COLUMNS)
INSERT = (
    f"INSERT INTO node (nid, {_COLUMNS}, added_at, added, checksum, told_at, accesses) "
    f"SELECT * FROM unnest(%s::bigint[], {_UNNESTED}, %s::bigint[], %s::text[], %s::bigint[], %s::bigint[], %s::bigint[])"
)
INSERT_PLACES = "INSERT INTO place SELECT * FROM unnest(%s::text[], %s::text[])"
INSERT_LABELS = "INSERT INTO label SELECT * FROM unnest(%s::text[], %s::uuid[], %s::bigint[]) ON CONFLICT DO NOTHING"
DELETE_LABELS = (
    "DELETE FROM label l USING unnest(%s::uuid[], %s::bigint[]) AS u (label, nid) "
    "WHERE l.space = %s AND l.label = u.label AND l.nid = u.nid"
)
INSERT_EVENTS = (
    "INSERT INTO event (space, node, kind, at, detail) "
    "SELECT space, node, kind, at, detail FROM unnest(%s::text[], %s::text[], %s::text[], %s::bigint[], %s::text[]) "
    "WITH ORDINALITY u (space, node, kind, at, detail, place) ORDER BY place"
)
PUT_STATE = (
    "INSERT INTO space VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (space) DO UPDATE SET "
    "(version, nid, eid, floor, words_format, words_version, words_nid, vectors_model, vectors_version, vectors_eid) = "
    "(excluded.version, excluded.nid, excluded.eid, excluded.floor, excluded.words_format, excluded.words_version, excluded.words_nid, "
    "excluded.vectors_model, excluded.vectors_version, excluded.vectors_eid)"
)
PUT_COUNTS = (
    "INSERT INTO counted SELECT * FROM unnest(%s::text[], %s::text[], %s::bigint[], %s::bigint[], %s::bigint[]) "
    "ON CONFLICT (space, kind) DO UPDATE SET (nodes, live, keyed) = "
    "(counted.nodes + excluded.nodes, counted.live + excluded.live, counted.keyed + excluded.keyed)"
)
LOG = "INSERT INTO change SELECT %s, %s, u.nid, %s FROM unnest(%s::bigint[]) u (nid) ON CONFLICT DO NOTHING"
PUT_VECTORS = (
    "INSERT INTO embedding (space, eid, nid, model, role, text_hash, vector, checksum) "
    "SELECT %s, u.eid, u.nid, %s, u.role, u.hash, u.vector, u.sum "
    "FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::text[], %s::bytea[], %s::bigint[]) "
    "u (eid, nid, role, hash, vector, sum) ON CONFLICT (space, nid, model, role) DO UPDATE SET (text_hash, vector, checksum) = "
    "(excluded.text_hash, excluded.vector, excluded.checksum)"
)
DROP_CODES = (
    "DELETE FROM token_code t USING unnest(%s::bigint[], %s::text[]) u (nid, role) "
    "WHERE t.space = %s AND t.model = %s AND t.nid = u.nid AND t.role = u.role"
)
PUT_CODES = (
    "INSERT INTO token_code (space, nid, model, role, codes, checksum) SELECT %s, u.nid, %s, u.role, u.codes, u.sum "
    "FROM unnest(%s::bigint[], %s::text[], %s::bytea[], %s::bigint[]) u (nid, role, codes, sum)"
)


def put_state(space: str, state: State) -> Statement:
    """Return the statement that writes the state of a space."""
    return PUT_STATE, [space, *state]


def advance(session: Session, space: str, *, nodes: int = 0, vectors: int = 0) -> Statement:
    """Count a write to a space, give out numbers, and return the statement that notes it."""
    state = session.states[space]
    state = state._replace(
        version=state.version + 1, nid=state.nid + nodes, eid=state.eid + vectors
    )
    session.states[space] = state
    session.dirty.add(space)
    return put_state(space, state)


def log_change(session: Session, space: str, nids: Sequence[int], *, reworded: bool) -> Statement:
    """Return the statement that tells other processes which nodes changed in the version that was just counted."""
    return LOG, [space, session.states[space].version, reworded, list(nids)]


def is_live(node: Node) -> bool:
    """Tell whether a node is neither expired nor archived."""
    return node.t_expired is None and not node.archived


def counts(entered: Iterable[Node], left: Iterable[Node] = ()) -> list[Statement]:
    """Return the statement that counts nodes that came and that went."""
    found: Counter[tuple[str, str, str]] = Counter()
    for sign, nodes in ((1, entered), (-1, left)):
        for node in nodes:
            found[node.space, str(node.kind), "nodes"] += sign
            found[node.space, str(node.kind), "live"] += sign * is_live(node)
            found[node.space, str(node.kind), "keyed"] += sign * (
                is_live(node) and node.context != ""
            )
    keys = sorted({(space, kind) for space, kind, _ in found})
    if not any(found.values()):
        return []
    columns = [
        [found[space, kind, name] for space, kind in keys] for name in ("nodes", "live", "keyed")
    ]
    return [(PUT_COUNTS, [[space for space, _ in keys], [kind for _, kind in keys], *columns])]


def insert_nodes(
    nodes: Sequence[Node], numbers: Mapping[NodeId, int], added: Mapping[NodeId, Event]
) -> list[Statement]:
    """Return the statements that insert nodes of any spaces, with their places and labels."""
    rows = [[cell(column, value) for column, value in _values(node)] for node in nodes]
    told = [
        (None, None)
        if node.id not in added
        else (micros(added[node.id].at), detail_of(added[node.id]))
        for node in nodes
    ]
    sums = [checksum((*row, *own)) for row, own in zip(rows, told, strict=True)]
    columns: list[list[Any]] = list(map(list, zip(*rows, strict=True)))
    at = [moment for moment, _ in told]
    values = [
        [numbers[node.id] for node in nodes],
        *columns,
        at,
        [detail for _, detail in told],
        sums,
        at,
        [node.accesses for node in nodes],
    ]
    _refuse_nul(columns)
    statements: list[Statement] = [
        (INSERT, values),
        (INSERT_PLACES, [[node.id for node in nodes], [node.space for node in nodes]]),
    ]
    return [
        *statements,
        *insert_labels([(node, numbers[node.id]) for node in nodes]),
        *counts(nodes),
    ]


def _values(node: Node) -> list[tuple[str, Any]]:
    return [(column, getattr(node, column)) for column in COLUMNS]


def _refuse_nul(columns: Sequence[Sequence[Any]]) -> None:
    for name, values in zip(COLUMNS, columns, strict=True):
        for value in values:
            if type(value) is str and "\0" in value:
                raise InputError(
                    name,
                    value,
                    "holds a NUL character, which PostgreSQL does not store",
                    "Remove it.",
                )


def insert_labels(nodes: Iterable[tuple[Node, int]]) -> list[Statement]:
    """Return the statement that lets nodes be found by what they carry."""
    rows = [
        (node.space, label_code(label), nid)
        for node, nid in nodes
        if node.tags or node.metadata
        for label in labels_of(node.tags, node.metadata)
    ]
    return [(INSERT_LABELS, list(map(list, zip(*rows, strict=True))))] if rows else []


def delete_labels(space: str, nodes: Iterable[tuple[Node, int]]) -> list[Statement]:
    """Return the statement that takes off what nodes of a space carry."""
    rows = [
        (label_code(label), nid)
        for node, nid in nodes
        for label in labels_of(node.tags, node.metadata)
    ]
    return [(DELETE_LABELS, [*map(list, zip(*rows, strict=True)), space])] if rows else []


def insert_events(events: Sequence[Event], spaces: Mapping[NodeId, str]) -> list[Statement]:
    """Return the statement that writes events to the end of the log.

    Of a node that is gone, its last word names the space.
    """
    if not events:
        return []
    rows = [
        (
            spaces.get(each.node) or str(each.detail.get("space") or ""),
            each.node,
            str(each.kind),
            micros(each.at),
            detail_of(each),
        )
        for each in events
    ]
    return [(INSERT_EVENTS, list(map(list, zip(*rows, strict=True))))]


def put_vectors(
    session: Session,
    space: str,
    embeddings: Sequence[Embedding],
    numbers: Mapping[NodeId, int],
    *,
    model: int,
    dimension: int,
    replacing: bool,
) -> list[Statement]:
    """Return the statements that write vectors of nodes of one space with their token codes.

    The last of each node and role counts.
    """
    kept = {(each.node, str(each.role)): each for each in embeddings if each.node in numbers}
    if not kept:
        return []
    rows = []
    eid = session.states[space].eid
    for number, ((node, role), each) in enumerate(kept.items(), eid + 1):
        vector = as_unit(each.vector, dimension).astype("<f2").tobytes()
        rows.append(
            (
                number,
                numbers[node],
                role,
                each.text_hash,
                vector,
                vector_checksum(each.text_hash, vector),
            )
        )
    statements: list[Statement] = [
        (PUT_VECTORS, [space, model, *map(list, zip(*rows, strict=True))])
    ]
    codes = [
        (numbers[node], role, as_codes(each.tokens, dimension))
        for (node, role), each in kept.items()
    ]
    if replacing:
        statements.append(
            (
                DROP_CODES,
                [[nid for nid, _, _ in codes], [role for _, role, _ in codes], space, model],
            )
        )
    made = [
        (nid, role, tokens, zlib.crc32(tokens)) for nid, role, tokens in codes if tokens is not None
    ]
    if made:
        statements.append((PUT_CODES, [space, model, *map(list, zip(*made, strict=True))]))
    return [*statements, advance(session, space, vectors=len(kept))]


def check_fields(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changes of a node's fields, with the hash of a new text.

    Refuse those that do not change.
    """
    for field, value in changes.items():
        if field not in COLUMNS or field in ("id", "space"):
            allowed = ", ".join(column for column in COLUMNS if column not in ("id", "space"))
            raise InputError(field, value, "is not a field that can change", f"Fields: {allowed}.")
    changed = dict(changes)
    if "text" in changed:
        changed.setdefault("content_hash", content_hash(changed["text"]))
    return changed


def updated_cells(id: NodeId, row: Row, changes: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    """Return the cells that change and the checksum of the row with them.

    Raise if the row is not what was written.

    `row` is as SEALED and the checksum behind it.
    """
    values, kept = list(row[: len(SEALED)]), row[len(SEALED)]
    if kept is not None and kept != checksum(values):
        raise damaged_node(id, CHANGED)
    cells = {field: cell(field, value) for field, value in changes.items()}
    _refuse_nul([[cells.get(column)] for column in COLUMNS])
    for field, value in cells.items():
        values[COLUMNS.index(field)] = value
    return cells, checksum(values)


def missing(id: NodeId) -> NotFoundError:
    """Return the error for a node that is not there."""
    return NotFoundError(f"No memory {id}. List them with: clew list", id=id)


CONTEXT = str(Role.CONTEXT)
