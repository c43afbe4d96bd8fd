"""Vectors kept on disk."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from clew.evaluate.cache import BATCH, CachedEmbedder, TokenCachedEmbedder, cached
from clew.models.vectors import HashingEmbedder
from clew.ports import EmbedRole, SpannedText, SupportsTokens
from clew.token_codes import pack
from clew.types import Vectors
from tests.token_model import TokenModel


class Counting(HashingEmbedder):
    """Counts, and may die in the middle."""

    def __init__(self, *, dies_after: int = 10**9) -> None:
        super().__init__(32)
        self.texts: list[str] = []
        self._dies_after = dies_after

    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> Vectors:
        if len(self.texts) >= self._dies_after:
            raise KeyboardInterrupt
        self.texts += texts
        return super().embed(texts, role=role)


TEXTS = [f"text number {number}" for number in range(3 * BATCH)]


def test_no_text_is_embedded_twice(tmp_path: Path) -> None:
    model = Counting()
    with closing(CachedEmbedder(model, tmp_path)) as cached:
        first = cached.embed([*TEXTS[:5], TEXTS[0]], role=EmbedRole.PASSAGE)
    with closing(CachedEmbedder(model, tmp_path)) as cached:
        second = cached.embed([*TEXTS[:5], TEXTS[0]], role=EmbedRole.PASSAGE)
        assert cached.embedded == 0
    assert model.texts == TEXTS[:5]
    assert np.array_equal(first, second)
    assert np.array_equal(first, Counting().embed([*TEXTS[:5], TEXTS[0]], role=EmbedRole.PASSAGE))


def test_a_question_and_a_passage_with_one_text_are_two(tmp_path: Path) -> None:
    model = Counting()
    with closing(CachedEmbedder(model, tmp_path)) as cached:
        cached.embed(["same"], role=EmbedRole.PASSAGE)
        cached.embed(["same"], role=EmbedRole.QUERY)
    assert model.texts == ["same", "same"]


def test_another_model_has_a_file_of_its_own(tmp_path: Path) -> None:
    for dimension in (32, 64):
        with closing(CachedEmbedder(HashingEmbedder(dimension), tmp_path)) as cached:
            assert cached.embed(["same"], role=EmbedRole.QUERY).shape == (1, dimension)


def test_an_interrupt_costs_at_most_a_batch(tmp_path: Path) -> None:
    with (
        closing(CachedEmbedder(Counting(dies_after=2 * BATCH), tmp_path)) as cached,
        pytest.raises(KeyboardInterrupt),
    ):
        cached.embed(TEXTS, role=EmbedRole.PASSAGE)
    model = Counting()
    with closing(CachedEmbedder(model, tmp_path)) as cached:
        cached.embed(TEXTS, role=EmbedRole.PASSAGE)
    assert model.texts == TEXTS[2 * BATCH :]


def test_progress_counts_what_was_there_already(tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    with closing(CachedEmbedder(Counting(), tmp_path)) as cached:
        cached.embed(TEXTS[:BATCH], role=EmbedRole.PASSAGE)
    with closing(
        CachedEmbedder(Counting(), tmp_path, progress=lambda *each: told.append(each))
    ) as cached:
        cached.embed(TEXTS, role=EmbedRole.PASSAGE)
    assert told == [
        ("embedding texts", 2 * BATCH, 3 * BATCH),
        ("embedding texts", 3 * BATCH, 3 * BATCH),
    ]


def test_no_text_gives_no_vector(tmp_path: Path) -> None:
    with closing(CachedEmbedder(Counting(), tmp_path)) as cached:
        assert cached.embed([], role=EmbedRole.QUERY).shape == (0, 32)
        assert (cached.id, cached.dimension, cached.max_tokens) == (
            "hashing-32",
            32,
            HashingEmbedder(32).max_tokens,
        )


def test_tokens_are_kept_too_and_a_vector_that_came_with_them_is_not_made_again(
    tmp_path: Path,
) -> None:
    texts = [
        SpannedText.whole("one two three"),
        SpannedText("one two three", ((4, 7),)),
        SpannedText("", ()),
    ]
    model = TokenModel()
    for role in EmbedRole:
        expected = model.embed_tokens(texts, role=role)
        for asked in range(2):
            fresh = TokenModel()
            with closing(cached(fresh, tmp_path)) as embedder:
                assert isinstance(embedder, TokenCachedEmbedder)
                found = embedder.embed_tokens([*texts, texts[0]], role=role)
                assert (
                    embedder.embed(["one two three"], role=role).tobytes()
                    == expected.vectors[0].tobytes()
                )
            assert (
                found.vectors.tobytes()
                == np.concatenate([expected.vectors, expected.vectors[:1]]).tobytes()
            )
            pairs = list(zip(found.tokens, [*expected.tokens, expected.tokens[0]], strict=True))
            assert [pack(one) for one, _ in pairs] == [pack(other) for _, other in pairs]
            assert [one.shape for one, _ in pairs] == [other.shape for _, other in pairs]
            assert role is EmbedRole.PASSAGE or all(
                np.array_equal(one, other) for one, other in pairs
            )
            assert np.allclose(np.linalg.norm(np.concatenate(found.tokens), axis=1), 1.0, atol=1e-5)
            assert (len(fresh.spanned), fresh.plain) == (1 - asked, [])


def test_a_model_without_tokens_is_cached_without_them(tmp_path: Path) -> None:
    with closing(cached(HashingEmbedder(), tmp_path)) as embedder:
        assert not isinstance(embedder, SupportsTokens)
