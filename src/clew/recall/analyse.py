"""What does the question ask for?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from clew.recall.state import Recall
from clew.recall.word_search import quoted_phrases
from clew.words import query_terms


@dataclass(frozen=True, slots=True)
class Analyse:
    """Take the question apart into the terms that the word index knows, its quoted phrases, and the times that it names."""

    def __call__(self, recall: Recall) -> Recall:
        """Set the terms, the phrases, and the times as the question's clock reads them."""
        from clew.recall.when import when  # noqa: PLC0415 - only a question needs it

        text = recall.question.text
        read = when(text, now=recall.question.where.moment)
        return replace(recall, terms=tuple(query_terms(text)), phrases=quoted_phrases(text), when=read)
