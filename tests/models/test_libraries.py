"""Adapters of embedding libraries.

The real ones where they are installed, and what is said where they are not.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from clew.errors import ModelError, ModelMissingError
from clew.models import library_adapters as fastembed
from clew.models import library_adapters as sentence_transformers
from clew.models import load
from clew.models.card import TOKENIZER, WEIGHTS
from clew.models.library_adapters import LibraryEmbedder, Loaded
from clew.ports import Embedder, EmbedRole

ODD = ["", "\ud800", "a\x00b", "the quick " * 100_000]


@pytest.mark.parametrize(
    ("spec", "module"),
    [
        ("fastembed:x", "fastembed"),
        ("sentence-transformers:x", "sentence_transformers"),
        ("model2vec:x", "model2vec"),
    ],
)
def test_a_library_that_is_not_installed_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, spec: str, module: str
) -> None:
    # what Python itself does for "there is no such module"
    monkeypatch.setitem(sys.modules, module, None)
    embedder = load(spec)
    assert embedder is not None
    extra = spec.partition(":")[0]
    with pytest.raises(ModelMissingError, match=rf"pip install 'clew\[{extra}\]'"):
        embedder.embed(["x"], role=EmbedRole.QUERY)


def holds_the_ports_promises(embedder: Embedder) -> None:
    """Check what the port promises, on odd texts."""
    vectors = embedder.embed(ODD, role=EmbedRole.PASSAGE)
    assert vectors.shape == (len(ODD), embedder.dimension)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert embedder.embed([], role=EmbedRole.QUERY).shape == (0, embedder.dimension)


def test_a_real_model2vec_model_is_loaded_from_its_folder(
    tmp_path: Path, tokenizer_json: Callable[..., dict[str, Any]]
) -> None:
    model2vec = pytest.importorskip("model2vec", exc_type=ImportError)
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(json.dumps(tokenizer_json()))
    table = (
        np.random.default_rng(7).normal(size=(tokenizer.get_vocab_size(), 16)).astype(np.float32)
    )
    model2vec.StaticModel(table, tokenizer).save_pretrained(str(tmp_path / "static"))
    embedder = load(f"model2vec:{tmp_path / 'static'}")
    assert embedder is not None
    assert embedder.dimension == 16
    holds_the_ports_promises(embedder)
    one, other, third = embedder.embed(
        ["the quick", "quick the", "naive is"], role=EmbedRole.PASSAGE
    )
    assert one @ other > 0.99 > one @ third


# where the library keeps its modules differs between its versions
@pytest.mark.filterwarnings("default::DeprecationWarning")
def test_a_real_sentence_transformers_model_is_loaded_from_its_folder(tmp_path: Path) -> None:
    library = pytest.importorskip("sentence_transformers", exc_type=ImportError)
    from sentence_transformers import models  # type: ignore[import-not-found,unused-ignore]

    bag = models.BoW(vocab=["the", "quick", "naive", "tea"])
    library.SentenceTransformer(modules=[bag], prompts={"query": "tea "}).save(
        str(tmp_path / "bag")
    )
    embedder = sentence_transformers.sentence_transformers_embedder(str(tmp_path / "bag"))
    assert embedder.dimension == 4
    holds_the_ports_promises(embedder)
    query, passage, prompted = (
        embedder.embed([text], role=role)[0]
        for text, role in [
            ("quick", EmbedRole.QUERY),
            ("quick", EmbedRole.PASSAGE),
            ("tea quick", EmbedRole.PASSAGE),
        ]
    )
    assert np.allclose(query, prompted)
    assert not np.allclose(query, passage)


@pytest.mark.model
def test_a_real_fastembed_model_is_loaded_from_its_folder(real_model: Path, tmp_path: Path) -> None:
    library = pytest.importorskip("fastembed", exc_type=ImportError)
    description = pytest.importorskip("fastembed.common.model_description")
    library.TextEmbedding.add_custom_model(
        model="clew/test-arctic",
        pooling=description.PoolingType.CLS,
        normalization=True,
        sources=description.ModelSource(hf="clew/test-arctic"),
        dim=384,
        model_file="model.onnx",
    )
    special = {
        "pad_token": "[PAD]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "unk_token": "[UNK]",
        "mask_token": "[MASK]",
    }
    documents = {
        "config": {"pad_token_id": 0},
        "tokenizer_config": {"model_max_length": 512, **special},
        "special_tokens_map": special,
    }
    for name, document in documents.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    for name in (WEIGHTS, TOKENIZER):
        (tmp_path / name).symlink_to(real_model / name)
    embedder = fastembed.fastembed_embedder("clew/test-arctic", specific_model_path=str(tmp_path))
    ours = load("arctic-embed-s")
    assert ours is not None
    assert (embedder.dimension, embedder.max_tokens) == (384, 512)
    holds_the_ports_promises(embedder)
    text = ["To bring postgres back up, run systemctl restart postgresql."]
    assert (
        float(
            embedder.embed(text, role=EmbedRole.PASSAGE)[0]
            @ ours.embed(text, role=EmbedRole.PASSAGE)[0]
        )
        > 0.99
    )


def fake(module: str, monkeypatch: pytest.MonkeyPatch, **names: Any) -> None:
    """Put a stand-in for a library that is too heavy for the test environment."""
    stand_in = ModuleType(module)
    for name, value in names.items():
        setattr(stand_in, name, value)
    monkeypatch.setitem(sys.modules, module, stand_in)


class TextEmbedding:
    """Has the methods of fastembed's class that the adapter calls."""

    def __init__(self, model_name: str, *, local_files_only: bool = False) -> None:
        if model_name != "known":
            raise ValueError(f"Model {model_name} is not supported in TextEmbedding.")
        self.local_files_only = local_files_only
        self.model = SimpleNamespace(tokenizer=SimpleNamespace(truncation={"max_length": 77}))

    def query_embed(self, texts: list[str]) -> Any:
        return (np.array([1.0, 0.0, float(len(text))]) for text in texts)

    def passage_embed(self, texts: list[str]) -> Any:
        return (np.array([0.0, 1.0, float(len(text))]) for text in texts)


def test_fastembed_is_asked_for_the_right_side(monkeypatch: pytest.MonkeyPatch) -> None:
    fake("fastembed", monkeypatch, TextEmbedding=TextEmbedding)
    embedder = load("fastembed:known")
    assert embedder is not None
    assert (embedder.dimension, embedder.max_tokens) == (3, 77)
    assert embedder.embed([""], role=EmbedRole.QUERY).tolist() == [[1.0, 0.0, 0.0]]
    assert embedder.embed([""], role=EmbedRole.PASSAGE).tolist() == [[0.0, 1.0, 0.0]]
    holds_the_ports_promises(embedder)


def test_a_name_the_library_does_not_know_is_a_missing_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fake("fastembed", monkeypatch, TextEmbedding=TextEmbedding)
    embedder = load("fastembed:unknown")
    assert embedder is not None
    with pytest.raises(ModelMissingError, match=r"unknown is not supported.*Check the name"):
        embedder.embed(["x"], role=EmbedRole.QUERY)


@pytest.mark.parametrize("given", [[[1.0, 2.0]], [[1.0, float("nan"), 0.0]], [[1.0, 2.0, 3.0]] * 2])
def test_a_library_that_breaks_its_promise_is_an_error(given: list[list[float]]) -> None:
    embedder = LibraryEmbedder("odd", "x", lambda: Loaded(3, 512, lambda texts, role: given))
    with pytest.raises(ModelError, match="odd:x gave vectors"):
        embedder.embed(["x"], role=EmbedRole.QUERY)


def test_whatever_a_library_raises_becomes_an_error_of_the_model() -> None:
    def fail(texts: list[str], role: EmbedRole) -> Any:
        raise KeyError("out of memory")

    with pytest.raises(ModelError, match="odd:x could not embed: 'out of memory'"):
        LibraryEmbedder("odd", "x", lambda: Loaded(3, 512, fail)).embed(["x"], role=EmbedRole.QUERY)
