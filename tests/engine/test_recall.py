"""What comes back, in which order, and why."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import pytest

import clew
from clew.search.score import total
from clew.search.state import relevance
from clew.testing import NOW, FixedClock, later
from clew.text.words import token_estimate
from tests.conftest import Open

NOTES = {
    "tea": "Matt prefers green tea over coffee in the morning",
    "coffee": "The coffee machine on the second floor is broken",
    "rota": "The kitchen rota puts Anna in charge of coffee on Monday",
    "deploy": "Deploys to production happen from the main branch only",
    "vpn": "The VPN certificate expires at the end of April",
}


def texts(answer: clew.Recall) -> list[str]:
    return [hit.text for hit in answer.hits]


def filled(memory: clew.Clew, **fields: Any) -> dict[str, str]:
    return {name: str(memory.remember(text, **fields).id) for name, text in NOTES.items()}


# --- scores ---


def test_components_add_up_to_the_score_exactly_and_channels_to_the_semantic_value(
    memory: clew.Clew, clock: FixedClock
) -> None:
    filled(memory)
    clock.advance(days=3)
    memory.recall("coffee")
    memory.stats()
    for preset in memory.settings.score.presets:
        answer = memory.recall("coffee in the morning", preset=preset, track=False)
        assert len(answer.hits) >= 3
        for hit in answer.hits:
            assert total(hit.components) == hit.score
            assert (
                sum(hit.components[name].contribution for name in sorted(hit.components))
                == hit.score
            )
            assert relevance(hit.channels) == hit.components["semantic"].value
            weights = memory.settings.score.presets[preset]
            assert {name: part.weight for name, part in hit.components.items()} == weights._asdict()


def test_each_component_is_the_formula_of_the_mission(memory: clew.Clew, clock: FixedClock) -> None:
    id = str(memory.remember(NOTES["tea"], importance=0.8).id)
    for _ in range(3):
        clock.advance(hours=2)
        memory.recall("green tea")
        memory.stats()  # writes the access that waits
    clock.now = later(10)
    (hit,) = memory.recall("green tea").hits
    assert hit.id == id
    assert hit.components["recency"].value == math.exp(-0.1 * 10)
    assert hit.components["importance"].value == 0.8
    assert hit.components["access"].value == math.log1p(3) / 5


def test_custom_weights_decide_the_order_as_the_formula_says(
    memory: clew.Clew, clock: FixedClock
) -> None:
    clock.now = later(-60)
    old = memory.remember("The coffee contract with the supplier was renewed", importance=0.9)
    clock.now = later(-1)
    new = memory.remember("Someone spilled coffee on the new carpet", importance=0.1)
    clock.now = NOW
    ask = "coffee"
    assert [hit.id for hit in memory.recall(ask, weights={"importance": 1}).hits] == [
        old.id,
        new.id,
    ]
    assert [hit.id for hit in memory.recall(ask, weights={"recency": 1}).hits] == [new.id, old.id]
    answer = memory.recall(ask, weights={"recency": 0.25, "importance": 2.0})
    assert answer.question.preset == "custom"
    for hit in answer.hits:
        node = hit.node
        assert node is not None
        age = (NOW - node.t_valid).total_seconds() / 86_400
        assert hit.score == pytest.approx(
            0.25 * math.exp(-0.1 * age) + 2.0 * node.importance, rel=1e-12
        )


def test_presets_put_different_memories_first(memory: clew.Clew, clock: FixedClock) -> None:
    clock.now = later(-200)
    important = memory.remember("The coffee budget for this year is exhausted", importance=1.0)
    popular = memory.remember("Order coffee from the roastery by the river", importance=0.0)
    relevant = memory.remember("coffee grinder coffee beans", importance=0.0)
    clock.now = NOW
    recent = memory.remember("The intern brought coffee for everyone", importance=0.0)
    for _ in range(40):
        clock.advance(hours=1)
        memory.store.touch([str(popular.id)], clock.now, min_interval_seconds=0)
    first = {
        preset: memory.recall("coffee grinder beans", preset=preset, track=False).hits[0].id
        for preset in ("semantic", "recent", "important", "popular")
    }
    assert first == {
        "semantic": relevant.id,
        "recent": recent.id,
        "important": important.id,
        "popular": popular.id,
    }


def test_a_preset_of_the_settings_is_known(open_clew: Open) -> None:
    memory = open_clew(score={"presets": {"mine": {"semantic": 1.0}}})
    memory.remember(NOTES["tea"])
    answer = memory.recall("tea", preset="mine")
    assert (answer.question.preset, answer.hits[0].components["recency"].weight) == ("mine", 0.0)


@pytest.mark.parametrize("fusion", ["weighted", "rrf"])
def test_both_fusions_explain_their_scores(open_clew: Open, fusion: str) -> None:
    memory = open_clew(recall={"fusion": fusion})
    filled(memory)
    answer = memory.recall("coffee machine")
    assert texts(answer)[0] == NOTES["coffee"]
    for hit in answer.hits:
        assert relevance(hit.channels) == hit.components["semantic"].value
        assert total(hit.components) == hit.score


def test_the_explanation_names_the_ranks_and_the_parts(memory: clew.Clew) -> None:
    filled(memory)
    hit = memory.recall("broken coffee machine").hits[0]
    assert hit.method == "direct"
    for name, words in (("sparse", "by its words"), ("dense", "by its meaning")):
        assert f"{words} (rank {hit.channels[name].rank}," in hit.explanation
    assert f"score {hit.score:.3f}" in hit.explanation
    assert f"semantic {hit.components['semantic'].contribution:.3f}" in hit.explanation


def test_ranks_in_a_channel_are_its_own_order(memory: clew.Clew) -> None:
    filled(memory)
    answer = memory.recall("coffee machine in the morning")
    for channel, ranking in answer.channels.items():
        places = {hit.id: hit.channels[channel] for hit in answer.hits if channel in hit.channels}
        assert {id: place.rank for id, place in places.items()} == {
            match.id: rank for rank, match in enumerate(ranking, 1)
        }
        assert {id: place.score for id, place in places.items()} == {
            match.id: match.score for match in ranking
        }


def test_the_trace_and_the_stats_tell_how_it_came_about(memory: clew.Clew) -> None:
    filled(memory)
    answer = memory.recall("coffee machine", k=1)
    stages = [
        "analyse",
        "candidates",
        "fuse",
        "spread",
        "score",
        "diversity",
        "timeorder",
        "confidence",
        "pack",
    ]
    assert [step["stage"] for step in answer.stats["stages"]] == stages
    assert (answer.stats["recipe"], answer.stats["preset"], answer.stats["returned"]) == (
        "balanced",
        "semantic",
        1,
    )
    assert answer.trace["terms"] == ["coffe", "machin"]
    assert answer.trace["hits"][0]["explanation"] == answer.hits[0].explanation
    assert answer.trace["id"] == answer.id


# --- filters ---


@pytest.fixture
def sorted_out(memory: clew.Clew) -> clew.Clew:
    memory.remember(
        "The blue report about rivers was published",
        category="fact",
        tags=["blue", "water"],
        metadata={"n": 1},
    )
    memory.remember(
        "The red report about deserts was withdrawn",
        category="note",
        tags=["red"],
        metadata={"n": True, "by": "Ann"},
    )
    memory.remember(
        "The old report about forests was archived",
        category="fact",
        valid_from=later(-30),
        valid_to=later(-10),
    )
    memory.remember(
        "The next report about oceans will be printed",
        category="plan",
        valid_from=later(30),
        metadata={"n": "1"},
    )
    memory.remember(
        "The foreign report about mountains was found",
        category="fact",
        space="elsewhere",
        tags=["blue"],
    )
    return memory


BLUE, RED, OLD, NEXT, FOREIGN = "rivers", "deserts", "forests", "oceans", "mountains"


@pytest.mark.parametrize(
    ("where", "options", "expected"),
    [
        ({}, {}, {BLUE, RED, NEXT}),
        ({"category": "fact"}, {}, {BLUE}),
        ({"category": ["fact", "plan"]}, {}, {BLUE, NEXT}),
        ({"tags": "blue"}, {}, {BLUE}),
        ({"tags": ["blue", "water"]}, {}, {BLUE}),
        ({"tags": ["blue", "red"]}, {}, set()),
        ({"metadata": {"n": 1}}, {}, {BLUE}),
        ({"metadata": {"n": 1.0}}, {}, {BLUE}),
        ({"metadata": {"n": True}}, {}, {RED}),
        ({"metadata": {"n": "1"}}, {}, {NEXT}),
        ({"metadata": {"n": True, "by": "Ann"}}, {}, {RED}),
        ({"metadata": {"by": None}}, {}, set()),
        ({"since": later(1)}, {}, {NEXT}),
        ({"until": later(1)}, {}, {BLUE, RED}),
        ({"until": "2026-03-01"}, {}, {BLUE, RED}),
        ({"until": "2026-02-28"}, {}, set()),
        ({"since": later(0), "until": later(0)}, {}, {BLUE, RED}),
        ({"space": "elsewhere"}, {}, {FOREIGN}),
        ({"space": "  elsewhere "}, {}, {FOREIGN}),
        ({"space": "nowhere"}, {}, set()),
        ({"kind": "memory"}, {}, {BLUE, RED, NEXT}),
        ({"kind": "chunk"}, {}, set()),
        ({}, {"as_of": later(-20)}, {OLD}),
        ({}, {"as_of": later(31)}, {BLUE, RED, NEXT}),
        ({"category": "fact"}, {"as_of": later(-20)}, {OLD}),
        ({}, {"known_at": later(-1)}, set()),
        ({}, {"known_at": later(1)}, {BLUE, RED, NEXT}),
        ({}, {"known_at": later(1), "as_of": later(-20)}, {OLD}),
    ],
)
@pytest.mark.parametrize("recipe", ["balanced", "lexical", "dense"])
def test_every_filter_holds_in_both_channels(
    sorted_out: clew.Clew,
    where: dict[str, Any],
    options: dict[str, Any],
    expected: set[str],
    recipe: str,
) -> None:
    answer = sorted_out.recall(
        "the report about rivers deserts forests oceans mountains",
        where=where,
        recipe=recipe,
        **options,
    )
    assert {
        text.split(" was ")[0].split(" will ")[0].rsplit(" ", 1)[1] for text in texts(answer)
    } == expected


def test_a_filter_value_works_like_a_mapping(sorted_out: clew.Clew) -> None:
    chosen = clew.Filter(categories=("fact",), now=later(-999))
    assert texts(sorted_out.recall("report about rivers", where=chosen)) == texts(
        sorted_out.recall("report about rivers", where={"category": "fact"})
    )


def test_min_similarity_holds_for_both_channels_and_counts_what_it_drops(open_clew: Open) -> None:
    memory = open_clew(recall={"dense_floor": -1.0})
    filled(memory)
    free = memory.recall("coffee machine broken", recipe="dense").channels["dense"]
    limit = (free[0].score + free[1].score) / 2
    answer = memory.recall("coffee machine broken", min_similarity=limit)
    assert texts(answer) == [NOTES["coffee"]]
    assert answer.filtered_count >= 1
    assert {rejection.reason for rejection in answer.rejected} == {"min_similarity"}
    assert all(rejection.value < rejection.limit == limit for rejection in answer.rejected)
    best = answer.best_rejected
    assert best is not None
    assert best.value == max(rejection.value for rejection in answer.rejected)


def test_nothing_relevant_is_said_honestly(open_clew: Open) -> None:
    memory = open_clew(recall={"dense_floor": 0.1})
    filled(memory)
    answer = memory.recall("quantum chromodynamics")
    assert answer.nothing_relevant
    assert answer.hits == ()
    assert memory.recall("coffee").nothing_relevant is False


@pytest.mark.parametrize("recipe", ["fast", "balanced", "thorough", "lexical", "dense"])
@pytest.mark.parametrize(
    "where",
    [{"category": "plan"}, {"tags": "rare"}, {"metadata": {"rare": 1}}, {"since": later(1)}],
)
def test_a_selective_filter_never_starves_the_answer(
    open_clew: Open, recipe: str, where: dict[str, Any]
) -> None:
    """The few that pass are worse matches than hundreds that do not."""
    memory = open_clew(":memory:" if recipe == "thorough" else None, duplicates={"near": False})
    memory.remember_many([f"coffee machine coffee machine number {n}" for n in range(400)])
    wanted = memory.remember_many(
        [f"Someone mentioned that a coffee machine was seen near gate {n}" for n in range(3)],
        category="plan",
        tags=["rare"],
        metadata={"rare": 1},
        valid_from=later(2),
    )
    answer = memory.recall("coffee machine", where=where, recipe=recipe, k=3)
    assert {hit.id for hit in answer.hits} == {outcome.id for outcome in wanted}


def test_spaces_never_leak(open_clew: Open) -> None:
    memory = open_clew(store={"space": "mine"})
    memory.remember(NOTES["tea"])
    memory.remember(NOTES["tea"], space="yours")
    for recipe in ("balanced", "lexical", "dense"):
        (hit,) = memory.recall("green tea", recipe=recipe).hits
        assert hit.node is not None
        assert hit.node.space == "mine"
    assert [node.space for node in memory.recent(where={"space": "yours"})] == ["yours"]


# --- order and size ---


def test_k_is_the_most_that_comes_back(memory: clew.Clew) -> None:
    filled(memory)
    assert [
        len(memory.recall("coffee tea deploys certificate", k=k).hits) for k in (1, 2, 4, 1000)
    ] == [1, 2, 4, 5]


def test_the_token_budget_is_hard(memory: clew.Clew) -> None:
    filled(memory)
    ask = "coffee tea deploys certificate"
    sizes = [token_estimate(text) for text in texts(memory.recall(ask))]
    for budget in range(1, sum(sizes) + 2):
        answer = memory.recall(ask, budget_tokens=budget)
        assert sum(map(token_estimate, texts(answer))) <= budget
        assert len(answer.hits) + answer.filtered_count == len(sizes)
        assert all(rejection.reason == "budget_tokens" for rejection in answer.rejected)
    assert len(memory.recall(ask, budget_tokens=sum(sizes)).hits) == len(sizes)


def test_the_order_is_the_same_in_every_run_and_whatever_was_written_first(
    open_clew: Open, path: Path
) -> None:
    orders = set()
    for turn, names in enumerate(itertools.islice(itertools.permutations(NOTES), 0, 120, 17)):
        memory = open_clew(":memory:") if turn % 2 else open_clew(path.with_suffix(f".{turn}"))
        for name in names:
            memory.remember(NOTES[name], importance=0.1 * len(name))
        runs = {
            tuple(texts(memory.recall("coffee in the morning at the machine", track=False)))
            for _ in range(3)
        }
        assert len(runs) == 1
        orders |= runs
    assert len(orders) == 1


def test_equal_scores_come_in_the_order_of_ids(memory: clew.Clew) -> None:
    ids = [
        memory.remember("The very same words are here", on_duplicate="insert").id for _ in range(8)
    ]
    for _ in range(3):
        assert [hit.id for hit in memory.recall("the very same words", track=False).hits] == sorted(
            map(str, ids)
        )


# --- lists ---


def test_recent_is_newest_first(memory: clew.Clew) -> None:
    days = {name: later(-day) for day, name in enumerate(NOTES)}
    for name in reversed(NOTES):
        memory.remember(NOTES[name], valid_from=days[name])
    assert [node.text for node in memory.recent()] == list(NOTES.values())
    assert [node.text for node in memory.recent(2, where={"until": later(-2)})] == list(
        NOTES.values()
    )[2:4]


def test_important_has_a_least_and_the_best_first(memory: clew.Clew) -> None:
    for name, importance in zip(NOTES, (0.71, 0.69, 0.95, 0.7, 0.2), strict=True):
        memory.remember(NOTES[name], importance=importance)
    assert [node.importance for node in memory.important()] == [0.95, 0.71, 0.7]
    assert [node.importance for node in memory.important(2, least=0.0)] == [0.95, 0.71]


def test_popular_counts_accesses(memory: clew.Clew, clock: FixedClock) -> None:
    filled(memory)
    for turn in range(6):
        clock.advance(hours=2)
        memory.recall("green tea", k=1)
        if turn:
            memory.recall("the VPN certificate", k=1)
        memory.stats()
    assert [(node.text, node.accesses) for node in memory.popular()] == [
        (NOTES["tea"], 6),
        (NOTES["vpn"], 5),
    ]
    assert [node.accesses for node in memory.popular(least=6)] == [6]
