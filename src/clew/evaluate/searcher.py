"""One question's view of a store: what a policy may see, with an account of what it has seen."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache

from clew.engine import Clew
from clew.engine.request import filter_of
from clew.engine.request import question as checked_question
from clew.evaluate.data import Cost, Passage
from clew.search.candidates import Candidates, Narrow
from clew.search.pack import Pack
from clew.search.spread import TRAVERSAL, Spread
from clew.search.state import DENSE, Recall
from clew.text.words import token_estimate
from clew.types import Match, NodeId, ranked

POOL_SEARCH = 1000  # how deep the word index is asked for the scores of a pool

tokens_of = lru_cache(maxsize=20_000)(token_estimate)  # the same texts come back for many questions


@dataclass(slots=True)
class Searcher:
    """Search a store for one question and count what was searched and shown."""

    memory: Clew
    passages: Mapping[NodeId, Passage]
    recipe: str | None = None
    asked_at: datetime | None = None
    """When the question was asked: what was said later cannot be found."""
    known_at: datetime | None = None
    """By what was known then it is answered."""
    archived: bool = False
    """Whether what has decayed is searched too."""
    timer: Callable[[], float] = time.perf_counter
    passes: int = 0
    embedding_calls: int = 0
    seen: dict[NodeId, None] = field(default_factory=dict)
    hops: dict[NodeId, int] = field(default_factory=dict)
    """The hop that found each node: 1 for a channel, one more for each link on the way."""
    links: dict[NodeId, tuple[tuple[NodeId, NodeId], ...]] = field(default_factory=dict)

    def search(self, text: str, space: str, *, count: int) -> list[NodeId]:
        """Return up to `count` nodes not shown before, best first, and count them."""
        if count <= 0 or not text.strip():
            return []
        answer = self.memory.recall(
            text,
            k=count + len(self.seen),
            recipe=self.recipe,
            where=self._where(space),
            as_of=self.asked_at,
            known_at=self.known_at,
            track=False,
        )
        self.passes += 1
        self.embedding_calls += answer.embedding_calls
        fresh = [hit for hit in answer.hits if hit.id not in self.seen][:count]
        self.seen.update(dict.fromkeys(hit.id for hit in fresh))
        self.hops |= {hit.id: 1 + hit.hops if hit.method == TRAVERSAL else 1 for hit in fresh}
        self.links |= {hit.id: tuple((hop.source, hop.target) for hop in hit.path) for hit in fresh}
        return [hit.id for hit in fresh]

    def _where(self, space: str) -> dict[str, object]:
        return {"space": space, "archived": True} if self.archived else {"space": space}

    def text(self, id: NodeId) -> str:
        """Return the text of a node that was shown."""
        return self.passages[id].text

    def order(self, question: str, space: str, ids: Sequence[NodeId]) -> list[NodeId]:
        """Order a pool by the original question alone, whatever query found each member.

        The scorer is the recipe itself with the pool as its candidates: every member gets all
        features. Links are not followed, as they would add nodes that were not examined.
        """
        memory = self.memory
        settings, now = memory.settings, memory.now()
        asked = checked_question(
            question,
            settings=settings,
            now=now,
            k=max(1, len(ids)),
            recipe=self.recipe,
            preset=None,
            weights=None,
            where=filter_of(
                self._where(space),
                settings=settings,
                now=now,
                as_of=self.asked_at,
                known_at=self.known_at,
            ),
            min_similarity=None,
            budget_tokens=None,
            seed=0,
        )
        recall = Recall(question=asked, id="pool")
        for stage in memory.recipe(asked.recipe).stages:
            if isinstance(stage, Pack):
                break
            if isinstance(stage, Spread | Narrow):
                continue
            deep = replace(stage, limit=POOL_SEARCH) if isinstance(stage, Candidates) else stage
            recall = deep(recall)
            if isinstance(stage, Candidates):
                recall = self._with_pool(recall, ids)
        places = {hit.id: place for place, hit in enumerate(recall.hits)}
        return sorted(ids, key=lambda id: (places.get(id, len(places)), id))

    def _with_pool(self, recall: Recall, ids: Sequence[NodeId]) -> Recall:
        """Return the recall with the pool in place of what its channels proposed."""
        pool = frozenset(ids)
        channels = {
            name: tuple(match for match in ranking if match.id in pool)
            for name, ranking in recall.channels.items()
        }
        if recall.vector is not None:
            cosines = self.memory.store.cosines(recall.vector, list(ids))
            channels[DENSE] = ranked(map(Match, cosines, cosines.values()))
        return replace(recall, channels=channels)

    def account(self, ranking: Sequence[NodeId], began: float) -> Cost:
        """Return what has been spent so far."""
        return Cost(
            embedding_calls=self.embedding_calls,
            chunks_examined=len(self.seen),
            passes=self.passes,
            tokens_returned=sum(tokens_of(self.text(id)) for id in ranking),
            milliseconds=(self.timer() - began) * 1e3,
        )
