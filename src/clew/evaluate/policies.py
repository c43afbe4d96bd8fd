"""Retrieval policies as values: how a question becomes a ranking, and what that costs.

    single-hop     one search
    multi-hop      search, read, search for the rarest names and symbols that were read
    follow-names   search, read the best hits, search for the question beside each name in them

A policy sees the corpus only through `Searcher`, which counts every chunk it shows; a budget is a
budget of chunks shown and is never exceeded. Whatever policy found a chunk, its place in the
ranking comes from the same scorer against the original question (`Searcher.order`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from clew.evaluate.data import Answer, Query
from clew.evaluate.expansion import Expander
from clew.evaluate.searcher import Searcher
from clew.text.words import query_terms, terms
from clew.types import NodeId

COVERED = "covered"
NO_BUDGET = "no budget left"
NO_LEADS = "no leads"
NOTHING_NEW = "nothing new"
NO_GAIN = "no gain"
ALL_HOPS = "all hops"


class Policy(Protocol):
    """A named way to answer a question."""

    @property
    def name(self) -> str:
        """The name in tables."""

    def answer(self, searcher: Searcher, query: Query) -> Answer:
        """Return the ranking for a query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleHop:
    """One search; the first k are the answer."""

    k: int = 10
    name: str = "single-hop"
    rescored: bool = False
    """Whether the hits are ordered as those of the other policies are (see `Searcher.order`)."""

    def answer(self, searcher: Searcher, query: Query) -> Answer:
        """Return the ranking of one search."""
        began = searcher.timer()
        found = searcher.search(query.text, query.space, count=self.k)
        if self.rescored:
            found = searcher.order(query.text, query.space, found)
        links = tuple(dict.fromkeys(link for id in found for link in searcher.links[id]))
        return Answer(
            ranking=tuple(found),
            hops={id: searcher.hops[id] for id in found},
            cost=searcher.account(found, began),
            links=links,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiHop:
    """Search, read what was found, search for what it names.

    It stops before the budget is spent when the best hit already covers the question, when there is
    nothing to search for, when a hop finds nothing new, or when a hop changed none of the first k.
    """

    expander: Expander
    k: int = 10
    hops: int = 2
    chunks_per_hop: int = 5
    budget: int = 15
    early_stop: bool = True
    name: str = "multi-hop"

    def answer(self, searcher: Searcher, query: Query) -> Answer:
        """Return all that was examined, ordered by the original question and cut to k."""
        began = searcher.timer()
        first = min(self.chunks_per_hop, self.budget)
        found = searcher.search(query.text, query.space, count=first)
        hop_of = dict.fromkeys(found, 1)
        stopped = COVERED if self.early_stop and self._is_covered(searcher, query, found) else ""
        last = 1
        while not stopped and last < self.hops:
            found, stopped = self._hop(searcher, query, found, last=last + 1 == self.hops)
            if not found:
                break
            last += 1
            hop_of.update(dict.fromkeys(found, last))
            if last < self.hops and self._gained_nothing(searcher, query, list(hop_of), found):
                stopped = NO_GAIN
        ranking = searcher.order(query.text, query.space, list(hop_of))[: self.k]
        return Answer(
            ranking=tuple(ranking),
            hops={id: hop_of[id] for id in ranking},
            cost=searcher.account(ranking, began),
            hops_used=last,
            stopped=stopped or ALL_HOPS,
        )

    def _is_covered(self, searcher: Searcher, query: Query, found: Sequence[NodeId]) -> bool:
        """Return whether the best hit contains every content word of the question."""
        wanted = set(query_terms(query.text))
        return bool(found and wanted) and wanted <= set(terms(searcher.text(found[0])))

    def _gained_nothing(
        self, searcher: Searcher, query: Query, pool: list[NodeId], fresh: Sequence[NodeId]
    ) -> bool:
        """Return whether none of the fresh chunks is among the first k of the pool."""
        if not self.early_stop:
            return False
        best = searcher.order(query.text, query.space, pool)[: self.k]
        return not set(best) & set(fresh)

    def _hop(
        self, searcher: Searcher, query: Query, found: Sequence[NodeId], *, last: bool
    ) -> tuple[list[NodeId], str]:
        """Search for each lead in turn; a hop that is not the last leaves budget for the next."""
        left = self.budget - len(searcher.seen)
        share = left if last else min(left, self.chunks_per_hop)
        if share <= 0:
            return [], NO_BUDGET
        view = [searcher.text(id) for id in searcher.seen]
        read = [searcher.text(id) for id in found]
        queries = self.expander.queries(query.text, query.space, read, view=view)
        if not queries:
            return [], NO_LEADS
        fresh: list[NodeId] = []
        for position, text in enumerate(queries):
            count = -(-(share - len(fresh)) // (len(queries) - position))
            fresh += searcher.search(text, query.space, count=count)
        return fresh, "" if fresh else NOTHING_NEW
