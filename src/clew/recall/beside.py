"""A further question beside the one that was asked: searched by stages of its own, and its answer joined to the hits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from clew.recall.analyse import asked_terms
from clew.recall.placed import sharing
from clew.recall.state import Hit, LazyHits, Place, Recall, Stage
from clew.types import NodeId


def answers(recall: Recall, text: str, stages: Sequence[Stage]) -> Mapping[NodeId, float]:
    """Return the relevance of what answers another text under the same conditions, best first."""
    question = replace(recall.question, text=text)
    terms = asked_terms(text, left_out=recall.period_terms)
    asked = Recall(question=question, id=recall.id, terms=terms, when=recall.when, there=recall.there)
    for stage in stages:
        asked = stage(asked)
    return LazyHits.of(asked.hits).worths()


def joined(recall: Recall, channel: str, places: Mapping[NodeId, Place], *, share: float) -> Recall:
    """Return the recall with a further channel, which has this share of every hit's relevance; who is only there becomes a hit too."""
    hits = {hit.id: hit for hit in recall.hits}
    # Nobody has compared the others with the question that a similarity was asked to.
    others = {} if recall.question.min_similarity > 0 else {id: Hit(id, 0.0, {}) for id in places if id not in hits}
    found = [sharing(hit, {channel: places[id]} if id in places else {}, share=share) for id, hit in (hits | others).items()]
    rejected = tuple(each for each in recall.rejected if each.id not in others)  # too far from the one question, and near to the other
    in_order = LazyHits.of(sorted(found, key=lambda hit: (-hit.score, hit.id)))
    return replace(recall, hits=in_order, rejected=rejected, signals=None)
