"""The recipe `passages`.

MaxSim alone orders the hits, and without token codes the vectors do, with a note.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import clew
from clew.errors import ModelMismatchError
from clew.models.vectors import HashingEmbedder
from clew.ports import EmbedRole, SpannedText, TokenEmbeddings
from tests.conftest import Open
from tests.token_model import TokenModel

TEXTS = [
    "The lamp is lit before the tide turns, and the boats come home.",
    "The lamp was bought on Tuesday; the bill is in the drawer.",
    "Deploys go out on Tuesday after the smoke tests have passed.",
    "The night is long before the winter ends, and the foxes go hungry.",
    "We chose Postgres for billing because of its row-level security.",
    "Boats, tides and lamps are the three chapters of the harbour guide.",
]
PASSAGE = "The fire is lit before the night falls, and the children come home."
ONLY = {"semantic": 1.0}


def oracle(model: TokenModel, query: str, text: str) -> float:
    """Compare every pair of tokens by itself, the text's by their signs."""
    asked, told = (model.tokens(SpannedText.whole(each)) for each in (query, text))
    signs = np.where(told > 0, 1.0, -1.0) / np.sqrt(model.dimension)
    return float(np.mean([max(float(row @ other) for other in signs) for row in asked]))


def test_passages_are_ranked_by_maxsim(open_clew: Open) -> None:
    model = TokenModel()
    memory = open_clew(embedder=model, **{"recall.dense_floor": -1.0})
    memory.remember_many(TEXTS)
    answer = memory.recall(PASSAGE, recipe="passages", weights=ONLY, min_similarity=-1.0)
    expected = sorted(((oracle(model, PASSAGE, text), text) for text in TEXTS), reverse=True)
    assert [hit.text for hit in answer.hits] == [text for _, text in expected]
    assert [hit.channels["tokens"].score for hit in answer.hits] == pytest.approx(
        [score for score, _ in expected], abs=1e-5
    )
    assert all(set(hit.channels) == {"tokens"} for hit in answer.hits)
    assert [hit.channels["tokens"].rank for hit in answer.hits] == [1, 2, 3, 4, 5, 6]
    assert not answer.notes


def test_without_token_codes_the_vectors_rank_and_a_note_says_so(open_clew: Open) -> None:
    model = TokenModel()
    memory = open_clew(embedder=model, **{"model.token_codes": False, "recall.dense_floor": -1.0})
    memory.remember_many(TEXTS)
    answer = memory.recall(PASSAGE, recipe="passages", weights=ONLY)
    assert [hit.id for hit in answer.hits] == [
        hit.id for hit in memory.recall(PASSAGE, recipe="dense", weights=ONLY).hits
    ]
    assert any("ranked by their vectors alone" in note for note in answer.notes)


def test_a_store_from_before_there_were_codes_says_how_to_make_them(open_clew: Open) -> None:
    old = open_clew(embedder=TokenModel(), **{"model.token_codes": False})
    old.remember_many(TEXTS)
    old.close()
    memory = open_clew(embedder=TokenModel())
    assert any("clew reembed" in note for note in memory.recall(PASSAGE, recipe="passages").notes)
    added = memory.remember(
        "The hearth is cold before the morning comes, and the children sleep."
    ).id
    answer = memory.recall(PASSAGE, recipe="passages", weights=ONLY)
    assert {hit.id: set(hit.channels) for hit in answer.hits}[str(added)] == {"tokens"}
    assert any(
        "have no token codes and are ranked by their vectors" in note for note in answer.notes
    )
    memory.reembed()
    assert not memory.recall(PASSAGE, recipe="passages").notes


def test_without_a_model_passages_are_found_by_words(open_clew: Open) -> None:
    memory = open_clew(model={"embedder": "none"})
    memory.remember_many(TEXTS)
    answer = memory.recall(PASSAGE, recipe="passages")
    assert answer.hits[0].text == TEXTS[0]
    assert any("by words alone" in note for note in answer.notes)


class LongVectors(TokenModel):
    """A model whose text vectors have 128 numbers and whose token vectors have 64."""

    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> clew.types.Vectors:
        return HashingEmbedder(128).embed(texts, role=role)

    def embed_tokens(self, texts: Sequence[SpannedText], *, role: EmbedRole) -> TokenEmbeddings:
        tokens = [TokenModel(64).tokens(each) for each in texts]
        return TokenEmbeddings(self.embed([each.text for each in texts], role=role), tokens)


def test_token_vectors_of_another_length_than_the_text_vector_are_refused(open_clew: Open) -> None:
    memory = open_clew(embedder=LongVectors(128))
    with pytest.raises(
        ModelMismatchError, match=r"have 64 numbers, its text vectors 128.*normalised mean"
    ):
        memory.remember(TEXTS[0])
    assert not memory.stats()["live"]
    off = memory.variant(**{"model.token_codes": False})
    off.remember(TEXTS[0])
    assert off.recall("lamp").hits
    with pytest.raises(ModelMismatchError, match="64 numbers"):
        memory.recall("lamp")
