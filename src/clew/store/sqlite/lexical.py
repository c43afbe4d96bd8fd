"""Word search: keep the words in memory in step with the file, rank, and look at the best rows once more.

The index follows the log of changed nodes and is read from the segments, see `segments.py`, or from
the texts where a store is too small to have them. A write transaction, which sees what nobody else
may see yet, reads an index of its own when it first searches and drops it at its end.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from clew.forking import after_fork
from clew.store.bm25 import K1, saturation
from clew.store.sqlite import segments
from clew.store.sqlite.database import Database, space_code
from clew.store.sqlite.row_cache import NOTED, NUMBER, Seen, match
from clew.store.sqlite.rows import mapped, snapshot
from clew.store.sqlite.scan import Passes, leading
from clew.store.sqlite.stats import newest as newest_node
from clew.store.sqlite.vector_index import among, passing
from clew.store.sqlite.where import carrying, condition
from clew.store.sqlite.word_index import Array, Holding, Postings, View, WordIndex, term_code
from clew.text.words import idf, query_weight
from clew.types import Filter, Match, Ranking, ranked

# The best rows for some words by BM25, exactly, without looking at every row of a frequent word.
#
# Words are taken rarest first. Once the best rows found are further ahead of all others than the
# words
# left could bring, those words are looked up for the rows still in the running alone (MaxScore:
# Turtle
# and Flood, Query evaluation: strategies and optimizations, 1995).

Scores = npt.NDArray[np.float64]

MAX_TERMS = 64  # a pasted page is searched by its 64 rarest words
# asking who is in the running costs as much as the postings of an eighth of the rows
WORTH_ASKING = 8
FOUND = 5e-324  # the smallest score there is: a row without it holds none of the words
MARGIN = 1 + 1e-9  # sums in another order may differ by this much


class Term(NamedTuple):
    """A term of the question: where it stands, and its IDF times what it counts in the question."""

    holding: Holding
    weight: float


def best(
    view: View, weights: Sequence[float], *, count: int, passes: Passes
) -> tuple[Array, Scores]:
    """Return the `count` best rows that pass and all that tie with the last of them.

    Fewer only when there are no more.

    `weights` tells what each of the view's terms counts in the question.
    """
    terms = _terms(view, weights)
    scores = np.zeros(view.size)
    ceilings = _ceilings(terms)
    for number, term in enumerate(terms):
        left = sum(len(each.holding.rows) for each in terms[number:])
        if ceilings[0] > 2 * ceilings[number] and left > view.size // WORTH_ASKING:
            ahead = leading(scores, count, passes, least=FOUND)
            cut = _cut(scores[ahead], count) - ceilings[number] * MARGIN
            if cut > 0:
                rows = np.flatnonzero(scores >= cut)
                return _finished(view, terms[number:], rows[passes(rows)], scores, count)
        scores[term.holding.rows] += _gain(view, term, term.holding.rows, term.holding.counts)
    rows = leading(scores, count, passes, least=FOUND)
    return _head(rows, scores[rows], count)


def _terms(view: View, weights: Sequence[float]) -> list[Term]:
    """Return the terms that stand anywhere, rarest first."""
    there = [
        (holding, weight)
        for holding, weight in zip(view.holdings, weights, strict=False)
        if len(holding.rows)
    ]
    there.sort(key=lambda pair: len(pair[0].rows))
    return [
        Term(holding, weight * idf(view.live, len(holding.rows)))
        for holding, weight in there[:MAX_TERMS]
    ]


def _ceilings(terms: Sequence[Term]) -> list[float]:
    """Return, for each word, the most that it and those behind it can add to a row.

    Saturation stays below k1 + 1.
    """
    return list(accumulate(term.weight * (K1 + 1) for term in reversed(terms)))[::-1]


def _gain(view: View, term: Term, rows: Array, counts: Array) -> Scores:
    lengths = view.columns["length"].take(rows).astype(np.float64)
    gain = saturation(counts.astype(np.float64), lengths, view.tokens / view.live)
    gain *= term.weight
    return gain


def _finished(
    view: View, terms: Sequence[Term], rows: Array, scores: Scores, count: int
) -> tuple[Array, Scores]:
    """Add what the remaining words bring to the rows still in the running."""
    sums = scores[rows]
    for term in terms:
        held = term.holding
        places = held.rows.searchsorted(rows)
        places[places == len(held.rows)] = 0
        there = np.flatnonzero(held.rows[places] == rows)
        sums[there] += _gain(view, term, rows[there], held.counts[places[there]])
    return _head(rows, sums, count)


def _cut(scores: Scores, count: int) -> float:
    """Return the score of the last of the `count` best; none when there are fewer."""
    return float(np.partition(scores, -count)[-count]) if len(scores) >= count else 0.0


def _head(rows: Array, scores: Scores, count: int) -> tuple[Array, Scores]:
    kept = scores >= _cut(scores, count)
    return rows[kept], scores[kept]


Weights = Mapping[int, float]
"""What each term of a question counts there, by the term's code."""

COMPACT_SHARE = 4  # reload when a quarter of the rows is dead


class WordSearch:
    """Finds the nodes that hold any of some words, in step with every commit."""

    def __init__(self, database: Database, seen: Seen) -> None:
        self._database = database
        self._seen = seen
        self._renew_lock()
        after_fork(self._renew_lock)
        self._shared: WordIndex | None = None
        # of the write transaction that is under way, so of one thread
        self._own: WordIndex | None = None

    def _renew_lock(self) -> None:
        self._lock = threading.RLock()

    def search(self, terms: Sequence[str], where: Filter, *, limit: int) -> Ranking:
        """Return the `limit` best nodes by BM25."""
        connection = self._database.connection
        # in order: equally rare ones must always add up alike
        wanted = sorted(Counter(terms).items())
        if not wanted or limit <= 0:
            return ()
        return self._searched(
            connection,
            {term_code(term): query_weight(count) for term, count in wanted},
            where,
            limit=limit,
        )

    def holding(self, terms: Sequence[str], space: str) -> dict[str, int]:
        """Return how many nodes of the space hold each term."""
        connection, wanted = self._database.connection, list(dict.fromkeys(terms))
        with self._lock:
            index = (
                self._uncommitted(connection)
                if connection.in_transaction
                else self._synced(connection)
            )
            counts = index.held(list(map(term_code, wanted)), space_code(space))
        return dict(zip(wanted, counts, strict=True))

    def forget(self) -> None:
        """Drop the index in memory; the next search reads it anew."""
        with self._lock:
            self._shared = None

    def transaction_moved(self) -> None:
        """Drop what a write transaction saw.

        It begins, or went back, and places in the log are given out again.
        """
        self._own = None

    def _searched(
        self, connection: sqlite3.Connection, weights: Weights, where: Filter, *, limit: int
    ) -> Ranking:
        allowed = carrying(connection, where)
        count = limit
        while True:
            nids, scores = self._ranked(connection, weights, where, count=count, allowed=allowed)
            found = self._confirmed(connection, nids, scores, where)
            if len(found) >= limit or len(nids) < count:
                return ranked(found)[:limit]
            count = 4 * len(nids)  # what the last look dropped must not leave the list short

    def _ranked(
        self,
        connection: sqlite3.Connection,
        weights: Weights,
        where: Filter,
        *,
        count: int,
        allowed: Array | None,
    ) -> tuple[Array, Scores]:
        space, codes, shares = space_code(where.space), list(weights), list(weights.values())
        with self._lock:
            index = (
                self._uncommitted(connection)
                if connection.in_transaction
                else self._synced(connection)
            )
            view = index.view(codes, space)
        rows, scores = best(view, shares, count=count, passes=_filter(view, where, allowed))
        # rows were refiled under our eyes: once more, with nobody writing
        if index.edits != view.edits:
            with self._lock:
                view = index.view(codes, space)
                rows, scores = best(view, shares, count=count, passes=_filter(view, where, allowed))
        return view.columns["nid"][rows], scores

    def _confirmed(
        self, connection: sqlite3.Connection, nids: Array, scores: Scores, where: Filter
    ) -> list[Match]:
        """Return the rows that exist and pass the whole filter, as this connection sees them."""
        clause, values = condition(where)
        stamp = self._seen.stamp()
        rows = connection.execute(
            # CROSS JOIN: the proposals drive, whatever the planner thinks of the filter
            f"SELECT {NOTED} FROM json_each(?) j CROSS JOIN node n ON n.nid = j.value WHERE {clause}",
            (json.dumps(nids.tolist()), *values),
        ).fetchall()
        self._seen.note(connection, stamp, rows)
        by_nid = dict(zip(nids.tolist(), scores.tolist(), strict=True))
        return [match((row[0], by_nid[row[NUMBER]])) for row in rows]

    # --- keeping in step ---

    def _synced(self, connection: sqlite3.Connection) -> WordIndex:
        """Return the index as of now, at least."""
        # an error on the way must not leave half of a change behind
        index, self._shared = self._shared, None
        if index is None or index.seq < segments.log_end(connection):
            with snapshot(connection):
                index = _followed(connection, index)
        self._shared = index
        return index

    def _uncommitted(self, connection: sqlite3.Connection) -> WordIndex:
        """Return the index as this thread's write transaction sees it."""
        index, self._own = self._own, None
        if index is None or index.seq < segments.log_end(connection):
            index = _followed(connection, index)
        self._own = index
        return index


def _followed(connection: sqlite3.Connection, index: WordIndex | None) -> WordIndex:
    """Apply what changed since the index last looked.

    Reload when the log no longer reaches back, or much is dead.
    """
    if index is None or index.seq - index.newest < segments.state(connection).get("floor", 0):
        index = _loaded(connection)
    _apply(connection, index)
    if (index.size - index.live) * COMPACT_SHARE > index.size:
        index = _loaded(connection)
        _apply(connection, index)
    return index


def _loaded(connection: sqlite3.Connection) -> WordIndex:
    """Read the segments; those that are missing or damaged are made from the texts."""
    saved = segments.state(connection)
    current = saved.get("format") == segments.FORMAT
    seq, newest = (
        (saved["seq"], saved["newest"])
        if current
        else (segments.log_end(connection), newest_node(connection))
    )
    index = WordIndex(seq=seq, newest=newest)
    with mapped(connection):
        whole = (
            segment or segments.rebuilt(connection, number)
            for number, segment in segments.read_all(connection)
        )
        for group in _grouped(whole):
            firsts = accumulate((len(records) for records, _ in group), initial=0)
            postings = Postings.joined(list(zip(firsts, (each for _, each in group), strict=False)))
            index.extend(np.concatenate([records for records, _ in group]), postings)
    return index


def _grouped(stored: Iterable[segments.Segment]) -> Iterator[list[segments.Segment]]:
    """Put neighbours together while they fill no more than one segment.

    What deletions left of many is looked up once.
    """
    group: list[segments.Segment] = []
    for segment in stored:
        if (
            group
            and sum(len(records) for records, _ in group) + len(segment[0]) > segments.SEGMENT_NODES
        ):
            yield group
            group = []
        group.append(segment)
    if group:
        yield group


def _apply(connection: sqlite3.Connection, index: WordIndex) -> None:
    """Bring the index from its place in the log to the end."""
    seq, newest = segments.log_end(connection), newest_node(connection)
    changed = segments.changed(connection, index.seq, index.newest)
    records = segments.records_of(
        connection, "n.nid IN (SELECT value FROM json_each(?))", json.dumps(list(changed))
    )
    there = records["nid"].tolist()
    words = segments.analysed(connection, records, [nid for nid in there if changed[nid]])
    index.apply(records, words, np.array(sorted(changed.keys() - set(there)), np.int64))
    index.seq, index.newest = seq, newest


# --- one question ---


def _filter(view: View, where: Filter, allowed: Array | None) -> Passes:
    def passes(rows: Array) -> Array:
        mask = passing(lambda name: view.columns[name].take(rows), where)
        if allowed is not None:
            mask &= among(view.columns["nid"][rows], allowed)
        return mask

    return passes
