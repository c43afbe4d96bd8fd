"""Recipes: values that differ honestly, print, compare, and lose a stage for an ablation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import clew
from clew.search.analyse import Analyse
from clew.search.candidates import Candidates, Narrow
from clew.search.confidence import Confidence
from clew.search.diversity import Diversity
from clew.search.fusion import Fuse
from clew.search.pack import Gate, Pack
from clew.search.recipes import NAMES, Recipe
from clew.search.score import Score
from clew.search.spread import Spread
from clew.search.state import Question, Recall
from clew.search.time_order import TimeOrder
from clew.settings import Weights
from clew.testing import FixedClock, where

BALANCED = [Analyse, Candidates, Fuse, Spread, Score, Diversity, TimeOrder, Confidence, Pack]


@pytest.fixture
def memory() -> Iterator[clew.Clew]:
    with clew.open(":memory:", model={"embedder": "hashing"}, clock=FixedClock()) as memory:
        yield memory


def candidates(recipe: Recipe) -> Candidates:
    (stage,) = (stage for stage in recipe.stages if isinstance(stage, Candidates))
    return stage


def test_recipes_differ_in_what_they_say_they_do(memory: clew.Clew) -> None:
    stages = {name: candidates(memory.recipe(name)) for name in NAMES}
    assert {name: stage.limit for name, stage in stages.items()} == {
        "fast": 30,
        "balanced": 100,
        "thorough": 300,
        "reranked": 100,
        "agent": 100,
        "staged": 100,
        "passages": 300,
        "lexical": 100,
        "dense": 100,
    }
    assert {name: stage.channels for name, stage in stages.items()} == {
        **dict.fromkeys(
            ("fast", "balanced", "thorough", "reranked", "agent", "staged"),
            ("dense", "context", "question", "sparse"),
        ),
        "passages": ("dense", "context", "sparse"),
        "lexical": ("sparse",),
        "dense": ("dense",),
    }
    recipes = [memory.recipe(name).stages for name in NAMES]
    assert all(one != other for place, one in enumerate(recipes) for other in recipes[place + 1 :])


def test_a_recipe_really_brings_as_many_candidates_as_it_says(memory: clew.Clew) -> None:
    memory.remember_many(
        [f"The coffee machine number {n} is broken" for n in range(350)], near=False
    )
    brought = {
        name: memory.recall("broken coffee machine", recipe=name, track=False).stats["candidates"]
        for name in NAMES
    }
    assert brought == {
        "fast": {"dense": 30, "sparse": 30},
        "balanced": {"dense": 100, "sparse": 100},
        "thorough": {"dense": 300, "sparse": 300},
        "reranked": {"dense": 100, "sparse": 100},
        "agent": {"dense": 100, "sparse": 100},
        "staged": {"dense": 100, "sparse": 100},
        "passages": {"dense": 300, "sparse": 300},
        "lexical": {"sparse": 100},
        "dense": {"dense": 100},
    }


def test_more_candidates_find_what_a_preset_wants(memory: clew.Clew) -> None:
    """The important one matches worst: only the thorough recipe looks far enough."""
    memory.remember_many([f"coffee machine {n}" for n in range(250)], near=False, importance=0.1)
    wanted = memory.remember(
        "Long ago somebody wrote that a coffee machine may explode without any warning at all",
        importance=1.0,
    )
    assert (
        memory.recall("coffee machine", recipe="thorough", preset="important", k=1).hits[0].id
        == wanted.id
    )
    assert (
        memory.recall("coffee machine", recipe="fast", preset="important", k=1).hits[0].id
        != wanted.id
    )


def test_a_recipe_is_a_value_that_prints_and_compares(memory: clew.Clew) -> None:
    recipe = memory.recipe("balanced")
    assert recipe == memory.recipe("balanced")
    assert [type(stage) for stage in recipe.stages] == BALANCED
    assert "limit=100" in repr(recipe)
    assert "MemoryStore" not in repr(recipe)


def test_agent_judges_and_staged_narrows_and_no_other_recipe_does(memory: clew.Clew) -> None:
    kinds = {name: [type(stage) for stage in memory.recipe(name).stages] for name in NAMES}
    assert [name for name in NAMES if Narrow in kinds[name]] == ["staged"]
    assert kinds["staged"] == [*BALANCED[:1], Narrow, *BALANCED[1:]]
    # one feature, as it comes
    assert [name for name in NAMES if Spread not in kinds[name]] == ["passages", "lexical", "dense"]
    packs = {
        name: stage
        for name in NAMES
        for stage in memory.recipe(name).stages
        if isinstance(stage, Pack)
    }
    assert [name for name in NAMES if packs[name].gate is not None] == ["agent"]
    assert packs["agent"].gate == Gate(
        min_quality=0.4, min_words=30, excluded_stubs=("media", "reference", "breadcrumb")
    )


def test_the_gate_and_the_expansion_can_be_set_for_all_recipes() -> None:
    gate = {"always": True, "min_words": 3}
    with clew.open(
        ":memory:", model={"embedder": "none"}, gate=gate, expansion={"enabled": False}
    ) as memory:
        packs = [
            stage
            for name in NAMES
            for stage in memory.recipe(name).stages
            if isinstance(stage, Pack)
        ]
        assert all(pack.gate is not None and pack.gate.min_words == 3 for pack in packs)
        assert all(pack.expand is None for pack in packs)


def test_a_stage_can_be_left_out_for_an_ablation(memory: clew.Clew) -> None:
    memory.remember("The coffee machine is broken", importance=1.0)
    bare = memory.recipe("balanced").without(Score)
    assert [type(stage) for stage in bare.stages] == [
        stage for stage in BALANCED if stage is not Score
    ]
    question = Question(
        text="coffee machine",
        k=3,
        where=where(),
        weights=Weights(0, 0, 1, 0),
        recipe="balanced",
        preset="custom",
        budget_tokens=0,
    )
    (hit,) = bare.run(Recall(question=question)).hits
    assert hit.components == {}
    assert hit.score == sum(place.contribution for place in hit.channels.values())


def test_every_stage_leaves_its_step_with_the_time_it_took(memory: clew.Clew) -> None:
    memory.remember("The coffee machine is broken")
    ticks = iter(range(100))
    question = Question(
        text="coffee",
        k=3,
        where=where(),
        weights=Weights(1, 0, 0, 0),
        recipe="balanced",
        preset="custom",
    )
    answer = memory.recipe("balanced").run(
        Recall(question=question), timer=lambda: float(next(ticks))
    )
    assert [(step.stage, step.milliseconds) for step in answer.steps] == [
        (stage.__name__.lower(), 1000.0) for stage in BALANCED
    ]
    assert answer.steps[1].channels == {"dense": 1, "sparse": 1}
    assert answer.stats["milliseconds"] == 1000.0 * len(BALANCED)


def test_the_settings_reach_the_stages() -> None:
    options = {
        "candidates": 7,
        "dense_floor": 0.1,
        "fusion": "rrf",
        "rrf_dense_weight": 0.25,
        "rrf_sparse_weight": 0.5,
        "rrf_k": 10,
        "late_interaction": False,
    }
    options |= {"weights": {"period": 0.3, "section": 0.4, "section_long": 0.35}}
    with clew.open(
        ":memory:", model={"embedder": "none"}, recall=options, score={"access_divisor": 9.0}
    ) as memory:
        _, found, fuse, _, score, _, time_order, _, _ = memory.recipe("balanced").stages
        assert isinstance(found, Candidates)
        assert (found.limit, found.dense_floor) == (7, 0.1)
        assert isinstance(fuse, Fuse)
        assert (fuse.method, fuse.rrf_weights, fuse.rrf_k, fuse.late_interaction) == (
            "rrf",
            (0.25, 0.5),
            10,
            False,
        )
        assert fuse.section_weights == (0.4, 0.35)
        assert time_order == TimeOrder(period_weight=0.3, store=memory.store)
        assert isinstance(score, Score)
        assert score.access_divisor == 9.0
