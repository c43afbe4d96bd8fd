"""What the adapters of embedding libraries share.

Finding the library and keeping the port's promises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from clew.errors import ModelError, ModelMissingError, clipped
from clew.models.card import OFFLINE_VARIABLE, offline
from clew.models.onnx import Lazy
from clew.models.vectors import cut, unit
from clew.ports import EmbedRole
from clew.types import Vectors


@dataclass(frozen=True, slots=True)
class Loaded:
    """A library's model, reduced to what the port asks."""

    dimension: int
    max_tokens: int
    embed: Callable[[list[str], EmbedRole], Any]


class LibraryEmbedder:
    """Embeds through a library that is imported, and a model that is loaded, on first use."""

    def __init__(self, library: str, name: str, load: Callable[[], Loaded]) -> None:
        """Take the spec's two halves and the function that loads the model."""
        self._id = f"{library}:{name}"
        self._model = Lazy(lambda: _translated(self._id, load))

    @property
    def id(self) -> str:
        """The name under which vectors are stored."""
        return self._id

    @property
    def dimension(self) -> int:
        """The length of every vector; loads the model."""
        return self._model().dimension

    @property
    def max_tokens(self) -> int:
        """Longer texts are cut to this many tokens; loads the model."""
        return self._model().max_tokens

    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> Vectors:
        """Return one unit vector per text, in order."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        model = self._model()
        try:
            vectors = np.asarray(
                model.embed([cut(text, max_tokens=model.max_tokens) for text in texts], role),
                dtype=np.float32,
            )
        except Exception as error:  # whatever a foreign library raises
            raise ModelError(
                f"{self._id} could not embed: {clipped(str(error))}", model=self._id
            ) from error
        if vectors.shape != (len(texts), model.dimension) or not np.isfinite(vectors).all():
            raise ModelError(
                f"{self._id} gave vectors of shape {vectors.shape} where {(len(texts), model.dimension)} finite ones were due."
            )
        return unit(vectors)


def library(module: str, *, extra: str) -> Any:
    """Import a library that is an extra of this package."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ModelMissingError(
            f"{extra} is not installed ({error}). Install it with: pip install 'clew[{extra}]'",
            library=extra,
        ) from error


def _translated(id: str, load: Callable[[], Loaded]) -> Loaded:
    try:
        return load()
    except ModelError:
        raise
    except (
        Exception
    ) as error:  # an unknown name, no network, a damaged cache: each library has its own types
        hint = (
            f"{OFFLINE_VARIABLE} is set, so it must be in the library's cache already."
            if offline()
            else "Check the name and the network."
        )
        raise ModelMissingError(
            f"{id} could not be loaded: {clipped(str(error))}. {hint}", model=id
        ) from error


# Models of the fastembed library: ONNX on the CPU, downloaded from the hub by the library itself.

USUAL_MAX_TOKENS = 512  # of nearly all of its models; used when the tokenizer does not say


def fastembed_embedder(name: str, **options: Any) -> LibraryEmbedder:
    """Return an embedder; `options` go to `fastembed.TextEmbedding`."""
    return LibraryEmbedder("fastembed", name, lambda: _load(name, options))


def _load(name: str, options: dict[str, Any]) -> Loaded:
    text_embedding = library("fastembed", extra="fastembed").TextEmbedding
    model = text_embedding(model_name=name, **{"local_files_only": offline()} | options)

    def embed(texts: list[str], role: EmbedRole) -> list[Any]:
        return list(
            model.query_embed(texts) if role is EmbedRole.QUERY else model.passage_embed(texts)
        )

    return Loaded(
        dimension=len(embed(["dimension"], EmbedRole.PASSAGE)[0]),
        max_tokens=_max_tokens(model),
        embed=embed,
    )


def _max_tokens(model: Any) -> int:
    truncation = (
        getattr(getattr(getattr(model, "model", None), "tokenizer", None), "truncation", None) or {}
    )
    return int(truncation.get("max_length", USUAL_MAX_TOKENS))


# Models of the sentence-transformers library: anything on the hub that torch runs.


def sentence_transformers_embedder(name: str, **options: Any) -> LibraryEmbedder:
    """Return an embedder; `options` go to `SentenceTransformer`."""
    return LibraryEmbedder(
        "sentence-transformers", name, lambda: _sentence_transformers_load(name, options)
    )


def _sentence_transformers_load(name: str, options: dict[str, Any]) -> Loaded:
    sentence_transformer = library(
        "sentence_transformers", extra="sentence-transformers"
    ).SentenceTransformer
    model = sentence_transformer(name, **{"local_files_only": offline()} | options)

    def embed(texts: list[str], role: EmbedRole) -> Any:
        return model.encode(
            texts, prompt_name=_prompt(model, role), convert_to_numpy=True, show_progress_bar=False
        )

    return Loaded(
        dimension=len(embed(["dimension"], EmbedRole.PASSAGE)[0]),
        max_tokens=int(model.max_seq_length or USUAL_MAX_TOKENS),
        embed=embed,
    )


def _prompt(model: Any, role: EmbedRole) -> str | None:
    """Return the model's own name of the prompt for this side, if it has one.

    They go by several names.
    """
    names = ("query",) if role is EmbedRole.QUERY else ("document", "passage", "corpus")
    prompts = getattr(model, "prompts", None) or {}
    return next((name for name in names if prompts.get(name)), None)


# Static models of the model2vec library: a table of word vectors, very fast, weaker than an
# encoder.

MAX_TOKENS = 512  # the library's own default for `max_length`


def model2vec_embedder(name: str, **options: Any) -> LibraryEmbedder:
    """Return an embedder of a hub model or a local folder.

    `options` go to `StaticModel.from_pretrained`.
    """
    return LibraryEmbedder("model2vec", name, lambda: _model2vec_load(name, options))


def _model2vec_load(name: str, options: dict[str, Any]) -> Loaded:
    static_model = library("model2vec", extra="model2vec").StaticModel
    model = static_model.from_pretrained(
        _local(name) if offline() else name, **_from_cache(static_model) | options
    )

    # A static table knows no sides
    def embed(texts: list[str], role: EmbedRole) -> Any:  # noqa: ARG001
        # One process: its default forks for long lists, which a thread-using program must not do.
        return model.encode(texts, max_length=MAX_TOKENS, use_multiprocessing=False)

    return Loaded(dimension=int(model.dim), max_tokens=MAX_TOKENS, embed=embed)


def _from_cache(static_model: Any) -> dict[str, Any]:
    """Ask for the cached copy.

    Versions that have the option fetch the model again at every start by default.
    """
    return (
        {"force_download": False}
        if "force_download" in signature(static_model.from_pretrained).parameters
        else {}
    )


def _local(name: str) -> str:
    """Return the folder of a model without asking the network, which the library itself cannot be told."""
    if Path(name).exists():
        return name
    return str(
        library("huggingface_hub", extra="model2vec").snapshot_download(name, local_files_only=True)
    )
