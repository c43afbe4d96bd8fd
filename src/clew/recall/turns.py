"""Turns of a conversation among the hits: looked at together, and put into another order by what they add to their scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from clew.ports import Store
from clew.recall.fetch import covered, fetched
from clew.recall.score import with_components
from clew.recall.state import Component, Hit, LazyHits, Recall
from clew.types import Node, NodeId

Turns: TypeAlias = Mapping[NodeId, Node]
Move: TypeAlias = Callable[[LazyHits, Sequence[Hit], Turns], LazyHits]
"""From all hits, the first of them, and those of the first that are turns, to the hits in their new order."""


def moved(recall: Recall, move: Move, *, store: Store, looked_at: int) -> Recall:
    """Return a recall with its hits moved, by a look at `looked_at` times as many as are asked for, or at more where that changes them.

    A turn is a unit that is found amid its neighbours, by a context key; where the space has none nothing is looked at. What is not
    scored stays: there is nothing to add to. What was read is passed on, for several stages look at the same hits.
    """
    hits, wanted, read = LazyHits.of(recall.hits), recall.question.k, recall
    if not hits or not hits[0].components or not covered(recall, store=store).keyed:
        return recall

    def looking(first: Sequence[Hit]) -> LazyHits:
        nonlocal read
        read = fetched(read, [hit.id for hit in first], store=store)
        there = {hit.id: read.nodes[hit.id] for hit in first if hit.id in read.nodes}
        return move(hits, first, {id: node for id, node in there.items() if node.context})

    found = hits.reranked(looking, first=looked_at * wanted, wanted=wanted)
    return read if found is hits else replace(read, hits=found)


def with_parts(hit: Hit, parts: Mapping[str, Component]) -> Hit:
    """Return a hit with further components, less those that add nothing.

    >>> hit = Hit("a", 0.4, {}, {"semantic": Component(0.5, 0.8)})
    >>> sorted(with_parts(hit, {"reply": Component(0.5, 0.2), "asking": Component(0.0, 0.2)}).components)
    ['reply', 'semantic']
    """
    added = {name: part for name, part in parts.items() if part.contribution}
    return with_components(hit, added) if added else hit
