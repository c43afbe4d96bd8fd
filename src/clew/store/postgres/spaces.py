"""Spaces in memory: the same word and vector indexes as the SQLite store's, one of each for a space, kept in step by version.

A reader asks for the version of its space first. What is newer than its index is fetched: nodes and
vectors by their numbers, which only rise, changed ones by the log. Blocks of 4,096 rows make a
first load quick. Least recently used spaces leave memory.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from clew.errors import StoreBusyError
from clew.forking import after_fork
from clew.store.postgres.database import (
    STATE,
    Database,
    Model,
    Rows,
    Session,
    State,
    model_of,
    state_of,
)
from clew.store.sqlite import segments
from clew.store.sqlite.dense import records_of as vectors_of
from clew.store.sqlite.segments import FORMAT, Segment
from clew.store.sqlite.vector_index import RECORD as VECTOR_RECORD
from clew.store.sqlite.vector_index import SELECTED as COLUMNS
from clew.store.sqlite.vector_index import Proposed, Records, VectorIndex, fill
from clew.store.sqlite.word_index import RECORD as WORD_RECORD
from clew.store.sqlite.word_index import WordIndex, Words, words_of
from clew.text.gist import searched_text
from clew.types import Filter, Role, Vectors

WORDS, VECTORS = "w", "v"
COMPACT_SHARE = 4  # an index is read anew when a quarter of its rows is dead
CACHE_BYTES = 1 << 30

BLOCKS = "SELECT number, checksum, parts FROM block WHERE space = %s AND kind = %s ORDER BY number"
CHANGED = "SELECT nid, bool_or(reworded) FROM change WHERE space = %s AND version > %s GROUP BY nid"
NODE = f"SELECT n.nid, {COLUMNS}, n.title, n.kind, n.text, n.context FROM node n WHERE n.space = %s"
LOGGED = "n.nid = ANY(ARRAY(SELECT c.nid FROM change c WHERE c.space = %s AND c.version > %s))"
NODES = f"{NODE} AND n.nid > %s UNION ALL {NODE} AND n.nid <= %s AND {LOGGED} ORDER BY 1"
VECTOR = (
    "SELECT e.eid, e.nid, CASE WHEN e.role = 'content' AND n.context = '' THEN '' ELSE e.role END, e.vector, "
    f"{COLUMNS} FROM embedding e JOIN node n ON n.space = %s AND n.nid = e.nid "
    "WHERE e.space = %s AND (e.role <> 'context' OR n.context <> '') AND e.model = %s"
)
EMBEDDINGS = f"{VECTOR} AND e.eid > %s UNION ALL {VECTOR} AND e.eid <= %s AND {LOGGED} ORDER BY 1"

Numbers = npt.NDArray[np.int64]


def nodes_since(space: str, version: int, nid: int) -> tuple[str, list[Any]]:
    """Return the query for the nodes that were added after a number or changed after a version."""
    return NODES, [space, nid, space, nid, space, version]


def vectors_since(space: str, model: int, version: int, eid: int) -> tuple[str, list[Any]]:
    """Return the query for the vectors that were added after a number or changed after a version."""
    return EMBEDDINGS, [space, space, model, eid, space, space, model, eid, space, version]


def word_records(rows: Rows, reworded: Callable[[int], bool]) -> tuple[Records, dict[int, Words]]:
    """Return the columns of nodes selected as NODES, and the words of those whose words are new."""
    records = np.zeros(len(rows), WORD_RECORD)
    words: dict[int, Words] = {}
    if rows:
        records["nid"], *columns = zip(*(row[:10] for row in rows), strict=True)
        fill(records, columns)
        for place, row in enumerate(rows):
            if reworded(row[0]):
                title, kind, text, context = row[10:]
                words[row[0]], records["length"][place] = words_of(
                    title, searched_text(kind, text), context
                )
    return records, words


def word_block(total: int, parts: Sequence[bytes]) -> Segment | None:
    """Return the rows of a stored word block; None when it is not what was written."""
    return segments.parsed(total, tuple(parts)) if len(parts) == 5 else None


def vector_blocks(
    blocks: Rows, dimension: int
) -> list[tuple[Records, npt.NDArray[np.int8]]] | None:
    """Return the rows of stored vector blocks; None when one is not what was written."""
    found = []
    for _, total, parts in blocks:
        if segments.checksum(tuple(parts)) != total or len(parts) != 2:
            return None
        codes, columns = parts
        records = np.frombuffer(columns, VECTOR_RECORD)
        if len(codes) != len(records) * dimension:
            return None
        found.append((records, np.frombuffer(codes, np.int8).reshape(len(records), dimension)))
    return found


@dataclass(slots=True)
class CachedSpace:
    """The indexes of one space, each with the version and the highest number that it reflects."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    words: WordIndex | None = None
    vectors: VectorIndex | None = None
    bytes: int = 0


@dataclass(slots=True)
class Overlay:
    """What a transaction sees of a space that it has written to.

    Its own words, and its own vectors over those of the shared index.
    """

    words: WordIndex | None = None
    vectors: VectorIndex | None = None
    base: VectorIndex | None = None
    hidden: set[int] = field(default_factory=set)


class Spaces:
    """The cache of spaces of one store."""

    def __init__(self, *, cache_bytes: int = CACHE_BYTES) -> None:
        self._cache_bytes = cache_bytes
        self._cached: OrderedDict[str, CachedSpace] = OrderedDict()
        self._renew()
        after_fork(self._renew)

    def _renew(self) -> None:
        self._lock = threading.Lock()
        self._cached = OrderedDict()

    def of(self, space: str) -> CachedSpace:
        """Return what is cached of a space, which is now the one used last."""
        with self._lock:
            found = self._cached.setdefault(space, CachedSpace())
            self._cached.move_to_end(space)
            return found

    def forget(self) -> None:
        """Drop everything; the next searches read it anew."""
        self._renew()

    def _measure(self, cached: CachedSpace) -> None:
        """Take note of how large a space has become, and let others go if there is no more room."""
        cached.bytes = _size_of(cached)
        with self._lock:
            total = sum(each.bytes for each in self._cached.values())
            for space in list(self._cached):
                if total <= self._cache_bytes or len(self._cached) == 1:
                    break
                if self._cached[space] is not cached:
                    total -= self._cached.pop(space).bytes

    # --- words ---

    def words(
        self, database: Database, space: str, state: State
    ) -> tuple[WordIndex, threading.RLock]:
        """Return the words of a space as of a state, or newer, and the lock under which to look."""
        inside = database.session
        if inside is not None and space in inside.dirty:
            overlay = _overlay(inside, space)
            overlay.words = follow_words(inside, space, overlay.words, state)
            return overlay.words, threading.RLock()
        cached = self.of(space)
        with cached.lock:
            if cached.words is None or cached.words.seq < state.version:
                # an error on the way must not leave half of a change behind
                index, cached.words = cached.words, None
                with _stated(database, space) as (session, current, _):
                    cached.words = follow_words(session, space, index, current)
                self._measure(cached)
            return cached.words, cached.lock

    # --- vectors ---

    def vectors(
        self, database: Database, space: str, state: State, model: int, dimension: int
    ) -> tuple[VectorIndex, threading.RLock]:
        """Return the vectors of a space as of a state, or newer, and the lock under which they are changed."""
        cached = self.of(space)
        with cached.lock:
            index = cached.vectors
            if index is None or index.model != model or index.seq < state.version:
                cached.vectors = None
                with _stated(database, space) as (session, current, active):
                    # another one was activated meanwhile
                    if active is not None and active[0] != model:
                        raise StoreBusyError(
                            "The store's model was changed during the search. Search again.",
                            lost=True,
                        )
                    index = follow_vectors(session, space, index, current, model, dimension)
                cached.vectors = index
                self._measure(cached)
            return index, cached.lock

    def propose(
        self,
        database: Database,
        query: Vectors,
        where: Filter,
        state: State,
        *,
        model: int,
        role: Role,
        count: int,
        allowed: Numbers | None,
    ) -> Proposed:
        """Return the vectors that may be the nearest."""
        inside = database.session
        if inside is not None and where.space in inside.dirty:
            return self._propose_uncommitted(
                inside, query, where, state, model=model, role=role, count=count, allowed=allowed
            )
        index, lock = self.vectors(database, where.space, state, model, len(query))
        return _proposed(index, lock, query, where, role=role, count=count, allowed=allowed)

    def _propose_uncommitted(
        self,
        session: Session,
        query: Vectors,
        where: Filter,
        state: State,
        *,
        model: int,
        role: Role,
        count: int,
        allowed: Numbers | None,
    ) -> Proposed:
        overlay, cached, dimension = (
            _overlay(session, where.space),
            self.of(where.space),
            len(query),
        )
        if overlay.vectors is None or overlay.vectors.model != model:
            overlay.hidden = set()
            with cached.lock:  # both numbers of one moment
                base = cached.vectors
                usable = base is not None and base.model == model and base.seq >= state.floor
                overlay.base = base if usable else None
                start = (
                    None
                    if base is None
                    else VectorIndex(dimension, model=model, seq=base.seq, newest=base.newest)
                )
            if start is None or overlay.base is None:
                start = follow_vectors(session, where.space, None, state, model, dimension)
            overlay.vectors = start
        if overlay.vectors.seq < state.version:
            overlay.hidden |= _apply_vectors(
                session, where.space, overlay.vectors, state, base=overlay.base
            )
        fresh = overlay.vectors.begin(
            query, where, role=role, count=count, allowed=allowed, hidden=None
        )()
        if overlay.base is None:
            return fresh
        hidden = np.fromiter(overlay.hidden, np.int64, len(overlay.hidden))
        return fresh.beside(
            _proposed(
                overlay.base,
                cached.lock,
                query,
                where,
                role=role,
                count=count,
                allowed=allowed,
                hidden=hidden,
            )
        )


@contextmanager
def _stated(database: Database, space: str) -> Iterator[tuple[Session, State, Model | None]]:
    """Read what a space holds as of one moment, with its state then."""
    with database.reading() as session:
        if session.writing:
            database.secure(session, space)
            yield session, session.states[space], session.model
        else:
            ((row,),) = session.run(space, (STATE, [space]))
            yield session, state_of(row), model_of(row)


def _overlay(session: Session, space: str) -> Overlay:
    found = session.overlays.get(space)
    if not isinstance(found, Overlay):
        found = session.overlays[space] = Overlay()
    return found


def _proposed(
    index: VectorIndex,
    lock: threading.RLock,
    query: Vectors,
    where: Filter,
    *,
    role: Role,
    count: int,
    allowed: Numbers | None,
    hidden: Numbers | None = None,
) -> Proposed:
    """Look in an index, once more with nobody writing where vectors were overwritten meanwhile."""

    def look() -> Proposed:
        return index.begin(query, where, role=role, count=count, allowed=allowed, hidden=hidden)()

    with lock:
        edits = index.edits
    found = look()
    if index.edits == edits:
        return found
    with lock:
        return look()


def follow_words(session: Session, space: str, index: WordIndex | None, state: State) -> WordIndex:
    """Return the words of a space as the session sees them.

    What an index lacks is added, or all is loaded.
    """
    if index is not None and index.seq < state.floor:
        index = None
    if index is None:
        index = _load_words(session, space, state)
    else:
        _apply_words(session, space, index, state)
    if (index.size - index.live) * COMPACT_SHARE > index.size:
        index = _load_words(session, space, state)
    return index


def _load_words(session: Session, space: str, state: State) -> WordIndex:
    if state.words_format == FORMAT and state.words_version >= state.floor:
        version, nid = state.words_version, state.words_nid
        blocks, changed, rows = session.run(
            space,
            (BLOCKS, [space, WORDS]),
            (CHANGED, [space, version]),
            nodes_since(space, version, nid),
        )
        parsed = [word_block(total, parts) for _, total, parts in blocks]
        if all(segment is not None for segment in parsed):
            index = WordIndex(seq=version, newest=nid)
            for segment in parsed:
                if segment is not None and len(segment[0]):
                    index.extend(*segment)
            _take_words(index, dict(changed), rows, state)
            return index
    index = WordIndex()
    (rows,) = session.run(space, nodes_since(space, state.version, 0))
    _take_words(index, {}, rows, state)
    return index


def _apply_words(session: Session, space: str, index: WordIndex, state: State) -> None:
    changed, rows = session.run(
        space, (CHANGED, [space, index.seq]), nodes_since(space, index.seq, index.newest)
    )
    _take_words(index, dict(changed), rows, state)


def _take_words(index: WordIndex, changed: Mapping[int, bool], rows: Rows, state: State) -> None:
    known = index.newest
    records, words = word_records(rows, lambda nid: nid > known or changed.get(nid, True))
    gone = np.array(sorted(changed.keys() - {row[0] for row in rows}), np.int64)
    index.apply(records, words, gone)
    index.seq, index.newest = state.version, state.nid


def follow_vectors(  # noqa: PLR0917 - what a space is followed by
    session: Session,
    space: str,
    index: VectorIndex | None,
    state: State,
    model: int,
    dimension: int,
) -> VectorIndex:
    """Return the vectors of a space as the session sees them."""
    if index is not None and (index.model != model or index.seq < state.floor):
        index = None
    if index is None:
        index = _load_vectors(session, space, state, model, dimension)
    else:
        _apply_vectors(session, space, index, state)
    if index.dead() * COMPACT_SHARE > index.size:
        index = _load_vectors(session, space, state, model, dimension)
    return index


def _load_vectors(
    session: Session, space: str, state: State, model: int, dimension: int
) -> VectorIndex:
    index = VectorIndex(dimension, model=model)
    if state.vectors_model == model and state.vectors_version >= state.floor:
        version, eid = state.vectors_version, state.vectors_eid
        blocks, changed, rows = session.run(
            space,
            (BLOCKS, [space, VECTORS]),
            (CHANGED, [space, version]),
            vectors_since(space, model, version, eid),
        )
        stored = vector_blocks(blocks, dimension)
        if stored is not None:
            index.reserve(sum(len(records) for records, _ in stored) + len(rows))
            for records, codes in stored:
                index.append(records, codes)
            index.seq, index.newest = version, eid
            _take_vectors(index, [nid for nid, _ in changed], rows, state)
            return index
    (rows,) = session.run(space, vectors_since(space, model, state.version, 0))
    index.append(*vectors_of(rows, dimension))
    index.seq, index.newest = state.version, state.eid
    return index


def _apply_vectors(
    session: Session,
    space: str,
    index: VectorIndex,
    state: State,
    *,
    base: VectorIndex | None = None,
) -> set[int]:
    """Bring an index up to date.

    Return the numbers of the vectors that changed in it or in the index that it lies over.
    """
    changed, rows = session.run(
        space,
        (CHANGED, [space, index.seq]),
        vectors_since(space, index.model, index.seq, index.newest),
    )
    nids = [nid for nid, _ in changed]
    touched = set(_take_vectors(index, nids, rows, state))
    return touched | (set(_numbers_of(base, nids)) if base is not None else set())


def _take_vectors(index: VectorIndex, nids: Sequence[int], rows: Rows, state: State) -> list[int]:
    records, codes = vectors_of(rows, index.dimension)
    changed = sorted({*_numbers_of(index, nids), *records["eid"].tolist()})
    index.apply(changed, records, codes)
    index.seq, index.newest = state.version, state.eid
    return changed


def _numbers_of(index: VectorIndex, nids: Iterable[int]) -> list[int]:
    """Return the numbers of the vectors of nodes."""
    wanted = np.fromiter(nids, np.int64)
    if not len(wanted):
        return []
    there = np.isin(index.records["nid"][: index.size], wanted)
    found: list[int] = index.records["eid"][: index.size][there].tolist()
    return found


def _size_of(cached: CachedSpace) -> int:
    total = 4096
    if cached.vectors is not None:
        total += cached.vectors.codes.nbytes + sum(
            column.nbytes for column in cached.vectors.records.values()
        )
    if cached.words is not None:
        total += sum(column.nbytes for column in cached.words.columns.values())
        total += sum(
            each.rows.nbytes + each.counts.nbytes + each.terms.nbytes + each.offsets.nbytes
            for _, each in cached.words.parts
        )
        total += 2000 * (cached.words.size - cached.words.tail_from)
    return total


def stripped_words(segment: Segment, nids: Numbers) -> Segment:
    """Return a stored segment without some nodes."""
    records, postings = segment
    kept = ~np.isin(records["nid"], nids)
    places = np.where(kept, np.cumsum(kept) - 1, -1)
    return records[kept], postings.changed(places, {})
