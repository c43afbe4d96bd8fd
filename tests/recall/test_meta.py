"""The metadata score: keywords, time and entities as a share of relevance, each to be seen, and nothing lost in the sum."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clew
from clew.search.meta import (
    ENTITIES,
    KEYWORDS,
    SHARES,
    TIME,
    Meta,
    blended,
    filed_under,
    meta,
    overlap,
    temporal_match,
)
from clew.search.state import DENSE, SPARSE, Hit, Place, Question, Recall, relevance
from clew.settings import Weights
from clew.store.memory import MemoryStore
from clew.testing import NOW, FixedClock, node, where
from clew.text.dates.when import when
from clew.text.words import query_terms
from clew.types import Mention

UNIT = st.floats(0.0, 1.0)


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def asked(text: str, *ids: str) -> Recall:
    """Return a recall whose hits are all alike in relevance."""
    question = Question(
        text=text,
        k=5,
        where=where(),
        weights=Weights(1, 0, 0, 0),
        recipe="balanced",
        preset="custom",
    )
    hits = tuple(Hit(id, 0.5, {DENSE: Place(1, 0.7, 0.5, 1.0)}) for id in ids)
    return Recall(
        question=question, terms=tuple(query_terms(text)), when=when(text, now=NOW), hits=hits
    )


def named(id: str, *keys: str) -> list[Mention]:
    return [
        Mention(node=id, key=key, name=key.title(), type="PERSON", confidence=0.9) for key in keys
    ]


def normalised(recall: Recall, channel: str) -> dict[str, float]:
    return {hit.id: hit.channels[channel].normalised for hit in recall.hits}


def test_the_worked_example_of_the_formula() -> None:
    # S_meta = 0.5·0.5 + 0.3·1 + 0.2·0.25 = 0.6; S = 0.2·0.6 + 0.8·0.7
    assert meta(0.5, 1.0, 0.25) == pytest.approx(0.6)
    hit = Hit("a", 0.7, {DENSE: Place(1, 0.9, 0.7, 1.0)})
    assert blended(
        hit, {KEYWORDS: 0.5, TIME: 1.0, ENTITIES: 0.25}, weight=0.2
    ).score == pytest.approx(0.68)
    assert sum(SHARES.values()) == pytest.approx(1.0)


@given(UNIT, UNIT, st.tuples(UNIT, UNIT, UNIT), UNIT)
def test_the_channels_add_up_to_the_blend_whatever_the_share(
    own: float, share: float, parts: tuple[float, float, float], weight: float
) -> None:
    places = {DENSE: Place(1, own, own, share), SPARSE: Place(None, 0.0, 0.0, 1 - share)}
    hit = Hit("a", relevance(places), places)
    mixed = blended(hit, dict(zip((KEYWORDS, TIME, ENTITIES), parts, strict=True)), weight=weight)
    assert mixed.score == relevance(mixed.channels)
    assert mixed.score == pytest.approx(weight * meta(*parts) + (1 - weight) * hit.score, abs=1e-9)
    assert sum(place.weight for place in mixed.channels.values()) == pytest.approx(1.0)


def test_an_overlap_is_a_share_of_what_is_asked_and_repeats_count_once() -> None:
    assert overlap(["a", "b", "b"], ["b", "c"]) == 0.5
    assert overlap([], ["a"]) == overlap(["a"], []) == 0.0
    assert overlap(("a",), ("a",)) == 1.0


@pytest.mark.parametrize(
    ("question", "valid", "invalid", "expected"),
    [
        ("what happened in March 2024", "2024-03-01", None, 1.0),
        ("what happened in March 2024", "2024-03-31T23:59:59", None, 1.0),
        ("what happened in March 2024", "2024-02-29", None, 0.5),
        ("what happened in March 2024", "2024-02-01", "2024-03-02", 0.5),
        # no longer true when March began
        ("what happened in March 2024", "2024-02-01", "2024-03-01", 0.0),
        ("what happened in March 2024", "2024-04-01", None, 0.0),
        ("what happened before 2020", "2019-05-05", None, 1.0),
        ("what happened before 2020", "2020-05-05", None, 0.0),
        ("what happened since 2020", "2021-05-05", "2021-06-01", 1.0),
        ("what happened since 2020", "2019-05-05", "2019-06-01", 0.0),
        ("what happened", "2024-03-01", None, 0.0),
    ],
)
def test_a_time_matches_where_it_began_then_or_was_true_then(
    question: str, valid: str, invalid: str | None, expected: float
) -> None:
    spans = when(question, now=NOW).spans
    assert temporal_match(spans, day(valid), None if invalid is None else day(invalid)) == expected


def test_of_several_times_the_best_counts() -> None:
    spans = when("what happened in 2019 or in March 2024", now=NOW).spans
    assert len(spans) == 2
    assert temporal_match(spans, day("2024-03-05"), None) == 1.0
    assert temporal_match(spans, day("2019-03-05"), None) == 1.0


def test_what_a_memory_is_filed_under_is_analysed_as_questions_are() -> None:
    filed = filed_under(
        node(
            "a",
            "text is not looked at",
            keywords=("databases",),
            tags=("数据库",),
            title="getUserName",
        )
    )
    assert filed >= set(query_terms("database")) | set(query_terms("数据库")) | {"user"}
    assert "text" not in filed


@pytest.fixture
def store() -> MemoryStore:
    store = MemoryStore()
    store.insert(
        [
            node(
                "filed",
                keywords=("staging", "port"),
                t_valid=day("2020-01-01"),
                t_invalid=day("2020-02-01"),
            ),
            node("dated", t_valid=day("2024-03-05")),
            node("names", t_valid=day("2020-01-01"), t_invalid=day("2020-02-01")),
            node("plain", t_valid=day("2020-01-01"), t_invalid=day("2020-02-01")),
        ]
    )
    store.mention([*named("names", "dana fox"), *named("plain", "somebody else")])
    return store


def test_each_part_lifts_what_it_is_about(store: MemoryStore) -> None:
    recall = asked(
        "which port did dana fox set for staging in March 2024", "plain", "names", "dated", "filed"
    )
    answer = Meta(weight=0.3, store=store)(recall)
    assert normalised(answer, TIME) == {"dated": 1.0, "filed": 0.0, "names": 0.0, "plain": 0.0}
    assert normalised(answer, ENTITIES) == {"names": 1.0, "dated": 0.0, "filed": 0.0, "plain": 0.0}
    keywords = normalised(answer, KEYWORDS)
    assert keywords["filed"] == 2 / len(recall.terms)
    assert keywords["plain"] == keywords["names"] == 0.0
    # 0.3, 0.2, and 0.5 · 2/7
    assert [hit.id for hit in answer.hits] == ["dated", "names", "filed", "plain"]
    assert all(hit.score == relevance(hit.channels) for hit in answer.hits)


def test_a_question_that_names_nothing_changes_no_order(store: MemoryStore) -> None:
    recall = asked("unheard words", "dated", "filed", "names", "plain")
    answer = Meta(weight=0.3, store=store)(recall)
    assert [hit.id for hit in answer.hits] == [hit.id for hit in recall.hits]
    assert [hit.score for hit in answer.hits] == [pytest.approx(0.35)] * 4


def test_without_a_weight_or_without_hits_nothing_changes(store: MemoryStore) -> None:
    for recall, weight in ((asked("port", "filed"), 0.0), (asked("port"), 0.3)):
        assert Meta(weight=weight, store=store)(recall) is recall


def test_what_is_gone_meanwhile_stays_as_it_is(store: MemoryStore) -> None:
    recall = asked("port", "gone", "filed")
    answer = {hit.id: hit for hit in Meta(weight=0.3, store=store)(recall).hits}
    assert answer["gone"] == recall.hits[0]
    assert KEYWORDS in answer["filed"].channels


def opened(**settings: Any) -> clew.Clew:
    return clew.open(
        ":memory:", **{"model": {"embedder": "hashing"}, "clock": FixedClock(), **settings}
    )


def test_a_recall_with_it_adds_up_and_finds_by_the_time_asked_for() -> None:
    # by their words all are alike
    with opened(score={"meta_weight": 0.4}, model={"embedder": "none"}) as memory:
        memory.remember_many(
            [
                {"text": f"The team met in room {n}", "valid_from": f"2024-0{n}-10"}
                for n in range(1, 8)
            ],
            near=False,
        )
        answer = memory.recall(
            "When in March 2024 did the team meet?", preset="semantic", track=False
        )
        assert answer.hits[0].text == "The team met in room 3"
        assert "meta" in [step.stage for step in answer.steps]
        for hit in answer.hits:
            assert {KEYWORDS, TIME, ENTITIES} <= hit.channels.keys()
            assert relevance(hit.channels) == hit.components["semantic"].value
            assert sum(part.contribution for _, part in sorted(hit.components.items())) == hit.score


def test_it_is_off_until_it_has_a_weight() -> None:
    with opened() as memory:
        assert Meta not in [
            type(stage) for name in ("balanced", "agent") for stage in memory.recipe(name).stages
        ]
        assert all(KEYWORDS not in hit.channels for hit in memory.recall("port").hits)
    with opened(score={"meta_weight": 0.25}) as memory:
        (found,) = [stage for stage in memory.recipe("balanced").stages if isinstance(stage, Meta)]
        assert found == Meta(weight=0.25, store=memory.store)
        assert Meta not in [type(stage) for stage in memory.recipe("dense").stages]
