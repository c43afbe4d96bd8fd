"""Models of the fastembed library: ONNX on the CPU, downloaded from the hub by the library itself."""

from __future__ import annotations

from typing import Any

from clew.models.adapters.libraries import LibraryEmbedder, Loaded, library
from clew.models.home import offline
from clew.ports import EmbedRole

USUAL_MAX_TOKENS = 512  # of nearly all of its models; used when the tokenizer does not say


def embedder(name: str, **options: Any) -> LibraryEmbedder:
    """Return an embedder; `options` go to `fastembed.TextEmbedding`."""
    return LibraryEmbedder("fastembed", name, lambda: _load(name, options))


def _load(name: str, options: dict[str, Any]) -> Loaded:
    text_embedding = library("fastembed", extra="fastembed").TextEmbedding
    model = text_embedding(model_name=name, **{"local_files_only": offline()} | options)

    def embed(texts: list[str], role: EmbedRole) -> list[Any]:
        return list(model.query_embed(texts) if role is EmbedRole.QUERY else model.passage_embed(texts))

    return Loaded(dimension=len(embed(["dimension"], EmbedRole.PASSAGE)[0]), max_tokens=_max_tokens(model), embed=embed)


def _max_tokens(model: Any) -> int:
    truncation = getattr(getattr(getattr(model, "model", None), "tokenizer", None), "truncation", None) or {}
    return int(truncation.get("max_length", USUAL_MAX_TOKENS))
