"""Why a memory is not in an answer.

A planted case for every stage and reason, and nothing about other spaces.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import clew
from clew.errors import InputError, StoreError
from clew.models.vectors import HashingEmbedder
from clew.search.candidates import MAX_SECTIONS
from clew.search.why_not import WhyNot
from clew.testing import NOW, FixedClock, later, node
from clew.text.words import token_estimate
from clew.types import Filter, Kind, Quality, Stub
from tests.conftest import Open

TEA = "Matt prefers green tea over coffee in the morning"
ASK = "green tea in the morning"


def told(found: WhyNot) -> tuple[Any, ...]:
    assert found.sentence.endswith(".")
    return found.stage, found.reason, found.value, found.threshold, found.rank


# --- answer and store ---


def test_what_is_in_the_answer_is_said_to_be(memory: clew.Clew) -> None:
    id = str(memory.remember(TEA).id)
    found = memory.why_not(ASK, id)
    assert found.found
    score = memory.recall(ASK).hits[0].score
    assert told(found) == ("answer", "found", score, score, 1)


def test_an_unknown_id_is_told_from_none_of_another_space(memory: clew.Clew) -> None:
    elsewhere = str(memory.remember(TEA, space="secret", category="fact", tags=["x"]).id)
    nobody = "0" * 26
    several: tuple[dict[str, Any], ...] = (
        {},
        {"where": {"category": "note"}},
        {"recipe": "staged"},
        {"where": {"archived": True}},
    )
    for options in several:
        here, unknown = (memory.why_not(ASK, id, **options) for id in (elsewhere, nobody))
        assert told(here) == ("store", "unknown_id", None, None, None)
        assert (
            replace(here, id=nobody, sentence=here.sentence.replace(elsewhere, nobody)) == unknown
        )
        reasons = [memory.why(ASK, id, **options) for id in (elsewhere, nobody)]
        assert all(
            why.hit is None and why.rank is None and why.missing is not None for why in reasons
        )
    assert memory.why_not(ASK, elsewhere, where={"space": "secret"}).found


# --- filter ---


def archived(memory: clew.Clew, id: str) -> None:
    memory.store.update(id, archived=True)


def expired(memory: clew.Clew, id: str) -> None:
    memory.store.update(id, t_expired=later(-1))


def untouched(memory: clew.Clew, id: str) -> None:
    pass


WHERE: list[
    tuple[dict[str, Any], Callable[[clew.Clew, str], None], dict[str, Any], tuple[str, Any, Any]]
] = [
    (
        {"category": "fact"},
        untouched,
        {"where": {"category": ["note", "event"]}},
        ("category", "fact", ["note", "event"]),
    ),
    ({}, untouched, {"where": {"kind": "chunk"}}, ("kind", "memory", ["chunk"])),
    ({"tags": ["a"]}, untouched, {"where": {"tags": ["a", "b"]}}, ("tag", ["a"], ["a", "b"])),
    (
        {"metadata": {"n": 1, "m": 2}},
        untouched,
        {"where": {"metadata": {"n": 7}}},
        ("metadata", {"n": 1}, {"n": 7}),
    ),
    ({}, untouched, {"where": {"metadata": {"n": 7}}}, ("metadata", {}, {"n": 7})),
    (
        {"valid_from": later(-9)},
        untouched,
        {"where": {"since": later(-3)}},
        ("since", "2026-02-20T12:00:00Z", "2026-02-26T12:00:00Z"),
    ),
    (
        {},
        untouched,
        {"where": {"until": later(-3)}},
        ("until", "2026-03-01T12:00:00Z", "2026-02-26T12:00:00Z"),
    ),
    (
        {},
        untouched,
        {"as_of": later(-3)},
        ("as_of", "2026-03-01T12:00:00Z", "2026-02-26T12:00:00Z"),
    ),
    (
        {"valid_from": later(-9), "valid_to": later(-5)},
        untouched,
        {"as_of": later(-3)},
        ("as_of", "2026-02-24T12:00:00Z", "2026-02-26T12:00:00Z"),
    ),
    (
        {"valid_from": later(-9), "valid_to": later(-5)},
        untouched,
        {},
        ("invalid", "2026-02-24T12:00:00Z", "2026-03-01T12:00:00Z"),
    ),
    (
        {},
        untouched,
        {"known_at": later(-3)},
        ("known_at", "2026-03-01T12:00:00Z", "2026-02-26T12:00:00Z"),
    ),
    ({}, expired, {}, ("expired", "2026-02-28T12:00:00Z", "2026-03-01T12:00:00Z")),
    ({}, archived, {}, ("archived", True, False)),
]


@pytest.mark.parametrize(
    ("fields", "change", "options", "expected"), WHERE, ids=[each[3][0] for each in WHERE]
)
def test_a_filter_is_named_with_what_was_asked_and_what_there_is(
    memory: clew.Clew,
    fields: dict[str, Any],
    change: Callable[[clew.Clew, str], None],
    options: dict[str, Any],
    expected: tuple[str, Any, Any],
) -> None:
    id = str(memory.remember(TEA, **fields).id)
    change(memory, id)
    found = memory.why_not(ASK, id, **options)
    assert told(found) == ("filter", *expected, None)
    assert found.sentence.startswith("The filter leaves it out: ")


def test_a_section_is_of_a_kind_that_is_not_served(memory: clew.Clew) -> None:
    memory.store.insert([node("s", TEA, kind=Kind.SECTION)])
    assert told(memory.why_not(ASK, "s")) == (
        "filter",
        "kind",
        "section",
        ["memory", "chunk"],
        None,
    )


def test_parents_that_a_filter_names_are_a_condition_too(memory: clew.Clew) -> None:
    memory.store.insert(
        [
            node("d", "Tea book", kind=Kind.DOCUMENT),
            node("c", TEA, kind=Kind.CHUNK, parent="d", root="d", position=0),
        ]
    )
    found = memory.why_not(ASK, "c", where=Filter(now=NOW, within=("elsewhere",)))
    assert told(found) == ("filter", "within", "d", ["elsewhere"], None)


# --- narrow ---


def test_a_chunk_outside_the_best_sections_was_lost_in_narrowing(open_clew: Open) -> None:
    memory = open_clew()
    memory.store.insert(
        [
            node("d", "Tea book", kind=Kind.DOCUMENT),
            node(
                "s1",
                "green tea green tea green tea",
                kind=Kind.SECTION,
                parent="d",
                root="d",
                position=0,
            ),
            node(
                "s2", "about boats and one tea", kind=Kind.SECTION, parent="d", root="d", position=1
            ),
            *(
                node(
                    f"t{n}",
                    "green tea and green tea",
                    kind=Kind.SECTION,
                    parent="d",
                    root="d",
                    position=n + 2,
                )
                for n in range(MAX_SECTIONS)
            ),
            node(
                "c1", "green tea is drunk here", kind=Kind.CHUNK, parent="s1", root="d", position=0
            ),
            node("c2", "tea on a boat is rare", kind=Kind.CHUNK, parent="s2", root="d", position=0),
        ]
    )
    assert told(memory.why_not("green tea", "c2", recipe="staged")) == (
        "narrow",
        "within",
        "s2",
        MAX_SECTIONS,
        None,
    )
    assert memory.why_not("green tea", "c1", recipe="staged").found


# --- candidates ---


def test_a_floor_of_similarity_is_named_with_the_exact_cosine(memory: clew.Clew) -> None:
    id = str(memory.remember(TEA).id)
    vector = memory.embedded_query("coffee").vector
    assert vector is not None
    cosine = memory.store.cosines(vector, [id])[id]
    assert told(memory.why_not("coffee", id, min_similarity=0.99)) == (
        "candidates",
        "min_similarity",
        cosine,
        0.99,
        None,
    )


def test_what_is_too_far_and_shares_no_word_falls_below_the_dense_floor(open_clew: Open) -> None:
    memory = open_clew(recall={"dense_floor": 0.1})
    id = str(memory.remember(TEA).id)
    found = memory.why_not("VPN certificates", id)
    assert (found.stage, found.reason, found.threshold) == (
        "candidates",
        "dense_floor",
        HashingEmbedder().background.cosine_at(0.1),
    )
    assert found.value < found.threshold


def crowded(open_clew: Open, **recall: Any) -> tuple[clew.Clew, str, str]:
    """A store in which both lists of candidates are full before the last memory's turn."""
    memory = open_clew(recall={"candidates": 3, "fusion": "weighted", **recall})
    for n in range(4):
        memory.remember(f"The harbour master counts boats, number {n}", near=False)
    far = str(
        memory.remember(
            "A harbour is where a great many of the other people went by bus to look at trains"
        ).id
    )
    apart = str(memory.remember("Penguins sleep standing up in colder winters").id)
    return memory, far, apart


def test_behind_full_lists_a_memory_is_no_candidate_and_its_standing_is_told(
    open_clew: Open,
) -> None:
    memory, far, _ = crowded(open_clew, dense_floor=-1.0)
    ask = "harbour master counts boats"
    found = memory.why_not(ask, far)
    answer = memory.recall(ask, track=False)
    everyone = (
        memory.variant(recall={"candidates": 100, "dense_floor": -1.0})
        .recall(ask, recipe="dense", track=False)
        .hits
    )
    cosines = [hit.channels["dense"].score for hit in everyone]
    place = [hit.id for hit in everyone].index(far)
    assert told(found) == ("candidates", "not_a_candidate", cosines[place], cosines[2], place + 1)
    words = found.channels["sparse"]
    assert (words.shared, words.rank, words.cut) == (("harbour",), 5, 3)
    assert words.score is not None
    assert (
        0
        < words.score
        < words.threshold
        == min(hit.channels["sparse"].score for hit in answer.hits if "sparse" in hit.channels)
    )
    assert "rank 5, is not above" in found.sentence


def test_by_the_questions_that_it_answers_a_memory_has_a_standing_too(open_clew: Open) -> None:
    memory = open_clew(questions={"enabled": True}, recall={"candidates": 1, "dense_floor": -1.0})
    fields: dict[str, Any] = {"trigger": "problem-solution", "near": False}
    memory.remember("The harbour crane stopped because the fuse had blown", **fields)
    far = str(memory.remember("The bakery oven stopped because the gas had run out", **fields).id)
    bare = str(memory.remember("Penguins sleep standing up in colder winters").id)
    ask = "why did the harbour crane stop"
    standing = memory.why_not(ask, far).channels["question"]
    assert standing.score is not None
    assert (standing.score < standing.threshold, standing.rank, standing.cut) == (True, 2, 1)
    assert "best question's cosine" in memory.why_not(ask, far).sentence
    assert memory.why_not(ask, bare).channels["question"].score is None
    assert "no question that it is known to answer" in memory.why_not(ask, bare).sentence


def test_a_memory_that_shares_no_word_is_told_so(open_clew: Open) -> None:
    memory, _, apart = crowded(open_clew)
    found = memory.why_not("harbour master counts boats", apart, recipe="lexical")
    assert told(found) == (
        "candidates",
        "not_a_candidate",
        0.0,
        found.channels["sparse"].threshold,
        None,
    )
    assert found.sentence == "No channel proposed it: it shares no word with the question."


def test_below_a_full_list_the_floor_is_named_where_it_would_keep_it_out_anyway(
    open_clew: Open,
) -> None:
    memory, _, apart = crowded(open_clew, dense_floor=0.99)
    found = memory.why_not("harbour master counts boats", apart)
    assert (found.stage, found.reason, found.threshold) == (
        "candidates",
        "dense_floor",
        HashingEmbedder().background.cosine_at(0.99),
    )
    found = memory.why_not("harbour master counts boats", apart, min_similarity=0.995)
    assert (found.stage, found.reason, found.threshold) == ("candidates", "min_similarity", 0.995)


def test_a_memory_without_a_vector_is_judged_by_its_words(memory: clew.Clew) -> None:
    memory.remember(TEA)
    memory.store.insert([node("bare", "Penguins sleep standing up")])
    found = memory.why_not(ASK, "bare")
    assert told(found) == ("candidates", "not_a_candidate", 0.0, 0.0, None)
    assert "it has no vector" in found.sentence


# --- gate, overlap, budget, rank ---


def quality(overall: float, stub: Stub = Stub.NONE) -> Quality:
    return Quality(overall, overall, overall, overall, overall, stub, 40, 1)


@pytest.mark.parametrize(
    ("judged", "text", "expected"),
    [
        (quality(0.1), TEA, ("quality", 0.1, 0.4)),
        (quality(0.9, Stub.MEDIA), TEA, ("stub:media", 0.9, 0.4)),
        (quality(0.9), "green tea", ("too_short", 2.0, 30.0)),
    ],
    ids=["quality", "stub", "words"],
)
def test_the_gate_says_which_rule_turned_a_chunk_away(
    memory: clew.Clew, judged: Quality, text: str, expected: tuple[str, float, float]
) -> None:
    memory.store.insert([node("c", text, kind=Kind.CHUNK, quality=judged)])
    assert told(memory.why_not(ASK, "c", recipe="agent")) == ("gate", *expected, 1)
    assert memory.why_not(ASK, "c").found


def test_an_overlap_names_the_hit_that_says_it_already(memory: clew.Clew) -> None:
    whole = {"kind": Kind.CHUNK, "root": "d", "parent": "d"}
    memory.store.insert(
        [
            node("d", "Tea book", kind=Kind.DOCUMENT),
            node("a", "green tea in the morning", **whole, position=0, start=0, end=100),
            node(
                "b",
                "green tea in the morning hours of boats",
                **whole,
                position=1,
                start=40,
                end=140,
            ),
            node("z", "green tea in the morning", **whole, position=2, start=400, end=500),
        ]
    )
    found = memory.why_not("green tea in the morning", "b")
    assert told(found) == ("pack", "overlap", 0.6, 0.5, 3)
    assert found.by == "a"
    assert memory.why_not("green tea in the morning", "z").found


def test_a_token_budget_tells_what_it_would_have_taken(memory: clew.Clew) -> None:
    ids = [
        str(memory.remember(f"Green tea in the morning, kind number {n}", near=False).id)
        for n in range(3)
    ]
    first = memory.recall(ASK, k=1, track=False).hits[0]
    last = next(id for id in ids if memory.why(ASK, id).rank == 3)
    tokens = token_estimate(first.text)
    found = memory.why_not(ASK, last, budget_tokens=tokens)
    assert told(found) == ("pack", "budget_tokens", float(2 * tokens), float(tokens), 3)


def test_beyond_k_the_rank_and_the_last_score_are_told(memory: clew.Clew) -> None:
    for n in range(12):
        memory.remember(f"Green tea in the morning, kind number {n}", near=False, importance=n / 20)
    everyone = memory.recall(ASK, k=12, track=False).hits
    for rank, hit in enumerate(everyone, start=1):
        found = memory.why_not(ASK, hit.id, k=5)
        assert told(found) == (("answer", "found") if rank <= 5 else ("pack", "beyond_k")) + (
            hit.score,
            everyone[4].score,
            rank,
        )


def test_what_is_beyond_k_for_a_recipe_of_one_channel_is_so_too(memory: clew.Clew) -> None:
    ids = [
        str(memory.remember(f"Green tea in the morning, kind number {n}", near=False).id)
        for n in range(3)
    ]
    for recipe in ("lexical", "dense", "fast", "thorough"):
        lost = [memory.why_not(ASK, id, k=2, recipe=recipe) for id in ids]
        assert sorted(found.rank or 0 for found in lost) == [1, 2, 3]
        assert [found.reason for found in sorted(lost, key=lambda each: each.rank or 0)] == [
            "found",
            "found",
            "beyond_k",
        ]


# --- asking ---


def test_the_question_is_the_one_that_recall_asks(memory: clew.Clew, clock: FixedClock) -> None:
    from clew.engine.explaining import asked

    several: tuple[dict[str, Any], ...] = (
        {},
        {"k": 3, "recipe": "fast", "preset": "recent", "seed": 7},
        {
            "weights": {"semantic": 1.0},
            "where": {"category": "fact", "since": "2026-01-01"},
            "min_similarity": 0.2,
        },
        {
            "as_of": "2026-01-01",
            "known_at": "2026-02-01",
            "budget_tokens": 50,
            "where": {"space": "x", "archived": True},
        },
    )
    for options in several:
        assert asked(memory, ASK, options) == memory.recall(ASK, **options, track=False).question


@pytest.mark.parametrize(
    ("query", "id", "options", "field"),
    [
        ("", "a", {}, "query"),
        (ASK, "", {}, "id"),
        (ASK, "a", {"k": 0}, "k"),
        (ASK, "a", {"kk": 1}, "options"),
        (ASK, 7, {}, "id"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    memory: clew.Clew, query: str, id: str, options: dict[str, Any], field: str
) -> None:
    for ask in (memory.why, memory.why_not):
        with pytest.raises(InputError) as refused:
            ask(query, id, **options)
        assert refused.value.field == field


def test_asking_why_counts_no_access_and_a_closed_clew_refuses(memory: clew.Clew) -> None:
    id = str(memory.remember(TEA).id)
    memory.why(ASK, id)
    memory.why_not(ASK, id)
    memory.stats()
    assert memory.store.get([id])[id].accesses == 0
    memory.close()
    with pytest.raises(StoreError):
        memory.why(ASK, id)
