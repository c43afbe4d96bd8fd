"""Which rows hold which word how often: immutable arrays for thousands of rows, a small mutable tail for the newest.

A term is known by a 64-bit hash. Among ten million terms two share one with a chance of three in a
million, and then each only counts where the other stands.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from clew.store.bm25 import TEXT_WEIGHT, frequency, length
from clew.words import terms

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
        return {code: TEXT_WEIGHT * count for code, count in in_text.items()}, length(0, in_text.total())
    in_title, in_context = Counter(map(term_code, terms(title))), Counter(map(term_code, terms(context)))
    every = in_text.keys() | in_title.keys() | in_context.keys()
    found = {code: frequency(in_title[code], in_text[code], in_context[code]) for code in every}
    return found, length(in_title.total(), in_text.total(), in_context.total())


@dataclass(frozen=True, slots=True)
class Postings:
    """The words of up to 65,536 rows: terms in order, and for each its rows in order with their counts."""

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
        triples = [(np.repeat(each.terms, np.diff(each.offsets)), each.rows.astype(np.intp) + first, each.counts) for first, each in parts]
        return _ordered(*map(np.concatenate, zip(*triples, strict=True)))

    def changed(self, places: npt.NDArray[np.intp], fresh: Mapping[int, Words]) -> Postings:
        """Return the postings with every row at its new, still ascending place (-1: gone) and fresh rows among them."""
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
    counts = np.fromiter((count for held in words.values() for count in held.values()), np.float64, sum(sizes))
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
        if counts.max(initial=0) <= np.iinfo(kind).max and np.array_equal(small := counts.astype(kind), counts):
            return small
    halved = counts.astype(np.float32)  # words of a context key count in quarters
    return halved if np.array_equal(halved, counts) else counts.astype(np.float64)
