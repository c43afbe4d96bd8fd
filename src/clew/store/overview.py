"""Counts over time and by quality.

What a store answers by itself (`CountsOverTime`), and the same node by node for any other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol, runtime_checkable

from clew.ports import Store
from clew.store.filters import passes
from clew.types import BEGINNING, Filter, Node


class Span(NamedTuple):
    """Where an axis begins and how wide its buckets are."""

    start: datetime
    width: timedelta
    buckets: int

    @property
    def end(self) -> datetime:
        """Where it ends."""
        return self.start + self.width * self.buckets


class Densities(NamedTuple):
    """Counts by bucket; the first number stands for everything before the axis, the last for everything after it."""

    began: Sequence[int]
    ended: Sequence[int]
    recorded: Sequence[int]


class Assessed(NamedTuple):
    """How good the live texts of a space are."""

    nodes: int
    bins: Sequence[int]
    stubs: Mapping[str, int]
    lowest: Sequence[Node]


@runtime_checkable
class CountsOverTime(Protocol):
    """A store that answers these without reading every node."""

    def extent(self, where: Filter, *, outliers: float) -> tuple[datetime, datetime] | None:
        """Return between which valid times the nodes lie, without a share of outliers at each end.

        None where there is no node.
        """

    def densities(self, where: Filter, span: Span) -> Densities:
        """Count by bucket when the nodes began and ended to be true, and when they were recorded."""

    def differing(
        self, seen: Filter, unseen: Filter, *, limit: int
    ) -> tuple[int, tuple[Node, ...]]:
        """Return how many nodes pass the first filter and not the second, and the latest of them."""

    def assessed(self, where: Filter, *, bins: int, lowest: int) -> Assessed:
        """Count the nodes by quality."""


class Counting:
    """Any store, node by node; what `CountsOverTime` means."""

    def __init__(self, store: Store) -> None:
        """Take the store."""
        self._store = store

    def _passing(self, where: Filter) -> list[Node]:
        return [node for node in self._store.nodes(where.space) if passes(node, where)]

    def extent(self, where: Filter, *, outliers: float) -> tuple[datetime, datetime] | None:
        """Return between which valid times the nodes lie."""
        times = sorted(node.t_valid for node in self._passing(where) if node.t_valid > BEGINNING)
        if not times:
            return None
        skipped = int(len(times) * outliers)
        return times[skipped], times[-1 - skipped]

    def densities(self, where: Filter, span: Span) -> Densities:
        """Count by bucket."""
        nodes = self._passing(where)
        return Densities(
            _counted((node.t_valid for node in nodes), span),
            _counted((node.t_invalid for node in nodes if node.t_invalid is not None), span),
            _counted((node.t_created for node in nodes), span),
        )

    def differing(
        self, seen: Filter, unseen: Filter, *, limit: int
    ) -> tuple[int, tuple[Node, ...]]:
        """Return what passes the first filter and not the second."""
        found = [node for node in self._passing(seen) if not passes(node, unseen)]
        return len(found), tuple(
            sorted(found, key=lambda node: (BEGINNING - node.t_valid, node.id))[:limit]
        )

    def assessed(self, where: Filter, *, bins: int, lowest: int) -> Assessed:
        """Count the nodes by quality."""
        nodes = self._passing(where)
        rated = [(node.quality, node) for node in nodes if node.quality is not None]
        counts = Counter(min(bins - 1, int(quality.overall * bins)) for quality, _ in rated)
        poorest = sorted(rated, key=lambda each: (each[0].overall, each[1].id))[:lowest]
        return Assessed(
            nodes=len(nodes),
            bins=[counts[place] for place in range(bins)],
            stubs=dict(sorted(Counter(str(quality.stub) for quality, _ in rated).items())),
            lowest=[node for _, node in poorest],
        )


def _counted(moments: Iterable[datetime], span: Span) -> list[int]:
    counts = [0] * (span.buckets + 2)
    for moment in moments:
        counts[min(max((moment - span.start) // span.width + 1, 0), span.buckets + 1)] += 1
    return counts


def counting(store: Store) -> CountsOverTime:
    """Return what counts for a store.

    Itself if it can, which is quick, else a look at every node.
    """
    return store if isinstance(store, CountsOverTime) else Counting(store)
