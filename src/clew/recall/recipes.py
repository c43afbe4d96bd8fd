"""Named recalls. A recipe is a value: print it, compare it, leave out a stage for an ablation.

fast       30 candidates from each channel
balanced   the default: 100
thorough   300: for presets that reorder by recency or importance, and for long lists
lexical    words alone; needs no model
dense      meaning alone
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace

from clew.ports import Store
from clew.recall.analyse import Analyse
from clew.recall.candidates import Candidates, EmbedQuery
from clew.recall.fuse import Fuse
from clew.recall.pack import Pack
from clew.recall.score import Score
from clew.recall.state import DENSE, SPARSE, Recall, Stage, Step
from clew.settings import Settings

NAMES = ("fast", "balanced", "thorough", "lexical", "dense")
FAST_SHARE = 0.3  # of the configured candidates
THOROUGH_FACTOR = 3
CHANNELS = {"lexical": (SPARSE,), "dense": (DENSE,)}


@dataclass(frozen=True, slots=True)
class Recipe:
    """A name and the stages that run under it, in order."""

    name: str
    stages: tuple[Stage, ...]

    def without(self, stage: type) -> Recipe:
        """Return the recipe less the stages of one type."""
        return replace(self, stages=tuple(step for step in self.stages if not isinstance(step, stage)))

    def run(self, recall: Recall, *, timer: Callable[[], float] = time.perf_counter) -> Recall:
        """Pass the recall through every stage, noting what each did."""
        for stage in self.stages:
            began = timer()
            recall = stage(recall)
            counts = {name: len(ranking) for name, ranking in recall.channels.items()}
            step = Step(stage=type(stage).__name__.lower(), milliseconds=(timer() - began) * 1e3, channels=counts, hits=len(recall.hits))
            recall = replace(recall, steps=(*recall.steps, step))
        return recall


def recipe(name: str, *, settings: Settings, store: Store, embed: EmbedQuery, executor: Executor) -> Recipe:
    """Return the recipe of this name, bound to its settings and ports."""
    options = settings.recall
    limits = {"fast": max(1, round(options.candidates * FAST_SHARE)), "thorough": options.candidates * THOROUGH_FACTOR}
    rrf = options.fusion == "rrf"
    return Recipe(
        name,
        (
            Analyse(),
            Candidates(
                limit=limits.get(name, options.candidates),
                channels=CHANNELS.get(name, (DENSE, SPARSE)),
                dense_floor=options.dense_floor,
                store=store,
                embed=embed,
                executor=executor,
            ),
            Fuse(
                method=options.fusion,
                dense_weight=options.rrf_dense_weight if rrf else options.convex_dense_weight,
                sparse_weight=options.rrf_sparse_weight if rrf else 1.0 - options.convex_dense_weight,
                rrf_k=options.rrf_k,
            ),
            Score(recency_rate_per_day=settings.score.recency_rate_per_day, access_divisor=settings.score.access_divisor, store=store),
            Pack(store=store),
        ),
    )
