"""Blend the relevance with metadata overlap: keywords, time and entities.

S = α·S_meta + (1 − α)·S_semantic, with S_meta = 0.5·keyword overlap + 0.3·temporal match +
0.2·entity overlap. The three parts are separate channels with the weights 0.5α, 0.3α and 0.2α, so
that the channels of a hit still add up to its relevance. A part that the question does not mention
is 0 for every hit and does not change the order.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from clew.graph.phrases import find_known_names, phrases
from clew.ports import Store
from clew.search.state import Hit, Place, Recall, add_channels
from clew.text.words import terms
from clew.types import Node

if TYPE_CHECKING:
    from clew.text.dates.values import TimeSpan

KEYWORDS, TIME, ENTITIES = "keywords", "time", "entities"
SHARES = {KEYWORDS: 0.5, TIME: 0.3, ENTITIES: 0.2}
STILL_VALID = 0.5  # temporal match of a memory that was valid in the period but began before it


def overlap(asked: Collection[str], held: Collection[str]) -> float:
    """Return the share of `asked` that is in `held`; 0 if nothing is asked.

    >>> overlap({"databas", "port"}, {"port", "stage"}), overlap(set(), {"port"})
    (0.5, 0.0)
    """
    return len(set(asked) & set(held)) / len(set(asked)) if asked else 0.0


def temporal_match(
    spans: Sequence[TimeSpan], t_valid: datetime, t_invalid: datetime | None
) -> float:
    """Return 1 if the valid time of a memory begins in one of the spans, 0.5 if it only overlaps one, else 0.

    >>> from clew.text.dates.when import when
    >>> spans = when("What happened in March 2024?", now=datetime(2026, 3, 1)).spans
    >>> from datetime import UTC
    >>> began, before, long_over = (datetime(2024, 3, 7, tzinfo=UTC), datetime(2023, 1, 1, tzinfo=UTC), datetime(2023, 2, 1, tzinfo=UTC))
    >>> temporal_match(spans, began, None), temporal_match(spans, before, None), temporal_match(spans, before, long_over)
    (1.0, 0.5, 0.0)
    """
    return max((_match(span, t_valid, t_invalid) for span in spans), default=0.0)


def _match(span: TimeSpan, t_valid: datetime, t_invalid: datetime | None) -> float:
    if span.end is not None and t_valid > span.end:
        return 0.0
    if span.start is None or t_valid >= span.start:
        return 1.0
    return STILL_VALID if t_invalid is None or t_invalid > span.start else 0.0


def meta(keywords: float, time: float, entities: float) -> float:
    """Return S_meta, the weighted sum of the three parts.

    >>> round(meta(0.5, 1.0, 0.0), 9)
    0.55
    """
    return SHARES[KEYWORDS] * keywords + SHARES[TIME] * time + SHARES[ENTITIES] * entities


def blended(hit: Hit, parts: Mapping[str, float], *, weight: float) -> Hit:
    """Blend metadata into the relevance of a hit, scaling its other channels by 1 − weight.

    >>> hit = Hit("a", 0.6, {"dense": Place(1, 0.7, 0.6, 1.0)})
    >>> mixed = blended(hit, {"keywords": 0.5, "time": 1.0, "entities": 0.0}, weight=0.2)
    >>> round(mixed.score, 9) == round(0.2 * meta(0.5, 1.0, 0.0) + 0.8 * 0.6, 9)
    True
    """
    places = {
        name: Place(None, parts[name], parts[name], weight * share)
        for name, share in SHARES.items()
    }
    return add_channels(hit, places, share=weight)


@dataclass(frozen=True, slots=True)
class Meta:
    """Blend metadata overlap into the relevance of hits.

    A hit deleted meanwhile is left unchanged.
    """

    weight: float
    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Add the metadata channels and sort the hits by score."""
        if not self.weight or not recall.hits:
            return recall
        ids = [hit.id for hit in recall.hits]
        nodes = self.store.get(ids)
        names = {
            id: {mention.key for mention in mentions}
            for id, mentions in self.store.mentions(ids).items()
        }
        # A question may be all lower case, so its names are those that some hit has too.
        asked = find_known_names(
            phrases(recall.question.text, cased=False), frozenset().union(*names.values())
        )
        hits = [
            blended(
                hit,
                self._parts(recall, nodes[hit.id], overlap(asked, names.get(hit.id, ()))),
                weight=self.weight,
            )
            if hit.id in nodes
            else hit
            for hit in recall.hits
        ]
        return replace(recall, hits=tuple(sorted(hits, key=lambda hit: (-hit.score, hit.id))))

    def _parts(self, recall: Recall, node: Node, entities: float) -> dict[str, float]:
        spans = recall.when.spans if recall.when is not None else ()
        return {
            KEYWORDS: overlap(recall.terms, filed_under(node)),
            TIME: temporal_match(spans, node.t_valid, node.t_invalid),
            ENTITIES: entities,
        }


def filed_under(node: Node) -> frozenset[str]:
    """Return the terms of a memory's keywords, tags and title.

    >>> from clew.testing import node
    >>> sorted(filed_under(node("a", keywords=("databases",), tags=("staging",), title="Ports")))
    ['databas', 'port', 'stage']
    """
    return frozenset(
        term for text in (*node.keywords, *node.tags, node.title) for term in terms(text)
    )
