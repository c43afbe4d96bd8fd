"""Words in memory: postings, and row by row what BM25 and a filter ask.

Every space is counted by itself.

Rows stand in the order of node numbers, so that a row is found by bisection, and never move.
Postings are replaced, never changed; only the tail and the columns are written in place, under the
owner's lock. A reader takes a `View`, which stays as it was but for columns that are refiled
meanwhile: `edits` tells.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from clew.store.bm25 import TEXT_WEIGHT, frequency, length
from clew.store.sqlite.vector_index import Records
from clew.text.words import terms

# Which rows hold which word how often: immutable arrays for thousands of rows, a small mutable tail
# for the newest.
#
# A term is known by a 64-bit hash. Among ten million terms two share one with a chance of three in
# a
# million, and then each only counts where the other stands.

NO_ROWS, NO_COUNTS = np.empty(0, np.intp), np.empty(0, np.float64)
TERMS_REMEMBERED = 1 << 16  # hashes kept at hand: 10 MB at most, more words than most stores hold

Words = Mapping[int, float]
"""The weighted occurrences of each term of a row, by the term's code."""

Array = npt.NDArray[Any]


@lru_cache(maxsize=TERMS_REMEMBERED)
def term_code(term: str) -> int:
    """Return a 64-bit number for a term, the same in every process.

    >>> term_code("appl") == term_code("appl") != term_code("pear")
    True
    """
    return int.from_bytes(hashlib.blake2b(term.encode(), digest_size=8).digest(), "big")


def words_of(title: str, text: str, context: str = "") -> tuple[Words, int]:
    """Return the words of a node and its length in tokens, as BM25 wants them."""
    in_text = Counter(map(term_code, terms(text)))
    if not title and not context:  # as most: `frequency` without a call for every term
        return {code: TEXT_WEIGHT * count for code, count in in_text.items()}, length(
            0, in_text.total()
        )
    in_title, in_context = (
        Counter(map(term_code, terms(title))),
        Counter(map(term_code, terms(context))),
    )
    every = in_text.keys() | in_title.keys() | in_context.keys()
    found = {code: frequency(in_title[code], in_text[code], in_context[code]) for code in every}
    return found, length(in_title.total(), in_text.total(), in_context.total())


@dataclass(frozen=True, slots=True)
class Postings:
    """The words of up to 65,536 rows.

    Terms in order, and for each its rows in order with their counts.
    """

    terms: Array  # uint64
    offsets: Array  # uint32, one more than terms: where each term's rows begin
    rows: Array  # uint16
    counts: Array  # uint8 where that is exact, else uint16, float32 or float64

    @classmethod
    def of(cls, words: Mapping[int, Words]) -> Postings:
        """Return the postings of rows given by number."""
        return _ordered(*_flat(words))

    @classmethod
    def joined(cls, parts: Sequence[tuple[int, Postings]]) -> Postings:
        """Return the postings of several, the rows of each numbered from its own first."""
        if len(parts) == 1 and parts[0][0] == 0:
            return parts[0][1]
        triples = [
            (
                np.repeat(each.terms, np.diff(each.offsets)),
                each.rows.astype(np.intp) + first,
                each.counts,
            )
            for first, each in parts
        ]
        return _ordered(*map(np.concatenate, zip(*triples, strict=True)))

    def changed(self, places: npt.NDArray[np.intp], fresh: Mapping[int, Words]) -> Postings:
        """Return the postings with every row at its new, still ascending place (-1.

        Gone) and fresh rows among them.
        """
        moved = places[self.rows]
        kept = moved >= 0
        every_term = np.repeat(self.terms, np.diff(self.offsets))
        old = every_term[kept], moved[kept], self.counts[kept]
        if not fresh:
            return _packed(*old)
        return _ordered(*(np.concatenate(pair) for pair in zip(old, _flat(fresh), strict=True)))


@dataclass(slots=True)
class Tail:
    """The words of the newest rows, one by one, until they are many enough for arrays."""

    by_row: dict[int, Words] = field(default_factory=dict)
    by_term: dict[int, dict[int, float]] = field(default_factory=dict)

    def put(self, row: int, words: Words) -> None:
        """Set the words of a row; none of them removes it."""
        for code in self.by_row.pop(row, ()):
            del self.by_term[code][row]
        if words:
            self.by_row[row] = words
        for code, count in words.items():
            self.by_term.setdefault(code, {})[row] = count

    def holding(self, code: int) -> tuple[Array, Array]:
        """Return the rows that hold a term, in order, and how often each does."""
        found = self.by_term.get(code)
        if not found:
            return NO_ROWS, NO_COUNTS
        rows = np.fromiter(found, np.intp, len(found))
        order = rows.argsort(kind="stable")  # a row that was put again stands behind later ones
        return rows[order], np.fromiter(found.values(), np.float64, len(found))[order]


def _flat(words: Mapping[int, Words]) -> tuple[Array, Array, Array]:
    sizes = [len(held) for held in words.values()]
    codes = np.fromiter((code for held in words.values() for code in held), np.uint64, sum(sizes))
    counts = np.fromiter(
        (count for held in words.values() for count in held.values()), np.float64, sum(sizes)
    )
    return codes, np.repeat(np.fromiter(words, np.intp, len(words)), sizes), counts


def _ordered(every_term: Array, rows: Array, counts: Array) -> Postings:
    order = np.lexsort((rows, every_term))
    return _packed(every_term[order], rows[order], counts[order])


def _packed(every_term: Array, rows: Array, counts: Array) -> Postings:
    """Return postings from triples in order."""
    first = np.ones(len(every_term), np.bool_)
    np.not_equal(every_term[1:], every_term[:-1], out=first[1:])
    begins = np.flatnonzero(first)
    offsets = np.append(begins, len(every_term)).astype(np.uint32)
    return Postings(every_term[begins], offsets, rows.astype(np.uint16), _narrow(counts))


def _narrow(counts: Array) -> Array:
    """Return the counts in the smallest type that holds them exactly."""
    for kind in (np.uint8, np.uint16):
        if counts.max(initial=0) <= np.iinfo(kind).max and np.array_equal(
            small := counts.astype(kind), counts
        ):
            return small
    halved = counts.astype(np.float32)  # words of a context key count in quarters
    return halved if np.array_equal(halved, counts) else counts.astype(np.float64)


RECORD = np.dtype(
    [
        *((name, "<i8") for name in ("nid", "t_valid", "t_invalid", "t_created", "t_expired")),
        *(
            ("space", "<u8"),
            ("category", "<u4"),
            ("length", "<u4"),
            ("parent", "<u4"),
            ("kind", "u1"),
            ("archived", "u1"),
            ("spare", "<u2"),
        ),
    ]
)
# rows kept one by one: reading as many for a frequent word takes 0.3 ms, making arrays of them 40
# ms
TAIL_ROWS = 4096
GATHERED_ROOM = 64  # rows that would take as much memory as keeping a word at all
GATHERED_SHARE = 4  # rows kept gathered for each row there is: 36 MB in a store of a million nodes


@dataclass(frozen=True, slots=True)
class Holding:
    """The rows that hold one term, ascending, and how often each does."""

    rows: Array  # of numpy's own index type: any other is converted at every use
    counts: Array


@dataclass(slots=True)
class Size:
    """How much a space holds."""

    nodes: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class View:
    """One space of the index at one moment, as far as a question needs it."""

    holdings: Sequence[Holding]  # one for each code asked for, with rows of the space alone
    columns: Mapping[str, Array]
    size: int  # rows of all spaces
    live: int  # nodes of the space
    tokens: int
    edits: int


@dataclass(slots=True)
class WordIndex:
    """The words of all nodes as of one moment of the log."""

    seq: int = 0
    newest: int = 0  # the highest node number given out when the index last looked
    size: int = 0
    live: int = 0
    # by the code of the space; only those that have nodes
    sizes: dict[int, Size] = field(default_factory=dict)
    edits: int = 0
    columns: dict[str, Array] = field(
        default_factory=lambda: {name: np.empty(0, RECORD[name]) for name in RECORD.names or ()}
    )
    parts: tuple[tuple[int, Postings], ...] = ()  # (first row, postings), by first row
    # by codes of space and word, as long as the parts stay the same
    gathered: dict[tuple[int, int], Holding] = field(default_factory=dict)
    gathered_rows: int = 0
    tail: Tail = field(default_factory=Tail)
    tail_from: int = 0

    def extend(self, records: Records, postings: Postings) -> None:
        """Add rows behind all others, with their postings numbered from the first of them."""
        self.seal()
        self._set_parts((*self.parts, (self.size, postings)))
        self._append(records)
        self.tail_from = self.size

    def apply(self, records: Records, reworded: Mapping[int, Words], gone: Array) -> None:
        """Take over nodes as they are now.

        `reworded` holds the words of those whose words are new, `gone` the deleted.
        """
        self._bury(gone)
        places, known = self._places(records["nid"])
        self._refile(places[known], records[known])
        with_words = known & np.isin(records["nid"], np.fromiter(reworded, np.int64, len(reworded)))
        self._measure(places[with_words], records["length"][with_words])
        nids = records["nid"].tolist()
        self._reword(
            {
                row: reworded[nids[at]]
                for at, row in zip(
                    np.flatnonzero(with_words), places[with_words].tolist(), strict=True
                )
            }
        )
        for row, at in enumerate(np.flatnonzero(~known), self.size):
            self.tail.put(row, reworded[nids[at]])
        self._append(records[~known])
        if self.size - self.tail_from >= TAIL_ROWS:
            self.seal()

    def seal(self) -> None:
        """Turn the tail into arrays."""
        for first in range(self.tail_from, self.size, TAIL_ROWS):
            rows = range(first, min(first + TAIL_ROWS, self.size))
            postings = Postings.of(
                {row - first: self.tail.by_row[row] for row in rows if row in self.tail.by_row}
            )
            self._set_parts((*self.parts, (first, postings)))
        self.tail, self.tail_from = Tail(), self.size

    def view(self, codes: Sequence[int], space: int) -> View:
        """Return what the words with these codes need in a space."""
        size = self.sizes.get(space, Size())
        if not size.nodes:
            return View([], dict(self.columns), self.size, 0, 0, self.edits)
        self._gather([code for code in codes if (space, code) not in self.gathered], space)
        holdings = [
            _behind(self.gathered[space, code], self._of(space, Holding(*self.tail.holding(code))))
            for code in codes
        ]
        self._trim([(space, code) for code in codes])
        return View(holdings, dict(self.columns), self.size, size.nodes, size.tokens, self.edits)

    def held(self, codes: Sequence[int], space: int) -> list[int]:
        """Return how many rows of a space hold each of the words with these codes.

        The holdings of a `view`, counted.
        """
        if space not in self.sizes:
            return [0] * len(codes)
        self._gather([code for code in codes if (space, code) not in self.gathered], space)
        counts = [
            len(self.gathered[space, code].rows) + self._in_tail(space, code) for code in codes
        ]
        self._trim([(space, code) for code in codes])
        return counts

    def _in_tail(self, space: int, code: int) -> int:
        rows = self.tail.by_term.get(code, {})
        return (
            len(rows)
            if len(self.sizes) == 1
            else sum(int(self.columns["space"][row]) == space for row in rows)
        )

    def _of(self, space: int, held: Holding) -> Holding:
        """Return what a space has of a word's rows.

        How many they are tells nothing of any other space.
        """
        if len(self.sizes) == 1 or not len(held.rows):
            return held
        there = self.columns["space"].take(held.rows) == np.uint64(space)
        return Holding(held.rows[there], held.counts[there])

    def _gather(self, codes: Sequence[int], space: int) -> None:
        """Bring the rows of words together from all parts.

        The words of one question are likely to come again.
        """
        found: list[list[tuple[int, Array, Array]]] = [[] for _ in codes]
        for base, part, which, at in (
            _standing(self.parts, np.array(codes, np.uint64)) if codes else ()
        ):
            begin, end = part.offsets[at : at + 2].tolist()
            found[which].append((base, part.rows[begin:end], part.counts[begin:end]))
        for code, everywhere in zip(codes, _joined(found), strict=True):
            self.gathered[space, code] = held = self._of(space, everywhere)
            self.gathered_rows += _room(held)

    def _trim(self, asked: Sequence[tuple[int, int]]) -> None:
        """Keep the words asked for last, as far as there is room."""
        for word in asked:
            self.gathered[word] = self.gathered.pop(word)
        while self.gathered and self.gathered_rows > GATHERED_SHARE * self.size:
            self.gathered_rows -= _room(self.gathered.pop(next(iter(self.gathered))))

    def _set_parts(self, parts: tuple[tuple[int, Postings], ...]) -> None:
        self.parts, self.gathered, self.gathered_rows = parts, {}, 0

    def _append(self, records: Records) -> None:
        wanted = self.size + len(records)
        capacity = len(self.columns["nid"])
        for name, column in self.columns.items():
            if wanted > capacity:
                self.columns[name] = np.empty(max(wanted, capacity * 3 // 2, 256), column.dtype)
                self.columns[name][: self.size] = column[: self.size]
            self.columns[name][self.size : wanted] = records[name]
        self.size = wanted
        self._count(records["space"], nodes=1, tokens=records["length"])

    def _count(self, spaces: Array, *, nodes: int, tokens: Array) -> None:
        """Add to the sizes of the spaces that rows belong to.

        So many nodes for each row, and its tokens.
        """
        self.live += nodes * len(spaces)
        for code, count, total in _by_space(spaces, tokens):
            size = self.sizes.setdefault(code, Size())
            size.nodes += nodes * count
            size.tokens += int(total)
            if not size.nodes:
                del self.sizes[code]

    def _places(self, nids: Array) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
        """Return where each node stands or would stand, and whether it is there."""
        column = self.columns["nid"][: self.size]
        places = np.searchsorted(column, nids)
        there = places < self.size
        there[there] = column[places[there]] == nids[there]
        return places, there

    def _bury(self, nids: Array) -> None:
        """Take the words from nodes that were deleted; their rows stay behind, empty."""
        places, there = self._places(nids)
        rows = places[there]
        rows = rows[self.columns["length"][rows] > 0]
        self._measure(rows, np.zeros(len(rows), np.uint32))
        self._reword({row: {} for row in rows.tolist()})
        self._count(self.columns["space"][rows], nodes=-1, tokens=np.zeros(len(rows)))

    def _refile(self, rows: Array, records: Records) -> None:
        self.edits += bool(len(rows))
        for name, column in self.columns.items():
            if name != "length":  # follows the words
                column[rows] = records[name]

    def _measure(self, rows: Array, lengths: Array) -> None:
        """Set the lengths of rows; a length of none marks a row that was deleted."""
        self.edits += bool(len(rows))
        column = self.columns["length"]
        self._count(
            self.columns["space"][rows], nodes=0, tokens=lengths.astype(np.int64) - column[rows]
        )
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
            parts[number] = (
                base,
                part.changed(places, {row - base: words for row, words in rows.items() if words}),
            )
        if by_part:
            self._set_parts(tuple(parts))


def _by_space(spaces: Array, tokens: Array) -> list[tuple[int, int, float]]:
    """Return each space that rows belong to, with how many they are and the sum of their tokens."""
    if len(spaces) and (spaces == spaces[0]).all():  # as mostly: no need to sort them
        return [(int(spaces[0]), len(spaces), float(tokens.sum(dtype=np.float64)))]
    codes, places = np.unique(spaces, return_inverse=True)
    # whole numbers far below 2^53 add up exactly
    rows, sums = np.bincount(places), np.bincount(places, weights=tokens)
    return list(zip(codes.tolist(), rows.tolist(), sums.tolist(), strict=True))


def _standing(
    parts: Sequence[tuple[int, Postings]], codes: Array
) -> Iterator[tuple[int, Postings, int, int]]:
    """Yield (first row, postings, which of the codes, its place among the terms) for each code that a part has, part by part.

    What is there is told of all parts at once: a store of 100,000 nodes has 25 of them.
    """
    filled = [(base, part) for base, part in parts if len(part.terms)]
    if not filled:
        return
    places = [part.terms.searchsorted(codes) for _, part in filled]
    # Behind the last term stands the last, which is another.
    near = np.array(
        [part.terms.take(at, mode="clip") for (_, part), at in zip(filled, places, strict=True)]
    )
    numbers, which = (near == codes).nonzero()
    ats = np.array(places)[numbers, which]
    for number, code, at in zip(numbers.tolist(), which.tolist(), ats.tolist(), strict=True):
        yield *filled[number], code, at


def _room(held: Holding) -> int:
    return len(held.rows) + GATHERED_ROOM


def _joined(found: Sequence[Sequence[tuple[int, Array, Array]]]) -> Iterator[Holding]:
    """Yield what each word's pieces come to.

    All are put together at once, for a question's words are many and most of them short.
    """
    pieces = [piece for each in found for piece in each]
    if not pieces:
        yield from (Holding(np.empty(0, np.intp), np.empty(0, np.uint8)) for _ in found)
        return
    rows = np.repeat(
        np.array([base for base, _, _ in pieces], np.intp), [len(part) for _, part, _ in pieces]
    )
    rows += np.concatenate([part for _, part, _ in pieces])
    counts = np.concatenate([part for _, _, part in pieces])
    end = 0
    for each in found:
        begin, end = end, end + sum(len(part) for _, part, _ in each)
        # of their own: a word that is let go must leave memory
        yield Holding(rows[begin:end].copy(), counts[begin:end].copy())


def _behind(held: Holding, newest: Holding) -> Holding:
    """Put the rows of the tail behind those of the parts."""
    if not len(newest.rows):
        return held
    return Holding(
        np.concatenate((held.rows, newest.rows)), np.concatenate((held.counts, newest.counts))
    )
