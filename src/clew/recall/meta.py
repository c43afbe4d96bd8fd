"""Does what a memory is filed under answer the question? Keywords, time and entities as a share of its relevance (V13).

S = α·S_meta + (1 − α)·S_semantic, with S_meta = 0.5·keyword overlap + 0.3·temporal match + 0.2·entity overlap. The three
parts are channels of their own with the shares 0.5α, 0.3α and 0.2α, so that a hit's channels still add up to its
relevance and each part can be seen. What the question does not name is 0 for every hit and changes no order.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from clew.graph.phrases import phrases, spotted
from clew.ports import Store
from clew.recall.channel_scores import add_channels
from clew.recall.state import Hit, Place, Recall
from clew.types import Node
from clew.words import terms

if TYPE_CHECKING:  # as in `state`: the rules are loaded by a question that names a time
    from clew.when import TimeSpan

KEYWORDS, TIME, ENTITIES = "keywords", "time", "entities"
SHARES = {KEYWORDS: 0.5, TIME: 0.3, ENTITIES: 0.2}
STILL_VALID = 0.5  # a memory that was true at the time asked for, and began before it, is half as good as one that began then


def overlap(asked: Collection[str], held: Collection[str]) -> float:
    """Return which share of what is asked for is held; nothing asked is nothing held.

    >>> overlap({"databas", "port"}, {"port", "stage"}), overlap(set(), {"port"})
    (0.5, 0.0)
    """
    return len(set(asked) & set(held)) / len(set(asked)) if asked else 0.0


def temporal_match(spans: Sequence[TimeSpan], t_valid: datetime, t_invalid: datetime | None) -> float:
    """Return how a memory's time lies to the times asked for: 1 it began in one, 0.5 it was true in one, 0 neither.

    >>> from clew.when import when
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
    """Return S_meta of the three parts.

    >>> round(meta(0.5, 1.0, 0.0), 9)
    0.55
    """
    return SHARES[KEYWORDS] * keywords + SHARES[TIME] * time + SHARES[ENTITIES] * entities


def blended(hit: Hit, parts: Mapping[str, float], *, weight: float) -> Hit:
    """Return a hit of whose relevance the metadata has a share; the shares of the other channels are reduced by as much.

    >>> hit = Hit("a", 0.6, {"dense": Place(1, 0.7, 0.6, 1.0)})
    >>> mixed = blended(hit, {"keywords": 0.5, "time": 1.0, "entities": 0.0}, weight=0.2)
    >>> round(mixed.score, 9) == round(0.2 * meta(0.5, 1.0, 0.0) + 0.8 * 0.6, 9)
    True
    """
    places = {name: Place(None, parts[name], parts[name], weight * share) for name, share in SHARES.items()}
    return add_channels(hit, places, share=weight)


@dataclass(frozen=True, slots=True)
class Meta:
    """Let what the hits are filed under have a share in their relevance; one that is gone meanwhile stays as it is."""

    weight: float
    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Set the hits anew, in their new order."""
        if not self.weight or not recall.hits:
            return recall
        ids = [hit.id for hit in recall.hits]
        nodes = self.store.get(ids)
        names = {id: {mention.key for mention in mentions} for id, mentions in self.store.mentions(ids).items()}
        # A question may be typed in lower case: what it names is what of it the hits name.
        asked = spotted(phrases(recall.question.text, cased=False), frozenset().union(*names.values()))
        hits = [
            blended(hit, self._parts(recall, nodes[hit.id], overlap(asked, names.get(hit.id, ()))), weight=self.weight)
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
    return frozenset(term for text in (*node.keywords, *node.tags, node.title) for term in terms(text))
