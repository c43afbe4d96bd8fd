"""Models of the sentence-transformers library: anything on the hub that torch runs."""

from __future__ import annotations

from typing import Any

from clew.models.adapters.libraries import LibraryEmbedder, Loaded, library
from clew.models.home import offline
from clew.ports import EmbedRole

USUAL_MAX_TOKENS = 512  # used when a model does not say


def embedder(name: str, **options: Any) -> LibraryEmbedder:
    """Return an embedder; `options` go to `SentenceTransformer`."""
    return LibraryEmbedder("sentence-transformers", name, lambda: _load(name, options))


def _load(name: str, options: dict[str, Any]) -> Loaded:
    sentence_transformer = library("sentence_transformers", extra="sentence-transformers").SentenceTransformer
    model = sentence_transformer(name, **{"local_files_only": offline()} | options)

    def embed(texts: list[str], role: EmbedRole) -> Any:
        return model.encode(texts, prompt_name=_prompt(model, role), convert_to_numpy=True, show_progress_bar=False)

    return Loaded(
        dimension=len(embed(["dimension"], EmbedRole.PASSAGE)[0]), max_tokens=int(model.max_seq_length or USUAL_MAX_TOKENS), embed=embed
    )


def _prompt(model: Any, role: EmbedRole) -> str | None:
    """Return the model's own name of the prompt for this side, if it has one; they go by several names."""
    names = ("query",) if role is EmbedRole.QUERY else ("document", "passage", "corpus")
    prompts = getattr(model, "prompts", None) or {}
    return next((name for name in names if prompts.get(name)), None)
