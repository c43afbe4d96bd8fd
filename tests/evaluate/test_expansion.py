"""What a policy searches for next."""

from __future__ import annotations

import time

import pytest

from clew.evaluate.data import Passage
from clew.evaluate.expansion import (
    MAX_QUERIES,
    CodeExpander,
    ProseExpander,
    frequencies,
    names_of,
    symbols_of,
)


def counts_of(*texts: str) -> dict[str, dict[str, int]]:
    return {
        space: dict(counts)
        for space, counts in frequencies(
            Passage(id=str(n), text=text) for n, text in enumerate(texts)
        ).items()
    }


CORPUS = (
    "from app.wrappers import Request, Response\nfrom app.globals import session\nresult = dispatch(session)\nprint(len(result))",
    "class Request: pass",
    "class Response: pass",
    "def dispatch(session): return Response()",
    "session = dispatch(1)",
    "session, dispatch, Response",
)


def test_the_rarest_symbols_come_first() -> None:
    found = CodeExpander(counts_of(*CORPUS)).queries("how is it done", "default", CORPUS[:1])
    assert found[0] == "Request"  # in two passages; the others are in more
    assert found.index("Request") < found.index("Response") < found.index("session")


def test_symbols_defined_in_view_are_dropped() -> None:
    expander = CodeExpander(counts_of(*CORPUS))
    assert "dispatch" in expander.queries("?", "default", CORPUS[:1])
    assert "dispatch" not in expander.queries("?", "default", [CORPUS[0], CORPUS[3]])
    # defined in what an earlier hop read
    assert "dispatch" not in expander.queries("?", "default", CORPUS[:1], view=CORPUS)


def test_what_the_question_names_is_no_lead() -> None:
    assert "Request" not in CodeExpander(counts_of(*CORPUS)).queries(
        "where is Request made", "default", CORPUS[:1]
    )


def test_builtins_and_keywords_are_skipped() -> None:
    assert {"print", "len", "self", "isinstance"}.isdisjoint(
        symbols_of("print(len(self)); isinstance(x, Thing); helper(1)")
    )
    assert "helper" in symbols_of("print(len(self)); isinstance(x, Thing); helper(1)")


def test_symbols_are_deduplicated_and_at_most_five() -> None:
    text = "\n".join(f"call_{letter}one(Other{letter.title()}Class)" for letter in "abcdefgh") * 2
    found = CodeExpander(counts_of(text, text)).queries("?", "default", [text, text])
    assert len(found) == len(set(found)) == MAX_QUERIES


def test_imports_of_other_languages_are_seen() -> None:
    assert "reader" in symbols_of('import { parse } from "./lib/reader"')
    assert "parse" in symbols_of('import { parse } from "./lib/reader";')
    assert "vector" in symbols_of("#include <vector>")


def test_a_symbol_that_stands_only_where_it_was_read_is_no_lead() -> None:
    assert (
        CodeExpander(counts_of("lonely_call(1)", "something else")).queries(
            "?", "default", ["lonely_call(1)"]
        )
        == []
    )


def test_prose_follows_names_before_rare_words() -> None:
    texts = (
        "The film was made by Jane Doe in Lund.",
        "Jane Doe was born in Turku.",
        "Lund is a town.",
        "Lund and Turku are towns of the film.",
    )
    found = ProseExpander(counts_of(*texts)).queries("who made the film", "default", texts[:1])
    assert found[:2] == ["Jane Doe", "Lund"]
    assert "film" not in found
    assert len(found) <= MAX_QUERIES


def test_a_name_in_the_question_is_no_lead_for_prose() -> None:
    texts = ("He met Jane Doe in Lund.", "Jane Doe lived in Lund.")
    assert (
        ProseExpander(counts_of(*texts)).queries("where did Jane Doe live", "default", texts[:1])[0]
        == "Lund"
    )


def test_frequencies_are_counted_in_each_space() -> None:
    passages = [
        Passage(id="a", text="Lund", space="one"),
        Passage(id="b", text="Lund Lund", space="two"),
        Passage(id="c", text="Lund", space="two"),
    ]
    assert {space: counts["lund"] for space, counts in frequencies(passages).items()} == {
        "one": 1,
        "two": 2,
    }


def test_an_expander_shows_its_kind_and_not_its_counts() -> None:
    assert repr(ProseExpander(counts_of("a b c"))) == "ProseExpander()"


def test_names_are_spans_of_capitals_inside_a_sentence() -> None:
    assert names_of("Then spoke J. R. Smith of the Bank of Lund.")[:1] == [
        "J. R. Smith of the Bank of Lund"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Aa" + "A" * 5_000 + "_",
        "\n" * 50_000 + "x",
        "import a" + " " * 50_000 + "#",
        "from a" + "\n" * 50_000,
    ],
)
def test_symbols_of_a_hostile_text_are_read_in_linear_time(text: str) -> None:
    began = time.process_time()
    symbols_of(text)
    # by the square it takes minutes, and the first one for ever
    assert time.process_time() - began < 2


def test_names_of_a_long_text_are_read_in_linear_time() -> None:
    began = time.process_time()
    assert names_of("she met Bar, " * 100_000) == ["Bar"]
    assert time.process_time() - began < 5  # by the square it takes minutes


def test_blank_lines_and_indents_change_no_symbol() -> None:
    code = "from flask.app import Flask, g\nuse std::io\nmake_response(x)"
    assert symbols_of(code.replace("\n", "\n\n \n\t")) == symbols_of(code)
