"""Parse a question into index terms, quoted phrases, times and category hints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from clew.ports import Store
from clew.recall.state import Recall
from clew.recall.time_query import resolve_times
from clew.recall.word_search import quoted_phrases
from clew.words import query_terms, word_terms

# Words that hint at a built-in category without naming it. A user-defined category is matched by its name only.
_CUES = {
    "action": "task tasks todo",
    "decision": "decide decided agree agreed agreement",
    "event": "incident outage accident happened",
    "feedback": "complaint complained criticism praise",
    "insight": "lesson learned learnt takeaway",
    "plan": "planned planning roadmap intend",
    "preference": "prefer preferred favourite favorite dislike",
    "procedure": "steps runbook checklist workflow",
}


def category_hints(text: str, categories: Sequence[str]) -> tuple[str, ...]:
    """Return the categories that the words of a question hint at, in word order; most questions hint at none.

    >>> category_hints("What did we decide about the latest incident?", ("decision", "event", "preference"))
    ('decision', 'event')
    >>> category_hints("Which incident was it?", ("event", "incident")), category_hints("Where is the tea?", ("event",))
    (('incident',), ())
    """
    cues = _cues(tuple(categories))
    return tuple(dict.fromkeys(cues[term] for term in query_terms(text) if term in cues))


@lru_cache(maxsize=8)
def _cues(categories: tuple[str, ...]) -> dict[str, str]:
    """Map each cue term to its category; the name of a category takes precedence over a cue for another."""
    by_cue = {term: name for name in categories for term in word_terms(_CUES.get(name, ""))}
    by_name = {terms[0]: name for name in categories if len(terms := word_terms(name)) == 1}
    return by_cue | by_name


@dataclass(frozen=True, slots=True)
class Analyse:
    """Set the terms, phrases, category hints and times of a question; relative times are resolved from the time of the question."""

    categories: tuple[str, ...]
    """The categories that the settings allow."""
    times: bool
    """Whether times in the question are parsed."""
    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Return the recall with its question analysed."""
        text = recall.question.text
        categories = category_hints(text, self.categories)
        read = replace(recall, terms=tuple(query_terms(text)), phrases=quoted_phrases(text), categories=categories)
        if not self.times:
            return read
        from clew.when import when  # noqa: PLC0415 - loaded late: only a question needs the date grammar

        return resolve_times(replace(read, when=when(text, now=recall.question.where.moment)), store=self.store)
