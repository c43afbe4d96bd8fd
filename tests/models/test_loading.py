"""A spec names an embedder; a wrong one is refused with the nearest right one."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew.errors import InputError, ModelError, ModelMissingError
from clew.models import DEFAULT, load
from clew.models.card import Card
from clew.ports import EmbedRole


@pytest.mark.parametrize(
    ("spec", "id"),
    [
        ("arctic-embed-s", "arctic-embed-s@f93ff225"),
        (" hashing ", "hashing-256"),
        ("hashing-64", "hashing-64"),
        ("fastembed:BAAI/bge-small-en-v1.5", "fastembed:BAAI/bge-small-en-v1.5"),
        ("sentence-transformers:all-MiniLM-L6-v2", "sentence-transformers:all-MiniLM-L6-v2"),
        ("model2vec:minishlab/potion-base-8M", "model2vec:minishlab/potion-base-8M"),
        ("ollama:nomic-embed-text:latest", "ollama:nomic-embed-text:latest"),
        ("openai:text-embedding-3-small", "openai:text-embedding-3-small"),
    ],
)
def test_every_kind_of_spec_makes_an_embedder_without_loading_anything(
    models: Path, spec: str, id: str
) -> None:
    embedder = load(spec)
    assert embedder is not None
    assert embedder.id == id
    assert not models.exists()


def test_none_is_no_model(models: Path) -> None:
    assert load("none") is None


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        ("arctic-embed", "Did you mean arctic-embed-s"),
        ("hasing", "Did you mean hashing"),
        ("fastembd:x", "Did you mean fastembed:NAME"),
        ("openai", "Did you mean openai:NAME"),
        ("zzzzzz", "Known are"),
        ("", "Known are"),
        ("ollama:", "ollama:NAME"),
        ("hashing-3", "hashing-256"),
    ],
)
def test_a_spec_that_is_none_is_refused_with_the_nearest_one(
    models: Path, spec: str, hint: str
) -> None:
    with pytest.raises(InputError, match=hint):
        load(spec)


def test_a_folder_without_a_model_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="clew models add"):
        load(f"onnx:{tmp_path}")


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"format": 99}', '{"format": 1, "pooling": "max", "files": []}']
)
def test_a_card_that_cannot_be_read_is_an_error_of_the_model(tmp_path: Path, content: str) -> None:
    (tmp_path / "clew-model.json").write_text(content, encoding="utf-8")
    with pytest.raises(ModelError, match="not a model's card"):
        load(f"onnx:{tmp_path}")


def test_the_model_is_pulled_on_first_use_only_if_that_is_allowed(tiny: Card) -> None:
    embedder = load("tiny", auto_pull=False)
    assert embedder is not None
    with pytest.raises(ModelMissingError, match="clew models pull tiny"):
        embedder.embed(["x"], role=EmbedRole.QUERY)


def test_the_default_is_in_the_catalogue(models: Path) -> None:
    assert load(DEFAULT) is not None
