"""What does the question ask for?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from clew.recall.state import Recall
from clew.words import query_terms


@dataclass(frozen=True, slots=True)
class Analyse:
    """Take the question apart into the terms that the word index knows."""

    def __call__(self, recall: Recall) -> Recall:
        """Set the terms."""
        return replace(recall, terms=tuple(query_terms(recall.question.text)))
