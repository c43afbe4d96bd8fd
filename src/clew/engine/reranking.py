"""The engine's side of the reranker: scores where they can be had, and the reason where not. It never costs an answer."""

from __future__ import annotations

import math
from collections.abc import Sequence

from clew.errors import ClewError, clipped
from clew.models import load_reranker
from clew.models.lazy import Lazy
from clew.ports import Reranker

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
        """Return what reads where another reranker is configured; itself where it is the same, so that it is loaded once."""
        return self if spec == self._spec else Reading(self.given, spec)

    def scores(self, question: str, texts: Sequence[str]) -> tuple[Sequence[float] | None, tuple[str, ...]]:
        """Return how well each text answers, or None and why that is not known."""
        try:
            reranker = self._found()
            if reranker is None:
                return None, (f"{NOT}: rerank.model is 'none'.",)
            scores = [float(score) for score in reranker.score(question, texts)]
        except ClewError as error:  # not here, damaged, or no such model
            return None, (f"{NOT}: {error.message}",)
        except Exception as error:  # one of the user's own may raise anything, and no answer is worth less than its order
            return None, (f"{NOT}: {self.name} failed ({type(error).__name__}: {clipped(str(error))}).",)
        # Their sum too: two numbers may be finite and their distance not.
        if len(scores) != len(texts) or not math.isfinite(sum(map(abs, scores))):
            return None, (f"{NOT}: {self.name} gave {len(scores)} scores for {len(texts)} texts, or one that is no number.",)
        return scores, ()
