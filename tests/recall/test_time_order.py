"""A time in the question.

The latest first where it is asked for, and nothing where no time is named.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clew
from clew.search.score import total
from clew.search.state import Component, Hit, Question, Recall
from clew.search.time_order import MIN_SHARE, TimeOrder
from clew.settings import Weights
from clew.store.memory import MemoryStore
from clew.testing import NOW, FixedClock, where
from clew.text.dates.values import TimeSpan, When
from clew.types import Signals

DEPLOYS = {
    "2026-01-10": "The deploy of the harbour server failed because the disk was full",
    "2026-02-10": "The deploy of the harbour server failed because the queue was full",
    "2026-02-20": "The deploy of the harbour server went well",
    "2026-02-25": "Dana takes her tea with milk and without sugar",
}


def opened(**recall: object) -> clew.Clew:
    memory = clew.open(":memory:", model={"embedder": "hashing"}, clock=FixedClock(), recall=recall)
    for date, text in DEPLOYS.items():
        memory.remember(text, valid_from=date, near=False)
    return memory


@pytest.fixture
def memory() -> Iterator[clew.Clew]:
    with opened() as memory:
        yield memory


def dates(answer: Recall) -> list[str]:
    return [str(hit.node.t_valid.date()) for hit in answer.hits if hit.node]


def asked(memory: clew.Clew, question: str) -> Recall:
    return memory.recall(question, track=False)


def test_the_latest_comes_first_where_it_is_asked_for(memory: clew.Clew) -> None:
    for question in (
        "latest deploy of the harbour server",
        "what was the most recent deploy of the harbour server",
    ):
        assert dates(asked(memory, question))[:3] == ["2026-02-20", "2026-02-10", "2026-01-10"], (
            question
        )


def test_the_earliest_comes_first_where_it_is_asked_for(memory: clew.Clew) -> None:
    assert dates(asked(memory, "earliest deploy of the harbour server")) == [
        "2026-01-10",
        "2026-02-10",
        "2026-02-20",
    ]


def test_the_latest_of_a_month_is_none_of_another(memory: clew.Clew) -> None:
    assert (
        dates(asked(memory, "latest deploy of the harbour server in January 2026"))[0]
        == "2026-01-10"
    )


def test_asked_as_of_a_time_the_question_stands_there(memory: clew.Clew) -> None:
    def then(question: str) -> Recall:
        return memory.recall(question, as_of="2026-02-15", track=False)

    assert dates(then("latest deploy of the harbour server")) == ["2026-02-10", "2026-01-10"]
    assert dates(then("deploy of the harbour server last month"))[0] == "2026-01-10", (
        "last month was January"
    )
    recency = {
        str(hit.node.t_valid.date()): hit.components["recency"].value
        for hit in then("deploy of the server").hits
        if hit.node
    }
    now = {
        str(hit.node.t_valid.date()): hit.components["recency"].value
        for hit in asked(memory, "deploy of the server").hits
        if hit.node
    }
    assert now["2026-02-10"] == 1.0, "it was told today"
    assert recency["2026-02-10"] == pytest.approx(math.exp(-0.1 * 6), rel=1e-3), (
        "nobody had told it then: it counts from when it was true"
    )


def test_a_question_without_a_time_is_answered_as_without_the_stage(memory: clew.Clew) -> None:
    with opened(times=False) as without:
        for question in ("deploy of the harbour server", "why did the deploy fail"):
            found = [asked(each, question).hits for each in (memory, without)]
            assert [(hit.text, hit.score) for hit in found[0]] == [
                (hit.text, hit.score) for hit in found[1]
            ]
            assert all("time" not in hit.components for hit in found[0])


def test_the_order_is_a_component_that_is_shown_and_adds_up(memory: clew.Clew) -> None:
    answer = asked(memory, "earliest deploy of the harbour server")
    assert answer.trace["time"]["earliest"] is True
    gains = [hit.components["time"].contribution for hit in answer.hits]
    assert (gains[0] > 0, sum(gains) == pytest.approx(0, abs=1e-5)) == (True, True), (
        "what one gains the others lose"
    )
    assert "time" in answer.hits[0].explanation
    for hit in answer.hits:
        assert hit.score == total(hit.components)


def test_the_scale_of_scores_stays_what_it_was(memory: clew.Clew) -> None:
    found = asked(memory, "latest deploy of the harbour server").hits
    before = sorted((hit.score - hit.components["time"].value for hit in found), reverse=True)
    assert [hit.score for hit in found] == pytest.approx(before, abs=1e-5)


RELEASES = {
    "Version 2.0 was released with dark mode.": "2026-01-14",
    "Version 2.1 was released with bank sync.": "2026-02-12",
    "The release manager is Tiago.": None,
    "The office plants are watered on Mondays.": None,
}


@pytest.fixture
def releases() -> Iterator[clew.Clew]:
    with clew.open(":memory:", model={"embedder": "none"}, clock=FixedClock()) as memory:
        for text, since in RELEASES.items():
            memory.remember(text, valid_from=since, near=False)
        yield memory


@pytest.mark.parametrize(
    ("question", "versions"),
    [
        ("what is the latest release?", ["2.1", "2.0"]),
        ("what is our newest release?", ["2.1", "2.0"]),
        ("what is the most recent release?", ["2.1", "2.0"]),
        ("what was the last release?", ["2.1", "2.0"]),
        ("what was the oldest release?", ["2.0", "2.1"]),
        ("what was the earliest release?", ["2.0", "2.1"]),
        ("what was the first release?", ["2.0", "2.1"]),
    ],
)
def test_what_only_was_told_last_is_not_the_latest_nor_is_what_is_about_something_else(
    releases: clew.Clew, question: str, versions: list[str]
) -> None:
    hits = asked(releases, question).hits
    assert [hit.text[8:11] for hit in hits[:2]] == versions
    assert [hit.text for hit in hits[2:]] == ["The release manager is Tiago."]
    assert all(hit.score <= 1 for hit in hits)


def test_what_holds_now_is_told_by_when_it_was_told_where_nobody_dated_it() -> None:
    with clew.open(":memory:", model={"embedder": "none"}, clock=FixedClock()) as memory:
        memory.remember(
            "Dana lives in Lisbon near the harbour", valid_from="2024-01-01", near=False
        )
        memory.remember("Dana lives in Porto near the river", near=False)
        assert "Porto" in asked(memory, "where does Dana currently live?").hits[0].text


def test_of_what_nobody_dated_the_last_that_was_told_is_the_latest() -> None:
    clock = FixedClock()
    with clew.open(":memory:", model={"embedder": "none"}, clock=clock) as memory:
        for text in ("The crane outage took an hour", "The lift outage took two hours"):
            memory.remember(text, near=False)
            clock.advance(days=1)
        assert "lift" in asked(memory, "what was our last outage?").hits[0].text
        assert "crane" in asked(memory, "what was our first outage?").hits[0].text


@pytest.mark.parametrize(
    "dated", [None, "2026-03-01T08:00"], ids=["nobody dated any", "one of three is dated"]
)
def test_in_which_order_things_were_told_on_one_day_is_not_the_order_in_which_they_happened(
    dated: str | None,
) -> None:
    outages = (
        "The crane outage took an hour",
        "The lift outage stopped the lift",
        "The gate outage at the gate took a minute",
    )
    questions = (
        "what was our last outage?",
        "what was our first outage?",
        "latest outage",
        "earliest outage",
    )
    answers = []
    for order in (True, False):
        clock = FixedClock()
        with clew.open(
            ":memory:", model={"embedder": "none"}, clock=clock, recall={"times": order}
        ) as memory:
            for number, text in enumerate(outages):
                memory.remember(text, near=False, valid_from=None if number else dated)
                clock.advance(seconds=1)
            answers.append(
                [[hit.text for hit in asked(memory, question).hits] for question in questions]
            )
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    "question",
    [
        "Which deploy of the harbour server was formed the earliest, the one that failed or the one that went well?",
        "Which was the first-ever deploy of the harbour server?",
    ],
)
def test_a_question_that_compares_things_by_their_age_is_answered_as_without_the_stage(
    question: str,
) -> None:
    with opened() as memory, opened(times=False) as plain:
        assert dates(asked(memory, question)) == dates(asked(plain, question))


def test_what_is_hardly_relevant_is_not_lifted_for_being_new() -> None:
    with opened() as memory:
        memory.remember("The harbour has a new café", valid_from="2026-02-28")
        found = dates(asked(memory, "latest deploy of the harbour server that failed"))
        assert found[0] != "2026-02-28"
        assert (
            asked(memory, "latest deploy of the harbour server that failed")
            .hits[-1]
            .components["time"]
            .value
            == 0.0
        )


def test_it_can_be_turned_off() -> None:
    with opened(times=False) as memory:
        assert all(
            "time" not in hit.components
            for hit in asked(memory, "latest deploy of the harbour server").hits
        )


def test_a_period_lifts_what_lies_in_it_by_the_weight_that_is_set() -> None:
    question = "deploy of the harbour server in January 2026"
    with opened(weights={"period": 0}) as memory:
        assert all("period" not in hit.components for hit in asked(memory, question).hits)
    with opened(weights={"period": 0.5}) as memory:
        hits = asked(memory, question).hits
        assert [hit.components["period"] for hit in hits] == [
            Component(1.0, 0.4),  # 0.5, of which the preset gives relevance 0.8
            Component(0.0, 0.4),
            Component(0.0, 0.4),
        ]
        assert [hit.score for hit in hits] == [total(hit.components) for hit in hits]


HITS = st.lists(
    st.tuples(st.floats(0, 1), st.floats(0, 1), st.integers(-5, 0)), min_size=1, max_size=12
)
WISHES = (When(rest="deploys", latest=True), When(rest="deploys", earliest=True))
SINCE = NOW - timedelta(days=2)
LATELY = TimeSpan(SINCE, None, "since then", 0, 1, "since")


@given(HITS, st.sampled_from(WISHES), st.booleans(), st.sampled_from((0.0, 0.3)))
def test_the_relevant_ones_are_in_the_order_of_time_and_before_all_others(
    given_hits: list[tuple[float, float, int]], wish: When, spanned: bool, period_weight: float
) -> None:
    when = When(
        rest="deploys",
        latest=wish.latest,
        earliest=wish.earliest,
        spans=(LATELY,) if spanned else (),
    )
    stage = TimeOrder(period_weight=period_weight, store=MemoryStore())
    signals = {
        f"n{place:02}": Signals(NOW + timedelta(days=days), 0.5, 0)
        for place, (_, _, days) in enumerate(given_hits)
    }
    hits = []
    for id, (relevance, recency, _) in zip(signals, given_hits, strict=True):
        components = {"semantic": Component(relevance, 0.8), "recency": Component(recency, 0.2)}
        hits.append(Hit(id, total(components), {}, components))
    question = Question(
        text="q",
        k=9,
        where=where(),
        weights=Weights(1, 0, 0, 0),
        recipe="balanced",
        preset="custom",
    )
    answer = stage(Recall(question=question, when=when, hits=tuple(hits), signals=signals))
    best = max(relevance for relevance, _, _ in given_hits)
    ahead = [
        hit.components["semantic"].value >= MIN_SHARE * best
        and (not spanned or signals[hit.id].t_valid >= SINCE)
        for hit in answer.hits
    ]
    assert ahead == sorted(ahead, reverse=True)
    times = [
        signals[hit.id].t_valid for hit, first in zip(answer.hits, ahead, strict=True) if first
    ]
    assert times == sorted(times, reverse=wish.latest)
    assert sorted(hit.id for hit in answer.hits) == sorted(signals)
    for hit in answer.hits:
        assert hit.score == total(hit.components)
    highest = max(hit.score for hit in hits) + period_weight
    assert all(-1e-3 <= hit.score <= highest + 1e-9 for hit in answer.hits), (
        "the scale stays what it was"
    )
    if any(ahead):
        assert [hit.score for hit in answer.hits] == sorted(
            {hit.score for hit in answer.hits}, reverse=True
        ), "a score tells the place"


def test_a_question_that_asks_for_both_ends_keeps_its_order() -> None:
    stage = TimeOrder(period_weight=0.0, store=MemoryStore())
    question = Question(
        text="q",
        k=9,
        where=where(),
        weights=Weights(1, 0, 0, 0),
        recipe="balanced",
        preset="custom",
    )
    recall = Recall(
        question=question,
        when=When(rest="", latest=True, earliest=True),
        hits=(Hit("a", 1.0, {}, {"semantic": Component(1, 1)}),),
    )
    assert stage(recall) is recall


def test_what_is_not_true_yet_is_nobodys_latest() -> None:
    with clew.open(":memory:", model={"embedder": "none"}) as memory:
        memory.remember("The Acme standup is at nine in the morning")
        memory.remember("The Acme standup is at eleven in the morning", valid_from="2999-01-01")
        assert "nine" in memory.recall("current Acme standup").hits[0].text
