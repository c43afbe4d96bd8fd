"""Parse a question into index terms, quoted phrases, times and category hints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from clew.ports import Sort, Store
from clew.search.score import said_by
from clew.search.state import BestConfidence, Hit, Place, Recall, Rejection
from clew.search.word_search import quoted_phrases
from clew.text.words import fold, query_terms, terms, word_terms, words
from clew.times import iso
from clew.types import BEGINNING, Filter, Node, NodeId

if TYPE_CHECKING:
    from clew.text.dates.values import Event, TimeSpan, When

# Resolve the times in a question, and answer questions about a period alone.
#
# "Before we moved" is resolved by the one memory about the move. If any memory is dated in a period
# that the question
# names, the words of the period are removed from the word search: "What did we decide in June
# 2026?" would otherwise
# match every text that contains the year.

PERIOD = "period"
MAX_EVENTS = 8  # events looked up per question; a text with more is not a question
EVENT_CANDIDATES = 20  # memories read to date an event; exactly one must contain all its words
EVENT_RULE = "event "  # rule prefix of a span that was resolved by a memory
# hits, and characters of each, that are parsed for dates: parsing all took half a second
MAX_READ, MAX_CHARACTERS = 50, 400
# the relevance of small talk in an answer by period: below half of the best, as an unrelated hit
SMALL_TALK_SHARE = 0.25
# nothing is dated in the period
UNDATED = BestConfidence(value=0.0, threshold=0.5, calibrated=False)


def query_terms_without(text: str, left_out: frozenset[str]) -> tuple[str, ...]:
    """Return the index terms of a query except `left_out`, or all of them if none would remain.

    >>> query_terms_without("What did we decide in June?", frozenset({"june"}))
    ('decid',)
    >>> query_terms_without("June?", frozenset({"june"}))
    ('june',)
    """
    asked = query_terms(text)
    return tuple(term for term in asked if term not in left_out) or tuple(asked)


def resolve_times(recall: Recall, *, store: Store) -> Recall:
    """Resolve events by memories, and remove words that name a time which is searched by date from the search terms.

    These are the words of periods that have memories, and "latest" or "earliest" where the hits are
    ordered by time.
    """
    if recall.when is None:
        return recall
    if recall.when.unresolved:
        recall = _date_events(recall, recall.when, store)
    when = recall.when
    # A question about a period alone is also answered by texts that mention it, so its words stay.
    spans = when.spans if when is not None and not when.alone else ()
    dated = [span for span in spans if _has_memories(span, recall.question.where, store)]
    left_out = {term for span in dated for term in query_terms(span.text)} | (
        _order_terms(recall, when) if when is not None else set()
    )
    if not left_out:
        return recall
    terms = query_terms_without(recall.question.text, frozenset(left_out))
    return replace(recall, terms=terms, text_without_times=when.rest if when is not None else "")


def _order_terms(recall: Recall, when: When) -> set[str]:
    """Return the terms of words such as "latest" that ask for an order by time."""
    if when.latest == when.earliest or when.alone:
        return set()
    spans = {term for span in when.spans for term in query_terms(span.text)}
    return set(recall.terms) - set(query_terms(when.rest)) - spans


def _has_memories(span: TimeSpan, where: Filter, store: Store) -> bool:
    """Return whether any memory is dated in a span.

    False for events, whose words are the topic of the question.
    """
    in_span = within_dates(where, span.start, span.end)
    return not span.rule.startswith(EVENT_RULE) and bool(
        store.listing(in_span, sort=Sort.RECENT, limit=1)
    )


def within_dates(where: Filter, start: datetime | None, end: datetime | None) -> Filter:
    """Return the filter restricted to valid times from `start` to `end`; None is unbounded."""
    since = max((each for each in (where.since, start) if each is not None), default=None)
    until = min((each for each in (where.until, end) if each is not None), default=None)
    return replace(where, since=since, until=until)


# --- events ---


def _date_events(recall: Recall, when: When, store: Store) -> Recall:
    for event in when.events[:MAX_EVENTS]:
        span = _event_span(event, recall.question.where, store)
        if span is not None:
            unresolved = tuple(text for text in when.unresolved if text != event.text)
            events = tuple(each for each in when.events if each != event)
            spans, relation = (*when.spans, span), when.relation or span.relation
            when = replace(
                when, spans=spans, unresolved=unresolved, events=events, relation=relation
            )
    notes = tuple(
        f"The time “{text}” could not be resolved and was searched as words."
        for text in when.unresolved
    )
    return replace(recall, when=when, notes=recall.notes + notes)


def _event_span(event: Event, where: Filter, store: Store) -> TimeSpan | None:
    from clew.text.dates.values import TimeSpan  # noqa: PLC0415 - only an event needs it

    node = _memory_of_event(event, where, store)
    ends = None if node is None else event.placed(*_dates_of(node))
    if node is None or ends is None:
        return None
    return TimeSpan(
        *ends,
        event.text,
        event.first,
        event.last,
        f"{EVENT_RULE}{node.root or node.id}",
        event.relation,
    )


def _memory_of_event(event: Event, where: Filter, store: Store) -> Node | None:
    """Return the memory that contains every content word of the event.

    None if there are several days to choose from.
    """
    asked = query_terms(event.clause, compounds=False)
    if not asked:
        return None
    found = store.get([match.id for match in store.sparse(asked, where, limit=EVENT_CANDIDATES)])
    dated = [node for node in found.values() if node.t_valid != BEGINNING]
    holding = [node for node in dated if set(asked) <= set(word_terms(f"{node.title} {node.text}"))]
    days = {node.t_valid.date() for node in holding}
    return min(holding, key=lambda node: (node.t_valid, node.id)) if len(days) == 1 else None


def _dates_of(node: Node) -> tuple[datetime, datetime]:
    """Return the dates of an event: the only date in the memory's text, or the memory's own."""
    from clew.text.dates.when import when  # noqa: PLC0415 - only an event needs it

    spans = [span for span in when(node.text, now=node.t_valid).spans if span.relation == "in"]
    if len(spans) == 1 and spans[0].start is not None and spans[0].end is not None:
        return spans[0].start, spans[0].end
    return node.t_valid, node.t_valid


# --- questions about a category at a time ---


def category_members(recall: Recall, *, limit: int, store: Store) -> list[NodeId]:
    """Return the newest memories of the category that the question asks for, in the periods that it names.

    "Latest incident" is answered by an event whose text does not say "incident", which no channel
    proposes.
    """
    when, where = recall.when, recall.question.where
    allowed = where.categories or recall.categories
    categories = tuple(name for name in recall.categories if name in allowed)
    if not recall.category_alone or when is None or not categories:
        return []
    narrowed = replace(where, categories=categories)
    if when.latest != when.earliest:
        order = Sort.RECENT  # of the earliest only the newest are listed: there is no other order
        return [node.id for node in store.listing(narrowed, sort=order, limit=limit)]
    return [node.id for node in _dated_in(when.spans, narrowed, limit, store)]


# --- questions about a period alone ---


def answer_by_period(
    recall: Recall, *, limit: int, store: Store, small_talk: Callable[[str], bool]
) -> Recall:
    """Put the memories dated in the period first, latest first.

    Of the other hits keep those that mention the period.

    Small talk comes behind what says something.

    If nothing is dated in the period and no text mentions it, all hits stay, with a note. A
    question about more than a period is returned unchanged. The number of listed memories does not
    depend on k, because TimeOrder assigns scores by position.
    """
    when = recall.when
    if when is None or not when.alone:
        return recall
    nodes = {node.id: node for node in _dated_in(when.spans, recall.question.where, limit, store)}
    listed = list(nodes)
    if (least := recall.question.min_similarity) and recall.vector is not None:
        cosines = store.cosines(recall.vector, listed)
        listed = [id for id in listed if cosines.get(id, least) >= least]
    inside = dict.fromkeys(listed)
    others = [hit for hit in recall.hits if hit.id not in inside]
    naming = _naming(others, when.spans, store)
    notes = (_undated_note(when.spans, naming=bool(naming)),) if when.spans and not listed else ()
    if not listed and not naming:
        return replace(
            recall, notes=recall.notes + notes, best_confidence=UNDATED if when.spans else None
        )
    worth = {id: SMALL_TALK_SHARE if small_talk(said_by(nodes[id])) else 1.0 for id in listed}
    hits = [
        Hit(id, worth[id], {PERIOD: Place(rank, 1.0, worth[id], 1.0)})
        for rank, id in enumerate(listed, start=1)
    ]
    hits.sort(key=lambda hit: -hit.score)
    rejected = tuple(
        Rejection(id=hit.id, stage=PERIOD, reason=PERIOD, value=0.0, limit=1.0)
        for hit in others
        if hit.id not in naming
    )
    kept = [hit for hit in others if hit.id in naming]
    return replace(
        recall,
        hits=(*hits, *kept),
        signals=None,
        rejected=recall.rejected + rejected,
        notes=recall.notes + notes,
    )


def _dated_in(spans: Sequence[TimeSpan], where: Filter, limit: int, store: Store) -> list[Node]:
    asked = [within_dates(where, span.start, span.end) for span in spans] or [where]
    found = {
        node.id: node
        for each in asked
        for node in store.listing(each, sort=Sort.RECENT, limit=limit)
    }
    by_id = sorted(found.values(), key=lambda node: node.id)
    return sorted(by_id, key=lambda node: node.t_valid, reverse=True)[:limit]


def _naming(hits: Sequence[Hit], spans: Sequence[TimeSpan], store: Store) -> frozenset[NodeId]:
    """Return the hits whose texts mention one of the periods.

    "founded in 1999" answers although it was recorded later.
    """
    nodes = store.get([hit.id for hit in hits[:MAX_READ]]) if spans else {}
    dates = [each for each in map(date_terms, spans) if each]
    held = (
        {id: set(terms(f"{node.title} {node.text}")) for id, node in nodes.items()} if dates else {}
    )
    writing = {id for id, found in held.items() if any(date <= found for date in dates)}
    return frozenset(id for id, node in nodes.items() if id in writing or names_period(node, spans))


def date_terms(span: TimeSpan) -> frozenset[str]:
    """Return the index terms of numbers and month names in the text of a span.

    >>> from clew.text.dates.when import when
    >>> spans = when("What happened in March 1999, and what last week?", now=datetime(2026, 3, 1)).spans
    >>> [sorted(date_terms(span)) for span in spans]
    [['1999', 'march'], []]
    """
    # Only a question with a time needs it
    from clew.text.dates.vocabulary import MONTHS, SHORT_MONTHS  # noqa: PLC0415

    months = MONTHS.keys() | SHORT_MONTHS.keys()
    dated = (
        word for word in words(span.text) if any(map(str.isdigit, word)) or fold(word) in months
    )
    return frozenset(term for word in dated for term in query_terms(word))


def names_period(node: Node, spans: Sequence[TimeSpan]) -> bool:
    """Return whether a text mentions a date inside one of the spans.

    Relative dates are resolved from the memory's date.

    >>> from clew.text.dates.when import when
    >>> from clew.testing import node
    >>> party = node("party", "The launch party is on Friday 20 November 2026.")
    >>> [names_period(party, when(asked, now=datetime(2026, 11, 17)).spans) for asked in ("this Friday", "today")]
    [True, False]
    """
    from clew.text.dates.when import when  # noqa: PLC0415 - only a question with a time needs it

    text = f"{node.title}\n{node.text[:MAX_CHARACTERS]}"
    named = [span for span in when(text, now=node.t_valid).spans if span.relation == "in"]
    return any(_within(each, span) for each in named for span in spans)


def _within(inner: TimeSpan, outer: TimeSpan) -> bool:
    begins = outer.start is None or (inner.start is not None and outer.start <= inner.start)
    return begins and (outer.end is None or (inner.end is not None and inner.end <= outer.end))


def _undated_note(spans: Sequence[TimeSpan], *, naming: bool) -> str:
    read = " and ".join(f"“{span.text}” ({_from_to(span)})" for span in spans)
    instead = (
        "the hits name that time in their words"
        if naming
        else "the hits are the best by relevance alone"
    )
    return f"No memory is dated in the time asked about, {read}: {instead}."


def _from_to(span: TimeSpan) -> str:
    ends = [None if end is None else iso(end)[:10] for end in (span.start, span.end)]
    if ends[0] == ends[1]:
        return str(ends[0])
    return " ".join(f"{word} {end}" for word, end in zip(("from", "to"), ends, strict=True) if end)


# Words that hint at a built-in category without naming it. A user-defined category is matched by
# its name only.
_CUES = {
    "action": "task tasks todo",
    "decision": "decide decided agree agreed agreement",
    "event": "incident outage accident happened",
    "feedback": "complaint complained criticism praise",
    "instruction": "instructions rule rules guideline guidelines always never",
    "insight": "lesson learned learnt takeaway",
    "plan": "planned planning roadmap intend",
    "preference": "prefer preferred favourite favorite dislike",
    "procedure": "steps runbook checklist workflow",
}


def category_hints(text: str, categories: Sequence[str]) -> tuple[str, ...]:
    """Return the categories that the words of a question hint at, in word order.

    Most questions hint at none.

    >>> category_hints("What did we decide about the latest incident?", ("decision", "event", "preference"))
    ('decision', 'event')
    >>> category_hints("Which incident was it?", ("event", "incident")), category_hints("Where is the tea?", ("event",))
    (('incident',), ())
    """
    cues = _cues(tuple(categories))
    return tuple(dict.fromkeys(cues[term] for term in query_terms(text) if term in cues))


@lru_cache(maxsize=8)
def _cues(categories: tuple[str, ...]) -> dict[str, str]:
    """Map each cue term to its category.

    The name of a category takes precedence over a cue for another.
    """
    by_cue = {term: name for name in categories for term in word_terms(_CUES.get(name, ""))}
    by_name = {terms[0]: name for name in categories if len(terms := word_terms(name)) == 1}
    return by_cue | by_name


@dataclass(frozen=True, slots=True)
class Analyse:
    """Set the terms, phrases, category hints and times of a question.

    Relative times are resolved from the time of the question.
    """

    categories: tuple[str, ...]
    """The categories and triggers that the settings allow."""
    times: bool
    """Whether times in the question are parsed."""
    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Return the recall with its question analysed."""
        text = recall.question.text
        categories = category_hints(text, self.categories)
        read = replace(
            recall,
            terms=tuple(query_terms(text)),
            phrases=quoted_phrases(text),
            categories=categories,
        )
        if not self.times:
            return read
        # Loaded late: only a question needs the date grammar
        from clew.text.dates.when import when  # noqa: PLC0415

        timed = resolve_times(
            replace(read, when=when(text, now=recall.question.where.moment)), store=self.store
        )
        return (
            replace(timed, category_alone=self._asks_for_a_category(timed)) if categories else timed
        )

    def _asks_for_a_category(self, recall: Recall) -> bool:
        """Return whether the question names a period or an order by time and, besides, only words that hint at a category."""
        when, cues = recall.when, _cues(tuple(self.categories))
        if when is None or when.alone or not (when.spans or when.latest != when.earliest):
            return False
        spans = {term for span in when.spans for term in query_terms(span.text)}
        return all(term in cues or term in spans for term in recall.terms)
