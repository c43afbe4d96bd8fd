"""Whatever is handed in.

A clear error or a stored memory, never a crash and never something half done.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

import clew
from clew.errors import InputError, NotFoundError
from clew.types import OutcomeKind
from tests.conftest import Open

SYNTAX = [
    '"',
    '""""',
    "*",
    "coffee*",
    "NEAR(coffee machine, 2)",
    "coffee NEAR/3 machine",
    "text:coffee",
    "title : coffee",
    "{title text} : coffee",
    "facet : s9b33d4b4dbcbcb91",
    "coffee AND NOT machine",
    "(coffee",
    "coffee)",
    "^coffee",
    "-coffee",
    "coffee + machine",
    "'; DROP TABLE node; --",
    "' OR 1=1 --",
    "%_?[a-z]",
    "\\",
    "coffee\r\nmachine\t",
    "🎉",
    "‮coffee‬",
    "a" * 20_000,
    "coffee " * 2_000,
]
SQL = "x'); DROP TABLE node; -- \" OR 1=1 /* ? :a @b $c */"


@pytest.fixture
def stocked(memory: clew.Clew) -> clew.Clew:
    memory.remember("The coffee machine on the second floor is broken")
    memory.remember("Only the second sentence says something about tea")
    return memory


@pytest.mark.parametrize("query", SYNTAX)
@pytest.mark.parametrize("recipe", ["balanced", "lexical", "dense"])
def test_a_question_is_never_syntax(stocked: clew.Clew, query: str, recipe: str) -> None:
    answer = stocked.recall(query, recipe=recipe)
    if "coffee" in query and recipe != "dense":
        assert answer.hits[0].text.startswith("The coffee machine")
    assert stocked.stats()["nodes"] == 2


@pytest.mark.parametrize("query", SYNTAX[:-2])
def test_a_text_is_never_syntax(memory: clew.Clew, query: str) -> None:
    text = f"Someone searched for {query} in the archive"
    outcome = memory.remember(text)
    assert outcome.outcome == OutcomeKind.INSERTED
    assert memory.recall("who searched the archive").hits[0].id == outcome.id
    assert memory.verify() == ()


def test_sql_in_every_field_is_only_text(memory: clew.Clew) -> None:
    outcome = memory.remember(
        f"A sentence that holds {SQL}",
        title=SQL,
        space=SQL,
        tags=[SQL],
        metadata={SQL: SQL, '"': {"'": [SQL]}},
        source=SQL,
        keywords=[SQL],
        idempotency_key=SQL,
    )
    assert outcome.outcome == OutcomeKind.INSERTED
    where = {"space": SQL, "tags": [SQL], "metadata": {SQL: SQL}}
    for recipe in ("balanced", "lexical", "dense"):
        assert [hit.id for hit in memory.recall(SQL, where=where, recipe=recipe).hits] == [
            outcome.id
        ]
    assert [node.id for node in memory.recent(where=where)] == [outcome.id]
    assert (
        memory.remember("Another sentence", space=SQL, idempotency_key=SQL).canonical_id
        == outcome.id
    )
    memory.link(str(outcome.id), str(outcome.id), kind=SQL, evidence=SQL)
    with pytest.raises(NotFoundError):
        memory.forget(SQL)
    assert memory.verify() == ()
    assert memory.stats()["by_space"] == {SQL: 1}


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "empty"),
        ("x" * 10_000_000, "too_long"),
        (" " * 10_000_000, "too_long"),
        ("\x00\x07 \ud83d\x9b", "empty"),
    ],
)
def test_what_is_no_text_is_rejected_by_rule(memory: clew.Clew, text: str, rule: str) -> None:
    outcome = memory.remember(text)
    assert (outcome.outcome, outcome.rule) == (OutcomeKind.REJECTED, rule)
    assert (
        memory.remember_many([text, "A sentence beside it is kept"])[1].outcome
        == OutcomeKind.INSERTED
    )


@pytest.mark.parametrize(
    ("text", "kept", "note"),
    [
        (
            "before\x00after the NUL byte",
            "beforeafter the NUL byte",
            "Removed 1 control character: U+0000 (1).",
        ),
        (
            "half of a pair \ud83d and no more",
            "half of a pair and no more",
            "Removed 1 control character: U+D83D (1).",
        ),
        (
            "a \x07bell\x07 and an escape \x1b[31m",
            "a bell and an escape [31m",
            "Removed 3 control characters: U+0007 (2), U+001B (1).",
        ),
        (
            "\x01\x02\x03\x04\x05\x06\x07 seven signs of six kinds and one",
            "seven signs of six kinds and one",
            " and 2 others.",
        ),
        ("two fields\x1fthat a separator\x1cparts", "two fields that a separator\nparts", None),
    ],
)
def test_control_characters_are_removed_and_noted(
    memory: clew.Clew, text: str, kept: str, note: str | None
) -> None:
    outcome = memory.remember(text)
    assert outcome.outcome is OutcomeKind.INSERTED
    node = memory.get(str(outcome.id))
    assert node is not None
    assert node.text == kept
    assert [each.endswith(note or "") for each in outcome.notes] == ([True] if note else [])


def test_control_characters_leave_every_field_that_is_free_text(memory: clew.Clew) -> None:
    fields: dict[str, Any] = {
        "title": "a\x00b",
        "source": "c\x1bd",
        "tags": ["e\x07f"],
        "keywords": ["g\x7fh"],
    }
    outcome = memory.remember(
        "A sentence that is fine by itself", **fields, metadata={"i": ["j\ud800k"]}
    )
    assert outcome.notes == (
        "Removed 5 control characters: U+0000 (1), U+0007 (1), U+001B (1), U+007F (1), U+D800 (1).",
    )
    node = memory.get(str(outcome.id))
    assert node is not None
    assert (node.title, node.source, node.tags, node.keywords, node.metadata) == (
        "ab",
        "cd",
        ("ef",),
        ("gh",),
        {"i": ["jk"]},
    )


def test_a_secret_with_a_control_character_in_it_is_taken_out(memory: clew.Clew) -> None:
    outcome = memory.remember("The key of the account is AKIA\x00IOSFODNN7EXAMPLE for now.")
    assert "AKIA" not in getattr(memory.get(str(outcome.id)), "text", "AKIA")


def test_a_rejected_text_says_too_what_was_removed_from_it(memory: clew.Clew) -> None:
    outcome = memory.remember("sho\x00rt")
    assert (outcome.rule, outcome.notes) == (
        "too_short",
        ("Removed 1 control character: U+0000 (1).",),
    )


@pytest.mark.parametrize("value", ["a\x00b", "\ud800", "x" * 300, 5, None, b"bytes", ["list"], ""])
@pytest.mark.parametrize(
    "field", ["space", "tags", "keywords", "idempotency_key", "category", "trigger", "stability"]
)
def test_a_bad_name_is_refused_with_its_field(memory: clew.Clew, field: str, value: Any) -> None:
    if value == "a\x00b" and field in ("tags", "keywords"):
        return  # removed, and noted
    given = [value] if field in ("tags", "keywords") else value
    if value is None and field not in ("tags", "keywords"):
        return  # left out
    if field == "trigger" and not value:
        return  # no trigger
    options: dict[str, Any] = {field: given}
    with pytest.raises(InputError) as caught:
        memory.remember("A sentence that is fine by itself", **options)
    assert caught.value.field == field
    assert memory.stats()["nodes"] == 0


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("text", 5),
        ("text", None),
        ("text", b"bytes"),
        ("importance", float("nan")),
        ("importance", float("inf")),
        ("importance", -0.1),
        ("importance", 1.1),
        ("importance", "high"),
        ("importance", True),
        ("tags", "one"),
        ("tags", 5),
        ("tags", [f"t{n}" for n in range(100)]),
        ("metadata", [1]),
        ("metadata", {1: 2}),
        ("metadata", {"a": float("nan")}),
        ("metadata", {"a": object()}),
        ("metadata", {"\ud800": "a key"}),
        ("metadata", {"a": "x" * 20_000}),
        ("valid_from", "2026-02-30"),
        ("valid_from", "2025-02-29"),
        ("valid_from", "2026-13-01"),
        ("valid_from", "2026-01-01T25:00"),
        ("valid_from", "yesterday"),
        ("valid_from", 20260101),
        ("valid_from", ""),
        ("valid_to", "2020-01-01"),
        ("on_duplicate", "ignore"),
    ],
)
def test_a_bad_value_is_refused_with_its_field(memory: clew.Clew, field: str, value: Any) -> None:
    given = {"text": "A sentence that is fine by itself", field: value}
    for act in (lambda: memory.remember(**given), lambda: memory.remember_many([given])):
        with pytest.raises(InputError) as caught:
            act()
        assert caught.value.field == field
        assert caught.value.code == "input.invalid"
    assert memory.stats()["nodes"] == 0


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("query", {"query": ""}),
        ("query", {"query": " \n"}),
        ("query", {"query": 5}),
        ("query", {"query": None}),
        ("query", {"query": "nul \x00 inside"}),
        ("query", {"query": "half \ud83d a pair"}),
        ("query", {"query": "x" * 10_000_000}),
        ("k", {"k": 0}),
        ("k", {"k": -1}),
        ("k", {"k": 10**9}),
        ("k", {"k": 1.5}),
        ("k", {"k": True}),
        ("k", {"k": "ten"}),
        ("weights.semantic", {"weights": {"semantic": float("nan")}}),
        ("weights.semantic", {"weights": {"semantic": float("inf")}}),
        ("weights.recency", {"weights": {"recency": -1}}),
        ("weights.access", {"weights": {"access": "much"}}),
        ("weights", {"weights": {"semantic": 0}}),
        ("weights", {"weights": {}}),
        ("weights", {"weights": [1, 2]}),
        ("weights", {"weights": {"relevance": 1}}),
        ("min_similarity", {"min_similarity": 1.5}),
        ("min_similarity", {"min_similarity": float("nan")}),
        ("budget_tokens", {"budget_tokens": -1}),
        ("budget_tokens", {"budget_tokens": 1.5}),
        ("seed", {"seed": 2**64}),
        ("as_of", {"as_of": "2026-02-30"}),
        ("known_at", {"known_at": "soon"}),
        ("where", {"where": {"colour": "red"}}),
        ("where.category", {"where": {"category": "fakt"}}),
        ("where.category", {"where": {"category": ["fact", 5]}}),
        ("where.kind", {"where": {"kind": "planet"}}),
        ("where.since", {"where": {"since": "2026-02-30"}}),
        ("where.until", {"where": {"until": 5}}),
        ("where.space", {"where": {"space": ["a", "b"]}}),
        ("where.space", {"where": {"space": ""}}),
        ("where.space", {"where": {"space": "\ud800"}}),
        ("where.space", {"where": {"space": "a\x00b"}}),
        ("tags", {"where": {"tags": [5]}}),
        ("tags", {"where": {"tags": "\ud800"}}),
        ("where", {"where": {"tags": 5}}),
        ("metadata", {"where": {"metadata": [1]}}),
        ("metadata", {"where": {"metadata": {1: 2}}}),
        ("metadata", {"where": {"metadata": {"a": object()}}}),
        ("metadata", {"where": {"metadata": {"a": "\ud800"}}}),
        ("metadata", {"where": {"metadata": {"a": float("nan")}}}),
        ("preset", {"preset": "semantics"}),
        ("preset", {"preset": 5}),
        ("recipe", {"recipe": "tasty"}),
        ("recipe", {"recipe": ["fast"]}),
    ],
)
def test_a_bad_question_is_refused_with_its_field(
    stocked: clew.Clew, field: str, options: dict[str, Any]
) -> None:
    with pytest.raises(InputError) as caught:
        stocked.recall(**{"query": "coffee", **options})
    assert caught.value.field == field
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("act", "nearest"),
    [
        (
            lambda memory: memory.remember("A sentence that is fine by itself", category="fcat"),
            "fact",
        ),
        (
            lambda memory: memory.remember(
                "A sentence that is fine by itself", trigger="problem-solutoin"
            ),
            "problem-solution",
        ),
        (lambda memory: memory.recall("coffee", where={"category": "observaton"}), "observation"),
        (lambda memory: memory.recall("coffee", where={"categroy": "fact"}), "category"),
        (lambda memory: memory.recall("coffee", preset="ballanced"), "balanced"),
        (lambda memory: memory.recall("coffee", recipe="thorogh"), "thorough"),
        (lambda memory: memory.recall("coffee", weights={"semantics": 1}), "semantic"),
        (lambda memory: memory.recipe("lexcal"), "lexical"),
    ],
)
def test_an_unknown_name_brings_the_nearest_known_one(
    stocked: clew.Clew, act: Callable[[clew.Clew], object], nearest: str
) -> None:
    with pytest.raises(InputError, match=rf"[Dd]id you mean '?{nearest}"):
        act(stocked)


def test_an_unknown_setting_brings_the_nearest_known_one(open_clew: Open) -> None:
    with pytest.raises(InputError, match=r"recall\.candidates"):
        open_clew(recall={"candidate": 5})


@pytest.mark.parametrize("id", [None, 5, b"x", [5], "", "\ud800", "x\x00", "x" * 1000])
@pytest.mark.parametrize("act", ["get", "history", "forget", "protect"])
def test_an_id_that_can_be_none_is_refused(stocked: clew.Clew, act: str, id: Any) -> None:
    with pytest.raises(InputError):
        getattr(stocked, act)(id)


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("weight", {"weight": float("nan")}),
        ("weight", {"weight": -1.0}),
        ("weight", {"weight": "heavy"}),
        ("kind", {"kind": ""}),
        ("kind", {"kind": 5}),
        ("evidence", {"evidence": "\ud800"}),
    ],
)
def test_a_bad_link_is_refused(stocked: clew.Clew, field: str, options: dict[str, Any]) -> None:
    first, second = stocked.recent()
    with pytest.raises(InputError) as caught:
        stocked.link(first.id, second.id, **options)
    assert caught.value.field == field


@pytest.mark.parametrize(
    "act",
    [
        lambda memory: memory.recent(0),
        lambda memory: memory.recent(10**9),
        lambda memory: memory.recent("ten"),
        lambda memory: memory.recent(where={"colour": "red"}),
        lambda memory: memory.important(least="high"),
        lambda memory: memory.important(least=float("nan")),
        lambda memory: memory.popular(least=-1),
        lambda memory: memory.popular(least=0.5),
    ],
)
def test_a_bad_list_is_refused(stocked: clew.Clew, act: Callable[[clew.Clew], object]) -> None:
    with pytest.raises(InputError):
        act(stocked)


def test_dates_at_the_edges_of_the_calendar_are_fine(memory: clew.Clew) -> None:
    memory.remember("Something from the beginning of time", valid_from="0001-01-01")
    memory.remember("Something until the end of the calendar", valid_to="9999-12-31")
    assert (
        len(
            memory.recall("something from the beginning until the end", as_of=date(2026, 3, 2)).hits
        )
        == 2
    )
    assert (
        len(
            memory.recall(
                "something", where={"since": "0001-01-01", "until": "9999-12-31"}, recipe="lexical"
            ).hits
        )
        == 2
    )
    assert memory.recall("something", as_of="9999-12-31", recipe="lexical").hits
    assert memory.verify() == ()


def test_names_are_put_in_order_the_same_way_when_written_and_when_asked_for(
    memory: clew.Clew,
) -> None:
    decomposed = "cafe\u0301"
    memory.remember(
        "The bistro serves lunch until three", tags=[decomposed], space=f" {decomposed}  one "
    )
    for space in (f"{decomposed} one", "café one", " café  one"):
        (hit,) = memory.recall("bistro lunch", where={"space": space, "tags": decomposed}).hits
        assert hit.node is not None
        assert (hit.node.space, hit.node.tags) == ("café one", ("café",))
