"""Combine the scores that the channels give a hit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from clew.recall.state import Hit, Place

Places: TypeAlias = dict[str, Place]
"""The rank, score and weight of one hit in each channel."""


def relevance(places: Mapping[str, Place]) -> float:
    """Return the fused relevance of a hit, from 0 to 1: the sum of its channel contributions, in a fixed order."""
    if len(places) == 1:  # fast path: most hits have one channel
        ((_, _, value, weight),) = places.values()
        return weight * value
    summed = 0.0
    for name in sorted(places):
        summed += places[name].contribution
    return summed


def with_share(own: Places, further: Mapping[str, Place], *, share: float) -> Places:
    """Add channels to those of a hit and scale the weights of its own by 1 − share.

    >>> channels = with_share({"dense": Place(1, 0.7, 1.0, 0.5)}, {"section": Place(1, 0.9, 0.9, 0.4)}, share=0.4)
    >>> round(relevance(channels), 3)
    0.66
    """
    return {name: place._replace(weight=place.weight * (1.0 - share)) for name, place in own.items()} | dict(further)


def add_channels(hit: Hit, places: Mapping[str, Place], *, share: float) -> Hit:
    """Return a hit with further channels, blended as in `with_share`."""
    channels = with_share(dict(hit.channels), places, share=share)
    return hit._replace(channels=channels, score=relevance(channels))
