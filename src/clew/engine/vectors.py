"""The engine's side of the model: vectors where they can be had, and the reason where not.

A missing or failing model never costs a write and never an answer: memories are kept without vectors,
recall goes by words, and both say so. Vectors of another model are refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np

from clew.errors import ModelError, ModelMismatchError, ModelMissingError
from clew.ingest.embedding import Embedded, Source, check_token_dimension, embed_passages
from clew.ports import Background, Embedder, EmbedRole, ModelInfo, SpannedText, Store, SupportsBackground, SupportsTokens
from clew.recall.state import QueryTokens, QueryVectors

QUICK_SECONDS = 0.001  # less than it takes to let another thread search meanwhile
NO_MODEL = "Recall is by words alone: model.embedder is 'none'."


def unheard(role: str, texts: int, seconds: float) -> None:
    """Tell nobody that the model was called."""


class Vectoriser:
    """Embeds with the configured model, under the store's name for it; `called` hears of every call: role, texts, seconds."""

    def __init__(
        self,
        embedder: Embedder | None,
        store: Store,
        *,
        token_codes: bool = True,
        called: Callable[[str, int, float], None] = unheard,
    ) -> None:
        self.embedder = embedder
        self._store = store
        self._token_codes = token_codes
        self._called = called
        self._query_seconds = math.inf  # what the last question took
        self._agreed = False  # whether the store was seen to hold vectors of this very model

    @property
    def makes_token_codes(self) -> bool:
        """Whether what is written gets token codes: the model gives them, and they are not turned off."""
        return self._token_codes and isinstance(self.embedder, SupportsTokens)

    def model(self) -> ModelInfo:
        """Return the name under which the store keeps this model's vectors."""
        if self.embedder is None:
            raise ModelMissingError(NO_MODEL)
        return ModelInfo(self.embedder.id, self.embedder.dimension)

    def passages(self, texts: Sequence[Source]) -> Embedded:
        """Return the vectors of texts to be stored with their token codes, or None and why.

        Whoever writes them asks the store in the writing transaction (`agree_on_model`). So a model that was seen to be the
        store's is not asked for before every text: if another process has changed it since, only the embedding was in vain.
        """
        return self._embed(EmbedRole.PASSAGE, lambda model: self._embedded(model, texts), len(texts), agreed=self._agreed)

    def _embedded(self, model: Embedder, texts: Sequence[Source]) -> Embedded:
        return embed_passages(model, texts, token_codes=self._token_codes)

    def query(self, text: str) -> QueryVectors:
        """Return the vectors of a question, or none and why; a store without vectors is not worth embedding for, and needs no reason."""
        if self.embedder is not None:
            if (kept := self._store.model()) is None:
                return QueryVectors(None)
            self._agree(kept)
        tokens: list[QueryTokens] = []

        def embed(model: Embedder) -> Embedded:
            if not self._token_codes or not isinstance(model, SupportsTokens):
                return Embedded(model.embed([text], role=EmbedRole.QUERY))
            found = model.embed_tokens([SpannedText.whole(text)], role=EmbedRole.QUERY)
            check_token_dimension(model, found.tokens)
            tokens.append(QueryTokens(found.tokens[0], tuple((piece, model.count(piece)) for piece in text.split())))
            return Embedded(found.vectors)

        vectors, notes, _ = self._embed(EmbedRole.QUERY, embed, 1, agreed=True)
        return QueryVectors(None if vectors is None else vectors[0], notes, tokens[0] if tokens else None)

    @property
    def background(self) -> Background:
        """What the model gives for a query and a text that have nothing to do with each other."""
        model: object = self.embedder
        return model.background if isinstance(model, SupportsBackground) else Background()

    def _embed(self, role: EmbedRole, embed: Callable[[Embedder], Embedded], texts: int, *, agreed: bool) -> Embedded:
        if self.embedder is None:
            return Embedded(None, (NO_MODEL,))
        if not agreed:
            self.check()
        if not texts:
            return Embedded(np.empty((0, 0), np.float32))
        began = perf_counter()
        try:
            found = embed(self.embedder)
        except ModelMismatchError:
            raise
        except ModelError as error:
            cost = "Recall is by words alone" if role is EmbedRole.QUERY else "Stored without a vector; clew reembed adds it later"
            return Embedded(None, (f"{cost}: {error.message}",))
        taken = perf_counter() - began
        if role is EmbedRole.QUERY:
            self._query_seconds = taken
        self._called(role, texts, taken)
        return found

    def quick(self) -> bool:
        """Tell whether a question is embedded in no time, as by a table of words, going by the last one."""
        return self._query_seconds < QUICK_SECONDS

    def check(self) -> None:
        """Refuse to mix the vectors of two models."""
        self._agree(self._store.model())

    def _agree(self, kept: ModelInfo | None) -> None:
        if self.embedder is not None and kept is not None and kept.id != self.embedder.id:
            raise ModelMismatchError(
                f"The store holds vectors of {kept.id}; the configured model is {self.embedder.id}. "
                "Keep to the store's model with CLEW_MODEL__EMBEDDER, or move the store to the new one: clew reembed",
                store_model=kept.id,
                configured=self.embedder.id,
            )
        self._agreed = kept is not None and self.embedder is not None
