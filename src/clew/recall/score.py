"""How much does each memory deserve to be seen? Relevance, recency, importance and use (mission M1)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from clew.ports import Store
from clew.recall.state import Component, Hit, Question, Recall
from clew.settings import Weights
from clew.types import Signals

SECONDS_PER_DAY = 86_400.0


def recency(age_days: float, *, rate_per_day: float) -> float:
    """Return e^(−rate·age): 1 for now, and for the future.

    >>> round(recency(10, rate_per_day=0.1), 4), recency(-3, rate_per_day=0.1)
    (0.3679, 1.0)
    """
    return math.exp(-rate_per_day * max(0.0, age_days))


def access(count: int, *, divisor: float) -> float:
    """Return min(1, ln(1 + n)/divisor): the first uses count most.

    >>> access(0, divisor=5), round(access(5, divisor=5), 4), access(1000, divisor=5)
    (0.0, 0.3584, 1.0)
    """
    return min(1.0, math.log1p(count) / divisor)


def total(components: Mapping[str, Component]) -> float:
    """Return the score that the components add up to, summed in a fixed order.

    >>> total({"semantic": Component(0.5, 0.8), "recency": Component(1.0, 0.1)})
    0.5
    """
    return sum(components[name].contribution for name in sorted(components))


def components(
    relevance: float, signals: Signals, *, weights: Weights, now: datetime, recency_rate_per_day: float, access_divisor: float
) -> dict[str, Component]:
    """Return the four components of a memory's score."""
    age_days = (now - signals.t_valid).total_seconds() / SECONDS_PER_DAY
    return {
        "semantic": Component(relevance, weights.semantic),
        "recency": Component(recency(age_days, rate_per_day=recency_rate_per_day), weights.recency),
        "importance": Component(signals.importance, weights.importance),
        "access": Component(access(signals.accesses, divisor=access_divisor), weights.access),
    }


@dataclass(frozen=True, slots=True)
class Score:
    """Put the hits in the order of their scores; one that is gone meanwhile drops out."""

    recency_rate_per_day: float
    access_divisor: float
    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Set components and scores."""
        known = self.store.signals([hit.id for hit in recall.hits])
        hits = [self._scored(hit, known[hit.id], recall.question) for hit in recall.hits if hit.id in known]
        return replace(recall, hits=tuple(sorted(hits, key=lambda hit: (-hit.score, hit.id))))

    def _scored(self, hit: Hit, signals: Signals, question: Question) -> Hit:
        parts = components(
            hit.score,
            signals,
            weights=question.weights,
            now=question.where.now,
            recency_rate_per_day=self.recency_rate_per_day,
            access_divisor=self.access_divisor,
        )
        return Hit(id=hit.id, score=total(parts), channels=hit.channels, components=parts)
