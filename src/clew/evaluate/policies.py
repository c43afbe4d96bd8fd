"""Retrieval policies as values: how a question becomes a ranking, and what that costs.

A policy sees the corpus only through `Searcher`, which counts every chunk it shows; the budget of a
multi-hop policy is a budget of chunks shown, and no path exceeds it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Protocol

from clew.engine import Clew
from clew.evaluate.data import Passage, Query
from clew.evaluate.expansion import Expander
from clew.search.spread import TRAVERSAL
from clew.text.words import query_terms, token_estimate
from clew.types import Filter, NodeId, Vectors

POOL_SEARCH = 1000  # how deep the word index is asked for the scores of a pool


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What an answer cost (mission B5).

    Milliseconds are the only part that differs between two runs.
    """

    embedding_calls: int
    chunks_examined: int
    passes: int
    tokens_returned: int
    milliseconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A ranking with the hop that found each of its nodes, its cost, and the links that it was walked along."""

    ranking: tuple[NodeId, ...]
    hops: Mapping[NodeId, int]
    cost: Cost
    links: tuple[tuple[NodeId, NodeId], ...] = ()


# the same texts come back for every question and system
tokens_of = lru_cache(maxsize=20_000)(token_estimate)


class Policy(Protocol):
    """A named way to answer a question."""

    @property
    def name(self) -> str:
        """How tables call it."""

    def answer(self, searcher: Searcher, query: Query) -> Answer:
        """Return the ranking for a query."""


@dataclass(slots=True)
class Searcher:
    """One question's view of a store: searches it and keeps the account."""

    memory: Clew
    passages: Mapping[NodeId, Passage]
    recipe: str | None = None
    asked_at: datetime | None = None
    """When the question was asked: what was said later is not there to be found."""
    timer: Callable[[], float] = time.perf_counter
    passes: int = 0
    embedding_calls: int = 0
    seen: dict[NodeId, None] = field(default_factory=dict)
    vectors: dict[str, Vectors] = field(default_factory=dict)
    hops: dict[NodeId, int] = field(default_factory=dict)
    """The hop that found each node: 1 for what a channel brought, one more for each link on the way
    where links did.
    """
    links: dict[NodeId, tuple[tuple[NodeId, NodeId], ...]] = field(default_factory=dict)

    def search(self, text: str, space: str, *, count: int) -> list[NodeId]:
        """Return up to `count` nodes not shown before, best first, and put them on the account."""
        if count <= 0 or not text.strip():
            return []
        more = count + len(self.seen)
        answer = self.memory.recall(
            text,
            k=more,
            recipe=self.recipe,
            where={"space": space},
            as_of=self.asked_at,
            track=False,
        )
        self.passes += 1
        self.embedding_calls += answer.embedding_calls
        if answer.vector is not None:
            self.vectors[text] = answer.vector
        fresh = [hit for hit in answer.hits if hit.id not in self.seen][:count]
        self.seen.update(dict.fromkeys(hit.id for hit in fresh))
        self.hops |= {hit.id: 1 + hit.hops if hit.method == TRAVERSAL else 1 for hit in fresh}
        self.links |= {hit.id: tuple((hop.source, hop.target) for hop in hit.path) for hit in fresh}
        return [hit.id for hit in fresh]

    def text(self, id: NodeId) -> str:
        """Return the text of a node that was shown."""
        return self.passages[id].text

    def rescored(self, question: str, space: str, ids: Sequence[NodeId]) -> list[NodeId]:
        """Order a pool by the original question alone, whatever query found each member (mission B2)."""
        where = Filter(space=space, now=self.memory.now(), as_of=self.asked_at)
        words = {
            match.id: match.score
            for match in self.memory.store.sparse(query_terms(question), where, limit=POOL_SEARCH)
        }
        vector = self.vectors.get(question)  # the first search has embedded it
        meanings = self.memory.store.cosines(vector, ids) if vector is not None else {}
        dense_weight = 0.5 if meanings else 0.0
        near, said = scaled(meanings, ids), scaled(words, ids)
        score = {id: dense_weight * near[id] + (1 - dense_weight) * said[id] for id in ids}
        return sorted(ids, key=lambda node: (-score[node], node))

    def account(self, ranking: Sequence[NodeId], began: float) -> Cost:
        """Return what has been spent so far."""
        return Cost(
            embedding_calls=self.embedding_calls,
            chunks_examined=len(self.seen),
            passes=self.passes,
            tokens_returned=sum(tokens_of(self.text(id)) for id in ranking),
            milliseconds=(self.timer() - began) * 1e3,
        )


def scaled(scores: Mapping[NodeId, float], ids: Sequence[NodeId]) -> dict[NodeId, float]:
    """Bring the scores of a pool to 0–1.

    One without a score has scored nothing, and less than any that has.

    >>> scaled({"a": 4.0, "b": 2.0}, ["a", "b", "c"])
    {'a': 1.0, 'b': 0.5, 'c': 0.0}
    """
    given = {id: scores.get(id, 0.0) for id in ids}
    low, high = min(given.values(), default=0.0), max(given.values(), default=0.0)
    return {id: (score - low) / (high - low) if high > low else 0.0 for id, score in given.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleHop:
    """One search; the first k are the answer."""

    k: int = 10
    name: str = "single-hop"

    def answer(self, searcher: Searcher, query: Query) -> Answer:
        """Return the ranking of one search."""
        began = searcher.timer()
        ranking = tuple(searcher.search(query.text, query.space, count=self.k))
        links = tuple(dict.fromkeys(link for id in ranking for link in searcher.links[id]))
        hops = {id: searcher.hops[id] for id in ranking}
        return Answer(
            ranking=ranking, hops=hops, cost=searcher.account(ranking, began), links=links
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiHop:
    """Search, read what was found, search for what it names.

    All candidates are judged by the original question.
    """

    expander: Expander
    k: int = 10
    hops: int = 2
    chunks_per_hop: int = 5
    budget: int = 15
    name: str = "multi-hop"

    def answer(self, searcher: Searcher, query: Query) -> Answer:
        """Return the rescored pool of all hops; stops early when a hop brings nothing new."""
        began = searcher.timer()
        found = searcher.search(
            query.text, query.space, count=min(self.chunks_per_hop, self.budget)
        )
        hop_of = dict.fromkeys(found, 1)
        for hop in range(2, self.hops + 1):
            found = self._hop(searcher, query, found, last=hop == self.hops)
            if not found:
                break
            hop_of.update(dict.fromkeys(found, hop))
        ranking = tuple(searcher.rescored(query.text, query.space, list(hop_of))[: self.k])
        return Answer(
            ranking=ranking,
            hops={id: hop_of[id] for id in ranking},
            cost=searcher.account(ranking, began),
        )

    def _hop(
        self, searcher: Searcher, query: Query, found: Sequence[NodeId], *, last: bool
    ) -> list[NodeId]:
        """Search for each expansion in turn.

        A hop that is not the last leaves budget for those after it.
        """
        left = self.budget - len(searcher.seen)
        share = left if last else min(left, self.chunks_per_hop)
        if share <= 0:
            return []
        view = [searcher.text(id) for id in searcher.seen]
        queries = self.expander.queries(
            query.text, query.space, [searcher.text(id) for id in found], view=view
        )
        fresh: list[NodeId] = []
        for position, text in enumerate(queries):
            count = -(-(share - len(fresh)) // (len(queries) - position))
            fresh += searcher.search(text, query.space, count=count)
        return fresh
