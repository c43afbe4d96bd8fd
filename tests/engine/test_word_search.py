"""What the words of a question find, and in which order: recipe `lexical`, through the public API."""

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
    search, sort = kept(memory, "A note about searching large tables.", "A note about sorting large tables.")
    assert found(memory, "sorting tables, searching tables, and searching again")[0] == search
    assert found(memory, "searching tables, sorting tables, and sorting again")[0] == sort


# --- identifiers ---


@pytest.mark.parametrize("written", ["getUserName", "get_user_name", "get-user-name", "GetUserName"])
@pytest.mark.parametrize("asked", ["getUserName", "get_user_name", "get-user-name", "GET_USER_NAME"])
def test_an_identifier_is_found_however_it_is_written_before_its_parts(memory: clew.Clew, written: str, asked: str) -> None:
    parts, whole = kept(memory, "To get the name of a user, ask the directory for the user.", f"Call {written} before the session opens.")
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
def test_identifiers_are_found_whole_and_by_their_parts(memory: clew.Clew, text: str, question: str) -> None:
    (id,) = kept(memory, text)
    kept(memory, *FILLER)
    assert found(memory, question)[0] == id


def test_a_version_is_not_another_one_with_the_same_figures(memory: clew.Clew) -> None:
    other, asked = kept(memory, "The driver broke with v1.3.2 on Monday.", "The driver broke with v1.2.3 on Monday.")
    assert found(memory, "v1.2.3") == [asked, other]


def test_stop_words_are_searched_where_nothing_else_is_said(memory: clew.Clew) -> None:
    (quote,) = kept(memory, "To be or not to be, says the poster in the hall.")
    kept(memory, *FILLER)
    assert found(memory, "to be or not to be")[0] == quote
    assert found(memory, "what is the poster?") == [quote]
