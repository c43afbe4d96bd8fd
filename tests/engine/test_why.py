"""Why a memory is where it is.

Its place beyond k, sums that add up, and a main reason that really decides.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import clew
from clew.engine.explaining import asked, run_stages
from clew.ports import Embedder
from clew.search.state import Hit
from clew.search.why import Reason, Why
from clew.search.why_not import RecipeRun, rank_of
from clew.surface import payload
from clew.testing import NOW, FixedClock, later
from clew.types import Kind
from tests.conftest import Open

PEOPLE = ("Dana Fox", "Matt Joyce", "Anna Berg", "Sam Okoro")
FACTS = (
    "{} prefers green tea over coffee in the morning",
    "{} keeps the keys of the harbour office in a red box",
    "{} wrote the deploy script and knows why it fails on Mondays",
    "{} moved to Utrecht after the summer and takes the train",
    "{} signs every invoice above five hundred euros",
    "{} asked for a quieter room because the printer is loud",
    "{} is allergic to nuts and brings lunch from home",
    "{} promised the customer a refund before the end of April",
    "{} plays the piano on Thursdays in the community hall",
    "{} rebuilt the staging database after the disk was full",
    "{} counts the boats in the harbour for the yearly report",
    "{} broke the coffee machine on the second floor",
)
QUESTIONS = (
    "who drinks tea in the morning",
    "where are the keys of the office",
    "why does the deploy fail",
    "who lives in Utrecht",
    "who has to approve a large payment",
    "what did we promise the customer",
    "music on Thursdays",
    "staging database disk",
    "how many boats are there in the harbour",
    "what does Dana Fox eat",
    "what happened to the coffee machine",
    "what is the latest about Matt Joyce",
    "what did Anna Berg say in February 2026",
)
BOOK = "".join(
    f"# Part {n}\n\n{' '.join(fact.format(person) + '.' for fact in FACTS)}\n\n"
    for n, person in enumerate(PEOPLE)
)
PRESETS = ("semantic", "balanced", "recent", "important", "popular")


def filled(memory: clew.Clew, draw: random.Random, count: int = len(PEOPLE) * len(FACTS)) -> None:
    texts = [fact.format(person) for person in PEOPLE for fact in FACTS]
    draw.shuffle(texts)
    for text in texts[:count]:
        memory.remember(
            text, importance=draw.random(), valid_from=later(-draw.uniform(0, 90)), near=False
        )
    ids = sorted(node.id for node in memory.recent(100))
    memory.store.touch(draw.sample(ids, 5), NOW, min_interval_seconds=0)
    for source, target in zip(draw.sample(ids, 8), draw.sample(ids, 8), strict=True):
        memory.link(source, target, weight=draw.random())


# --- sums ---


def results(open_clew: Open, least: int) -> Iterator[tuple[clew.Clew, Hit]]:
    """Yield hits of many small random stores, questions, presets, weights, recipes and settings."""
    draw, given, store = random.Random(5), 0, 0
    while given < least:
        store += 1
        settings: dict[str, Any] = {
            "fusion": draw.choice(("weighted", "rrf")),
            "dense_floor": draw.choice((-1.0, 0.0, 0.2)),
        }
        memory = open_clew(":memory:", recall=settings)
        filled(memory, draw, count=draw.randint(20, 48))
        memory.import_data(BOOK, name="harbour.md")
        for _ in range(12):
            weights = (
                None
                if draw.random() < 0.7
                else {
                    "semantic": draw.random(),
                    "recency": draw.random(),
                    "access": draw.uniform(0.1, 2),
                }
            )
            options = {"preset": draw.choice(PRESETS)} if weights is None else {"weights": weights}
            recipe = draw.choice(
                ("fast", "balanced", "thorough", "agent", "staged", "lexical", "dense")
            )
            answer = memory.recall(
                draw.choice(QUESTIONS), k=100, recipe=recipe, **options, track=False
            )
            given += len(answer.hits)
            yield from ((memory, hit) for hit in answer.hits)


def test_components_recompute_to_the_score_for_ten_thousand_results(open_clew: Open) -> None:
    seen = 0
    methods, parts = set(), set()
    for memory, hit in results(open_clew, 10_000):
        shown = payload.hit(hit, 1)
        contributions = [part["value"] * part["weight"] for part in shown["components"].values()]
        assert abs(math.fsum(contributions) - shown["score"]) < 1e-9
        relevance = math.fsum(
            place["normalised"] * place["weight"] for place in shown["channels"].values()
        )
        assert abs(relevance - shown["components"]["semantic"]["value"]) < 1e-9
        assert hit.node is not None
        told = hit.node.t_created if hit.node.kind is Kind.MEMORY else hit.node.t_valid
        age_days = abs((NOW - max(hit.node.t_valid, told)).total_seconds() / 86_400)
        assert (
            abs(
                shown["components"]["recency"]["value"]
                - math.exp(-memory.settings.score.recency_rate_per_day * age_days)
            )
            < 1e-9
        )
        assert shown["components"]["importance"]["value"] == hit.node.importance
        seen += 1
        methods.add(hit.method)
        parts |= {*shown["components"], *shown["channels"]}
    assert seen >= 10_000
    assert {"semantic", "recency", "importance", "access", "dense", "sparse", "section"} <= parts
    assert "direct" in methods


# --- places ---


def test_every_ranked_memory_has_its_place_also_beyond_k(memory: clew.Clew) -> None:
    filled(memory, random.Random(1))
    everyone = memory.recall(QUESTIONS[0], k=100, track=False).hits
    assert len(everyone) > 5
    for rank, hit in enumerate(everyone, start=1):
        why = memory.why(QUESTIONS[0], hit.id, k=3)
        assert (why.rank, why.ranked, why.answer_rank) == (
            rank,
            len(everyone),
            rank if rank <= 3 else None,
        )
        assert why.hit == hit
        assert (why.missing is None) == (rank <= 3)
        assert why.missing is None or why.missing.reason == "beyond_k"


def test_reasons_add_up_to_the_score_and_begin_with_the_largest(memory: clew.Clew) -> None:
    filled(memory, random.Random(2))
    for ask in QUESTIONS:
        for hit in memory.recall(ask, preset="balanced", track=False).hits:
            why = memory.why(ask, hit.id, preset="balanced")
            amounts = [reason.contribution for reason in why.reasons]
            assert abs(math.fsum(amounts) - hit.score) < 1e-9
            assert amounts == sorted(amounts, reverse=True)
            assert set(why.main) <= set(why.reasons)


def test_a_memory_that_was_not_ranked_says_what_kept_it_out(open_clew: Open) -> None:
    memory = open_clew(recall={"dense_floor": 0.1})
    id = str(memory.remember("Penguins sleep standing up in colder winters").id)
    why = memory.why("VPN certificates", id)
    assert (why.hit, why.rank, why.answer_rank, why.main, why.decisive) == (
        None,
        None,
        None,
        (),
        False,
    )
    assert why.missing == memory.why_not("VPN certificates", id)


def test_what_only_one_channel_found_is_there_because_of_it(open_clew: Open) -> None:
    memory = open_clew(model={"embedder": "none"})
    id = str(memory.remember("The coffee machine is broken").id)
    why = memory.why("coffee", id)
    assert [reason.name for reason in why.main] == ["sparse"]
    assert why.rank_without is None
    assert why.decisive


def test_a_hit_that_came_along_links_says_so(open_clew: Open) -> None:
    memory = open_clew(spread={"weights": {"OTHER": 1.0}}, recall={"dense_floor": 0.3})
    memory.remember("Dana Fox rebuilt the staging database", title="Staging")
    start = memory.recall("why was the staging database slow", track=False).hits[0].id
    far = str(memory.remember("Penguins sleep standing up in colder winters").id)
    assert memory.why("why was the staging database slow", far).rank is None
    memory.link(start, far)
    why = memory.why("why was the staging database slow", far)
    assert why.hit is not None
    assert (why.hit.method, why.hit.hops, why.hit.path[0].source, why.hit.path[-1].target) == (
        "traversal",
        1,
        start,
        far,
    )
    assert (why.main[0].kind, why.main[0].name, why.rank_without) == ("channel", "path", None)


# --- the main reason ---


def lost(run: RecipeRun, hit: Hit, reasons: tuple[Reason, ...]) -> int | None:
    """Return the hit's rank after its reasons were really taken away and the rest of the stages run again."""
    channels = {reason.name for reason in reasons if reason.kind == "channel"}
    components = {reason.name for reason in reasons if reason.kind == "component"}
    at, stage_run = next(
        (at, stage_run) for at, stage_run in enumerate(run.stages) if stage_run.after.channels
    )
    proposed = {
        name: tuple(match for match in ranking if match.id != hit.id or name not in channels)
        for name, ranking in stage_run.after.channels.items()
    }
    recall = replace(stage_run.after, channels=proposed)
    for each in run.stages[at + 1 : -1]:
        recall = each.stage(recall)
    hits = [
        _zeroed(each, channels, components) if each.id == hit.id else each for each in recall.hits
    ]
    return rank_of(
        hit.id,
        sorted((each for each in hits if each.channels), key=lambda each: (-each.score, each.id)),
    )


def _zeroed(hit: Hit, channels: set[str], components: set[str]) -> Hit:
    """Return the hit without what only later stages add.

    Its section, its name, its path, and components.
    """
    kept = {name: place for name, place in hit.channels.items() if name not in channels}
    semantic = hit.components["semantic"]
    relevance = math.fsum(place.contribution for place in kept.values())
    others = [
        part.contribution
        for name, part in hit.components.items()
        if name not in components and name != "semantic"
    ]
    found = any(name != "section" for name in kept)
    return hit._replace(
        score=math.fsum([*others, semantic.weight * relevance]), channels=kept if found else {}
    )


def sampled(memory: clew.Clew, draw: random.Random) -> Iterator[tuple[RecipeRun, Hit, Why]]:
    for ask in QUESTIONS:
        preset = draw.choice(PRESETS)
        run = run_stages(memory, asked(memory, ask, {"preset": preset}))
        for hit in run.answer.hits:
            yield run, hit, memory.why(ask, hit.id, preset=preset)


def test_without_its_main_reason_a_hit_stands_elsewhere(open_clew: Open) -> None:
    memory = open_clew(":memory:", recall={"dense_floor": 0.0})
    filled(memory, random.Random(3))
    check_main_reasons(memory)


@pytest.mark.model
def test_without_its_main_reason_a_hit_stands_elsewhere_with_the_real_model(
    real_embedder: Embedder,
) -> None:
    with clew.open(":memory:", embedder=real_embedder, clock=FixedClock()) as memory:
        filled(memory, random.Random(4))
        check_main_reasons(memory)


def check_main_reasons(memory: clew.Clew) -> None:
    """At least 95 of 100 hits are elsewhere, or nowhere, when the stages run without their main reason (issue's measure)."""
    cases = [(why, lost(run, hit, why.main)) for run, hit, why in sampled(memory, random.Random(6))]
    assert len(cases) >= 100
    moved = sum(after != why.rank for why, after in cases)
    assert moved >= 0.95 * len(cases), (moved, len(cases))
    assert all(why.decisive for why, _ in cases)


def test_chunks_have_their_section_among_the_reasons(memory: clew.Clew) -> None:
    memory.import_data(BOOK, name="harbour.md")
    hits = memory.recall("Dana Fox counts boats in part", track=False).hits
    assert hits
    assert all(hit.node is not None and hit.node.kind is Kind.CHUNK for hit in hits)
    why = memory.why("Dana Fox counts boats in part", hits[0].id)
    assert "section" in {reason.name for reason in why.reasons}
