"""Vectors in memory: an int8 matrix and, row by row, what a filter asks. Exact under any filter, nothing to train.

The matrix only proposes: the caller rescores from the float16 truth under its own snapshot. Rows are
kept in the order of their embedding ids, so that a row is found by bisection. A reader works on the
arrays as they were when it began: rows are appended behind its back and overwritten in place, which
the rescoring puts right, but never moved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from clew.store.sqlite.columns import FOREVER, Mask, Records, among, passing
from clew.store.sqlite.database import space_code
from clew.store.sqlite.scan import GROUP, Bytes, Codes, dots, excess, quantise, raised, top
from clew.types import QUESTIONS, Filter, Role, Vectors

RECORD = np.dtype(
    [
        *((name, "<i8") for name in ("eid", "nid", "t_valid", "t_invalid", "t_created", "t_expired")),
        *(("space", "<u8"), ("category", "<u4"), ("parent", "<u4"), ("scale", "<f4")),
        *((name, "u1") for name in ("kind", "role", "archived", "spare")),
    ]
)
DEAD = 255  # the role of a row that was deleted
# Written into segments: a code is never given another meaning.
ROLES: dict[str, int] = {Role.CONTENT: 0, Role.CONTEXT: 1, Role.QUESTION: 2, Role.QUESTION_2: 4}
STANDALONE = 3  # what a node without a context key says: its own context

GATHER_SHARE = 0.25  # a filter that keeps less than this: copy the survivors together, scan only them
MOSTLY = 0.5  # a filter that keeps more than this, by a sample: scan all rows, look at the best
LOOKED_AT = 4  # rows looked at for each one wanted before the filter is applied to all
SAMPLED_ROWS = 64
COUNTS_KEPT = 4096  # spaces and roles whose vectors are counted once for each state of the index

DEVIATIONS = 8  # of a cosine by int8, which are less than six of a difference between two: it is one in ten million that errs by more

Rows = npt.NDArray[np.intp]


class Proposed(NamedTuple):
    """Vectors that may be the nearest, by their ids, with their cosines as int8 has them and how far those are off."""

    eids: npt.NDArray[np.int64]
    cosines: npt.NDArray[np.float32]
    deviation: float = 0.0

    def beside(self, other: Proposed) -> Proposed:
        """Return both together."""
        deviation = max(self.deviation, other.deviation)
        return Proposed(np.concatenate((self.eids, other.eids)), np.concatenate((self.cosines, other.cosines)), deviation)

    def near(self, limit: int) -> Mask:
        """Tell which of them can be among the `limit` nearest: not those that are further behind than rounding explains.

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
    codes: Bytes = None  # type: ignore[assignment]  # raised; set below: dataclass fields cannot depend on each other
    over: npt.NDArray[np.float32] = None  # type: ignore[assignment]  # the excess of each row
    records: dict[str, npt.NDArray[Any]] = None  # type: ignore[assignment]
    counted: dict[tuple[str, Role], tuple[int, int]] = field(default_factory=dict)  # how many live rows, and at which place in the log

    def __post_init__(self) -> None:
        """Start empty."""
        self.codes = np.empty((0, self.dimension), np.uint8)
        self.over = np.empty(0, np.float32)
        self.records = {name: np.empty(0, RECORD[name]) for name in RECORD.names or ()}

    def append(self, records: Records, codes: Codes) -> None:
        """Add rows whose ids are all larger than those present."""
        wanted = self.size + len(records)
        if wanted > len(self.codes):
            self._grow(max(wanted, len(self.codes) * 3 // 2, 256))
        self.codes[self.size : wanted] = fresh = raised(codes)
        self.over[self.size : wanted] = excess(fresh)
        for name, column in self.records.items():
            column[self.size : wanted] = records[name]
        self.size = wanted

    def _grow(self, capacity: int) -> None:
        self.codes, self.over = (self._widened(column, capacity) for column in (self.codes, self.over))
        self.records.update({name: self._widened(column, capacity) for name, column in self.records.items()})

    def _widened(self, column: npt.NDArray[Any], capacity: int) -> npt.NDArray[Any]:
        wider = np.empty((capacity, *column.shape[1:]), column.dtype)
        wider[: self.size] = column[: self.size]
        return wider

    def apply(self, changed: Sequence[int], records: Records, codes: Codes) -> None:
        """Bring the rows of the changed ids up to date; `records` holds those that still exist, in order."""
        found = set(records["eid"].tolist())
        gone, there = self._positions(np.array([eid for eid in changed if eid not in found], np.int64))
        self.records["role"][gone[there]] = DEAD
        places, known = self._positions(records["eid"])
        self.codes[places[known]] = fresh = raised(codes[known])
        self.over[places[known]] = excess(fresh)
        for name, column in self.records.items():
            column[places[known]] = records[name][known]
        self.append(records[~known], codes[~known])

    def _positions(self, eids: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
        """Return where each id stands or would stand, and whether it is there; by bisection, however many rows there are."""
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
        made = self.of_role(role, rows) if role is Role.CONTENT else self.records["role"][rows] == ROLES[role]
        made &= self.records["space"][rows] == np.uint64(space_code(space))
        return int(np.count_nonzero(made & (self.records["t_expired"][rows] == FOREVER) & (self.records["archived"][rows] == 0)))

    def of_role(self, role: Role, rows: Rows | slice) -> Mask:
        """Tell of each of the rows whether it can stand for a node in a role."""
        roles = self.records["role"][rows]
        mask: Mask = roles == ROLES[role]
        return mask if role in QUESTIONS else mask | (roles == STANDALONE)

    def nearest(
        self,
        query: Vectors,
        where: Filter,
        *,
        role: Role,
        count: int,
        allowed: npt.NDArray[np.int64] | None,
        hidden: npt.NDArray[np.int64] | None,
    ) -> Proposed:
        """Return about `count` nearest rows that pass the filter, ids in `hidden` left out."""
        size = self.size
        codes, scales = quantise(query[None])
        asked, scale = codes[0], float(scales[0])

        def passes(rows: Rows | slice) -> Mask:
            return self._passing(rows, where, role=role, hidden=hidden)

        if allowed is not None:
            rows = self._rows_of(allowed, size)
            rows = rows[passes(rows)]
        elif self._mostly(passes, size, count):
            return self._proposed(*self._best_of_all(asked, passes, size, count), scale)
        else:
            rows = np.flatnonzero(passes(slice(size)))
        scores = self._scores(rows, asked) if len(rows) < size * GATHER_SHARE else self._scores(slice(size), asked)[rows]
        best = top(scores, count)
        return self._proposed(rows[best], scores[best], scale)

    def _proposed(self, rows: Rows, scores: npt.NDArray[np.float32], scale: float) -> Proposed:
        """Return rows by their ids; a vector and a question are off by up to half a step in every number, evenly."""
        steps = float(self.records["scale"][rows].max(initial=0.0)), scale
        return Proposed(self.records["eid"][rows], scores * np.float32(scale), math.sqrt(sum(step * step for step in steps) / 12))

    def _rows_of(self, nids: npt.NDArray[np.int64], size: int) -> Rows:
        """Return the rows of nodes, which ascend; by bisection of the shorter list in the longer where the rows allow it."""
        column = self.records["nid"][:size]
        if not (column[1:] > column[:-1]).all():  # a node has several vectors, or got its own later than others
            return np.flatnonzero(among(column, nids))
        there = nids[among(nids, column)]
        return np.searchsorted(column, there)

    def _mostly(self, passes: Callable[[Rows | slice], Mask], size: int, count: int) -> bool:
        """Tell whether most of many rows pass, so that looking at the best of them is less work than looking at all."""
        if size <= GROUP * LOOKED_AT * count:
            return False
        sample = passes(slice(0, size, size // SAMPLED_ROWS or 1))
        return bool(np.count_nonzero(sample) > len(sample) * MOSTLY)

    def _best_of_all(
        self, asked: Codes, passes: Callable[[Rows | slice], Mask], size: int, count: int
    ) -> tuple[Rows, npt.NDArray[np.float32]]:
        """Scan every row and filter the best; all of them only when too few of those pass."""
        scores = self._scores(slice(size), asked)
        rows = top(scores, LOOKED_AT * count)
        rows = rows[passes(rows)]
        if len(rows) < count:
            rows = np.flatnonzero(passes(slice(size)))
        rows = rows[top(scores[rows], count)]
        return rows, scores[rows]

    def _scores(self, rows: Rows | slice, asked: Codes) -> npt.NDArray[np.float32]:
        """Return what orders the rows: their products with the question, each by its scale."""
        # `take` copies rows together in a third of the time that indexing needs.
        codes = self.codes[rows] if isinstance(rows, slice) else self.codes.take(rows, axis=0)
        scores = dots(codes, self.over[rows], asked)
        scores *= self.records["scale"][rows]
        return scores

    def _passing(self, rows: Rows | slice, where: Filter, *, role: Role, hidden: npt.NDArray[np.int64] | None) -> Mask:
        """Tell of each of the rows whether it is of the role, passes the filter as far as columns know, and is not hidden."""
        mask = passing(lambda name: self.records[name][rows], where)
        mask &= self.of_role(role, rows)
        if hidden is not None and len(hidden):
            mask &= ~np.isin(self.records["eid"][rows], hidden)
        return mask
