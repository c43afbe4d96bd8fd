"""Which kind of memory does a question ask for? "What did we decide?" is about decisions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from clew.words import query_terms, word_terms

# What asks for a category without naming it. A category of one's own is known by its name alone.
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
