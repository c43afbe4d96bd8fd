"""Compute TraceRank, the factor of a memory's history on its relevance.

Events are REINFORCE_EXACT and REINFORCE_NEAR: somebody said it again. The ADD with which every
memory begins tells nothing apart from its age, which the score knows as recency; an ACCESS is
recall's own doing and must not feed it.

It is bounded, and acts only on what is relevant anyway: `python -m benchmarks.history` measures it
on a year of history.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

from clew.ports import Evidence
from clew.types import Stability

REINFORCEMENT_GAIN = 0.35
REINFORCEMENT_DAYS = 21.0
BURST = timedelta(hours=24)
# of an event that a newer one follows within a burst: the same conversation saying it again
BURST_SHARE = 0.2
GRAPH_GAIN = 0.15
LIFE_DAYS = {Stability.DYNAMIC: 90.0, Stability.EPHEMERAL: 7.0}
MIN_TEMPORAL = 0.01
DAY = timedelta(days=1)


class Factors(NamedTuple):
    """The three factors of a memory; one that is switched off is 1."""

    reinforcement: float = 1.0
    graph: float = 1.0
    temporal: float = 1.0

    @property
    def product(self) -> float:
        """The multiplier before it is bounded."""
        return self.reinforcement * self.graph * self.temporal


class Switches(NamedTuple):
    """Which factors count."""

    reinforcement: bool = True
    graph: bool = True
    temporal: bool = True


ALL = Switches()


def reinforcement(events: Sequence[datetime], *, now: datetime) -> float:
    """Return 1 + 0.35·ln(1 + Σ e^(−days/21)·b).

    b is 0.2 where the next newer event is less than 24 hours away, else 1. Events after `now` do not
    count.

    >>> now = datetime(2026, 3, 22)
    >>> reinforcement([], now=now)
    1.0
    >>> round(reinforcement([datetime(2026, 3, 1)], now=now), 6)  # 21 days ago: 1 + 0.35·ln(1 + e⁻¹)
    1.109642
    >>> twice = [datetime(2026, 3, 1), datetime(2026, 3, 1, 23)]  # a burst: the older of the two counts a fifth
    >>> round(reinforcement(twice, now=now), 6)
    1.132125
    """
    newest_first = sorted((event for event in events if event <= now), reverse=True)
    shares = [
        1.0,
        *(BURST_SHARE if newer - older < BURST else 1.0 for newer, older in pairwise(newest_first)),
    ]
    felt = sum(
        math.exp(-((now - event) / DAY) / REINFORCEMENT_DAYS) * share
        for event, share in zip(newest_first, shares, strict=False)
    )
    return 1.0 + REINFORCEMENT_GAIN * math.log1p(felt)


def graph(related: int) -> float:
    """Return 1 + 0.15·ln(1 + how many memories are RELATED to this one).

    >>> graph(0), round(graph(9), 6)
    (1.0, 1.345388)
    """
    return 1.0 + GRAPH_GAIN * math.log1p(related)


def temporal(stability: Stability, *, age_days: float) -> float:
    """Return 1 for static and unknown stability, else max(0.01, e^(−age/life)).

    The life of a dynamic statement is 90 days, of an ephemeral one 7.

    >>> [round(temporal(stability, age_days=7), 6) for stability in Stability]
    [1.0, 0.92517, 0.367879, 1.0]
    >>> temporal(Stability.EPHEMERAL, age_days=365), temporal(Stability.EPHEMERAL, age_days=-1)
    (0.01, 1.0)
    """
    life = LIFE_DAYS.get(stability)
    return 1.0 if life is None else max(MIN_TEMPORAL, math.exp(-max(0.0, age_days) / life))


def factors(
    evidence: Evidence, *, now: datetime, at: datetime | None = None, switches: Switches = ALL
) -> Factors:
    """Return a memory's factors, given what was known `now`, aged to `at` (or `now`).

    Its age counts from when it became true or, if that is later, from when it was last said again:
    what was confirmed last week is not out of date.

    >>> now = datetime(2026, 3, 22)
    >>> known = Evidence(Stability.DYNAMIC, datetime(2025, 12, 22), (datetime(2026, 3, 1),), related=9)
    >>> [round(each, 6) for each in factors(known, now=now)]
    [1.109642, 1.345388, 0.79189]
    >>> factors(known, now=now, switches=Switches(reinforcement=False, graph=False, temporal=False)).product
    1.0
    """
    since = max((evidence.t_valid, *(event for event in evidence.reinforced if event <= now)))
    age_days = ((at or now) - since) / DAY
    return Factors(
        reinforcement(evidence.reinforced, now=now) if switches.reinforcement else 1.0,
        graph(evidence.related) if switches.graph else 1.0,
        temporal(evidence.stability, age_days=age_days) if switches.temporal else 1.0,
    )


def bound(multiplier: float, *, least: float, most: float) -> float:
    """Return the multiplier, no smaller than `least` and no larger than `most`.

    >>> bound(0.01, least=0.67, most=1.5), bound(1.2, least=0.67, most=1.5), bound(3.0, least=0.67, most=1.5)
    (0.67, 1.2, 1.5)
    """
    return min(most, max(least, multiplier))


def is_relevant(relevance: float, *, best: float, share: float) -> bool:
    """Tell whether a hit is relevant enough for its history to count.

    At least a share as relevant as the best.

    >>> is_relevant(0.4, best=0.8, share=0.5), is_relevant(0.39, best=0.8, share=0.5)
    (True, False)
    """
    return relevance >= share * best
