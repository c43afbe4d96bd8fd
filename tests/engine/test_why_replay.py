"""A kept recall asked again: identical on an unchanged store, else what changed.

A trace is data that nobody vouches for.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import clew
from clew.engine.replaying import Replay
from clew.errors import ClewError, InputError
from clew.search.recipes import NAMES
from clew.testing import FixedClock, later
from tests.conftest import Open

WORDS = "harbour boat tea coffee key office deploy train invoice room printer lunch refund piano disk report Dana Matt Utrecht April".split()  # noqa: E501


def sentence(draw: random.Random, length: int = 8) -> str:
    return " ".join(draw.choice(WORDS) for _ in range(length))


def filled(memory: clew.Clew, draw: random.Random, count: int = 60) -> list[str]:
    fields: dict[str, Any] = {"near": False, "on_duplicate": "insert"}
    return [
        str(
            memory.remember(
                sentence(draw),
                importance=draw.random(),
                valid_from=later(-draw.uniform(0, 60)),
                **fields,
            ).id
        )
        for _ in range(count)
    ]


def traced(memory: clew.Clew, ask: str, **options: Any) -> dict[str, Any]:
    return memory.trace(memory.recall(ask, **options, track=False))


@pytest.mark.parametrize("at", [None, ":memory:"])
def test_two_hundred_random_questions_replay_identically(
    open_clew: Open, clock: FixedClock, at: str | None
) -> None:
    memory, draw = open_clew(at), random.Random(7)
    filled(memory, draw)
    presets = tuple(memory.settings.score.presets)
    kept = []
    for _ in range(100 if at else 200):
        where = draw.choice(
            ({}, {"since": later(-30)}, {"category": "observation"}, {"metadata": {"n": 1}})
        )
        options = {
            "k": draw.randint(1, 20),
            "recipe": draw.choice(NAMES),
            "preset": draw.choice(presets),
            "where": where,
        }
        more: dict[str, Any] = draw.choice(
            ({}, {"as_of": later(-5)}, {"budget_tokens": 30}, {"min_similarity": 0.2}, {"seed": 3})
        )
        kept.append(json.dumps(traced(memory, sentence(draw, 3), **options, **more)))
        clock.advance(hours=7)  # a replay goes by the trace's clock
    for text in kept:
        found = memory.replay(text)
        assert found.identical, found.sentences
        assert [(hit.id, hit.score) for hit in found.ranking] == [
            (each["id"], each["score"]) for each in json.loads(text)["ranking"]
        ]
        assert found.sentences == ("Nothing changed: the same ranking, the same scores.",)


def test_another_process_opens_the_store_and_replays_the_same(open_clew: Open) -> None:
    first = open_clew()
    filled(first, random.Random(8))
    trace = traced(first, "harbour boat report", preset="balanced")
    first.close()
    assert open_clew().replay(trace).identical


def test_a_memory_that_is_gone_and_one_that_is_new_are_named(
    memory: clew.Clew, clock: FixedClock
) -> None:
    filled(memory, random.Random(9))
    trace = traced(memory, "harbour boat report", k=5)
    best = trace["ranking"][0]["id"]
    clock.advance(hours=1)
    memory.forget(best)
    added = str(memory.remember("harbour boat report harbour boat report today", near=False).id)
    found = memory.replay(trace)
    assert not found.identical
    changes = {each.id: each for each in found.hits}
    assert (changes[best].change, changes[best].rank_before, changes[best].rank) == (
        "gone",
        1,
        None,
    )
    assert "no memory" in changes[best].reason
    assert (changes[added].change, changes[added].rank_before) == ("new", None)
    assert changes[added].reason == "It was added after the trace."
    assert found.store["events"][1] > found.store["events"][0]
    assert any(best in each for each in found.sentences)


def test_what_fell_out_of_the_answer_says_by_how_much(memory: clew.Clew) -> None:
    filled(memory, random.Random(10))
    trace = traced(memory, "tea coffee", k=1)
    memory.remember("tea coffee tea coffee", near=False, importance=1.0)
    found = memory.replay(trace)
    gone, new = found.hits
    assert (gone.change, new.change, new.rank) == ("gone", "new", 1)
    assert "the answer was full" in gone.reason


def test_a_changed_importance_is_named_as_the_component_that_changed(memory: clew.Clew) -> None:
    filled(memory, random.Random(11))
    trace = traced(memory, "tea coffee", k=3)
    memory.store.update(trace["ranking"][0]["id"], importance=1.0)
    (change,) = memory.replay(trace).hits
    assert (change.change, change.rank_before, change.rank) == ("rescored", 1, 1)
    assert list(change.components) == ["importance"]
    assert change.score is not None
    assert change.score_before is not None
    assert change.score > change.score_before


def test_what_others_pushed_aside_has_only_moved(memory: clew.Clew) -> None:
    filled(memory, random.Random(12))
    trace = traced(memory, "tea coffee", k=5)
    memory.store.update(trace["ranking"][1]["id"], importance=1.0, t_valid=later(0))
    found = memory.replay(trace)
    assert {each.change for each in found.hits} <= {"rescored", "moved"}
    assert all((each.change == "moved") == (not each.components) for each in found.hits)


def test_a_changed_setting_is_named_with_both_values(memory: clew.Clew) -> None:
    filled(memory, random.Random(13))
    trace = traced(memory, "tea coffee harbour", k=20)
    found = memory.variant(recall={"candidates": 2}).replay(trace)
    assert found.settings == {"recall.candidates": (100, 2)}
    assert not found.identical
    assert "The setting recall.candidates was 100 and is 2." in found.sentences


def test_a_setting_that_changes_no_ranking_is_told_all_the_same(memory: clew.Clew) -> None:
    filled(memory, random.Random(13))
    trace = traced(memory, "tea coffee harbour")
    found = memory.variant(gate={"min_words": 7}).replay(trace)
    assert found.identical
    assert found.settings == {"gate.min_words": (30, 7)}
    assert found.sentences[-1] == "The ranking is the same nonetheless."
    assert (
        memory.variant(
            recall={"k": 3}, chunking={"min_tokens": 1}, score={"recency_rate_per_day": 0.1}
        )
        .replay(trace)
        .settings
        == {}
    )


def test_another_model_is_named(open_clew: Open) -> None:
    memory = open_clew()
    filled(memory, random.Random(14))
    trace = traced(memory, "tea coffee harbour")
    from clew.models.vectors import HashingEmbedder

    memory.reembed(HashingEmbedder(64))
    found = memory.replay(trace)
    assert found.model == ("hashing-256", "hashing-64")
    assert "vectors were of hashing-256" in found.sentences[0]


def test_accesses_that_the_score_counts_are_a_change_that_is_named(memory: clew.Clew) -> None:
    filled(memory, random.Random(15))
    trace = traced(memory, "tea coffee", k=3, preset="popular")
    memory.store.touch([trace["ranking"][0]["id"]], later(1), min_interval_seconds=0)
    found = memory.replay(trace)
    assert list(found.hits[0].components) == ["access"]
    assert not found.store  # recalls are no change of the store


def test_a_replay_counts_no_access_and_a_trace_holds_no_text_of_a_memory(memory: clew.Clew) -> None:
    id = str(memory.remember("The launch code is swordfish").id)
    trace = traced(memory, "launch")
    memory.replay(trace)
    memory.stats()
    assert memory.store.get([id])[id].accesses == 0
    assert "swordfish" not in json.dumps(trace)


def test_a_trace_learns_nothing_about_memories_of_other_spaces(memory: clew.Clew) -> None:
    memory.remember("tea for everyone here")
    secret = str(memory.remember("tea for nobody", space="secret").id)
    trace = traced(memory, "tea")
    trace["ranking"].append({"id": secret, "score": 0.5, "components": {}})
    trace["ranking"].append({"id": "nobody", "score": 0.5, "components": {}})
    one, other = memory.replay(trace).hits
    assert one.reason.replace(secret, "nobody") == other.reason


# --- what cannot be read ---


def changed(**fields: Any) -> Callable[[dict[str, Any]], object]:
    return lambda trace: {**trace, **fields}


def asking(**fields: Any) -> Callable[[dict[str, Any]], object]:
    return lambda trace: {**trace, "question": {**trace["question"], **fields}}


def seeing(**fields: Any) -> Callable[[dict[str, Any]], object]:
    return lambda trace: {
        **trace,
        "question": {**trace["question"], "where": {**trace["question"]["where"], **fields}},
    }


def ranking(*entries: Any) -> Callable[[dict[str, Any]], object]:
    return changed(ranking=list(entries))


def without(*path: str) -> Callable[[dict[str, Any]], object]:
    def cut(trace: dict[str, Any]) -> object:
        inner = trace
        for name in path[:-1]:
            inner = inner[name]
        del inner[path[-1]]
        return trace

    return cut


REFUSED: list[tuple[str, Callable[[dict[str, Any]], object]]] = [
    ("trace", lambda trace: "{broken"),
    ("trace", lambda trace: b"\xff\xfe\x00"),
    ("trace", lambda trace: "[" * 100_000),
    ("trace", lambda trace: "[]"),
    ("trace", lambda trace: json.dumps(trace).replace('"k": 10', '"k": NaN')),
    ("trace", lambda trace: json.dumps(trace).replace("harbour", "\\ud800")),
    ("trace", lambda trace: {1, 2}),
    ("trace", lambda trace: " " * 10_000_001),
    ("trace.format", lambda trace: {}),
    ("trace.format", changed(format="clew-export")),
    ("trace.version", changed(version=2)),
    ("trace.version", changed(version=True)),
    ("trace.version", without("version")),
    ("trace.ranking", without("ranking")),
    ("trace.settings", changed(settings=[])),
    ("trace.store", changed(store=7)),
    ("trace.model", changed(model=7)),
    ("trace.recipe[0]", changed(recipe=[7])),
    ("trace.id", changed(id="a\x00b")),
    ("trace.now", changed(now="yesterday")),
    ("trace.now", changed(now="2020-01-01T00:00:00Z")),
    ("trace.question", changed(question="tea")),
    ("trace.question.k", asking(k="10")),
    ("trace.question.k", asking(k=True)),
    ("trace.question.k", without("question", "k")),
    ("trace.question.colour", asking(colour="red")),
    ("trace.question.min_similarity", asking(min_similarity="x")),
    ("trace.question.weights", asking(weights=[1, 2, 3, 4])),
    ("trace.question.weights.access", without("question", "weights", "access")),
    ("trace.question.where.kinds[0]", seeing(kinds=["planet"])),
    ("trace.question.where.tags", seeing(tags="a")),
    ("trace.question.where.tags[0]", seeing(tags=[7])),
    ("trace.question.where.since", seeing(since="soon")),
    ("trace.question.where.archived", seeing(archived=1)),
    ("trace.question.where.metadata", seeing(metadata=[])),
    ("trace.question.where.space", seeing(space="")),
    ("k", asking(k=10**9)),
    ("query", asking(text=" ")),
    ("recipe", asking(recipe="magic")),
    ("weights", asking(weights=dict.fromkeys(("semantic", "recency", "importance", "access"), 0))),
    (
        "weights.access",
        asking(weights={"semantic": 1, "recency": 0, "importance": 0, "access": -1}),
    ),
    ("seed", asking(seed=2**70)),
    ("trace.ranking[0]", ranking("a")),
    ("trace.ranking[0].score", ranking({"id": "a"})),
    ("trace.ranking[0].score", ranking({"id": "a", "score": "1", "components": {}})),
    ("trace.ranking[0].id", ranking({"id": 7, "score": 1, "components": {}})),
    (
        "trace.ranking[0].components.x.weight",
        ranking({"id": "a", "score": 1, "components": {"x": {"value": 1}}}),
    ),
    ("trace.ranking[1].id", ranking(*[{"id": "a", "score": 1, "components": {}}] * 2)),
]


@pytest.mark.parametrize(
    ("field", "change"),
    REFUSED,
    ids=[f"{number}-{field}" for number, (field, _) in enumerate(REFUSED)],
)
def test_what_is_no_trace_is_refused_with_the_field_and_a_way_out(
    memory: clew.Clew, field: str, change: Callable[[dict[str, Any]], object]
) -> None:
    memory.remember("tea in the harbour")
    given: Any = change(traced(memory, "harbour"))
    with pytest.raises(InputError) as refused:
        memory.replay(given)
    assert refused.value.field == field
    assert len(refused.value.message) < 600


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.text(max_size=3), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


@given(st.data())
@settings(max_examples=75, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_trace_with_anything_in_any_place_is_replayed_or_refused(
    memory: clew.Clew, data: st.DataObject
) -> None:
    if not memory.recent(1):
        memory.remember("tea in the harbour")
    trace: Any = traced(memory, "harbour")
    inner = trace
    while True:
        keys = sorted(inner) if isinstance(inner, dict) else list(range(len(inner)))
        key = data.draw(st.sampled_from(keys))
        if isinstance(inner[key], dict | list) and inner[key] and data.draw(st.booleans()):
            inner = inner[key]
            continue
        inner[key] = data.draw(VALUES)
        break
    try:
        assert isinstance(memory.replay(trace), Replay)
    except ClewError as error:
        assert isinstance(error, InputError), error
