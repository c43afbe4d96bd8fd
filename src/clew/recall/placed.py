"""Where channels put hits: columns for all of them, and the places of a hit when it is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple

from clew.recall.state import Hit, Place
from clew.types import NodeId, Ranking


class Column(NamedTuple):
    """One channel: at which place each hit stands, and for each place the raw score and the share of the best."""

    at: dict[NodeId, int]
    scores: Sequence[float]
    values: Sequence[float]
    weight: float


def column(ranking: Ranking, scores: Sequence[float], values: Sequence[float], weight: float) -> Column:
    """Return a channel's ranking as a column."""
    return Column(dict(zip((match.id for match in ranking), count(), strict=False)), scores, values, weight)


class Placed(Mapping[NodeId, dict[str, Place]]):
    """The places of every hit by channel: of some two hundred candidates a dozen are looked at.

    >>> placed = Placed({"dense": Column({"a": 0}, [0.7], [1.0], 0.6), "sparse": Column({"b": 0, "a": 1}, [7.0, 5.0], [1.0, 0.5], 0.4)})
    >>> placed["a"]
    {'dense': Place(rank=1, score=0.7, normalised=1.0, weight=0.6), 'sparse': Place(rank=2, score=5.0, normalised=0.5, weight=0.4)}
    >>> placed.relevances() == {id: relevance(places) for id, places in placed.items()} == {"a": 0.8, "b": 0.4}
    True
    """

    __slots__ = ("_columns",)

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self._columns = dict(sorted(columns.items()))  # float sums must not depend on the order in which channels answered

    def relevances(self) -> dict[NodeId, float]:
        """Return the relevance of each, to the last bit, without making places."""
        found: dict[NodeId, float] = {}
        for at, _, values, weight in self._columns.values():
            for id, value in zip(at, values, strict=True):
                found[id] = found[id] + weight * value if id in found else weight * value
        return found

    def __getitem__(self, id: NodeId) -> dict[str, Place]:
        """Return the places of one hit."""
        stands = [(name, column.at[id], column) for name, column in self._columns.items() if id in column.at]
        if not stands:
            raise KeyError(id)
        return {name: Place(at + 1, column.scores[at], column.values[at], column.weight) for name, at, column in stands}

    def __iter__(self) -> Iterator[NodeId]:
        """Yield the hits, channel by channel."""
        return iter(dict.fromkeys(id for column in self._columns.values() for id in column.at))

    def __len__(self) -> int:
        """Return how many hits there are."""
        return len(set().union(*(column.at for column in self._columns.values())))


def relevance(places: Mapping[str, Place]) -> float:
    """Return the fused relevance of a hit, between 0 and 1: the sum of its channels' shares, one after the other by name."""
    if len(places) == 1:  # most are found by one channel, and nothing is left to add
        ((_, _, value, weight),) = places.values()
        return weight * value
    summed = 0.0
    for name in sorted(places):
        summed += places[name].contribution
    return summed


def sharing(hit: Hit, places: Mapping[str, Place], *, share: float) -> Hit:
    """Return a hit with further places among its channels, and the shares of the others reduced by what the further ones have at most.

    >>> hit = Hit("a", 0.5, {"dense": Place(1, 0.7, 1.0, 0.5)})
    >>> round(sharing(hit, {"part": Place(1, 0.9, 0.9, 0.4)}, share=0.4).score, 3), round(sharing(hit, {}, share=0.4).score, 3)
    (0.66, 0.3)
    """
    left = 1.0 - share
    channels = {name: place._replace(weight=place.weight * left) for name, place in hit.channels.items()} | dict(places)
    return hit._replace(channels=channels, score=relevance(channels))
