"""What happened then? A question about nothing but a time is answered by time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from clew.ports import Sort, Store
from clew.recall.state import Hit, Place, Recall, Rejection, Relevance
from clew.times import iso
from clew.types import Filter, Node, NodeId
from clew.words import folded, query_terms, terms, words

if TYPE_CHECKING:  # as in `state`: the rules are loaded by a question that names a time
    from clew.recall.when import TimeSpan

PERIOD = "period"
STAGE = REASON = PERIOD
READ, READ_CHARACTERS = 50, 400  # of the hits, and of each of them, that are read for times: to read all took half a second
UNDATED = Relevance(probability=0.0, threshold=0.5, calibrated=False)  # where nothing is of the time that alone was asked for


def bounded(where: Filter, start: datetime | None, end: datetime | None) -> Filter:
    """Return a filter that also holds to what became true from `start` to `end`; None is open."""
    since = max((each for each in (where.since, start) if each is not None), default=None)
    until = min((each for each in (where.until, end) if each is not None), default=None)
    return replace(where, since=since, until=until)


def written(span: TimeSpan) -> frozenset[str]:
    """Return the terms by which a text may write a time as the question does: numbers and months, never "last week".

    >>> from clew.recall.when import when
    >>> [sorted(written(span)) for span in when("What happened in March 1999, and what last week?", now=datetime(2026, 3, 1)).spans]
    [['1999', 'march'], []]
    """
    from clew.recall.when.vocabulary import MONTHS, SHORT_MONTHS  # noqa: PLC0415 - only a question with a time needs it

    telling = (word for word in words(span.text) if any(map(str.isdigit, word)) or folded(word) in MONTHS.keys() | SHORT_MONTHS.keys())
    return frozenset(term for word in telling for term in query_terms(word))


def told_in(node: Node, spans: Sequence[TimeSpan]) -> bool:
    """Tell whether a text names a time that lies in one of the spans, read by the clock of the day that it is of.

    >>> from clew.recall.when import when
    >>> from clew.testing import node
    >>> party = node("party", "The launch party is on Friday 20 November 2026.")
    >>> [told_in(party, when(asked, now=datetime(2026, 11, 17)).spans) for asked in ("this Friday", "today")]
    [True, False]
    """
    from clew.recall.when import when  # noqa: PLC0415 - only a question with a time needs it

    named = [span for span in when(f"{node.title}\n{node.text[:READ_CHARACTERS]}", now=node.t_valid).spans if span.relation == "in"]
    return any(_within(each, span) for each in named for span in spans)


def _within(inner: TimeSpan, outer: TimeSpan) -> bool:
    begins = outer.start is None or (inner.start is not None and outer.start <= inner.start)
    return begins and (outer.end is None or (inner.end is not None and inner.end <= outer.end))


def undated(spans: Sequence[TimeSpan], *, told: int) -> str:
    """Return the note that says which time was read and that no memory is dated there."""
    read = " and ".join(f"“{span.text}” ({_from_to(span)})" for span in spans)
    instead = "the hits name that time in their words" if told else "the hits are the best by relevance alone"
    return f"No memory is dated in the time asked about, {read}: {instead}."


def _from_to(span: TimeSpan) -> str:
    ends = [None if end is None else iso(end)[:10] for end in (span.start, span.end)]
    if ends[0] == ends[1]:
        return str(ends[0])
    return " ".join(f"{word} {end}" for word, end in zip(("from", "to"), ends, strict=True) if end)


@dataclass(frozen=True, slots=True)
class Period:
    """Put what became true in the time asked about first, all of it alike; of what else was found only texts that name that time stay.

    Where nothing is of that time and no text names it, everything stays as it was found, with a note: an answer that is dated
    otherwise is worth more than none. Any question that asks about more than a time passes untouched.
    """

    limit: int
    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Set the hits, those of the period latest first; what is not of that time is counted as rejected."""
        when = recall.when
        if when is None or not when.alone:
            return recall
        listed = [node.id for node in self._latest(recall, when.spans)]
        inside = dict.fromkeys(listed)
        others = [hit for hit in recall.hits if hit.id not in inside]
        kept = self._naming(others, when.spans)
        notes = (undated(when.spans, told=len(kept)),) if when.spans and not listed else ()
        if not listed and not kept:
            return replace(recall, notes=recall.notes + notes, relevance=UNDATED if when.spans else None)
        hits = [Hit(id, 1.0, {PERIOD: Place(rank, 1.0, 1.0, 1.0)}) for rank, id in enumerate(listed, start=1)]
        gone = tuple(Rejection(id=hit.id, stage=STAGE, reason=REASON, value=0.0, limit=1.0) for hit in others if hit.id not in kept)
        left = [hit for hit in others if hit.id in kept]
        return replace(recall, hits=(*hits, *left), signals=None, rejected=recall.rejected + gone, notes=recall.notes + notes)

    def _latest(self, recall: Recall, spans: Sequence[TimeSpan]) -> list[Node]:
        where, most = recall.question.where, max(self.limit, recall.question.k)
        asked = [bounded(where, span.start, span.end) for span in spans] or [where]
        found = {node.id: node for each in asked for node in self.store.listing(each, sort=Sort.RECENT, limit=most)}
        in_order = sorted(found.values(), key=lambda node: node.id)
        return sorted(in_order, key=lambda node: node.t_valid, reverse=True)[:most]

    def _naming(self, hits: Sequence[Hit], spans: Sequence[TimeSpan]) -> frozenset[NodeId]:
        """Return those whose texts name one of the times: "founded in 1999" was noted later and answers all the same."""
        nodes = self.store.get([hit.id for hit in hits[:READ]]) if spans else {}
        times = [each for each in map(written, spans) if each]
        held = {id: set(terms(f"{node.title} {node.text}")) for id, node in nodes.items()} if times else {}
        writing = {id for id, found in held.items() if any(time <= found for time in times)}
        return frozenset(id for id, node in nodes.items() if id in writing or told_in(node, spans))
