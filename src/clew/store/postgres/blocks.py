"""The stored blocks of a space.

4,096 numbers each, written at the end of a transaction when enough has changed.

They are a cache that makes a first load quick, each with a checksum; `space` says up to where they
are true. What is deleted is taken out of them in the same transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from clew.store.postgres.database import Session, State, Statement
from clew.store.postgres.spaces import (
    CHANGED,
    NODE,
    VECTOR,
    VECTORS,
    WORDS,
    Numbers,
    stripped_words,
    vector_blocks,
    word_block,
    word_records,
)
from clew.store.sqlite import segments
from clew.store.sqlite.dense import records_of as vectors_of
from clew.store.sqlite.segments import FORMAT, Segment
from clew.store.sqlite.word_index import Postings

BLOCK_ROWS = 4096
FIRST_BLOCK = 64  # rows: fewer are read as quickly without
MOST_LOOSE = 1024  # rows behind the blocks that a first load has to analyse, 40 ms
LOOSE_SHARE = 4  # but of a small space no more than a quarter
CHANGES_KEPT = 16384  # for processes to catch up from; one that is further behind reads everything

PUT = (
    "INSERT INTO block (space, kind, number, checksum, parts) VALUES (%s, %s, %s, %s, %s) "
    "ON CONFLICT (space, kind, number) DO UPDATE SET (checksum, parts) = (excluded.checksum, excluded.parts)"
)
DROP = "DELETE FROM block WHERE space = %s AND kind = %s AND number = ANY(%s::bigint[])"
ONE = "SELECT number, checksum, parts FROM block WHERE space = %s AND kind = %s AND number = ANY(%s::bigint[]) ORDER BY number"
NODES_IN = f"{NODE} AND n.nid >= %s AND n.nid < %s ORDER BY 1"
VECTORS_IN = f"{VECTOR} AND e.eid >= %s AND e.eid < %s ORDER BY 1"


def _loose(newest: int) -> int:
    return min(MOST_LOOSE, max(FIRST_BLOCK, newest // LOOSE_SHARE))


def seal_if_due(session: Session, space: str, state: State) -> State:
    """Write the blocks of a space when enough was added or changed since they were last written.

    Return its state then.
    """
    words = state.nid - state.words_nid if state.words_format == FORMAT else state.nid
    changes = state.version - state.words_version
    limit = _loose(state.nid)
    if state.nid >= FIRST_BLOCK and (words >= limit or changes >= MOST_LOOSE):
        state = seal_words(session, space, state)
    if session.model is not None:
        same = state.vectors_model == session.model[0]
        vectors = state.eid - state.vectors_eid if same else state.eid
        changes = state.version - state.vectors_version if same else 0
        if state.eid >= FIRST_BLOCK and (vectors >= _loose(state.eid) or changes >= MOST_LOOSE):
            state = seal_vectors(session, space, state, session.model[0], session.model[2])
    return state


def seal(session: Session, space: str, state: State) -> State:
    """Write all blocks of a space that is large enough to have some."""
    if state.nid >= FIRST_BLOCK:
        state = seal_words(session, space, state)
    if session.model is not None and state.eid >= FIRST_BLOCK:
        state = seal_vectors(session, space, state, session.model[0], session.model[2])
    return state


def seal_words(session: Session, space: str, state: State, *, anew: bool = False) -> State:
    """Write the word blocks whose nodes were added or changed, and cut the log."""
    known = state.words_format == FORMAT and state.words_version >= state.floor and not anew
    version, nid = (state.words_version, state.words_nid) if known else (0, 0)
    changed: dict[int, bool] = (
        dict(session.run(space, (CHANGED, [space, version]))[0]) if known else {}
    )
    numbers = {each // BLOCK_ROWS for each in changed} | set(
        range((nid + 1) // BLOCK_ROWS, state.nid // BLOCK_ROWS + 1)
    )
    for number in sorted(numbers):
        first = number * BLOCK_ROWS
        old, rows = session.run(
            space, (ONE, [space, WORDS, [number]]), (NODES_IN, [space, first, first + BLOCK_ROWS])
        )
        before = word_block(*old[0][1:]) if old and known else None
        reworded = {each for each, words in changed.items() if words}
        _write(session, space, WORDS, number, words_block(rows, before, reworded))
    floor = max(state.floor, min(state.version, state.version - CHANGES_KEPT))
    session.run(space, ("DELETE FROM change WHERE space = %s AND version <= %s", [space, floor]))
    return state._replace(
        words_format=FORMAT, words_version=state.version, words_nid=state.nid, floor=floor
    )


def words_block(
    rows: Sequence[tuple[Any, ...]], before: Segment | None, reworded: set[int]
) -> tuple[bytes, ...] | None:
    """Return a block as its nodes have it now.

    Of an old one the words that were not reworded are taken over.
    """
    if not rows:
        return None
    known = set() if before is None else set(before[0]["nid"].tolist()) - reworded
    records, words = word_records(list(rows), lambda nid: nid not in known)
    nids = records["nid"]
    fresh = {int(np.searchsorted(nids, nid)): held for nid, held in words.items()}
    if before is None:
        return segments.blobs((records, Postings.of(fresh)))
    old = before[0]["nid"]
    kept = np.isin(old, nids) & ~np.isin(old, np.fromiter(reworded, np.int64, len(reworded)))
    places = np.where(kept, np.searchsorted(nids, old), -1)
    records["length"][places[kept]] = before[0]["length"][kept]
    return segments.blobs((records, before[1].changed(places, fresh)))


def seal_vectors(
    session: Session, space: str, state: State, model: int, dimension: int, *, anew: bool = False
) -> State:
    """Write the vector blocks whose vectors were added or changed."""
    known = state.vectors_model == model and state.vectors_version >= state.floor and not anew
    version, eid = (state.vectors_version, state.vectors_eid) if known else (0, 0)
    if not known:
        session.run(space, ("DELETE FROM block WHERE space = %s AND kind = %s", [space, VECTORS]))
    changed: Iterable[int] = ()
    if known:
        moved = (
            "SELECT DISTINCT e.eid / %s FROM change c JOIN embedding e ON e.space = %s AND e.nid = c.nid "
            "WHERE c.space = %s AND c.version > %s AND e.eid <= %s"
        )
        changed = [
            number
            for (number,) in session.run(space, (moved, [BLOCK_ROWS, space, space, version, eid]))[
                0
            ]
        ]
    for number in sorted({*changed, *range((eid + 1) // BLOCK_ROWS, state.eid // BLOCK_ROWS + 1)}):
        first = number * BLOCK_ROWS
        (rows,) = session.run(space, (VECTORS_IN, [space, space, model, first, first + BLOCK_ROWS]))
        records, codes = vectors_of(rows, dimension)
        _write(
            session, space, VECTORS, number, (codes.tobytes(), records.tobytes()) if rows else None
        )
    return state._replace(vectors_model=model, vectors_version=state.version, vectors_eid=state.eid)


def _write(
    session: Session, space: str, kind: str, number: int, parts: tuple[bytes, ...] | None
) -> None:
    if parts is None:
        session.run(space, (DROP, [space, kind, [number]]))
    else:
        session.run(space, (PUT, [space, kind, number, segments.checksum(parts), list(parts)]))


def strip(session: Session, space: str, nids: Numbers, eids: Numbers, dimension: int) -> None:
    """Take deleted nodes and vectors out of the stored blocks.

    A damaged block is dropped, and the next load reads the rows.
    """
    numbers = (
        sorted({nid // BLOCK_ROWS for nid in nids.tolist()}),
        sorted({eid // BLOCK_ROWS for eid in eids.tolist()}),
    )
    words, vectors = session.run(
        space, (ONE, [space, WORDS, numbers[0]]), (ONE, [space, VECTORS, numbers[1]])
    )
    changes: list[Statement] = []
    for number, total, parts in words:
        segment = word_block(total, parts)
        left = (
            segments.blobs(stripped_words(segment, nids)) if segment is not None else (b"damaged",)
        )
        changes.append((PUT, [space, WORDS, number, segments.checksum(left), list(left)]))
    for number, total, parts in vectors:
        stored = vector_blocks([(number, total, parts)], dimension)
        left = (b"damaged",)
        if stored is not None:
            records, codes = stored[0]
            kept = ~np.isin(records["eid"], eids)
            left = codes[kept].tobytes(), records[kept].tobytes()
        changes.append((PUT, [space, VECTORS, number, segments.checksum(left), list(left)]))
    if changes:
        session.run(space, *changes)
