"""Why is a memory not in the answer? The stage where it was lost, by which value against which threshold, or the rank it had."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from clew.ports import Store
from clew.recall.overlap import covered
from clew.recall.pack import Pack
from clew.recall.reasons.excluded import Passes, excluded
from clew.recall.reasons.sentences import sentence
from clew.recall.reasons.standing import Standing, standings
from clew.recall.reasons.walk import Leg, Walk, rank_of
from clew.recall.state import DENSE, SPARSE, Recall
from clew.types import Node, NodeId

ANSWER, STORE, FILTER, CANDIDATES = "answer", "store", "filter", "candidates"  # stages that no class is named after, but the last


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyNot:
    """Where a node was lost on its way into the answer, as far as it came."""

    id: NodeId
    stage: str
    reason: str
    value: Any = None
    threshold: Any = None
    rank: int | None = None
    """The rank it had where it was lost; in the answer its rank there."""
    by: NodeId | None = None
    """The hit that says the same already, or what took the place of one that ended."""
    channels: Mapping[str, Standing] = field(default_factory=dict)
    """Of one that nobody proposed: how far it was from that."""
    sentence: str = ""

    @property
    def found(self) -> bool:
        """Whether it is in the answer after all."""
        return self.stage == ANSWER


def unknown(id: NodeId) -> WhyNot:
    """Return what is said of an id that the asked space does not have, be it nobody's or another space's."""
    return told(WhyNot(id=id, stage=STORE, reason="unknown_id"))


def why_not(walk: Walk, id: NodeId, node: Node | None, *, store: Store, passes: Passes) -> WhyNot:
    """Return what became of a node in a recall, in a sentence too."""
    where = walk.legs[0].before.question.where
    if node is None or node.space != where.space:
        return unknown(id)
    if (rank := rank_of(id, walk.answer.hits)) is not None:
        hits = walk.answer.hits
        return told(WhyNot(id=id, stage=ANSWER, reason="found", value=hits[rank - 1].score, threshold=hits[-1].score, rank=rank))
    if (shut := excluded(node, where, passes)) is not None:
        return told(WhyNot(id=id, stage=FILTER, reason=shut.reason, value=shut.value, threshold=shut.threshold))
    return told(_narrowed(walk, node, passes) or _lost(walk, node, store))


def told(found: WhyNot) -> WhyNot:
    """Return it with its sentence."""
    return replace(found, sentence=sentence(found))


def _narrowed(walk: Walk, node: Node, passes: Passes) -> WhyNot | None:
    """Return the stage that made the filter narrower than the question's, if that shut the node out."""
    for leg in walk.legs:
        where = leg.after.question.where
        if where != leg.before.question.where and (shut := excluded(node, where, passes)) is not None:
            looked_into = [id for id in where.within if id]
            threshold = len(looked_into) if shut.reason == "within" else shut.threshold
            return WhyNot(id=node.id, stage=leg.name, reason=shut.reason, value=shut.value, threshold=threshold)
    return None


def _lost(walk: Walk, node: Node, store: Store) -> WhyNot:
    came = walk.seen(node.id)
    refused = next(((leg, why) for leg in walk.legs[came:] if (why := leg.refusal(node.id)) is not None), None)
    rank = rank_of(node.id, walk.legs[came - 1].after.hits) if came else None
    if refused is not None:
        leg, why = refused
        by = _coverer(node, leg.after) if why.reason == "overlap" else None
        return WhyNot(id=node.id, stage=why.stage, reason=why.reason, value=why.value, threshold=why.limit, rank=rank, by=by)
    return _unproposed(walk, node, store) if not came else _dropped(walk.legs[came], node, rank)


def _coverer(node: Node, answer: Recall) -> NodeId | None:
    """Return the hit that holds most of what the node says."""
    kept = [hit.node for hit in answer.hits if hit.node is not None]
    return max(kept, key=lambda other: covered(node, [other]), default=node).id


def _dropped(leg: Leg, node: Node, rank: int | None) -> WhyNot:
    """Return that a stage left the node behind without a word: the last one for its rank."""
    score = None if rank is None else leg.before.hits[rank - 1].score
    last = leg.after.hits[-1].score if leg.after.hits else None
    full = isinstance(leg.stage, Pack) and len(leg.after.hits) == leg.after.question.k
    return WhyNot(id=node.id, stage=leg.name, reason="beyond_k" if full else "dropped", value=score, threshold=last, rank=rank)


def _unproposed(walk: Walk, node: Node, store: Store) -> WhyNot:
    """Return that no channel had the node among its candidates, and how far it was from that."""
    leg = next((leg for leg in walk.legs if leg.after.channels), walk.legs[-1])
    standing = standings(store, node, leg.after)
    found = WhyNot(id=node.id, stage=CANDIDATES, reason="not_a_candidate", channels=standing)
    nearest = standing.get(DENSE)
    if nearest is None or nearest.score is None:
        words = standing.get(SPARSE)
        return found if words is None else replace(found, value=words.score or 0.0, threshold=words.threshold, rank=words.rank)
    reason, threshold = _floor(leg.after, nearest)
    return replace(found, reason=reason, value=nearest.score, threshold=threshold, rank=nearest.rank)


def _floor(recall: Recall, standing: Standing) -> tuple[str, float]:
    """Tell whether the list was full before the node's turn, or a floor would have kept it out in any case."""
    least = recall.question.min_similarity
    if least > standing.threshold and standing.score is not None and standing.score < least:
        return "min_similarity", least
    taken = recall.channels[DENSE]
    full = bool(taken) and taken[-1].score == standing.threshold
    return ("not_a_candidate" if full else "dense_floor"), standing.threshold
