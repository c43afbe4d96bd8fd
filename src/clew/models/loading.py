"""From a model's spec to an embedder, without loading anything yet."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from clew.errors import InputError
from clew.files import expanded
from clew.models import library as catalogue
from clew.models.card import Card, Purpose, nearest
from clew.ports import Embedder, Progress, Reranker

NONE = "none"
HASHING = re.compile(r"hashing(?:-(\d{1,6}))?")
# Imported on demand: each brings a library or a protocol that most users do not have.
ADAPTERS = {
    "fastembed": ("clew.models.library_adapters", "fastembed_embedder"),
    "sentence-transformers": (
        "clew.models.library_adapters",
        "sentence_transformers_embedder",
    ),
    "model2vec": ("clew.models.library_adapters", "model2vec_embedder"),
    "ollama": ("clew.models.server_adapters", "ollama_embedder"),
    "openai": ("clew.models.server_adapters", "openai_embedder"),
}


def load(
    spec: str,
    *,
    auto_pull: bool = True,
    progress: Progress | None = None,
    announce: Callable[[str], None] | None = None,
) -> Embedder | None:
    """Return the embedder a spec names, None for "none".

    Weights and network wait for the first `embed`.
    """
    kind, colon, name = spec.strip().partition(":")
    if colon:
        return _adapter(kind, name.strip(), spec)
    if kind == NONE:
        return None
    if hashing := HASHING.fullmatch(kind):
        # Only when asked for
        from clew.models.vectors import DEFAULT_DIMENSION, HashingEmbedder  # noqa: PLC0415

        return HashingEmbedder(int(hashing[1] or DEFAULT_DIMENSION))
    return _from_library(kind, spec, auto_pull=auto_pull, progress=progress, announce=announce)


def load_reranker(spec: str) -> Reranker | None:
    """Return the reranker a spec names, None for "none".

    It is loaded when it is first asked, and never fetched unasked.
    """
    kind, colon, name = spec.strip().partition(":")
    if kind == NONE and not colon:
        return None
    from clew.models import card as manifest  # noqa: PLC0415 - only when asked for
    from clew.models import library  # noqa: PLC0415
    from clew.models.onnx import CrossEncoder  # noqa: PLC0415

    if colon and kind == "onnx" and name:
        folder = expanded(name.strip())
        return CrossEncoder(_meant(manifest.read(folder), Purpose.RERANK, spec), lambda: folder)
    known = {listed.card.name: listed.card for listed in library.list_models()}
    if kind not in known or colon:
        rerankers = {
            NONE,
            "onnx:FOLDER",
            *(name for name, card in known.items() if card.purpose is Purpose.RERANK),
        }
        raise InputError(
            "rerank.model",
            spec,
            "no such reranker",
            nearest(kind, rerankers, see="clew models list"),
        )
    return CrossEncoder(_meant(known[kind], Purpose.RERANK, spec), lambda: library.path_of(kind))


def _meant(card: Card, purpose: Purpose, spec: str) -> Card:
    """Return the card of a model that is for this, or say that it is for something else."""
    if card.purpose is purpose:
        return card
    field = "model" if purpose is Purpose.EMBED else "rerank.model"
    wanted = "vectors" if purpose is Purpose.EMBED else "reranking"
    raise InputError(
        field,
        spec,
        f"{card.name} is no model for {wanted}",
        "clew models list tells what each is for.",
    )


def _adapter(kind: str, name: str, spec: str) -> Embedder:
    if not name:
        raise InputError(
            "model", spec, "the name after the colon is missing", f"Write it as {kind}:NAME."
        )
    if kind == "onnx":
        return _folder(expanded(name))
    if kind not in ADAPTERS:
        raise _unknown(spec, kind, catalogue.DEFAULT)
    module, function = ADAPTERS[kind]
    embedder: Embedder = getattr(import_module(module), function)(name)
    return embedder


def _folder(path: Path) -> Embedder:
    from clew.models import card as manifest  # noqa: PLC0415 - only when asked for
    from clew.models.onnx import OnnxEmbedder  # noqa: PLC0415

    return OnnxEmbedder(_meant(manifest.read(path), Purpose.EMBED, f"onnx:{path}"), lambda: path)


def _from_library(
    name: str,
    spec: str,
    *,
    auto_pull: bool,
    progress: Progress | None,
    announce: Callable[[str], None] | None,
) -> Embedder:
    from clew.models import library  # noqa: PLC0415 - only when asked for
    from clew.models.onnx import OnnxEmbedder  # noqa: PLC0415

    if name not in (known := {listed.card.name: listed.card for listed in library.list_models()}):
        raise _unknown(
            spec, name, *(name for name, card in known.items() if card.purpose is Purpose.EMBED)
        )
    return OnnxEmbedder(
        _meant(known[name], Purpose.EMBED, spec),
        lambda: library.ensure(
            name,
            auto_pull=auto_pull,
            progress=progress or library.silent,
            announce=announce or library.silent,
        ),
    )


def _unknown(spec: str, name: str, *more: str) -> InputError:
    known = {*more, NONE, "hashing", "onnx:FOLDER", *(f"{kind}:NAME" for kind in ADAPTERS)}
    return InputError("model", spec, "no such model", nearest(name, known, see="clew models list"))
