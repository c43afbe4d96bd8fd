"""Where there are no words to ask by, or nothing to ask: the answer says so."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

import clew
from clew.engine.auth import Grant, Right
from clew.engine.authorised import Guarded
from clew.models.vectors import HashingEmbedder
from clew.surface import payload


@pytest.fixture
def memory() -> Iterator[clew.Clew]:
    with clew.open(":memory:", embedder=HashingEmbedder()) as opened:
        opened.remember("The launch went well 🚀 says Ann", tags=["space"])
        opened.remember("The staging database listens on port 5433")
        yield opened


def test_a_sign_finds_the_memories_that_hold_it_and_no_other(memory: clew.Clew) -> None:
    answer = memory.recall("🚀")
    assert [hit.text for hit in answer.hits] == ["The launch went well 🚀 says Ann"]
    assert not answer.nothing_relevant
    assert any("no word" in note for note in answer.notes)


@pytest.mark.parametrize("recipe", ["balanced", "fast", "lexical", "dense", "staged", "agent"])
@pytest.mark.parametrize("question", ["???", "🦆", "… —", "( )"])
def test_a_question_without_words_whose_signs_nobody_wrote_finds_nothing_and_says_why(
    memory: clew.Clew, question: str, recipe: str
) -> None:
    answer = memory.recall(question, recipe=recipe)
    assert (answer.hits, answer.nothing_relevant) == ((), True)
    assert any("no word" in note for note in answer.notes)


@pytest.mark.parametrize(
    ("where", "told"),
    [
        (
            {"tags": ["nosuchtag"]},
            "No memory of the space default passes the filter: tags nosuchtag.",
        ),
        (
            {"since": "2127-01-01"},
            "No memory of the space default passes the filter: since 2127-01-01T00:00:00Z.",
        ),
        (
            {"metadata": {"team": "b"}, "tags": ["x"]},
            "No memory of the space default passes the filter: tags x; metadata team=b.",
        ),
        ({"space": "nowhere"}, "The space nowhere holds nothing to recall."),
    ],
)
def test_a_filter_that_nothing_passes_is_named(
    memory: clew.Clew, where: dict[str, object], told: str
) -> None:
    answer = memory.recall("which port does staging use", where=where)
    assert answer.nothing_relevant
    assert answer.notes[-1] == told
    assert told in json.loads(payload.dumps(payload.recall(answer)))["stats"]["notes"]


def test_nothing_is_said_of_the_filter_where_something_passes_it(memory: clew.Clew) -> None:
    assert not any(
        "filter" in note or "nothing to recall" in note
        for note in memory.recall("port", where={"tags": ["space"]}).notes
    )
    assert not any(
        "filter" in note or "nothing to recall" in note
        for note in memory.recall("qqqq zzzz", recipe="lexical").notes
    )


def test_the_note_is_the_same_whether_or_not_another_space_holds_anything(
    memory: clew.Clew,
) -> None:
    caller = Guarded(
        memory, Grant(name="bot", rights=frozenset({Right.READ}), spaces=frozenset({"team"}))
    )
    alone = caller.recall("launch").notes
    memory.remember("The launch was moved to Kourou", space="hr")
    assert caller.recall("launch").notes == alone == ("The space team holds nothing to recall.",)
