"""Word search on SQLite as it comes.

Every script is found, nothing is syntax, and the words follow the analyser.

Postings with their sizes turned down have tests of their own, test_sqlite_postings.py; so has a
store that grows, test_sqlite_segments.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from clew.store.memory import MemoryStore
from clew.store.sqlite import SqliteStore, segments, store
from clew.store.sqlite import lexical as topwords
from clew.store.sqlite import word_index as postings
from clew.testing import filled, node, where
from clew.text.words import ANALYSER_VERSION, terms


@pytest.fixture
def words(path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore.open(path, synchronous="OFF")) as opened:
        yield opened


@pytest.fixture
def hundred(words: SqliteStore) -> SqliteStore:
    """`common` in all of 100, `half` in 50, `rare` in 12, `single` in one."""
    words.insert(
        [
            node(
                f"n{n:03}",
                " ".join(
                    [
                        "common",
                        *(["half"] if n % 2 else []),
                        *(["rare"] if n % 8 == 3 else []),
                        *(["singl"] if n == 99 else []),
                        f"filler{n}",
                    ]
                ),
                category="plan" if n in (0, 2) else "fact",
            )
            for n in range(100)
        ]
    )
    return words


def test_all_words_of_a_question_are_searched(hundred: SqliteStore) -> None:
    found = hundred.sparse(["common", "singl", "absent"], where(), limit=200)
    assert (len(found), found[0].id) == (100, "n099")


def test_a_pasted_page_is_searched_by_its_rarest_words(
    hundred: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = ["common", "half", "rare", "singl", "filler0", *(f"absent{n}" for n in range(100))]
    assert [match.id for match in hundred.sparse(page, where(categories=("plan",)), limit=5)] == [
        "n000",
        "n002",
    ]
    monkeypatch.setattr(topwords, "MAX_TERMS", 4)
    # n002 holds `common` alone
    assert [match.id for match in hundred.sparse(page, where(categories=("plan",)), limit=5)] == [
        "n000"
    ]


def test_what_is_rare_is_rare_in_the_space_that_is_asked(
    words: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topwords, "MAX_TERMS", 1)
    words.insert([node("a", "apple pear"), node("b", "pear"), node("c", "plum")])
    words.insert([node(f"o{n}", "apple", space="other") for n in range(9)])
    assert [match.id for match in words.sparse(["appl", "pear"], where(), limit=5)] == ["a"]


def test_scores_are_those_of_the_oracle_however_selective_the_filter(hundred: SqliteStore) -> None:
    oracle = MemoryStore()
    oracle.insert(list(hundred.nodes()))
    for filter in (where(), where(categories=("plan",))):
        found = hundred.sparse(["common", "rare", "singl"], filter, limit=5)
        expected = oracle.sparse(["common", "rare", "singl"], filter, limit=5)
        assert [match.id for match in found] == [match.id for match in expected]
        assert [match.score for match in found] == pytest.approx(
            [match.score for match in expected], rel=1e-9
        )


def test_a_search_stays_in_its_space_whether_that_is_small_or_large(words: SqliteStore) -> None:
    words.insert([node(f"big{n}", f"apple number {n}", space="big") for n in range(60)])
    words.insert([node(f"small{n}", f"apple number {n}", space="small") for n in range(5)])
    assert {match.id for match in words.sparse(["appl"], where(space="small"), limit=100)} == {
        f"small{n}" for n in range(5)
    }
    assert len(words.sparse(["appl"], where(space="big"), limit=100)) == 60
    assert words.sparse(["appl"], where(space="none"), limit=100) == ()


def test_ties_at_the_cut_are_decided_by_id(words: SqliteStore) -> None:
    words.insert([node(id, "the same apple") for id in ("d", "b", "a", "c", "e")])
    assert [match.id for match in words.sparse(["appl"], where(), limit=3)] == ["a", "b", "c"]


@pytest.mark.parametrize(
    "text",
    [
        "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ",
        "Straße",
        "ΣΊΣΥΦΟΣ",
        "数据库",
        "ภาษาไทย",
        "հայերեն",
        "İstanbul",
        "e\u0301te\u0301",
        "x86_64",
        "C3PO",
    ],
)
def test_every_script_is_found_by_its_own_words(words: SqliteStore, text: str) -> None:
    words.insert([node("a", text), node("b", "something else")])
    assert [match.id for match in words.sparse(terms(text), where(), limit=5)] == ["a"]


@pytest.mark.parametrize(
    "term",
    [
        '"',
        "*",
        "appl*",
        "NEAR",
        "AND",
        "text:appl",
        "(appl",
        "^appl",
        "appl OR pear",
        "a b",
        "",
        "\x00",
        "-",
    ],
)
def test_a_term_is_never_syntax(words: SqliteStore, term: str) -> None:
    words.insert([node("a", "apple pear near and text")])
    assert words.sparse([term], where(), limit=5) == ()
    assert [match.id for match in words.sparse([term, "appl"], where(), limit=5)] == ["a"]


@pytest.mark.parametrize("count", [1, segments.POSTINGS_FROM])
def test_another_version_of_the_analysis_makes_the_words_anew_on_opening(
    words: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    filled(words, [node(f"a{n:03}", "apples and pears") for n in range(count)])
    expected = [f"a{n:03}" for n in range(count)]
    words.close()
    monkeypatch.setattr(postings, "terms", lambda text: [word[::-1] for word in terms(text)])
    monkeypatch.setattr(store, "ANALYSER_VERSION", ANALYSER_VERSION + 1)
    with closing(SqliteStore.open(path)) as changed:
        assert [match.id for match in changed.sparse(["lppa"], where(), limit=100)] == expected
        assert changed.sparse(["appl"], where(), limit=5) == ()
        assert changed.verify() == ()
    monkeypatch.undo()
    with closing(SqliteStore.open(path)) as back:  # an older Clew follows as well
        assert [match.id for match in back.sparse(["appl"], where(), limit=100)] == expected
        assert back.verify() == ()
