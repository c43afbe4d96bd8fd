"""The formulas against SQLite's own bm25() and bm25s, and the comparison of vectors."""

from __future__ import annotations

import math
import random
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import InputError
from clew.store import bm25
from clew.store.vectors import as_unit, exact_cosines
from clew.testing import unit
from clew.text.words import K3, idf, query_weight

WORDS = ("ant", "bee", "cat", "dog", "elk", "fox")


@pytest.mark.parametrize("seed", range(5))
def test_scores_are_what_fts5_computes_but_for_the_idf(seed: int) -> None:
    draw = random.Random(seed)
    rows = [
        (draw.choices(WORDS, k=draw.randint(0, 3)), draw.choices(WORDS, k=draw.randint(1, 20)))
        for _ in range(60)
    ]
    for term in WORDS:
        expected = _fts5(rows, [term])
        assert expected
        holding = sum(term in title + text for title, text in rows)
        fts5_idf = max(
            math.log((len(rows) - holding + 0.5) / (holding + 0.5)), 1e-6
        )  # as FTS5 has it
        found = {
            number: score / idf(len(rows), holding) * fts5_idf
            for number, score in _by_formula(rows, [term]).items()
        }
        assert found == pytest.approx(expected, rel=1e-12)


def test_scores_are_what_lucene_computes_for_one_column() -> None:
    library = pytest.importorskip("bm25s")
    draw = random.Random(7)
    rows = [(list[str](), draw.choices(WORDS, k=draw.randint(1, 20))) for _ in range(60)]
    index = library.BM25(method="lucene", k1=bm25.K1, b=bm25.B, dtype="float64")
    # One token in every row that nobody asks for: a row counts as one token longer than its text.
    index.index([[*text, "spacetoken"] for _, text in rows], show_progress=False)
    scores = index.get_scores(["ant", "elk"]) * (bm25.K1 + 1)  # Lucene leaves this factor out
    assert _by_formula(rows, ["ant", "elk"]) == pytest.approx(
        {n: score for n, score in enumerate(scores.tolist()) if score}, rel=1e-6
    )


def _fts5(rows: list[tuple[list[str], list[str]]], query: list[str]) -> dict[int, float]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(
            "CREATE VIRTUAL TABLE words USING fts5 (title, text, facet, tokenize='ascii')"
        )
        cells = [
            (number, " ".join(title), " ".join(text), "spacetoken")
            for number, (title, text) in enumerate(rows)
        ]
        connection.executemany(
            "INSERT INTO words (rowid, title, text, facet) VALUES (?, ?, ?, ?)", cells
        )
        found = connection.execute(
            f"SELECT rowid, bm25(words, {bm25.TITLE_WEIGHT}, {bm25.TEXT_WEIGHT}, 0.0) FROM words WHERE words MATCH ?",
            (" OR ".join(query),),
        )
        return {rowid: -rank for rowid, rank in found}


def _by_formula(rows: list[tuple[list[str], list[str]]], query: list[str]) -> dict[int, float]:
    lengths = [bm25.length(len(title), len(text)) for title, text in rows]
    telling = {
        term: idf(len(rows), sum(term in title + text for title, text in rows)) for term in query
    }
    scores = {}
    for number, (title, text) in enumerate(rows):
        parts = [
            (telling[term], bm25.frequency(title.count(term), text.count(term))) for term in query
        ]
        scores[number] = bm25.bm25(
            parts, length=lengths[number], mean_length=sum(lengths) / len(lengths)
        )
    return {number: score for number, score in scores.items() if score}


@given(rows=st.integers(1, 10_000), data=st.data())
def test_a_rarer_term_never_tells_less(rows: int, data: st.DataObject) -> None:
    holding = data.draw(st.integers(1, rows))
    assert idf(rows, holding) <= idf(rows, holding - 1)
    assert idf(rows, holding) > 0


@given(st.integers(1, 1000))
def test_a_word_that_is_said_again_counts_more_but_less_than_before(count: int) -> None:
    before, here, more = (query_weight(said) for said in (count - 1, count, count + 1))
    assert here < more < K3 + 1
    assert more - here < here - before


@given(st.integers(1, 100), st.integers(1, 1000), st.floats(1, 1000))
def test_more_occurrences_score_more_and_longer_rows_less(
    frequency: int, length: int, mean: float
) -> None:
    here = bm25.saturation(frequency, length, mean)
    assert (
        bm25.saturation(frequency + 1, length, mean)
        > here
        > bm25.saturation(frequency, length + 1, mean)
        > 0
    )


@given(st.lists(st.text(max_size=5), min_size=1, max_size=40), st.integers(1, 70))
def test_a_cosine_does_not_depend_on_the_rows_beside_it(seeds: list[str], dimension: int) -> None:
    rows = np.stack([unit(seed, dimension) for seed in seeds]).astype(np.float16)
    together = exact_cosines(rows, unit("query", dimension))
    alone = [exact_cosines(rows[i : i + 1], unit("query", dimension))[0] for i in range(len(rows))]
    assert together.tolist() == alone
    assert exact_cosines(np.asfortranarray(rows), unit("query", dimension)).tolist() == alone


@pytest.mark.parametrize(
    "vector",
    [[1.0], [[1.0, 0.0]], [np.nan, 1.0], [np.inf, 0.0], [0.0, 0.0], [1.0, 1.0], "ab", None],
)
def test_what_is_not_a_unit_vector_is_refused(vector: object) -> None:
    with pytest.raises(InputError):
        as_unit(vector, 2)  # type: ignore[arg-type]


def test_a_unit_vector_is_returned_as_float32() -> None:
    checked = as_unit(np.array([0.6, 0.8]), 2)
    assert checked.dtype == np.float32
    assert checked.tolist() == pytest.approx([0.6, 0.8])
