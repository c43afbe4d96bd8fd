"""A cross-encoder: reads a question and a text together and says how well one answers the other (U11).

Slower than comparing vectors by the length of the list, so it only ever reads the best of what was found. As in `onnx`, each
pair is run alone, on one thread, and several pairs side by side: a text's score never depends on what stands beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from clew.errors import ModelError
from clew.models.card import TOKENIZER, WEIGHTS, Card
from clew.models.lazy import Lazy
from clew.models.onnx import Session, available_cores, side_by_side
from clew.models.wordpiece import WordPiece

PAIR_TOKENS = 320  # of both together, as in all that was measured: of a longer text the beginning is read
QUESTION_TOKENS = 128  # of these at most for the question


class CrossEncoder:
    """Scores texts with a model in a folder, which is found and loaded on first use."""

    def __init__(self, card: Card, locate: Callable[[], Path], *, workers: int | None = None) -> None:
        """Take what the model is and a function that returns its folder."""
        self._card = card
        self._workers = workers or available_cores()
        self._model = Lazy(lambda: _Loaded(card, locate()))

    @property
    def id(self) -> str:
        """The name of the model and its weights."""
        return self._card.id

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return for each text how well it answers, in order: the model's logits, the higher the better."""
        if not texts:
            return []
        model, most = self._model(), min(self._card.max_tokens, PAIR_TOKENS)
        pairs = [model.tokenizer.encode_pair(question, text, max_tokens=most, first_tokens=QUESTION_TOKENS) for text in texts]
        return side_by_side(model.run, pairs, self._workers, size=lambda pair: len(pair[0]))


class _Loaded:
    """A model in memory."""

    def __init__(self, card: Card, folder: Path) -> None:
        self.tokenizer = WordPiece.from_file(folder / TOKENIZER)
        self._session = Session(folder / WEIGHTS, card.name)
        self._name = card.name

    def run(self, pair: tuple[list[int], int]) -> float:
        """Return the score of one pair: its tokens, and where the second text begins."""
        tokens, first = pair
        logits = self._session.run(tokens, types=[0] * first + [1] * (len(tokens) - first))
        if np.size(logits) != 1:
            raise ModelError(f"{self._name} gave an output of shape {np.shape(logits)} for one pair; a cross-encoder gives one number.")
        return float(np.reshape(logits, ()))
