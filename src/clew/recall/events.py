"""When was that, and is anything of that time?

"Before we moved" is dated by the memory that tells of the move, if there is one and no other that tells of it too. A time that some
memory is of is searched for by its dates alone: by its words "What did we decide in June 2026?" would find whatever names the year.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from clew.ports import Sort, Store
from clew.recall.analyse import asked_terms
from clew.recall.period import bounded
from clew.recall.state import Recall
from clew.types import BEGINNING, Filter, Node
from clew.words import query_terms, word_terms

if TYPE_CHECKING:  # as in `state`: the rules are loaded by a question that names a time
    from clew.recall.when import TimeSpan, When
    from clew.recall.when.values import Event

MOST_EVENTS = 8  # of a question that are looked for, each with a search of its own; more are a text rather than a question
EVENT_RULE = "event "  # what a span is called that an event has given, with the memory that dated it
LOOKED_AT = 20  # memories that hold the most telling of the event's words; more than one that holds all is too many already


@dataclass(frozen=True, slots=True)
class Events:
    """Resolve the events that a question places itself by, and leave the words of a time out where some memory is of that time.

    A note says which times stayed open: they are searched as words.
    """

    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Set the times anew, with the spans that events have given, and the terms."""
        when = recall.when
        return recall if when is None else self._without_dates(self._resolved(recall, when) if when.unresolved else recall)

    def _without_dates(self, recall: Recall) -> Recall:
        # A question about nothing but a time is answered by texts that write it too.
        spans = recall.when.spans if recall.when is not None and not recall.when.alone else ()
        dates = frozenset(term for span in spans if self._is_any_of(span, recall.question.where) for term in query_terms(span.text))
        return replace(recall, period_terms=dates, terms=asked_terms(recall.question.text, left_out=dates)) if dates else recall

    def _is_any_of(self, span: TimeSpan, where: Filter) -> bool:
        """Tell whether any memory is of a time; the words that place a question by an event stay, for they tell what it is about."""
        in_time = bounded(where, span.start, span.end)
        return not span.rule.startswith(EVENT_RULE) and bool(self.store.listing(in_time, sort=Sort.RECENT, limit=1))

    def _resolved(self, recall: Recall, when: When) -> Recall:
        for event in when.events[:MOST_EVENTS]:
            span = self._span(event, recall)
            if span is not None:
                when = _with(when, event, span)
        notes = tuple(f"The time “{text}” could not be resolved and was searched as words." for text in when.unresolved)
        return replace(recall, when=when, notes=recall.notes + notes)

    def _span(self, event: Event, recall: Recall) -> TimeSpan | None:
        from clew.recall.when.values import TimeSpan  # noqa: PLC0415 - only an event needs it

        node = self._told(event, recall)
        ends = None if node is None else event.placed(*_dated(node))
        if node is None or ends is None:
            return None
        return TimeSpan(*ends, event.text, event.first, event.last, f"{EVENT_RULE}{node.root or node.id}", event.relation)

    def _told(self, event: Event, recall: Recall) -> Node | None:
        """Return the one memory that holds every telling word of the event; of several that tell of one day the first."""
        asked = query_terms(event.clause, compounds=False)
        if not asked:
            return None
        found = self.store.get([match.id for match in self.store.sparse(asked, recall.question.where, limit=LOOKED_AT)])
        dated = [node for node in found.values() if node.t_valid != BEGINNING]
        told = [node for node in dated if set(asked) <= set(word_terms(f"{node.title} {node.text}"))]
        days = {node.t_valid.date() for node in told}
        return min(told, key=lambda node: (node.t_valid, node.id)) if len(days) == 1 else None


def _dated(node: Node) -> tuple[datetime, datetime]:
    """Return when what a memory tells of took place: the one time that its text names, read by the memory's own; else that."""
    from clew.recall.when import when  # noqa: PLC0415 - only an event needs it

    spans = [span for span in when(node.text, now=node.t_valid).spans if span.relation == "in"]
    if len(spans) == 1 and spans[0].start is not None and spans[0].end is not None:
        return spans[0].start, spans[0].end
    return node.t_valid, node.t_valid


def _with(when: When, event: Event, span: TimeSpan) -> When:
    left = tuple(text for text in when.unresolved if text != event.text)
    events = tuple(each for each in when.events if each != event)
    return replace(when, spans=(*when.spans, span), unresolved=left, events=events, relation=when.relation or span.relation)
