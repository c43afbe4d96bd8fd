"""Moves a store to another model, or fills in vectors that are missing; stops and resumes anywhere."""

from __future__ import annotations

from dataclasses import dataclass

from clew.errors import ModelMissingError
from clew.ingest.embedding import made, wanted
from clew.ingest.questions.asking import questions_of
from clew.ports import Embedder, EmbedRole, ModelInfo, Progress, Store
from clew.types import Embedding, Node


@dataclass(frozen=True, slots=True)
class Reembedded:
    """How many vectors were made, and of which model the store's are now."""

    model: str
    embedded: int


def reembed(store: Store, embedder: Embedder | None, *, batch_size: int, progress: Progress) -> Reembedded:
    """Give every live node a vector of this model, then search by it; until then the old vectors serve.

    Each batch is committed with the next begun only after it, so a killed run resumes where it stopped.
    """
    if embedder is None:
        raise ModelMissingError(
            "There is no model to embed with: model.embedder is 'none'. Name one, for example: clew reembed --model arctic-embed-s"
        )
    model = ModelInfo(embedder.id, embedder.dimension)
    total, done = int(store.stats()["live"]), 0
    progress(f"embedding with {model.id}", 0, total)
    while True:
        while nodes := store.unembedded(model.id, limit=batch_size):
            store.put(_embeddings(nodes, store, embedder), model)  # of what each says, of its context key and of its questions
            done += len(nodes)
            progress(f"embedding with {model.id}", done, total)
        with store.transaction():
            if not store.unembedded(model.id, limit=1):  # nothing was added since the last look, and nothing can be now
                store.activate(model)
                return Reembedded(model.id, done)


def _embeddings(nodes: tuple[Node, ...], store: Store, embedder: Embedder) -> list[Embedding]:
    needed = list(wanted(nodes, questions_of(store, nodes)))
    return made(needed, embedder.embed([each.text for each in needed], role=EmbedRole.PASSAGE))
