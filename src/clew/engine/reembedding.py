"""Moves a store to another model, or fills in vectors that are missing; stops and resumes anywhere."""

from __future__ import annotations

from dataclasses import dataclass, replace

from clew.errors import ModelMissingError
from clew.ingest.embedding import embed_passages, made, wanted
from clew.ingest.questions.asking import questions_of
from clew.ports import Embedder, ModelInfo, Progress, SpannedText, Store, SupportsTokens
from clew.types import Embedding, Node


@dataclass(frozen=True, slots=True)
class Reembedded:
    """How many nodes were embedded, and of which model the store's vectors are now."""

    model: str
    embedded: int


def reembed(store: Store, embedder: Embedder | None, *, batch_size: int, progress: Progress, token_codes: bool) -> Reembedded:
    """Give every live node a vector of this model, then search by it; until then the old vectors serve.

    With `token_codes`, and a model that gives them, memories and chunks get codes where they have none; their vectors stay.
    Each batch is committed with the next begun only after it, so a killed run resumes where it stopped.
    """
    if embedder is None:
        raise ModelMissingError(
            "There is no model to embed with: model.embedder is 'none'. Name one, for example: clew reembed --model arctic-embed-s"
        )
    model = ModelInfo(embedder.id, embedder.dimension)
    tokens = token_codes and isinstance(embedder, SupportsTokens)
    total, done = int(store.stats()["live"]), 0
    progress(f"embedding with {model.id}", 0, total)
    while True:
        while nodes := store.unembedded(model.id, limit=batch_size, tokens=tokens):
            store.put(_embeddings(nodes, store, embedder, model, tokens=tokens), model)
            done += len(nodes)
            progress(f"embedding with {model.id}", done, total)
        with store.transaction():
            if not store.unembedded(model.id, limit=1, tokens=tokens):  # nothing was added since the last look, and nothing can be now
                store.activate(model)
                return Reembedded(model.id, done)


def _embeddings(nodes: tuple[Node, ...], store: Store, embedder: Embedder, model: ModelInfo, *, tokens: bool) -> list[Embedding]:
    """Return the vectors of what each node says, of its context key and of its questions; fresh ones that it has as they are."""
    there = store.embeddings([node.id for node in nodes]) if store.model() == model else ()
    fresh = {(each.node, each.role, each.text_hash): each for each in there}
    needed = [
        each
        for each in wanted(nodes, questions_of(store, nodes))
        if isinstance(each.source, SpannedText) or (each.node.id, each.role, each.text_hash) not in fresh
    ]
    found = made(needed, embed_passages(embedder, [each.source for each in needed], token_codes=tokens).rows())
    known = [fresh.get((each.node, each.role, each.text_hash)) for each in found]
    return [each if kept is None else replace(kept, tokens=each.tokens) for each, kept in zip(found, known, strict=True)]
