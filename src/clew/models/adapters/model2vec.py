"""Static models of the model2vec library: a table of word vectors, very fast, weaker than an encoder."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import Any

from clew.models.adapters.libraries import LibraryEmbedder, Loaded, library
from clew.models.home import offline
from clew.ports import EmbedRole

MAX_TOKENS = 512  # the library's own default for `max_length`


def embedder(name: str, **options: Any) -> LibraryEmbedder:
    """Return an embedder of a hub model or a local folder; `options` go to `StaticModel.from_pretrained`."""
    return LibraryEmbedder("model2vec", name, lambda: _load(name, options))


def _load(name: str, options: dict[str, Any]) -> Loaded:
    static_model = library("model2vec", extra="model2vec").StaticModel
    model = static_model.from_pretrained(_local(name) if offline() else name, **_from_cache(static_model) | options)

    def embed(texts: list[str], role: EmbedRole) -> Any:  # noqa: ARG001 - a static table knows no sides
        # One process: its default forks for long lists, which a thread-using program must not do.
        return model.encode(texts, max_length=MAX_TOKENS, use_multiprocessing=False)

    return Loaded(dimension=int(model.dim), max_tokens=MAX_TOKENS, embed=embed)


def _from_cache(static_model: Any) -> dict[str, Any]:
    """Ask for the cached copy: versions that have the option fetch the model again at every start by default."""
    return {"force_download": False} if "force_download" in signature(static_model.from_pretrained).parameters else {}


def _local(name: str) -> str:
    """Return the folder of a model without asking the network, which the library itself cannot be told."""
    if Path(name).exists():
        return name
    return str(library("huggingface_hub", extra="model2vec").snapshot_download(name, local_files_only=True))
