"""Which sections answer? Searched as chunks are, by words and by meaning, on one scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clew.ports import Store
from clew.recall.fuse import convex
from clew.recall.state import DENSE, SPARSE
from clew.types import Filter, Kind, Match, Ranking, Vectors, ranked


def sections(store: Store, where: Filter, *, terms: Sequence[str], vector: Vectors | None, dense_weight: float, limit: int) -> Ranking:
    """Return the sections that pass the filter, best first, each with a relevance from 0 to 1."""
    # Whenever they began: a chunk within the asked time may stand in a section that began before it. And wherever they
    # stand: a filter that names sections means the chunks inside them, and no section is inside another.
    here = replace(where, kinds=(Kind.SECTION,), since=None, until=None, within=())
    found: dict[str, Ranking] = {}
    if terms:
        found[SPARSE] = store.sparse(terms, here, limit=limit)
    if vector is not None and dense_weight:
        found[DENSE] = store.dense(vector, here, limit=limit)
    lows = {name: ranking[-1].score if len(ranking) == limit else 0.0 for name, ranking in found.items()}
    places = convex(found, weights={DENSE: dense_weight, SPARSE: 1.0 - dense_weight}, lows=lows)
    return ranked(Match(id, worth) for id, worth in places.relevances().items())
