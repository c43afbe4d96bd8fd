"""Add up what the channels give a hit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from clew.recall.state import Hit, Place

Places: TypeAlias = dict[str, Place]
"""Where each channel put one hit."""


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
