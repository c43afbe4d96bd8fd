"""The hashing embedder: the same everywhere, and similar for similar texts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import InputError
from clew.models.vectors import HashingEmbedder
from clew.ports import EmbedRole

EMBEDDER = HashingEmbedder()
STRONGEST = [20, 171, 12, 24]
VALUES = [-0.5685, 0.4211, 0.1474, -0.1474]


def similarity(one: str, other: str) -> float:
    first, second = EMBEDDER.embed([one, other], role=EmbedRole.PASSAGE)
    return float(first @ second)


@given(st.lists(st.text(st.characters(exclude_categories=[])), max_size=5))
def test_every_text_gets_one_unit_vector_that_depends_on_it_alone(texts: list[str]) -> None:
    vectors = EMBEDDER.embed(texts, role=EmbedRole.PASSAGE)
    assert vectors.shape == (len(texts), 256)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    for text, vector in zip(texts, vectors, strict=True):
        assert np.array_equal(EMBEDDER.embed([text], role=EmbedRole.QUERY)[0], vector)


def test_the_vector_of_a_text_never_changes_between_versions() -> None:
    vector = EMBEDDER.embed(["Clew remembers"], role=EmbedRole.PASSAGE)[0]
    strongest = np.argsort(-np.abs(vector), kind="stable")[:4].tolist()
    assert strongest == STRONGEST
    assert [round(float(vector[at]), 4) for at in strongest] == VALUES


def test_shared_words_and_shared_parts_of_words_make_texts_similar() -> None:
    base = "restart the database server"
    assert (
        similarity(base, "the database server restarts")
        > similarity(base, "restarting a data base")
        > similarity(base, "green tea at noon")
    )
    assert similarity(base, "green tea at noon") < 0.3


def test_case_does_not_matter() -> None:
    assert similarity("Clew REMEMBERS", "clew remembers") == pytest.approx(1.0)


@pytest.mark.parametrize("dimension", [0, 15, 4097, -1])
def test_a_dimension_out_of_range_is_refused(dimension: int) -> None:
    with pytest.raises(InputError, match="hashing-256"):
        HashingEmbedder(dimension)


def test_ten_megabytes_and_endless_words_are_cut() -> None:
    assert EMBEDDER.embed(
        ["x" * 10_000_000, "word " * 2_000_000], role=EmbedRole.PASSAGE
    ).shape == (2, 256)
