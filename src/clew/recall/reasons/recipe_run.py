"""Run a recipe stage by stage, keeping the state before and after each stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from clew.recall.pack import Pack
from clew.recall.recipes import Recipe
from clew.recall.state import Hit, Recall, Rejection, Stage
from clew.types import NodeId


@dataclass(frozen=True, slots=True)
class StageRun:
    """One stage with its input and output."""

    stage: Stage
    before: Recall
    after: Recall

    @property
    def name(self) -> str:
        """The name of the stage, as in the statistics of an answer."""
        return type(self.stage).__name__.lower()

    def rejection(self, id: NodeId) -> Rejection | None:
        """Return the rejection of a candidate by this stage, or None."""
        fresh = self.after.rejected[len(self.before.rejected) :]  # stages only append
        return next((rejection for rejection in fresh if rejection.id == id), None)


@dataclass(frozen=True, slots=True)
class RecipeRun:
    """All stage runs of a recall."""

    stages: tuple[StageRun, ...]

    @property
    def answer(self) -> Recall:
        """The output of the last stage."""
        return self.stages[-1].after

    @property
    def ranking(self) -> Sequence[Hit]:
        """All scored hits, best first, before Pack or a low confidence cuts them."""
        for stage_run in self.stages:
            if isinstance(stage_run.stage, Pack) or (stage_run.name == "confidence" and not stage_run.after.hits):
                return stage_run.before.hits
        return self.answer.hits

    def confidence(self, hit: Hit) -> float | None:
        """Return the confidence of a hit with a loaded node, in the answer or not."""
        judge = next((stage_run.before.judge for stage_run in reversed(self.stages) if stage_run.before.judge is not None), None)
        return None if judge is None or hit.node is None else judge([hit])[0]

    def seen(self, id: NodeId) -> int:
        """Return the number of the last stage that has the node: among the candidates before fusion, among the hits after it."""
        last, fused = 0, False
        for number, stage_run in enumerate(self.stages, start=1):
            fused = fused or bool(stage_run.after.hits)
            if rank_of(id, stage_run.after.hits) is not None if fused else _proposed(id, stage_run.after):
                last = number
        return last


def run_recipe(recipe: Recipe, recall: Recall) -> RecipeRun:
    """Run a recipe one stage at a time and keep every intermediate state."""
    stages = []
    for stage in recipe.stages:
        after = replace(recipe, stages=(stage,)).run(recall)
        stages.append(StageRun(stage, recall, after))
        recall = after
    return RecipeRun(tuple(stages))


def _proposed(id: NodeId, recall: Recall) -> bool:
    return any(match.id == id for ranking in recall.channels.values() for match in ranking)


def rank_of(id: NodeId, hits: Sequence[Hit]) -> int | None:
    """Return the rank of a node among hits, from 1, or None.

    >>> rank_of("b", (Hit("a", 0.9, {}), Hit("b", 0.8, {}))), rank_of("c", ())
    (2, None)
    """
    return next((rank for rank, hit in enumerate(hits, start=1) if hit.id == id), None)
