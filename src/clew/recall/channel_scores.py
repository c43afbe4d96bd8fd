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


def with_share(own: Places, further: Mapping[str, Place], *, share: float) -> Places:
    """Return the channels of a hit with further ones, the weights of its own reduced by the share that those may have.

    >>> channels = with_share({"dense": Place(1, 0.7, 1.0, 0.5)}, {"section": Place(1, 0.9, 0.9, 0.4)}, share=0.4)
    >>> round(relevance(channels), 3)
    0.66
    """
    return {name: place._replace(weight=place.weight * (1.0 - share)) for name, place in own.items()} | dict(further)


def add_channels(hit: Hit, places: Mapping[str, Place], *, share: float) -> Hit:
    """Return a hit with further channels, as `with_share`."""
    channels = with_share(dict(hit.channels), places, share=share)
    return hit._replace(channels=channels, score=relevance(channels))
