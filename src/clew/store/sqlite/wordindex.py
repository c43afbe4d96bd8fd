"""Words in memory: postings, and row by row what BM25 and a filter ask.

Rows stand in the order of node numbers, so that a row is found by bisection, and never move. Postings
are replaced, never changed; only the tail and the columns are written in place, under the owner's lock.
A reader takes a `View`, which stays as it was but for columns that are refiled meanwhile: `edits` tells.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from clew.store.sqlite.columns import Records
from clew.store.sqlite.postings import Array, Postings, Tail, Words

RECORD = np.dtype(
    [
        *((name, "<i8") for name in ("nid", "t_valid", "t_invalid", "t_created", "t_expired")),
        *(("space", "<u8"), ("category", "<u4"), ("length", "<u4"), ("kind", "u1"), ("archived", "u1"), ("spare", "<u2")),
    ]
)
TAIL_ROWS = 4096  # rows kept one by one: reading as many for a frequent word takes 0.3 ms, making arrays of them 40 ms


@dataclass(frozen=True, slots=True)
class Holding:
    """The rows that hold one term, ascending, and how often each does."""

    rows: Array
    counts: Array


@dataclass(frozen=True, slots=True)
class View:
    """The index at one moment, as far as a question needs it."""

    holdings: Sequence[Holding]  # one for each code asked for
    columns: Mapping[str, Array]
    size: int
    live: int
    tokens: int
    edits: int


@dataclass(slots=True)
class WordIndex:
    """The words of all nodes as of one moment of the log."""

    seq: int = 0
    size: int = 0
    live: int = 0
    tokens: int = 0
    edits: int = 0
    columns: dict[str, Array] = field(default_factory=lambda: {name: np.empty(0, RECORD[name]) for name in RECORD.names or ()})
    parts: tuple[tuple[int, Postings], ...] = ()  # (first row, postings), by first row
    tail: Tail = field(default_factory=Tail)
    tail_from: int = 0

    def extend(self, records: Records, postings: Postings) -> None:
        """Add rows behind all others, with their postings numbered from the first of them."""
        self.seal()
        self.parts += ((self.size, postings),)
        self._append(records)
        self.tail_from = self.size

    def apply(self, records: Records, reworded: Mapping[int, Words], gone: Array) -> None:
        """Take over nodes as they are now: `reworded` holds the words of those whose words are new, `gone` the deleted."""
        places, known = self._places(records["nid"])
        dead, there = self._places(gone)
        dead = dead[there]
        dead = dead[self.columns["length"][dead] > 0]
        self._count(dead, np.zeros(len(dead), np.uint32))
        self.live -= len(dead)
        changed: dict[int, Words] = {row: {} for row in dead.tolist()}
        has_words = np.fromiter((nid in reworded for nid in records["nid"].tolist()), np.bool_, len(records))
        self._refile(places[known], records[known])
        self._count(places[known & has_words], records["length"][known & has_words])
        changed.update({int(row): reworded[int(nid)] for row, nid in zip(places[known], records["nid"][known], strict=True) if nid in reworded})
        self._reword(changed)
        first = self.size
        self._append(records[~known])
        for row, nid in enumerate(records["nid"][~known].tolist(), first):
            self.tail.put(row, reworded[nid])
        if self.size - self.tail_from >= TAIL_ROWS:
            self.seal()

    def seal(self) -> None:
        """Turn the tail into arrays."""
        for first in range(self.tail_from, self.size, TAIL_ROWS):
            rows = range(first, min(first + TAIL_ROWS, self.size))
            self.parts += ((first, Postings.of({row - first: self.tail.by_row[row] for row in rows if row in self.tail.by_row})),)
        self.tail, self.tail_from = Tail(), self.size

    def view(self, codes: Sequence[int]) -> View:
        """Return what the words with these codes need."""
        found: list[list[tuple[int, Array, Array]]] = [[] for _ in codes]
        wanted = np.array(codes, np.uint64)
        for base, part in self.parts:
            for which, begin, end in part.ranges(wanted):
                found[which].append((base, part.rows[begin:end], part.counts[begin:end]))
        holdings = [_joined(pieces, *self.tail.holding(code)) for code, pieces in zip(codes, found, strict=True)]
        return View(holdings, dict(self.columns), self.size, self.live, self.tokens, self.edits)

    def _append(self, records: Records) -> None:
        wanted = self.size + len(records)
        capacity = len(self.columns["nid"])
        for name, column in self.columns.items():
            if wanted > capacity:
                self.columns[name] = np.empty(max(wanted, capacity * 3 // 2, 256), column.dtype)
                self.columns[name][: self.size] = column[: self.size]
            self.columns[name][self.size : wanted] = records[name]
        self.size = wanted
        self.live += len(records)
        self.tokens += int(records["length"].sum(dtype=np.int64))

    def _places(self, nids: Array) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
        """Return where each node stands or would stand, and whether it is there."""
        column = self.columns["nid"][: self.size]
        places = np.searchsorted(column, nids)
        there = places < self.size
        there[there] = column[places[there]] == nids[there]
        return places, there

    def _refile(self, rows: Array, records: Records) -> None:
        self.edits += bool(len(rows))
        for name, column in self.columns.items():
            if name != "length":  # follows the words
                column[rows] = records[name]

    def _count(self, rows: Array, lengths: Array) -> None:
        """Set the lengths of rows; a length of none marks a row that was deleted."""
        self.edits += bool(len(rows))
        column = self.columns["length"]
        self.tokens += int(lengths.sum(dtype=np.int64)) - int(column[rows].sum(dtype=np.int64))
        column[rows] = lengths

    def _reword(self, changed: Mapping[int, Words]) -> None:
        """Give rows that are there their new words."""
        by_part: defaultdict[int, dict[int, Words]] = defaultdict(dict)
        for row, words in changed.items():
            if row >= self.tail_from:
                self.tail.put(row, words)
            else:
                by_part[bisect_right(self.parts, row, key=itemgetter(0)) - 1][row] = words
        parts = list(self.parts)
        for number, rows in by_part.items():
            base, part = parts[number]
            end = parts[number + 1][0] if number + 1 < len(parts) else self.tail_from
            places = np.arange(end - base)
            places[np.fromiter(rows, np.intp) - base] = -1
            parts[number] = base, part.changed(places, {row - base: words for row, words in rows.items() if words})
        self.parts = tuple(parts)


def _joined(pieces: Sequence[tuple[int, Array, Array]], rows: Array, counts: Array) -> Holding:
    """Return the rows of all parts and of the tail, which stand behind them."""
    if not pieces:
        return Holding(rows, counts)
    sizes = [len(part) for _, part, _ in pieces]
    firsts = np.repeat(np.array([base for base, _, _ in pieces], np.int32), sizes)
    firsts += np.concatenate([part for _, part, _ in pieces])
    if not len(rows):  # the usual case keeps the counts as small as they are
        return Holding(firsts, np.concatenate([part for _, _, part in pieces]))
    return Holding(np.concatenate((firsts, rows)), np.concatenate([*(part for _, _, part in pieces), counts]))
