"""The engine's side of the model: vectors where they can be had, and the reason where not.

A missing or failing model never costs a write and never an answer: memories are kept without
vectors, recall goes by words, and both say so. Vectors of another model are refused.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from clew.errors import (
    ClewError,
    InputError,
    ModelError,
    ModelMismatchError,
    ModelMissingError,
    clipped,
)
from clew.memories.embedding import (
    Embedded,
    Source,
    check_token_dimension,
    embed_passages,
    made,
    wanted,
)
from clew.memories.questions import questions_of
from clew.models import load_reranker
from clew.models.onnx import Lazy
from clew.ports import (
    Background,
    Embedder,
    EmbedRole,
    ModelInfo,
    Progress,
    Questioner,
    Questions,
    Reranker,
    SpannedText,
    Store,
    SupportsBackground,
    SupportsTokens,
)
from clew.search.state import QueryTokens, QueryVectors
from clew.settings import QuestionSettings
from clew.types import Embedding, Node

if TYPE_CHECKING:
    from clew.models.language_model import LanguageModel

QUICK_SECONDS = 0.001  # less than it takes to let another thread search meanwhile
NO_MODEL = "Recall is by words alone: model.embedder is 'none'."


def unheard(role: str, texts: int, seconds: float) -> None:
    """Tell nobody that the model was called."""


class Vectoriser:
    """Embeds with the configured model, under the store's name for it.

    `called` hears of every call: role, texts, seconds.
    """

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
        """Whether what is written gets token codes.

        The model gives them, and they are not turned off.
        """
        return self._token_codes and isinstance(self.embedder, SupportsTokens)

    def model(self) -> ModelInfo:
        """Return the name under which the store keeps this model's vectors."""
        if self.embedder is None:
            raise ModelMissingError(NO_MODEL)
        return ModelInfo(self.embedder.id, self.embedder.dimension)

    def passages(self, texts: Sequence[Source]) -> Embedded:
        """Return the vectors of texts to be stored with their token codes, or None and why.

        Whoever writes them asks the store in the writing transaction (`agree_on_model`). So a model
        that was seen to be the store's is not asked for before every text: if another process has
        changed it since, only the embedding was in vain.
        """
        return self._embed(
            EmbedRole.PASSAGE,
            lambda model: self._embedded(model, texts),
            len(texts),
            agreed=self._agreed,
        )

    def _embedded(self, model: Embedder, texts: Sequence[Source]) -> Embedded:
        return embed_passages(model, texts, token_codes=self._token_codes)

    def query(self, text: str) -> QueryVectors:
        """Return the vectors of a question, or none and why.

        A store without vectors is not worth embedding for, and needs no reason.
        """
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
            tokens.append(
                QueryTokens(
                    found.tokens[0], tuple((piece, model.count(piece)) for piece in text.split())
                )
            )
            return Embedded(found.vectors)

        vectors, notes, _ = self._embed(EmbedRole.QUERY, embed, 1, agreed=True)
        return QueryVectors(
            None if vectors is None else vectors[0], notes, tokens[0] if tokens else None
        )

    @property
    def background(self) -> Background:
        """What the model gives for a query and a text that have nothing to do with each other."""
        model: object = self.embedder
        return model.background if isinstance(model, SupportsBackground) else Background()

    def _embed(
        self, role: EmbedRole, embed: Callable[[Embedder], Embedded], texts: int, *, agreed: bool
    ) -> Embedded:
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
            cost = (
                "Recall is by words alone"
                if role is EmbedRole.QUERY
                else "Stored without a vector; clew reembed adds it later"
            )
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


# The engine's side of the reranker: scores where they can be had, and the reason where not. It
# never costs an answer.

NOT = "Not reranked"


class Reading:
    """Reads with the reranker that was given, or with the configured one, which is looked for when it is first wanted."""

    def __init__(self, given: Reranker | None, spec: str) -> None:
        self.given = given
        self._spec = spec
        self._found = Lazy(lambda: load_reranker(spec) if given is None else given)

    @property
    def name(self) -> str:
        """What reads, for traces: the id of what was given, or the name that is configured."""
        return self._spec if self.given is None else self.given.id

    def under(self, spec: str) -> Reading:
        """Return what reads where another reranker is configured.

        Itself where it is the same, so that it is loaded once.
        """
        return self if spec == self._spec else Reading(self.given, spec)

    def scores(
        self, question: str, texts: Sequence[str]
    ) -> tuple[Sequence[float] | None, tuple[str, ...]]:
        """Return how well each text answers, or None and why that is not known."""
        try:
            reranker = self._found()
            if reranker is None:
                return None, (f"{NOT}: rerank.model is 'none'.",)
            scores = [float(score) for score in reranker.score(question, texts)]
        except ClewError as error:  # not here, damaged, or no such model
            return None, (f"{NOT}: {error.message}",)
        except Exception as error:  # one of the user's own may raise anything, and no answer is worth less than its order
            return None, (
                f"{NOT}: {self.name} failed ({type(error).__name__}: {clipped(str(error))}).",
            )
        # Their sum too: two numbers may be finite and their distance not.
        if len(scores) != len(texts) or not math.isfinite(sum(map(abs, scores))):
            return None, (
                f"{NOT}: {self.name} gave {len(scores)} scores for {len(texts)} texts, or one that is no number.",
            )
        return scores, ()


# What makes the questions of memories, by the settings; loaded when the first memory wants some.

UNNAMED = "none"


class Rules:
    """The rules, read when they are first needed."""

    def __init__(self, most: int) -> None:
        self._most = most

    def questions(self, texts: Sequence[str]) -> Sequence[Questions]:
        """Return the questions of each text."""
        # Few memories get questions
        from clew.memories.question_rules import RuleQuestioner  # noqa: PLC0415

        return RuleQuestioner(most=self._most).questions(texts)


def questioner(settings: QuestionSettings, model: LanguageModel | None = None) -> Questioner | None:
    """Return what makes questions; None where none are made.

    `model` is the one of the settings under llm.
    """
    if not settings.enabled:
        return None
    rules = Rules(settings.most)
    if settings.generator == "rules":
        return rules
    if settings.model == UNNAMED and model is not None:
        from clew.models.questions import ModelQuestioner  # noqa: PLC0415 - as below

        return ModelQuestioner(model, rules, settings.most)
    if settings.model == UNNAMED:
        raise InputError(
            "questions.model",
            settings.model,
            "names no language model",
            "Name one, configure llm, or set questions.generator to rules.",
        )
    # Opens no connection, but needs the HTTP client
    from clew.models.questions import language_model  # noqa: PLC0415

    return language_model(
        settings.model,
        base=settings.endpoint,
        key=os.environ.get(settings.key_env, ""),
        timeout_seconds=settings.timeout_seconds,
        most=settings.most,
        otherwise=rules,
    )


# Moves a store to another model, or fills in vectors that are missing; stops and resumes anywhere.


@dataclass(frozen=True, slots=True)
class Reembedded:
    """How many nodes were embedded, and of which model the store's vectors are now."""

    model: str
    embedded: int


def reembed(
    store: Store,
    embedder: Embedder | None,
    *,
    batch_size: int,
    progress: Progress,
    token_codes: bool,
) -> Reembedded:
    """Give every live node a vector of this model, then search by it.

    Until then the old vectors serve.

    With `token_codes`, and a model that gives them, memories and chunks get codes where they have
    none; their vectors stay. Each batch is committed with the next begun only after it, so a killed
    run resumes where it stopped.
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
            # nothing was added since the last look, and nothing can be now
            if not store.unembedded(model.id, limit=1, tokens=tokens):
                store.activate(model)
                return Reembedded(model.id, done)


def _embeddings(
    nodes: tuple[Node, ...], store: Store, embedder: Embedder, model: ModelInfo, *, tokens: bool
) -> list[Embedding]:
    """Return the vectors of what each node says, of its context key and of its questions.

    Fresh ones that it has as they are.
    """
    there = store.embeddings([node.id for node in nodes]) if store.model() == model else ()
    fresh = {(each.node, each.role, each.text_hash): each for each in there}
    needed = [
        each
        for each in wanted(nodes, questions_of(store, nodes))
        if isinstance(each.source, SpannedText)
        or (each.node.id, each.role, each.text_hash) not in fresh
    ]
    found = made(
        needed,
        embed_passages(embedder, [each.source for each in needed], token_codes=tokens).rows(),
    )
    known = [fresh.get((each.node, each.role, each.text_hash)) for each in found]
    return [
        each if kept is None else replace(kept, tokens=each.tokens)
        for each, kept in zip(found, known, strict=True)
    ]
