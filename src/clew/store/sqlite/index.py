"""Vectors in memory: an int8 matrix and, row by row, what a filter asks. Exact under any filter, nothing to train.

The matrix only proposes: the caller rescores from the float16 truth under its own snapshot. Rows are
kept in the order of their embedding ids, so that a row is found by bisection. A reader works on the
arrays as they were when it began: rows are appended behind its back and overwritten in place, which
the rescoring puts right, but never moved.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from clew.store.sqlite.database import space_code
from clew.store.sqlite.rows import micros
from clew.types import Filter, Kind, Role, Vectors

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
FOREVER = np.iinfo(np.int64).max
DEAD = 255  # the role of a row that was deleted
KINDS = {kind: code for code, kind in enumerate(Kind)}
ROLES = {role: code for code, role in enumerate(Role)}

THREADS = min(4, os.cpu_count() or 1)  # the scan is bound by memory bandwidth, which few cores exhaust
THREADED_ROWS = 65536  # below this the scan takes 2 ms at most, and waiting for a second thread on a busy machine costs more
GATHER_SHARE = 0.25  # a filter that keeps less than this: copy the survivors together, scan only them
BLOCK = 128  # rows whose best score stands for them when the top is sought among many
FALLBACK_ROWS = 16384  # rows converted at a time without simsimd

Codes = npt.NDArray[np.int8]
Records = npt.NDArray[np.void]


def quantise(vectors: npt.NDArray[Any]) -> tuple[Codes, npt.NDArray[np.float32]]:
    """Return int8 codes and the scale of each row: vector ≈ codes · scale."""
    rows = np.asarray(vectors, dtype=np.float32)
    peaks = np.abs(rows).max(axis=1, initial=0.0)
    scales = np.where(peaks > 0, peaks / 127.0, 1.0).astype(np.float32)
    return np.rint(rows / scales[:, None]).astype(np.int8), scales


def category_code(category: str) -> int:
    """Return a 32-bit number for a category; a collision only costs a candidate that rescoring drops."""
    return zlib.crc32(category.encode())


def dots(codes: Codes, query: Codes) -> npt.NDArray[np.int32]:
    """Return the integer dot product of every row with the query, at memory bandwidth."""
    if cdist is not None:
        threads = THREADS if len(codes) >= THREADED_ROWS else 1
        products: npt.NDArray[np.int32] = np.asarray(cdist(query[None], codes, metric="dot", threads=threads, out_dtype="int32"))[0]
        return products
    wide = query.astype(np.float32)
    parts = [codes[at : at + FALLBACK_ROWS].astype(np.float32) @ wide for at in range(0, len(codes), FALLBACK_ROWS)]
    return np.concatenate(parts).astype(np.int32) if parts else np.empty(0, np.int32)


def top(scores: npt.NDArray[np.float32], count: int) -> npt.NDArray[np.intp]:
    """Return the positions of the `count` best scores, and of all that tie with the last of them.

    >>> top(np.array([1, 3, 2, 3, 0], np.float32), 1).tolist()
    [1, 3]
    """
    if len(scores) <= count:
        return np.flatnonzero(scores > -np.inf)
    cut = max(float(_kth_best(scores, count)), float(np.finfo(np.float32).min))  # never -inf: those are filtered out
    return np.flatnonzero(scores >= cut)


def _kth_best(scores: npt.NDArray[np.float32], count: int) -> np.float32:
    whole = len(scores) // BLOCK * BLOCK
    if whole // BLOCK > count:  # the best rows lie in the blocks with the best maxima
        blocks = scores[:whole].reshape(-1, BLOCK)
        best = np.argpartition(blocks.max(axis=1), -count)[-count:]
        scores = np.concatenate((blocks[best].ravel(), scores[whole:]))
    kth: np.float32 = np.partition(scores, -count)[-count]
    return kth


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

    def _mask(self, where: Filter, size: int, role: Role) -> npt.NDArray[np.bool_]:
        """Apply `clew.store.filters.passes` to whole columns, less what only labels know."""
        column = {name: values[:size] for name, values in self.records.items()}
        mask: npt.NDArray[np.bool_] = (column["role"] == ROLES[role]) & (column["space"] == np.uint64(space_code(where.space)))
        if where.kinds:
            mask &= np.isin(column["kind"], [KINDS[kind] for kind in where.kinds])
        if where.categories:
            mask &= np.isin(column["category"], np.array([category_code(name) for name in where.categories], np.uint32))
        if where.since is not None:
            mask &= column["t_valid"] >= micros(where.since)
        if where.until is not None:
            mask &= column["t_valid"] <= micros(where.until)
        if where.known_at is None:
            mask &= column["t_expired"] == FOREVER
        else:
            mask &= (column["t_created"] <= micros(where.known_at)) & (column["t_expired"] > micros(where.known_at))
        if where.as_of is None:
            mask &= column["t_invalid"] > micros(where.now)
        else:
            mask &= (column["t_valid"] <= micros(where.as_of)) & (column["t_invalid"] > micros(where.as_of))
        if not where.archived:
            mask &= column["archived"] == 0
        return mask
