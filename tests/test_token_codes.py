"""Token codes: the signs of token vectors, and MaxSim against them."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.token_codes import MAX_TOKENS, bytes_per_token, maxsim, pack
from clew.types import Vectors

DIMENSIONS = st.sampled_from([1, 7, 8, 16, 48, 384])


def drawn(seed: int, rows: int, dimension: int) -> Vectors:
    vectors = np.random.default_rng(seed).standard_normal((rows, dimension)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def expected(query: Vectors, texts: list[Vectors]) -> Vectors:
    """Compare every pair by itself."""
    scale = 1 / np.sqrt(query.shape[1])
    signs = [np.where(text[:MAX_TOKENS] > 0, scale, -scale) for text in texts]
    return np.array(
        [
            [max((float(row @ other) for other in text), default=0.0) for text in signs]
            for row in query
        ]
    )


@given(st.integers(0, 9), DIMENSIONS, st.integers(1, 6), st.lists(st.integers(0, 300), max_size=8))
def test_maxsim_is_the_best_product_with_a_text_s_signs(
    seed: int, dimension: int, asked: int, lengths: list[int]
) -> None:
    query = drawn(seed, asked, dimension)
    texts = [
        drawn(seed + number, length, dimension) for number, length in enumerate(lengths, start=1)
    ]
    found = maxsim(query, [pack(text) for text in texts])
    assert found.dtype == np.float32
    assert found.shape == (asked, len(texts))
    assert found == pytest.approx(expected(query, texts).reshape(asked, len(texts)), abs=1e-5)


@given(st.integers(0, 99), st.lists(st.integers(0, 70), min_size=2, max_size=30))
def test_a_text_scores_the_same_bits_whichever_texts_stand_beside_it(
    seed: int, lengths: list[int]
) -> None:
    query = drawn(seed, 5, 384)
    codes = [
        pack(drawn(seed + number, length, 384)) for number, length in enumerate(lengths, start=1)
    ]
    together = maxsim(query, codes)
    alone = np.concatenate([maxsim(query, [code]) for code in codes], axis=1)
    assert together.tobytes() == alone.tobytes()
    assert maxsim(query, codes[::-1]).tobytes() == np.ascontiguousarray(together[:, ::-1]).tobytes()


def test_a_text_of_its_own_scores_highest_for_each_of_its_tokens() -> None:
    texts = [drawn(seed, 20, 384) for seed in range(5)]
    scores = maxsim(texts[3], [pack(text) for text in texts])
    assert (scores.argmax(axis=0)[3], set(scores.argmax(axis=1).tolist())) == (
        scores[:, 3].argmax(),
        {3},
    )


def test_no_query_token_no_text_and_no_token_are_all_well_defined() -> None:
    query = drawn(1, 3, 16)
    assert maxsim(query, []).shape == (3, 0)
    assert maxsim(query[:0], [pack(query)]).shape == (0, 1)
    assert maxsim(query, [b"", b""]).tolist() == [[0, 0]] * 3
    assert maxsim(query, [b"", pack(query), b""])[:, [0, 2]].tolist() == [[0, 0]] * 3


def test_a_token_takes_one_bit_a_number_and_a_text_keeps_at_most_256_tokens() -> None:
    assert (bytes_per_token(384), bytes_per_token(16), bytes_per_token(9)) == (48, 2, 2)
    long = drawn(1, 300, 384)
    assert len(pack(long)) == MAX_TOKENS * 48
    assert pack(long) == pack(long[:MAX_TOKENS])
    assert pack(long[:0]) == b""


def test_the_memory_that_comparing_takes_does_not_follow_the_number_of_bits() -> None:
    """As float32 the tokens of 500 long texts would take 200 MB."""
    code = pack(drawn(1, MAX_TOKENS, 384))
    query = drawn(2, 4, 384)
    tracemalloc.start()
    try:
        maxsim(query, [code] * 500)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 30_000_000
