"""Search sections by BM25, on the scale of the relevance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from clew.ports import Store
from clew.types import Filter, Kind, Match, Ranking
from clew.words import idf, query_weight

# Compared with no limit: CACM +2.2 points of nDCG@10, HotpotQA +0.5, household +0.6, LoCoMo turns and desk unchanged.
MAX_TERMS = 6


def sections(store: Store, where: Filter, *, terms: Sequence[str], limit: int) -> Ranking:
    """Return the sections that pass the filter, best first, each with BM25 relative to `best_words`."""
    # Drop the time filter: a chunk in the period may belong to a section that began earlier. Drop `within` too: it selects
    # chunks by section, and sections are not nested.
    here = replace(where, kinds=(Kind.SECTION,), since=None, until=None, within=())
    found = store.sparse(terms, here, limit=limit) if terms else ()
    whole = best_words(terms, store.holding(terms, where.space), nodes=store.coverage(where.space).nodes) if found else 0.0
    return tuple(Match(match.id, min(1.0, match.score / (whole or match.score or 1.0))) for match in found)


def best_words(terms: Sequence[str], frequencies: Mapping[str, int], *, nodes: int) -> float:
    """Return the BM25 of a text of average length that contains every query term once; `frequencies` are document frequencies.

    Even the best text contains only a part of a long query, so at most MAX_TERMS terms of average IDF are counted.

    >>> best_words(["boiler", "the"], {"boiler": 1, "the": 100}, nodes=100) < best_words(["boiler", "ghost"], {"boiler": 1}, nodes=100)
    True
    """
    counts = Counter(terms)
    whole = sum(query_weight(said) * idf(max(nodes, frequencies.get(term, 0)), frequencies.get(term, 0)) for term, said in counts.items())
    return whole * min(1.0, MAX_TERMS / max(1, len(terms)))
