"""Word and vector search over cached spaces.

The same kernels in the same order as the SQLite store, so the same scores.
"""

from __future__ import annotations

import threading
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from clew.errors import CorruptStoreError
from clew.store.postgres.database import STATE, Database, Model, Rows, State, model_of, state_of
from clew.store.postgres.spaces import Spaces
from clew.store.postgres.where import condition, label_codes
from clew.store.sqlite.database import space_code
from clew.store.sqlite.dense import proposals
from clew.store.sqlite.lexical import best
from clew.store.sqlite.rows import micros, moment
from clew.store.sqlite.vector_index import among, passing
from clew.store.sqlite.word_index import View, WordIndex, term_code
from clew.store.vectors import as_unit, exact_cosines
from clew.text.words import query_weight
from clew.types import (
    BEGINNING,
    Filter,
    Kind,
    Match,
    NodeId,
    Ranking,
    Role,
    Signals,
    Vectors,
    ranked,
)

TOLD = (
    f"CASE WHEN n.root IS NULL AND n.kind = '{Kind.MEMORY}' THEN coalesce(n.told_at, n.t_created) "
    f"WHEN n.kind = '{Kind.MEMORY}' THEN n.t_created WHEN n.t_valid = n.t_created OR n.t_valid = n.added_at THEN n.t_valid "
    f"ELSE {micros(BEGINNING)} END"
)
SIGNALS = f"n.id, n.t_valid, n.importance, n.accesses, n.parent, n.context <> '', {TOLD}"

Numbers = npt.NDArray[np.int64]


class Look(NamedTuple):
    """What a session sees of a space.

    Its state, the model, and the nodes that carry the labels of a filter.
    """

    state: State
    model: Model | None
    allowed: Numbers | None


def signals_of(rows: Rows) -> dict[NodeId, Signals]:
    """Return rows that begin as SIGNALS selects."""
    return {
        id: Signals(moment(t_valid), importance, accesses, parent, bool(keyed), moment(told))
        for id, t_valid, importance, accesses, parent, keyed, told, *_ in rows
    }


def look(database: Database, space: str, where: Filter | None = None) -> Look:
    """Ask for the state of a space, the active model, and who carries the labels of a filter.

    One round trip.

    Inside a `scope` what was told once is true until its end.
    """
    codes = label_codes(where) if where is not None else []
    return database.told(("look", space, *codes), lambda: _look(database, space, codes))


def _look(database: Database, space: str, codes: Sequence[uuid.UUID]) -> Look:
    query = "SELECT array_agg(x.nid) FROM (SELECT nid FROM label WHERE space = %s AND label = ANY(%s) GROUP BY nid HAVING count(*) = %s) x"
    carrying = [(query, [space, codes, len(codes)])] if codes else []
    first, *found = database.ask_all(space, (STATE, [space]), *carrying)
    allowed = np.sort(np.array(found[0][0][0] or [], np.int64)) if carrying else None
    return Look(state_of(first[0]), model_of(first[0]), allowed)


class Search:
    """Finds nodes by words and by vectors."""

    def __init__(
        self, database: Database, spaces: Spaces, placed: Callable[[Mapping[NodeId, str]], None]
    ) -> None:
        self._database = database
        self._spaces = spaces
        self._placed = placed  # told of the space of every node that is found

    # --- words ---

    def sparse(self, terms: Sequence[str], where: Filter, *, limit: int) -> Ranking:
        """Return the `limit` best nodes by BM25."""
        # in order: equally rare ones must always add up alike
        wanted = sorted(Counter(terms).items())
        if not wanted or limit <= 0:
            return ()
        weights = {term_code(term): query_weight(count) for term, count in wanted}
        at = look(self._database, where.space, where)
        index, lock = self._spaces.words(self._database, where.space, at.state)
        count = limit
        while True:
            nids, scores = _ranked(index, lock, weights, where, count=count, allowed=at.allowed)
            found = self._confirmed(nids, scores, where) if len(nids) else []
            if len(found) >= limit or len(nids) < count:
                return ranked(found)[:limit]
            count = 4 * len(nids)  # what the last look dropped must not leave the list short

    def _confirmed(
        self, nids: Numbers, scores: npt.NDArray[np.float64], where: Filter
    ) -> list[Match]:
        """Return the nodes that exist and pass the whole filter, as they are now."""
        clause, values = condition(where)
        theirs = f"SELECT {SIGNALS}, n.nid FROM node n WHERE n.nid = p.nid AND {clause} OFFSET 0"
        query = f"SELECT n.* FROM unnest(%s::bigint[]) p (nid) CROSS JOIN LATERAL ({theirs}) n"
        rows = self._database.ask(where.space, query, [nids.tolist(), *values])
        self._database.note(rows)
        self._placed({row[0]: where.space for row in rows})
        by_nid = dict(zip(nids.tolist(), scores.tolist(), strict=True))
        return [Match(row[0], by_nid[row[-1]]) for row in rows]

    def holding(self, terms: Sequence[str], space: str) -> dict[str, int]:
        """Return how many nodes of the space hold each term."""
        wanted = list(dict.fromkeys(terms))
        at = look(self._database, space)
        index, lock = self._spaces.words(self._database, space, at.state)
        with lock:
            counts = index.held(list(map(term_code, wanted)), space_code(space))
        return dict(zip(wanted, counts, strict=True))

    # --- vectors ---

    def dense(self, vector: Vectors, where: Filter, *, limit: int, role: Role) -> Ranking:
        """Return the `limit` nearest nodes by exact cosine."""
        at = look(self._database, where.space, where)
        if at.model is None:
            return ()
        query = as_unit(vector, at.model[2])
        if limit <= 0:
            return ()
        there = self._spaces.propose(
            self._database,
            query,
            where,
            at.state,
            model=at.model[0],
            role=role,
            count=proposals(limit),
            allowed=at.allowed,
        )
        near = there.near(limit if len(there.eids) >= proposals(limit) else len(there.eids))
        found = self._rescored(there.eids[near], query, where)
        # some are gone or changed since: then those behind them count
        if len(found) < np.count_nonzero(near):
            found += self._rescored(there.eids[~near], query, where)
        return ranked(found)[:limit]

    def _rescored(self, eids: Numbers, query: Vectors, where: Filter) -> list[Match]:
        """Score the proposals from the truth, under the whole filter."""
        if not len(eids):
            return []
        clause, values = condition(where)
        vectors = (
            "SELECT e.nid, e.vector FROM embedding e WHERE e.space = %s AND e.eid = p.eid OFFSET 0"
        )
        theirs = f"SELECT {SIGNALS} FROM node n WHERE n.nid = v.nid AND {clause} OFFSET 0"
        select = (
            # LATERAL and OFFSET: the proposals drive, whatever the planner thinks of the filter
            f"SELECT n.*, v.vector FROM unnest(%s::bigint[]) p (eid) CROSS JOIN LATERAL ({vectors}) v CROSS JOIN LATERAL ({theirs}) n"
        )
        rows = self._database.ask(where.space, select, [eids.tolist(), where.space, *values])
        self._database.note(rows)
        self._placed({row[0]: where.space for row in rows})
        return scored(rows, query)

    def count(self, space: str, role: Role, at: Look) -> int:
        """Return how many live nodes of a space have a vector of the active model made for a role."""
        if at.model is None:
            return 0
        inside = self._database.session
        if inside is not None and space in inside.dirty:
            query = (
                "SELECT count(*) FROM embedding e JOIN node n ON n.space = e.space AND n.nid = e.nid WHERE e.space = %s AND n.space = %s "
                "AND e.model = %s AND e.role = %s AND n.t_expired IS NULL AND n.archived = 0 AND (e.role <> 'context' OR n.context <> '')"
            )
            return int(
                self._database.ask(space, query, [space, space, at.model[0], str(role)])[0][0]
            )
        index, lock = self._spaces.vectors(
            self._database, space, at.state, at.model[0], at.model[2]
        )
        with lock:
            return index.live(space, role)


def scored(rows: Rows, query: Vectors) -> list[Match]:
    """Return nodes by their exact cosines, from rows that begin with an id and end with a vector."""
    if not rows:
        return []
    if wrong := next((row[0] for row in rows if len(row[-1]) != 2 * len(query)), None):
        raise CorruptStoreError(
            f"The vector of {wrong} is damaged. Run: clew verify --repair, then: clew reembed",
            id=wrong,
        )
    cosines = exact_cosines(
        np.frombuffer(b"".join(row[-1] for row in rows), "<f2").reshape(len(rows), len(query)),
        query,
    )
    if not np.isfinite(cosines).all():
        raise CorruptStoreError(
            "A vector holds NaN or infinity. Run: clew verify --repair, then: clew reembed"
        )
    return [Match(row[0], cosine) for row, cosine in zip(rows, cosines.tolist(), strict=True)]


def _ranked(
    index: WordIndex,
    lock: threading.RLock,
    weights: dict[int, float],
    where: Filter,
    *,
    count: int,
    allowed: Numbers | None,
) -> tuple[Numbers, npt.NDArray[np.float64]]:
    codes, shares, space = list(weights), list(weights.values()), space_code(where.space)

    def search(holding: Any) -> tuple[View, Any, Any]:
        with lock:
            view = index.view(codes, space)
        with holding:
            return (view, *best(view, shares, count=count, passes=_passes(view, where, allowed)))

    view, rows, scores = search(nullcontext())
    # rows were changed under our eyes: once more, with nobody writing
    if index.edits != view.edits:
        view, rows, scores = search(lock)
    return view.columns["nid"][rows], scores


def _passes(view: View, where: Filter, allowed: Numbers | None) -> Any:
    def passes(rows: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        mask = passing(lambda name: view.columns[name].take(rows), where)
        if allowed is not None:
            mask &= among(view.columns["nid"][rows], allowed)
        return mask

    return passes
