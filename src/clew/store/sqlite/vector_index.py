"""Vectors in memory: an int8 matrix and, row by row, what a filter asks.

Exact under any filter, nothing to train.

The matrix only proposes: the caller rescores from the float16 truth under its own snapshot. Rows
are kept in the order of their embedding ids, so that a row is found by bisection. A reader works on
the arrays as they were when it began: rows are appended behind its back, and never moved. What a
filter asks is overwritten in place, which the rescoring puts right, and so are vectors: `edits`
tells, and whoever reads them begins anew.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from clew.store.sqlite.database import space_code
from clew.store.sqlite.rows import micros
from clew.store.sqlite.scan import (
    GROUP,
    LOOKED_AT,
    Bytes,
    Codes,
    Passes,
    Rows,
    begun,
    dots,
    excess,
    leading,
    quantised,
    raised,
    top,
)
from clew.types import QUESTIONS, Filter, Kind, Role, Vectors

# What a filter asks of a node, as columns in memory: one definition for the vectors and for the
# words.

SELECTED = "n.space, n.category, n.kind, n.archived, n.parent, n.t_valid, n.t_invalid, n.t_created, n.t_expired"
FOREVER = np.iinfo(np.int64).max
KINDS: dict[str, int] = {kind: code for code, kind in enumerate(Kind)}

Records = npt.NDArray[np.void]
Mask = npt.NDArray[np.bool_]


def name_code(name: str) -> int:
    """Return a 32-bit number for a category or a parent.

    A collision only costs a candidate that the last look at the row drops.

    Never 0, which stands for none.
    """
    return zlib.crc32(name.encode()) or 1


def fill(records: Records, values: Sequence[Sequence[Any]]) -> None:
    """Write the columns of nodes selected as SELECTED into records that have fields of these names."""
    space, category, kind, archived, parent, t_valid, t_invalid, t_created, t_expired = values
    spaces = {name: space_code(name) for name in set(space)}
    categories = {name: name_code(name) for name in set(category)}
    records["space"] = [spaces[name] for name in space]
    records["category"] = [categories[name] for name in category]
    records["kind"] = [KINDS[name] for name in kind]
    records["parent"] = [0 if id is None else name_code(id) for id in parent]
    records["archived"], records["t_valid"], records["t_created"] = archived, t_valid, t_created
    records["t_invalid"] = [FOREVER if at is None else at for at in t_invalid]
    records["t_expired"] = [FOREVER if at is None else at for at in t_expired]


def among(values: npt.NDArray[np.int64], ascending: npt.NDArray[np.int64]) -> Mask:
    """Tell of each value whether it is among others, which ascend.

    >>> among(np.array([7, 1, 3]), np.array([1, 2, 3])).tolist()
    [False, True, True]
    """
    if not len(ascending):
        return np.zeros(len(values), np.bool_)
    places = ascending.searchsorted(values)
    places[places == len(ascending)] = 0
    found: Mask = ascending[places] == values
    return found


@lru_cache(maxsize=64)
def _wanted(kinds: tuple[Kind, ...]) -> Mask:
    """Return for every code of a kind whether it is one of these.

    Looking it up takes a tenth of the time of `isin`.
    """
    wanted = np.zeros(256, np.bool_)
    wanted[[KINDS[kind] for kind in kinds]] = True
    return wanted


def passing(column: Callable[[str], npt.NDArray[Any]], where: Filter) -> Mask:
    """Apply `clew.store.filters.passes` to whole columns, less what only labels know."""
    mask: Mask = column("space") == np.uint64(space_code(where.space))
    if where.kinds:
        mask &= _wanted(where.kinds).take(column("kind"))
    if where.categories:
        mask &= np.isin(
            column("category"), np.array([name_code(name) for name in where.categories], np.uint32)
        )
    if where.since is not None:
        mask &= column("t_valid") >= micros(where.since)
    if where.until is not None:
        mask &= column("t_valid") <= micros(where.until)
    if where.known_at is None:
        mask &= column("t_expired") == FOREVER
    else:
        mask &= (column("t_created") <= micros(where.known_at)) & (
            column("t_expired") > micros(where.known_at)
        )
    if where.as_of is None:
        mask &= column("t_invalid") > micros(where.now)
    else:
        mask &= column("t_valid") <= micros(max(where.as_of, where.recorded_until or where.as_of))
        mask &= column("t_invalid") > micros(where.as_of)
    if where.within:
        mask &= np.isin(column("parent"), np.array([0, *map(name_code, where.within)], np.uint32))
    if not where.archived:
        mask &= column("archived") == 0
    return mask


RECORD = np.dtype(
    [
        *(
            (name, "<i8")
            for name in ("eid", "nid", "t_valid", "t_invalid", "t_created", "t_expired")
        ),
        *(("space", "<u8"), ("category", "<u4"), ("parent", "<u4"), ("scale", "<f4")),
        *((name, "u1") for name in ("kind", "role", "archived", "spare")),
    ]
)
DEAD = 255  # the role of a row that was deleted
# Written into segments: a code is never given another meaning.
ROLES: dict[str, int] = {Role.CONTENT: 0, Role.CONTEXT: 1, Role.QUESTION: 2, Role.QUESTION_2: 4}
STANDALONE = 3  # what a node without a context key says: its own context

# a filter that keeps less than this: copy the survivors together, scan only them
GATHER_SHARE = 0.25
MOSTLY = 0.5  # a filter that keeps more than this, by a sample: scan all rows, look at the best
SAMPLED_ROWS = 64
SAMPLED_BITS = 5  # of the number of rows, by which a sample is known again
SAMPLES_KEPT = 256
COUNTS_KEPT = 4096  # spaces and roles whose vectors are counted once for each state of the index

# of a cosine by int8, which are less than six of a difference between two: it is one in ten million
# that errs by more
DEVIATIONS = 8


_asks = attrgetter(
    "space",
    "kinds",
    "categories",
    "since",
    "until",
    "as_of",
    "known_at",
    "archived",
    "within",
    "recorded_until",
)


class Proposed(NamedTuple):
    """Vectors that may be the nearest, by their ids, with their cosines as int8 has them and how far those are off."""

    eids: npt.NDArray[np.int64]
    cosines: npt.NDArray[np.float32]
    deviation: float = 0.0

    def beside(self, other: Proposed) -> Proposed:
        """Return both together."""
        deviation = max(self.deviation, other.deviation)
        return Proposed(
            np.concatenate((self.eids, other.eids)),
            np.concatenate((self.cosines, other.cosines)),
            deviation,
        )

    def near(self, limit: int) -> Mask:
        """Tell which of them can be among the `limit` nearest.

        Not those that are further behind than rounding explains.

        >>> Proposed(np.array([7, 8, 9]), np.array([0.9, 0.8, 0.7], np.float32), deviation=0.001).near(1).tolist()
        [True, False, False]
        """
        if len(self.cosines) <= limit:
            return np.ones(len(self.cosines), np.bool_)
        last = float(np.partition(self.cosines, -limit)[-limit])
        mask: Mask = self.cosines >= last - DEVIATIONS * self.deviation
        return mask


@dataclass(slots=True)
class VectorIndex:
    """The vectors of one model as of one moment of the change log."""

    dimension: int
    model: int = 0
    seq: int = 0
    newest: int = 0  # the highest embedding number given out when the index last looked
    size: int = 0
    # Raised; set below: dataclass fields cannot depend on each other
    codes: Bytes = None  # type: ignore[assignment]
    over: npt.NDArray[np.float32] = None  # type: ignore[assignment]  # the excess of each row
    records: dict[str, npt.NDArray[Any]] = None  # type: ignore[assignment]
    # how often vectors were overwritten in place: who reads them meanwhile must begin anew
    edits: int = 0
    # how many live rows, and at which place in the log
    counted: dict[tuple[str, Role], tuple[int, int]] = field(default_factory=dict)
    # by filter, role and size: whether most rows passed
    sampled: dict[tuple[object, ...], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Start empty."""
        self.codes = np.empty((0, self.dimension), np.uint8)
        self.over = np.empty(0, np.float32)
        self.records = {name: np.empty(0, RECORD[name]) for name in RECORD.names or ()}

    def append(self, records: Records, codes: Codes) -> None:
        """Add rows whose ids are all larger than those present."""
        wanted = self.size + len(records)
        if wanted > len(self.codes):
            self.reserve(max(wanted, len(self.codes) * 3 // 2, 256))
        self.codes[self.size : wanted] = fresh = raised(codes)
        self.over[self.size : wanted] = excess(fresh)
        for name, column in self.records.items():
            column[self.size : wanted] = records[name]
        self.size = wanted

    def reserve(self, capacity: int) -> None:
        """Make room for so many rows."""
        self.codes, self.over = (
            self._widened(column, capacity) for column in (self.codes, self.over)
        )
        self.records.update(
            {name: self._widened(column, capacity) for name, column in self.records.items()}
        )

    def _widened(self, column: npt.NDArray[Any], capacity: int) -> npt.NDArray[Any]:
        wider = np.empty((capacity, *column.shape[1:]), column.dtype)
        wider[: self.size] = column[: self.size]
        return wider

    def apply(self, changed: Sequence[int], records: Records, codes: Codes) -> None:
        """Bring the rows of the changed ids up to date.

        `records` holds those that still exist, in order.
        """
        found = set(records["eid"].tolist())
        gone, there = self._positions(
            np.array([eid for eid in changed if eid not in found], np.int64)
        )
        self.records["role"][gone[there]] = DEAD
        places, known = self._positions(records["eid"])
        fresh = raised(codes[known])
        # before it is done, or it would be seen too late
        self.edits += not np.array_equal(self.codes[places[known]], fresh)
        self.codes[places[known]] = fresh
        self.over[places[known]] = excess(fresh)
        for name, column in self.records.items():
            column[places[known]] = records[name][known]
        self.append(records[~known], codes[~known])

    def _positions(
        self, eids: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
        """Return where each id stands or would stand, and whether it is there.

        By bisection, however many rows there are.
        """
        column = self.records["eid"][: self.size]
        places = np.searchsorted(column, eids)
        there = places < self.size
        there[there] = column[places[there]] == eids[there]
        return places, there

    def dead(self) -> int:
        """Return how many rows were deleted."""
        return int(np.count_nonzero(self.records["role"][: self.size] == DEAD))

    def live(self, space: str, role: Role) -> int:
        """Return how many rows of a space were made for a role and are neither expired nor archived."""
        seq = self.seq  # before the rows: what is counted while others are applied is counted again
        known = self.counted.get((space, role))
        if known is not None and known[0] == seq:
            return known[1]
        if len(self.counted) >= COUNTS_KEPT:
            self.counted = {}
        self.counted[space, role] = seq, (found := self._live(space, role))
        return found

    def _live(self, space: str, role: Role) -> int:
        rows = slice(self.size)
        made = (
            self.of_role(role, rows)
            if role is Role.CONTENT
            else self.records["role"][rows] == ROLES[role]
        )
        made &= self.records["space"][rows] == np.uint64(space_code(space))
        return int(
            np.count_nonzero(
                made
                & (self.records["t_expired"][rows] == FOREVER)
                & (self.records["archived"][rows] == 0)
            )
        )

    def of_role(self, role: Role, rows: Rows | slice) -> Mask:
        """Tell of each of the rows whether it can stand for a node in a role."""
        roles = self.records["role"][rows]
        mask: Mask = roles == ROLES[role]
        return mask if role in QUESTIONS else mask | (roles == STANDALONE)

    def begin(
        self,
        query: Vectors,
        where: Filter,
        *,
        role: Role,
        count: int,
        allowed: npt.NDArray[np.int64] | None,
        hidden: npt.NDArray[np.int64] | None,
    ) -> Callable[[], Proposed]:
        """Begin to look for about `count` nearest rows that pass the filter, ids in `hidden` left out; return what waits for them."""
        size = self.size
        asked, scale = quantised(query)

        def passes(rows: Rows | slice) -> Mask:
            return self._passing(rows, where, role=role, hidden=hidden)

        if (
            allowed is None
            and size > GROUP * LOOKED_AT[-1] * count
            and self._mostly(passes, where, role, size)
        ):
            products = begun(self.codes[:size], self.over[:size], asked)
            return lambda: self._proposed(
                *self._best_of_all(products(), passes, size, count), scale
            )
        return lambda: self._proposed(
            *self._best_of_some(asked, passes, size, count, allowed), scale
        )

    def _proposed(self, rows: Rows, scores: npt.NDArray[np.float32], scale: float) -> Proposed:
        """Return rows by their ids.

        A vector and a question are off by up to half a step in every number, evenly.
        """
        steps = float(self.records["scale"][rows].max(initial=0.0)), scale
        return Proposed(
            self.records["eid"][rows],
            scores * np.float32(scale),
            math.sqrt(sum(step * step for step in steps) / 12),
        )

    def _rows_of(self, nids: npt.NDArray[np.int64], size: int) -> Rows:
        """Return the rows of nodes, which ascend.

        By bisection of the shorter list in the longer where the rows allow it.
        """
        column = self.records["nid"][:size]
        # a node has several vectors, or got its own later than others
        if not (column[1:] > column[:-1]).all():
            return np.flatnonzero(among(column, nids))
        there = nids[among(nids, column)]
        return np.searchsorted(column, there)

    def _mostly(
        self, passes: Callable[[Rows | slice], Mask], where: Filter, role: Role, size: int
    ) -> bool:
        """Tell whether most of many rows pass, so that looking at the best of them is less work than looking at all.

        A sample tells, taken once for a filter until the rows have grown by a sixteenth or so: its
        rows lie apart, none in the cache, and every search would wait for them. It decides on the
        way to the answer, never on the answer.
        """
        asked = (
            _asks(where),
            role,
            size.bit_length(),
            size >> max(0, size.bit_length() - SAMPLED_BITS),
        )
        mostly = self.sampled.get(asked)
        if mostly is None:
            if len(self.sampled) >= SAMPLES_KEPT:
                self.sampled = {}
            sample = passes(slice(0, size, size // SAMPLED_ROWS or 1))
            mostly = self.sampled[asked] = bool(np.count_nonzero(sample) > len(sample) * MOSTLY)
        return mostly

    def _best_of_all(
        self, products: npt.NDArray[np.float32], passes: Passes, size: int, count: int
    ) -> tuple[Rows, npt.NDArray[np.float32]]:
        """Return the best rows that pass, of all that were scanned."""
        scores = self._scaled(products, slice(size))
        rows = leading(scores, count, passes)
        rows = rows[top(scores[rows], count)]
        return rows, scores[rows]

    def _best_of_some(
        self,
        asked: Codes,
        passes: Callable[[Rows | slice], Mask],
        size: int,
        count: int,
        allowed: npt.NDArray[np.int64] | None,
    ) -> tuple[Rows, npt.NDArray[np.float32]]:
        """Filter every row, or those allowed, and scan what passes.

        All of them where that is less work than to copy many together.
        """
        if allowed is None:
            rows = np.flatnonzero(passes(slice(size)))
        else:
            rows = self._rows_of(allowed, size)
            rows = rows[passes(rows)]
        scores = (
            self._scores(rows, asked)
            if len(rows) < size * GATHER_SHARE
            else self._scores(slice(size), asked)[rows]
        )
        best = top(scores, count)
        return rows[best], scores[best]

    def _scores(self, rows: Rows | slice, asked: Codes) -> npt.NDArray[np.float32]:
        """Return what orders the rows: their products with the question, each by its scale."""
        # `take` copies rows together in a third of the time that indexing needs.
        codes = self.codes[rows] if isinstance(rows, slice) else self.codes.take(rows, axis=0)
        return self._scaled(dots(codes, self.over[rows], asked), rows)

    def _scaled(
        self, products: npt.NDArray[np.float32], rows: Rows | slice
    ) -> npt.NDArray[np.float32]:
        products *= self.records["scale"][rows]
        return products

    def _passing(
        self, rows: Rows | slice, where: Filter, *, role: Role, hidden: npt.NDArray[np.int64] | None
    ) -> Mask:
        """Tell of each of the rows whether it is of the role, passes the filter as far as columns know, and is not hidden."""
        mask = passing(lambda name: self.records[name][rows], where)
        mask &= self.of_role(role, rows)
        if hidden is not None and len(hidden):
            mask &= ~np.isin(self.records["eid"][rows], hidden)
        return mask
