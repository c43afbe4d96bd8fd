"""Define the named recipes: the stages that a recall runs, in order.

A recipe is a value that can be printed, compared and ablated.

fast       30 candidates per channel, no late interaction
balanced   the default: 100 candidates per channel
thorough   300 candidates per channel, for presets that reorder by recency or importance, and for
           long lists
reranked   balanced, then a cross-encoder rescores the best hits
agent      balanced, without chunks that are stubs, of low quality or too short
staged     sections first, then the chunks inside the best of them
passages   300 candidates ranked by late interaction alone, for a query that is itself a passage
lexical    BM25 only; needs no model
dense      vectors only
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from clew.graph.tracerank import Switches
from clew.graph.walk import Limits
from clew.ports import Background, Store
from clew.search.analyse import Analyse
from clew.search.candidates import Candidates, EmbedQuery, Narrow, never_quick
from clew.search.diversity import CodeFeatures, Diversity
from clew.search.fusion import FeatureWeights, Fuse, Passages, never
from clew.search.pack import Expand, Gate, Pack
from clew.search.rerank import Read, Rerank
from clew.search.score import Score, TraceRank
from clew.search.state import CONTEXT, DENSE, QUESTION, SPARSE, Recall, Stage, Step
from clew.search.time_order import TimeOrder
from clew.settings import Settings

if TYPE_CHECKING:
    from clew.search.confidence import Confidence
    from clew.search.meta import Meta
    from clew.search.spread import Spread

NAMES = (
    "fast",
    "balanced",
    "thorough",
    "reranked",
    "agent",
    "staged",
    "passages",
    "lexical",
    "dense",
)
FAST_SHARE = 0.3  # of the configured candidates
THOROUGH_FACTOR = 3
CHANNELS = {"lexical": (SPARSE,), "dense": (DENSE,), "passages": (DENSE, CONTEXT, SPARSE)}
ALL = (DENSE, CONTEXT, QUESTION, SPARSE)
PLAIN = ("passages", "lexical", "dense")  # a single feature, without the reordering stages
TOLD = "told"
MIN_SIGNAL = 0.05  # a weaker signal is not propagated


@dataclass(frozen=True, slots=True)
class Recipe:
    """A name and the stages that run under it, in order."""

    name: str
    stages: tuple[Stage, ...]

    def without(self, stage: type) -> Recipe:
        """Return the recipe without the stages of one type."""
        return replace(
            self, stages=tuple(step for step in self.stages if not isinstance(step, stage))
        )

    def run(self, recall: Recall, *, timer: Callable[[], float] = time.perf_counter) -> Recall:
        """Run all stages and record the time and counts of each."""
        for stage in self.stages:
            began = timer()
            recall = stage(recall)
            counts = {name: len(ranking) for name, ranking in recall.channels.items()}
            step = Step(
                stage=type(stage).__name__.lower(),
                milliseconds=(timer() - began) * 1e3,
                channels=counts,
                hits=len(recall.hits),
            )
            recall = replace(recall, steps=(*recall.steps, step))
        return recall


def recipe(
    name: str,
    *,
    settings: Settings,
    store: Store,
    embed: EmbedQuery,
    executor: Executor,
    read: Read,
    reader: str,
    quick: Callable[[], bool] = never_quick,
    background: Background = Background(),  # noqa: B008 - a value
    small_talk: Callable[[str], bool] = never,
) -> Recipe:
    """Build the recipe of this name from settings and ports."""
    options = settings.recall
    limits = {
        "fast": max(1, round(options.candidates * FAST_SHARE)),
        "thorough": options.candidates * THOROUGH_FACTOR,
    }
    limits["passages"] = limits["thorough"]
    limit = limits.get(name, options.candidates)
    weights = options.weights
    timed = options.times and name not in PLAIN
    candidates = Candidates(
        limit=limit,
        channels=tuple(
            each for each in CHANNELS.get(name, ALL) if each != QUESTION or settings.questions.match
        ),
        dense_floor=max(-1.0, background.cosine_at(options.dense_floor)),
        store=store,
        embed=embed,
        executor=executor,
        quick=quick,
    )
    fuse = Fuse(
        method=options.fusion,
        rrf_k=options.rrf_k,
        rrf_weights=(options.rrf_dense_weight, options.rrf_sparse_weight),
        question_share=settings.questions.share,
        background=background,
        weights=FeatureWeights(
            weights["words"], weights["vector"], 0.0 if name == "dense" else weights["tokens"]
        ),
        section_weights=(0.0, 0.0)
        if name in PLAIN
        else (weights["section"], weights["section_long"]),
        late_interaction=options.late_interaction and name != "fast",
        times=timed,
        limit=limit,
        small_talk=small_talk,
        store=store,
    )
    scoring = settings.score
    score = Score(
        recency_rate_per_day=scoring.recency_rate_per_day,
        recorded=scoring.recency_from == TOLD,
        access_divisor=scoring.access_divisor,
        category_weight=0.0 if name in PLAIN else weights["category"],
        speaker_weight=0.0 if name in PLAIN else weights["speaker"],
        history=None if name in PLAIN else _tracerank(settings, store),
        store=store,
    )
    pack = Pack(expand=_expand(settings, store), gate=_gate(name, settings), store=store)
    before = (Narrow(store=store, embed=embed),)
    enrich: tuple[Stage, ...] = (
        () if name in PLAIN else (*_spread(settings, store, fuse), *_meta(settings, store))
    )
    after: tuple[Stage, ...] = (
        ()
        if name in PLAIN
        else (
            Diversity(
                weight=weights["repeat"],
                code=CodeFeatures(store=store) if options.code_features else None,
                store=store,
            ),
            *_rerank(name, settings, store, read, reader),
            TimeOrder(period_weight=weights["period"], store=store),
        )
    )
    return Recipe(
        name,
        (
            Analyse(
                (*settings.memory.categories, *settings.memory.triggers), times=timed, store=store
            ),
            *(before if name == "staged" else ()),
            candidates,
            Passages(fuse=fuse, store=store) if name == "passages" else fuse,
            *enrich,
            score,
            *after,
            _confidence(name, settings, store, background),
            pack,
        ),
    )


# Spread, Meta and Confidence are imported late: their word lists take 40 ms to load, which only a
# recall needs.


def _spread(settings: Settings, store: Store, fuse: Fuse) -> tuple[Spread, ...]:
    options = settings.spread
    if not options.enabled:
        return ()
    from clew.search.spread import Spread  # noqa: PLC0415

    limits = Limits(hops=options.hops, least=MIN_SIGNAL, nodes=options.nodes, fade=options.fade)
    return (
        Spread(
            starts=options.starts,
            named_weight=settings.recall.weights["named"],
            path_weight=settings.recall.weights["path"],
            mode=options.mode,
            limits=limits,
            kinds=options.weights,
            fuse=fuse,
            store=store,
        ),
    )


def _meta(settings: Settings, store: Store) -> tuple[Meta, ...]:
    if not settings.score.meta_weight:
        return ()
    from clew.search.meta import Meta  # noqa: PLC0415

    return (Meta(weight=settings.score.meta_weight, store=store),)


def _confidence(name: str, settings: Settings, store: Store, background: Background) -> Confidence:
    from clew.search.confidence import OFF, Confidence  # noqa: PLC0415

    return Confidence(
        mode=OFF if name in PLAIN else settings.recall.relevance_gate,
        background=background,
        store=store,
    )


def _tracerank(settings: Settings, store: Store) -> TraceRank | None:
    options = settings.tracerank
    if not options.enabled:
        return None
    switches = Switches(
        reinforcement=options.reinforcement, graph=options.graph, temporal=options.temporal
    )
    bounds = {
        "least": options.least,
        "most": options.most,
        "min_relevance_share": options.min_relevance_share,
    }
    return TraceRank(switches=switches, **bounds, store=store)


def _rerank(
    name: str, settings: Settings, store: Store, read: Read, reader: str
) -> tuple[Rerank, ...]:
    options = settings.rerank
    if not options.weight or not (name == "reranked" or options.always):
        return ()
    return (
        Rerank(model=reader, depth=options.depth, weight=options.weight, store=store, read=read),
    )


def _expand(settings: Settings, store: Store) -> Expand | None:
    options = settings.expansion
    return (
        Expand(below_words=options.below_words, reach=options.reach, store=store)
        if options.enabled
        else None
    )


def _gate(name: str, settings: Settings) -> Gate | None:
    options = settings.gate
    if name != "agent" and not options.always:
        return None
    return Gate(
        min_quality=options.min_quality,
        min_words=options.min_words,
        excluded_stubs=options.excluded_stubs,
    )
