"""What does the question ask for?"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from clew.recall.category_hints import category_hints
from clew.recall.state import Recall
from clew.recall.word_search import quoted_phrases
from clew.words import query_terms


def asked_terms(text: str, *, left_out: Collection[str] = ()) -> tuple[str, ...]:
    """Return the terms by which a question is searched, without those that are left out unless there are no others.

    >>> asked_terms("What did we decide in June?", left_out={"june"}), asked_terms("June?", left_out={"june"})
    (('decid',), ('june',))
    """
    said = query_terms(text)
    return tuple(term for term in said if term not in left_out) or tuple(said)


@dataclass(frozen=True, slots=True)
class Analyse:
    """Take the question apart: terms that the word index knows, quoted phrases, times, and the categories that it points to."""

    categories: tuple[str, ...] = ()
    """Those that a memory may have."""

    def __call__(self, recall: Recall) -> Recall:
        """Set the terms, the phrases, the categories, and the times as the question's clock reads them."""
        from clew.recall.when import when  # noqa: PLC0415 - only a question needs it

        text = recall.question.text
        read = when(text, now=recall.question.where.moment)
        hints = category_hints(text, self.categories)
        return replace(recall, terms=asked_terms(text), phrases=quoted_phrases(text), categories=hints, when=read)
