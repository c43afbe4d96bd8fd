"""Faults that a review of the ranking found."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import clew
from clew.search.confidence import content_terms
from clew.testing import FixedClock
from tests.conftest import Open
from tests.token_model import TokenModel

CLOUGH = "Nottingham Forest won the cup under Brian Clough."


@pytest.mark.parametrize("mark", ["ﾟ", "ﾞ", "ͺͺͺ"])
def test_a_word_that_is_only_a_combining_mark_is_no_error(memory: clew.Clew, mark: str) -> None:
    memory.remember("The boiler was serviced by Hannah Weiss, ok.")
    assert memory.recall(f"boiler {mark} serviced").hits
    assert content_terms(mark) == {}


def test_min_similarity_holds_for_hits_that_names_links_and_periods_bring_in(
    memory: clew.Clew,
) -> None:
    start = str(memory.remember(CLOUGH, title="Nottingham Forest").id)
    memory.remember("Born in Middlesbrough, a manager of many clubs.", title="Brian Clough")
    memory.link(start, str(memory.remember("The tomato soup needs salt and basil.").id), kind="SEE")
    for question in ("Nottingham Forest and Brian Clough in the rain", "what happened today"):
        answer = memory.recall(question, min_similarity=0.99)
        assert answer.hits == (), question


def test_code_does_not_overtake_a_memory_by_the_name_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "time_order.py").write_text(
        "def descending(scores):\n    return sorted(scores, reverse=True)\n", encoding="utf-8"
    )
    with clew.open(":memory:", model={"embedder": "hashing"}, clock=FixedClock()) as memory:
        memory.import_path(tmp_path)
        kept = memory.remember("We decided that the time order of equal days stays by score.")
        assert memory.recall("What was decided about the time order?").hits[0].id == kept.id


def test_a_link_that_somebody_made_does_not_raise_the_confidence(memory: clew.Clew) -> None:
    start = str(memory.remember(CLOUGH, title="Nottingham Forest").id)
    soup = str(memory.remember("The tomato soup needs salt and basil.").id)
    question = "Who won the trophy with Nottingham Forest long ago?"
    before = {hit.id: hit.confidence for hit in memory.recall(question).hits}
    memory.link(start, soup, kind="SEE")
    after = {hit.id: hit.confidence for hit in memory.recall(question).hits}
    assert soup in after
    assert after[soup] == pytest.approx(before.get(soup, after[soup]))


def test_an_answer_says_when_candidates_have_no_token_codes(tmp_path: Path) -> None:
    path = tmp_path / "memory.clew"
    with clew.open(path, embedder=TokenModel(), model={"token_codes": False}) as memory:
        memory.remember("The staging gateway listens on port 8443.")
    with clew.open(path, embedder=TokenModel()) as memory:
        assert any(
            "no token codes" in note for note in memory.recall("which port for staging").notes
        )
        memory.reembed()
        assert memory.recall("which port for staging").notes == ()


def test_damaged_token_codes_are_not_ranked_by(tmp_path: Path) -> None:
    path = tmp_path / "memory.clew"
    with clew.open(path, embedder=TokenModel()) as memory:
        memory.remember("The staging gateway listens on port 8443.")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE token_code SET codes = zeroblob(length(codes))")
    with (
        clew.open(path, embedder=TokenModel()) as memory,
        pytest.raises(clew.ClewError, match="token codes"),
    ):
        memory.recall("which port for staging")


def test_no_section_counts_more_than_a_whole_match(open_clew: Open) -> None:
    memory = open_clew()
    memory.import_data(
        "# Config file\n\n" + "config file " * 200 + "\n\n# Other\n\n" + "a word here " * 200,
        name="guide.md",
    )
    places = [
        hit.channels["section"]
        for hit in memory.recall("config file").hits
        if "section" in hit.channels
    ]
    assert places
    assert all(place.normalised <= 1.0 for place in places)
