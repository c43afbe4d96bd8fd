"""A turn that tells of a time has news, and gains a little by it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import clew
from clew.recall.news import NEWS
from clew.recall.score import total
from clew.recall.state import Recall
from clew.recall.talk import tells_of_a_time
from clew.testing import FixedClock
from tests.recall.talks import store_talk

CHEER, NEWS_OF_IT = "Ann: The gym is great, gym forever!", "Bob: I signed up with the gym by the river last week."
TALK = {"cheer": CHEER, "news": NEWS_OF_IT, "other": "Ann: The bakery has closed."}


@contextmanager
def told(turns: dict[str, str] = TALK, *, keyed: bool = True) -> Iterator[clew.Clew]:
    with clew.open(":memory:", model={"embedder": "none"}, clock=FixedClock()) as memory:
        store_talk(memory.store, "talk", turns, keyed=keyed)
        yield memory


def asked(memory: clew.Clew, weight: float) -> Recall:
    return memory.variant(**{"recall.news_weight": weight}).recall("gym", track=False)


def test_news_come_before_what_is_only_said_of_them() -> None:
    with told() as memory:
        assert [hit.id for hit in asked(memory, 0.0).hits][:2] == ["cheer", "news"]
        assert [hit.id for hit in asked(memory, 1.0).hits][:2] == ["news", "cheer"]


def test_what_it_gains_is_a_component_and_said() -> None:
    with told() as memory:
        answer = asked(memory, 0.5)
        gains = {hit.id: hit.components[NEWS].contribution for hit in answer.hits if NEWS in hit.components}
        assert gains == {"news": pytest.approx(0.5 * answer.question.weights.semantic)}
        assert all(hit.score == total(hit.components) for hit in answer.hits)
        assert all("news" in hit.explanation for hit in answer.hits if hit.id in gains)


def test_of_chunks_of_a_long_text_none_gains() -> None:
    with told(keyed=False) as memory:
        assert asked(memory, 1.0).hits == asked(memory, 0.0).hits


def test_what_nobody_is_quoted_as_saying_gains_nothing() -> None:
    with told({id: text.split(": ")[1] for id, text in TALK.items()}) as memory:
        assert asked(memory, 1.0).hits == asked(memory, 0.0).hits


@pytest.mark.parametrize(
    "text",
    ["Yesterday it rained", "two years ago", "the past few weeks", "this Friday", "Next summer we move", "I just finished", "last Tues"],
)
def test_what_says_when(text: str) -> None:
    assert tells_of_a_time(text)


@pytest.mark.parametrize("text", ["", "It was the last straw", "Justice was done", "this is great", "next door"])
def test_what_does_not(text: str) -> None:
    assert not tells_of_a_time(text)
