"""The engine's side of the reranker: scores where they can be had, and the reason where not. It never costs an answer."""

from __future__ import annotations

import math
from collections.abc import Sequence

from clew.errors import ModelError
from clew.models import load_reranker
from clew.ports import Reranker

NOT = "Not reranked"


class Reading:
    """Reads with the reranker that was given, or with the configured one, which is looked for when it is first wanted."""

    def __init__(self, given: Reranker | None, spec: str) -> None:
        self.given = given
        self._spec = spec
        self._found = given

    @property
    def name(self) -> str:
        """What reads, for traces: the id of what was given, or the name that is configured."""
        return self._spec if self.given is None else self.given.id

    def scores(self, question: str, texts: Sequence[str]) -> tuple[Sequence[float] | None, tuple[str, ...]]:
        """Return how well each text answers, or None and why that is not known."""
        if self._found is None:
            self._found = load_reranker(self._spec)
        if self._found is None:
            return None, (f"{NOT}: rerank.model is 'none'.",)
        try:
            scores = [float(score) for score in self._found.score(question, texts)]
        except ModelError as error:
            return None, (f"{NOT}: {error.message}",)
        if len(scores) != len(texts) or not all(map(math.isfinite, scores)):
            return None, (f"{NOT}: {self._found.id} gave {len(scores)} scores for {len(texts)} texts, or one that is no number.",)
        return scores, ()
