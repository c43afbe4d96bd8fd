"""Read what a question asks for: index terms, quoted phrases, times, and the categories that its words point to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from clew.ports import Store
from clew.recall.state import Recall
from clew.recall.time_query import resolve_times
from clew.recall.word_search import quoted_phrases
from clew.words import query_terms, word_terms

# Words that ask for a category without naming it. A category of the user's own is known by its name alone.
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
    """Return the categories that a question's words point to, in the order of the words; most questions point to none.

    >>> category_hints("What did we decide about the latest incident?", ("decision", "event", "preference"))
    ('decision', 'event')
    >>> category_hints("Which incident was it?", ("event", "incident")), category_hints("Where is the tea?", ("event",))
    (('incident',), ())
    """
    cues = _cues(tuple(categories))
    return tuple(dict.fromkeys(cues[term] for term in query_terms(text) if term in cues))


@lru_cache(maxsize=8)
def _cues(categories: tuple[str, ...]) -> dict[str, str]:
    """Return the category that each term points to; a category's own name is stronger than another's cue."""
    by_cue = {term: name for name in categories for term in word_terms(_CUES.get(name, ""))}
    by_name = {terms[0]: name for name in categories if len(terms := word_terms(name)) == 1}
    return by_cue | by_name


@dataclass(frozen=True, slots=True)
class Analyse:
    """Set the terms, phrases, categories and times of a question; times are read from the question's own clock."""

    categories: tuple[str, ...]
    """Those that a memory may have."""
    times: bool
    """Whether the times that the question names are read."""
    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Return the recall with its question analysed."""
        text = recall.question.text
        categories = category_hints(text, self.categories)
        read = replace(recall, terms=tuple(query_terms(text)), phrases=quoted_phrases(text), categories=categories)
        if not self.times:
            return read
        from clew.when import when  # noqa: PLC0415 - the date grammar is needed by a question only

        return resolve_times(replace(read, when=when(text, now=recall.question.where.moment)), store=self.store)
