"""Vectors in memory: an int8 matrix and, row by row, what a filter asks. Exact under any filter, nothing to train.

The matrix only proposes: the caller rescores from the float16 truth under its own snapshot. Rows are
kept in the order of their embedding ids, so that a row is found by bisection. A reader works on the
arrays as they were when it began: rows are appended behind its back and overwritten in place, which
the rescoring puts right, but never moved.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from clew.store.sqlite.columns import Mask, Records, passing
from clew.types import Filter, Role, Vectors

cdist: Callable[..., Any] | None
try:
    from simsimd import cdist
except ImportError:  # a platform without the wheel: slower, same answers
    cdist = None

RECORD = np.dtype(
    [
        *((name, "<i8") for name in ("eid", "nid", "t_valid", "t_invalid", "t_created", "t_expired")),
        *(("space", "<u8"), ("category", "<u4"), ("scale", "<f4")),
        *((name, "u1") for name in ("kind", "role", "archived", "spare")),
    ]
)
DEAD = 255  # the role of a row that was deleted
ROLES = {role: code for code, role in enumerate(Role)}

THREADS = min(4, os.cpu_count() or 1)  # the scan is bound by memory bandwidth, which few cores exhaust
THREADED_ROWS = 65536  # below this the scan takes 2 ms at most, and waiting for a second thread on a busy machine costs more
GATHER_SHARE = 0.25  # a filter that keeps less than this: copy the survivors together, scan only them
GROUP = 64  # rows whose best score stands for them when the top is sought among many
LEAST = float(np.finfo(np.float32).min)  # never -inf: those are filtered out
FALLBACK_ROWS = 16384  # rows converted at a time without simsimd

Codes = npt.NDArray[np.int8]
Scores = npt.NDArray[np.floating[Any]]


def quantise(vectors: npt.NDArray[Any]) -> tuple[Codes, npt.NDArray[np.float32]]:
    """Return int8 codes and the scale of each row: vector ≈ codes · scale."""
    rows = np.asarray(vectors, dtype=np.float32)
    peaks = np.abs(rows).max(axis=1, initial=0.0)
    scales = np.where(peaks > 0, peaks / 127.0, 1.0).astype(np.float32)
    return np.rint(rows / scales[:, None]).astype(np.int8), scales


def dots(codes: Codes, query: Codes) -> npt.NDArray[np.int32]:
    """Return the integer dot product of every row with the query, at memory bandwidth.

    Many rows are shared out between threads of our own: simsimd's go on spinning after their work is done and
    take the second core from whatever comes next. The gain of a whole recall has only been seen on a noisy machine.
    """
    if len(codes) < THREADED_ROWS or THREADS == 1:
        return _products(codes, query)
    share = -(-len(codes) // THREADS)
    others = [_threads(os.getpid()).submit(_products, codes[at : at + share], query) for at in range(share, len(codes), share)]
    return np.concatenate([_products(codes[:share], query), *(other.result() for other in others)])


@lru_cache(maxsize=1)
def _threads(process: int) -> ThreadPoolExecutor:
    """Return the scanning threads of a process; a forked child, which has none of its parent's, gets its own."""
    return ThreadPoolExecutor(max_workers=THREADS - 1, thread_name_prefix=f"clew-scan-{process}")


def _products(codes: Codes, query: Codes) -> npt.NDArray[np.int32]:
    if cdist is not None and len(codes):
        products: npt.NDArray[np.int32] = np.asarray(cdist(query[None], codes, metric="dot", threads=1, out_dtype="int32"))[0]
        return products
    wide = query.astype(np.float32)
    parts = [codes[at : at + FALLBACK_ROWS].astype(np.float32) @ wide for at in range(0, len(codes), FALLBACK_ROWS)]
    return np.concatenate(parts).astype(np.int32) if parts else np.empty(0, np.int32)


def top(scores: Scores, count: int, *, least: float = LEAST) -> npt.NDArray[np.intp]:
    """Return the positions of the `count` best scores, and of all that tie with the last of them; none below `least`.

    >>> top(np.array([1, 3, 2, 3, 0], np.float32), 1).tolist()
    [1, 3]
    """
    groups = len(scores) // GROUP
    if groups > count:  # as many groups, so as many scores, reach the count-th best of their maxima
        maxima = scores[: groups * GROUP].reshape(GROUP, groups).max(axis=0)
        least = max(least, float(np.partition(maxima, -count)[-count]))
    near: npt.NDArray[np.intp] = np.flatnonzero(scores >= least)
    if len(near) <= count:
        return near
    reached = scores[near]
    kept: npt.NDArray[np.bool_] = reached >= np.partition(reached, -count)[-count]
    return near[kept]


@dataclass(slots=True)
class VectorIndex:
    """The vectors of one model as of one moment of the change log."""

    dimension: int
    model: int = 0
    seq: int = 0
    size: int = 0
    codes: Codes = None  # type: ignore[assignment]  # set below; dataclass fields cannot depend on each other
    records: dict[str, npt.NDArray[Any]] = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        """Start empty."""
        self.codes = np.empty((0, self.dimension), np.int8)
        self.records = {name: np.empty(0, RECORD[name]) for name in RECORD.names or ()}

    def append(self, records: Records, codes: Codes) -> None:
        """Add rows whose ids are all larger than those present."""
        wanted = self.size + len(records)
        if wanted > len(self.codes):
            self._grow(max(wanted, len(self.codes) * 3 // 2, 256))
        self.codes[self.size : wanted] = codes
        for name, column in self.records.items():
            column[self.size : wanted] = records[name]
        self.size = wanted

    def _grow(self, capacity: int) -> None:
        codes = np.empty((capacity, self.dimension), np.int8)
        codes[: self.size] = self.codes[: self.size]
        self.codes = codes
        for name, column in self.records.items():
            wider = np.empty(capacity, column.dtype)
            wider[: self.size] = column[: self.size]
            self.records[name] = wider

    def apply(self, changed: Sequence[int], records: Records, codes: Codes) -> None:
        """Bring the rows of the changed ids up to date; `records` holds those that still exist, in order."""
        gone, there = self._positions(np.setdiff1d(np.asarray(changed, np.int64), records["eid"]))
        self.records["role"][gone[there]] = DEAD
        places, known = self._positions(records["eid"])
        self.codes[places[known]] = codes[known]
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

    def nearest(
        self,
        query: Vectors,
        where: Filter,
        *,
        role: Role,
        count: int,
        allowed: npt.NDArray[np.int64] | None,
        hidden: npt.NDArray[np.int64] | None,
    ) -> npt.NDArray[np.int64]:
        """Return the embedding ids of about `count` nearest rows that pass the filter, ids in `hidden` left out."""
        size = self.size
        codes = self.codes[:size]
        mask = self._mask(where, size, role)
        if allowed is not None:
            mask &= np.isin(self.records["nid"][:size], allowed)
        if hidden is not None and len(hidden):
            mask &= ~np.isin(self.records["eid"][:size], hidden)
        passing = int(np.count_nonzero(mask))
        if not passing:
            return np.empty(0, np.int64)
        quantised = quantise(query[None])[0][0]
        if passing < size * GATHER_SHARE:
            rows = np.flatnonzero(mask)
            scores = np.multiply(dots(codes[rows], quantised), self.records["scale"][rows], dtype=np.float32, casting="unsafe")
            return np.asarray(self.records["eid"][rows[top(scores, count)]])
        scores = np.multiply(dots(codes, quantised), self.records["scale"][:size], dtype=np.float32, casting="unsafe")
        if passing < size:
            scores[~mask] = -np.inf
        return np.asarray(self.records["eid"][top(scores, count)])

    def _mask(self, where: Filter, size: int, role: Role) -> Mask:
        mask = passing(lambda name: self.records[name][:size], where)
        mask &= self.records["role"][:size] == ROLES[role]
        return mask
