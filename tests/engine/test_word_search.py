"""What the words of a question find, and in which order.

Recipe `lexical`, through the public API.
"""

from __future__ import annotations

import pytest

import clew

FILLER = (
    "The kitchen rota puts Anna in charge of coffee on Monday.",
    "Deploys to production happen from the main branch only.",
    "The certificate of the gateway expires at the end of the quarter.",
)


def kept(memory: clew.Clew, *texts: str) -> list[str]:
    return [str(memory.remember(text).id) for text in texts]


def found(memory: clew.Clew, question: str) -> list[str]:
    return [hit.id for hit in memory.recall(question, recipe="lexical", track=False).hits]


# --- repeated words ---


def test_a_word_that_the_question_repeats_counts_more(memory: clew.Clew) -> None:
    search, sort = kept(
        memory, "A note about searching large tables.", "A note about sorting large tables."
    )
    assert found(memory, "sorting tables, searching tables, and searching again")[0] == search
    assert found(memory, "searching tables, sorting tables, and sorting again")[0] == sort


# --- identifiers ---


@pytest.mark.parametrize(
    "written", ["getUserName", "get_user_name", "get-user-name", "GetUserName"]
)
@pytest.mark.parametrize(
    "asked", ["getUserName", "get_user_name", "get-user-name", "GET_USER_NAME"]
)
def test_an_identifier_is_found_however_it_is_written_before_its_parts(
    memory: clew.Clew, written: str, asked: str
) -> None:
    parts, whole = kept(
        memory,
        "To get the name of a user, ask the directory for the user.",
        f"Call {written} before the session opens.",
    )
    kept(memory, *FILLER)
    assert found(memory, asked) == [whole, parts]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("HTTPServer2 listens on the internal port.", "server"),
        ("The parser is in src/clew/user_name.py since the split.", "where is user_name.py?"),
        ("The parser is in src/clew/user_name.py since the split.", "src/clew/user_name.py"),
        ("The printer shows E4012 when the tray is open.", "what does 4012 mean?"),
        ("The printer shows E4012 when the tray is open.", "E4012"),
        ("INC4999 was closed by Ann after the failover.", "INC-4999"),
        ("INC-4999 was closed by Ann after the failover.", "INC4999"),
        ("We pinned the driver to v1.2.3 for now.", "v1.2.3"),
    ],
)
def test_identifiers_are_found_whole_and_by_their_parts(
    memory: clew.Clew, text: str, question: str
) -> None:
    (id,) = kept(memory, text)
    kept(memory, *FILLER)
    assert found(memory, question)[0] == id


def test_a_version_is_not_another_one_with_the_same_figures(memory: clew.Clew) -> None:
    other, asked = kept(
        memory, "The driver broke with v1.3.2 on Monday.", "The driver broke with v1.2.3 on Monday."
    )
    assert found(memory, "v1.2.3") == [asked, other]


def test_stop_words_are_searched_where_nothing_else_is_said(memory: clew.Clew) -> None:
    (quote,) = kept(memory, "To be or not to be, says the poster in the hall.")
    kept(memory, *FILLER)
    assert found(memory, "to be or not to be")[0] == quote
    assert found(memory, "what is the poster?") == [quote]


# --- quoted phrases ---


def test_a_memory_that_holds_a_quoted_phrase_comes_before_one_that_holds_its_words(
    memory: clew.Clew,
) -> None:
    scattered, phrase = kept(
        memory,
        "For two guests there is tea; for the other two there is tea and more tea for later.",
        "At the end of the evening the band played the old standard Tea for Two once more.",
    )
    kept(memory, *FILLER)
    assert found(memory, "when is there tea for two?") == [scattered, phrase]
    for question in (
        'when is there "tea for two"?',
        "when is there “tea for two”?",
        "when is there «Tea, for two»?",
    ):
        assert found(memory, question) == [phrase, scattered], question


def test_a_quoted_phrase_is_found_where_other_words_fill_the_candidates() -> None:
    with clew.open(":memory:", model={"embedder": "none"}, recall={"candidates": 5}) as memory:
        (phrase,) = kept(
            memory,
            "The band played the salt meadow at the end of a very long evening in the hall by the river.",
        )
        kept(memory, *(f"Group {number} sang of the meadow and of salt." for number in range(3)))
        kept(memory, *(f"Garden {number} has aster, briar and cedar." for number in range(5)))
        assert phrase not in found(memory, "aster briar cedar the salt meadow")
        assert phrase in found(memory, 'aster briar cedar "the salt meadow"')


def test_a_quoted_phrase_is_read_in_scripts_without_spaces(memory: clew.Clew) -> None:
    scattered, phrase = kept(
        memory, "据库数据的迁移计划已经完成了，数据据库。", "我们的数据库迁移计划已经完成了。"
    )
    assert found(memory, "「数据库迁移」")[0] == phrase
    assert {scattered, phrase} == set(found(memory, "「数据库迁移」"))


def test_why_not_ranks_by_quoted_phrases_too() -> None:
    with clew.open(":memory:", model={"embedder": "none"}, recall={"candidates": 2}) as memory:
        other, *_ = kept(
            memory,
            "Salt is on the meadow side.",
            "The salt meadow is open.",
            "The salt meadow is closed.",
        )
        answer = memory.why_not('is "the salt meadow" open?', other)
        assert answer.rank == 3


# --- categories ---


@pytest.mark.parametrize(
    ("question", "hints"),
    [
        ("What did we decide in June 2026?", ["decision"]),
        ("Which decisions were taken about the portal?", ["decision"]),
        ("What was the latest incident?", ["event"]),
        ("What are Ann's preferences for meetings, and what is planned?", ["preference", "plan"]),
        ("Where is the spare key?", []),
    ],
)
def test_the_category_that_a_question_asks_for_is_told_and_filters_nothing(
    memory: clew.Clew, question: str, hints: list[str]
) -> None:
    (id,) = kept(
        memory,
        "We decided: decisions, incidents, plans and preferences of Ann are kept with the spare key.",
    )
    answer = memory.recall(question, recipe="lexical", track=False)
    assert list(answer.categories) == answer.trace["categories"] == hints
    assert [hit.id for hit in answer.hits] == [id]


def test_a_category_of_ones_own_is_known_by_its_name() -> None:
    with clew.open(
        ":memory:",
        model={"embedder": "none"},
        memory={"categories": ["observation", "incident", "event"]},
    ) as memory:
        memory.remember("The lift was out of order for an hour.", category="incident")
        assert memory.recall("Which incidents were there?").categories == ("incident",)
        assert memory.recall("Which outages were there?").categories == ("event",)
