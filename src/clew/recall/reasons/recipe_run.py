"""A recall run stage by stage, with what each stage was given and what it left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from clew.recall.pack import Pack
from clew.recall.recipes import Recipe
from clew.recall.state import Hit, Recall, Rejection, Stage
from clew.types import NodeId


@dataclass(frozen=True, slots=True)
class StageRun:
    """One stage's part of the way."""

    stage: Stage
    before: Recall
    after: Recall

    @property
    def name(self) -> str:
        """The stage's name, as in the statistics of an answer."""
        return type(self.stage).__name__.lower()

    def rejection(self, id: NodeId) -> Rejection | None:
        """Return why this stage turned a candidate away, or None if it did not."""
        fresh = self.after.rejected[len(self.before.rejected) :]  # stages only ever add to them
        return next((rejection for rejection in fresh if rejection.id == id), None)


@dataclass(frozen=True, slots=True)
class RecipeRun:
    """All the stages of a recall."""

    stages: tuple[StageRun, ...]

    @property
    def answer(self) -> Recall:
        """What the last stage left."""
        return self.stages[-1].after

    @property
    def ranking(self) -> Sequence[Hit]:
        """Everything that was scored, best first: what the answer was packed from, or would have been had it been relevant."""
        for stage_run in self.stages:
            if isinstance(stage_run.stage, Pack) or (stage_run.name == "confidence" and not stage_run.after.hits):
                return stage_run.before.hits
        return self.answer.hits

    def confidence(self, hit: Hit) -> float | None:
        """Return the confidence of a hit that has its node, in the answer or not."""
        judge = next((stage_run.before.judge for stage_run in reversed(self.stages) if stage_run.before.judge is not None), None)
        return None if judge is None or hit.node is None else judge([hit])[0]

    def seen(self, id: NodeId) -> int:
        """Return how many stages a node came along: among the channels' candidates at first, among the hits once there are some."""
        last, fused = 0, False
        for number, stage_run in enumerate(self.stages, start=1):
            fused = fused or bool(stage_run.after.hits)
            if rank_of(id, stage_run.after.hits) is not None if fused else _proposed(id, stage_run.after):
                last = number
        return last


def run_recipe(recipe: Recipe, recall: Recall) -> RecipeRun:
    """Run a recipe one stage at a time, by its own loop, and keep every state on the way."""
    stages = []
    for stage in recipe.stages:
        after = replace(recipe, stages=(stage,)).run(recall)
        stages.append(StageRun(stage, recall, after))
        recall = after
    return RecipeRun(tuple(stages))


def _proposed(id: NodeId, recall: Recall) -> bool:
    return any(match.id == id for ranking in recall.channels.values() for match in ranking)


def rank_of(id: NodeId, hits: Sequence[Hit]) -> int | None:
    """Return the place of a node among hits, counted from 1, or None.

    >>> rank_of("b", (Hit("a", 0.9, {}), Hit("b", 0.8, {}))), rank_of("c", ())
    (2, None)
    """
    return next((rank for rank, hit in enumerate(hits, start=1) if hit.id == id), None)
