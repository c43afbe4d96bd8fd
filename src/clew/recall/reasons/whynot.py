"""Find the stage that dropped a memory, with its value and the threshold, or the rank it had."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from clew.ports import Store
from clew.recall.overlap import overlap_share
from clew.recall.pack import Pack
from clew.recall.reasons.excluded import Passes, excluded
from clew.recall.reasons.recipe_run import RecipeRun, StageRun, rank_of
from clew.recall.reasons.sentences import sentence
from clew.recall.reasons.standing import Standing, standings
from clew.recall.state import DENSE, SPARSE, Recall
from clew.types import Node, NodeId

ANSWER, STORE, FILTER, CANDIDATES = "answer", "store", "filter", "candidates"  # steps of a recall that are not classes, except the last


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyNot:
    """Where and why a node was dropped from an answer."""

    id: NodeId
    stage: str
    reason: str
    value: Any = None
    threshold: Any = None
    rank: int | None = None
    """The rank before it was dropped, or its rank in the answer."""
    by: NodeId | None = None
    """The hit that overlaps it, or the memory that superseded it."""
    channels: Mapping[str, Standing] = field(default_factory=dict)
    """For a node that no channel proposed: its standing in each channel."""
    sentence: str = ""

    @property
    def found(self) -> bool:
        """Whether it is in the answer."""
        return self.stage == ANSWER


def unknown(id: NodeId) -> WhyNot:
    """Return the answer for an id that is not in the space, whether or not another space has it."""
    return with_sentence(WhyNot(id=id, stage=STORE, reason="unknown_id"))


def why_not(run: RecipeRun, id: NodeId, node: Node | None, *, store: Store, passes: Passes) -> WhyNot:
    """Return where a node was dropped in a recall, with a sentence."""
    where = run.stages[0].before.question.where
    if node is None or node.space != where.space:
        return unknown(id)
    if (rank := rank_of(id, run.answer.hits)) is not None:
        hits = run.answer.hits
        return with_sentence(WhyNot(id=id, stage=ANSWER, reason="found", value=hits[rank - 1].score, threshold=hits[-1].score, rank=rank))
    if (exclusion := excluded(node, where, passes)) is not None:
        return with_sentence(WhyNot(id=id, stage=FILTER, reason=exclusion.reason, value=exclusion.value, threshold=exclusion.threshold))
    return with_sentence(_narrowed(run, node, passes) or _lost(run, node, store))


def with_sentence(found: WhyNot) -> WhyNot:
    """Return the result with its sentence."""
    return replace(found, sentence=sentence(found))


def _narrowed(run: RecipeRun, node: Node, passes: Passes) -> WhyNot | None:
    """Return the stage that restricted the filter of the question, if that excluded the node."""
    for stage_run in run.stages:
        where = stage_run.after.question.where
        if where != stage_run.before.question.where and (exclusion := excluded(node, where, passes)) is not None:
            looked_into = [id for id in where.within if id]
            threshold = len(looked_into) if exclusion.reason == "within" else exclusion.threshold
            return WhyNot(id=node.id, stage=stage_run.name, reason=exclusion.reason, value=exclusion.value, threshold=threshold)
    return None


def _lost(run: RecipeRun, node: Node, store: Store) -> WhyNot:
    came = run.seen(node.id)
    found = next(((stage_run, why) for stage_run in run.stages[came:] if (why := stage_run.rejection(node.id)) is not None), None)
    rank = rank_of(node.id, run.stages[came - 1].after.hits) if came else None
    if found is not None:
        stage_run, why = found
        by = _overlapping_hit(node, stage_run.after) if why.reason == "overlap" else None
        return WhyNot(id=node.id, stage=why.stage, reason=why.reason, value=why.value, threshold=why.limit, rank=rank, by=by)
    return _unproposed(run, node, store) if not came else _dropped(run.stages[came], node, rank)


def _overlapping_hit(node: Node, answer: Recall) -> NodeId | None:
    """Return the hit that overlaps the node most."""
    kept = [hit.node for hit in answer.hits if hit.node is not None]
    return max(kept, key=lambda other: overlap_share(node, [other]), default=node).id


def _dropped(stage_run: StageRun, node: Node, rank: int | None) -> WhyNot:
    """Return that a stage dropped the node without a rejection: Pack for its rank, others because it was deleted."""
    score = None if rank is None else stage_run.before.hits[rank - 1].score
    last = stage_run.after.hits[-1].score if stage_run.after.hits else None
    full = isinstance(stage_run.stage, Pack) and len(stage_run.after.hits) == stage_run.after.question.k
    return WhyNot(id=node.id, stage=stage_run.name, reason="beyond_k" if full else "dropped", value=score, threshold=last, rank=rank)


def _unproposed(run: RecipeRun, node: Node, store: Store) -> WhyNot:
    """Return that no channel proposed the node, with its standing in each."""
    stage_run = next((stage_run for stage_run in run.stages if stage_run.after.channels), run.stages[-1])
    standing = standings(store, node, stage_run.after)
    found = WhyNot(id=node.id, stage=CANDIDATES, reason="not_a_candidate", channels=standing)
    nearest = standing.get(DENSE)
    if nearest is None or nearest.score is None:
        words = standing.get(SPARSE)
        return found if words is None else replace(found, value=words.score or 0.0, threshold=words.threshold, rank=words.rank)
    reason, threshold = _floor(stage_run.after, nearest)
    return replace(found, reason=reason, value=nearest.score, threshold=threshold, rank=nearest.rank)


def _floor(recall: Recall, standing: Standing) -> tuple[str, float]:
    """Return whether the list was full before the node, or a similarity floor excluded it."""
    least = recall.question.min_similarity
    if least > standing.threshold and standing.score is not None and standing.score < least:
        return "min_similarity", least
    taken = recall.channels[DENSE]
    full = bool(taken) and taken[-1].score == standing.threshold
    return ("not_a_candidate" if full else "dense_floor"), standing.threshold
