"""What does a time in the question do to the order? The latest comes first where the latest is asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from clew.ports import Store
from clew.recall.fetch import fetched
from clew.recall.period import PERIOD
from clew.recall.score import with_components
from clew.recall.state import DENSE, Component, Hit, Recall
from clew.types import Node, NodeId, Signals
from clew.words import terms

if TYPE_CHECKING:
    from clew.recall.when import TimeSpan, When

RELEVANCE, TIME = "semantic", "time"
STEP = 1e-6  # the least by which a score exceeds the next: enough for every comparison, too little to be seen


def descending(scores: Collection[float]) -> Iterator[float]:
    """Yield the scores from the highest down, equal ones a step apart so that a place can be told by its score.

    >>> list(descending([0.4, 0.9, 0.9]))
    [0.9, 0.899999, 0.4]
    """
    last = float("inf")
    for score in sorted(scores, reverse=True):
        last = min(score, last - STEP)
        yield last


def in_place(hits: Sequence[Hit]) -> list[Hit]:
    """Return hits in the order given: each gets the score that is due to its place, and what it gained or lost by that as a component.

    They are the scores that were there before, so that the scale stays what it was.

    >>> old, new = (Hit(id, value, {}, {"semantic": Component(value, 1.0)}) for id, value in (("old", 0.75), ("new", 0.5)))
    >>> [(hit.id, hit.score, hit.components["time"]) for hit in in_place([new, old])]
    [('new', 0.75, Component(value=0.25, weight=1.0)), ('old', 0.5, Component(value=-0.25, weight=1.0))]
    """
    due = zip(hits, descending([hit.score for hit in hits]), strict=True)
    return [with_components(hit, {TIME: Component(score - hit.score, 1.0)}) for hit, score in due]


def inside(moment: datetime, spans: Sequence[TimeSpan]) -> bool:
    """Tell whether a moment lies in any of the spans, ends included."""
    return any((span.start is None or span.start <= moment) and (span.end is None or moment <= span.end) for span in spans)


@dataclass(frozen=True, slots=True)
class Chronology:
    """Order what is relevant by time where the question asks for the latest or the earliest, and lift what lies in the time it names.

    A question without a time passes untouched.
    """

    order: bool
    share: float
    cosine: float
    """As a share of the best: what holds none of the question's telling words must be as close to it as that."""
    period_weight: float
    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Add the components `period` and `time` to the hits, and put them in the order of their scores."""
        when = recall.when
        wished = when is not None and self.order and (when.latest != when.earliest or when.alone)
        lifted = when is not None and self.period_weight > 0 and when.spans
        if when is None or not (wished or lifted) or not recall.hits or any(RELEVANCE not in hit.components for hit in recall.hits):
            return recall
        hits = list(recall.hits)
        known = self._signals(recall, hits)
        if lifted:
            weight = self.period_weight
            hits = [with_components(hit, {PERIOD: Component(float(inside(known[hit.id].t_valid, when.spans)), weight)}) for hit in hits]
        hits.sort(key=lambda hit: (-hit.score, hit.id))
        return replace(recall, hits=tuple(self._in_order(hits, known, when, recall) if wished else hits))

    def _signals(self, recall: Recall, hits: Sequence[Hit]) -> dict[NodeId, Signals]:
        known = recall.signals or {}
        missing = [hit.id for hit in hits if hit.id not in known]
        found = {**known, **(self.store.signals(missing) if missing else {})}
        # What was forgotten meanwhile has no time; it drops out when it is fetched.
        return {hit.id: found.get(hit.id) or Signals(recall.question.where.now, 0.0, 0) for hit in hits}

    def _in_order(self, hits: Sequence[Hit], known: Mapping[NodeId, Signals], when: When, recall: Recall) -> list[Hit]:
        """Put the relevant ones before all others, in the order of time; of equal times the better score stays ahead.

        What is not true yet is nobody's latest, unless nothing else is there. What happened last or first is not told by when somebody
        told of it: what has no time of its own comes behind what has. Where fewer than half of the relevant have one, all go by the day
        that they are of, so that what was told on one day, as in an import, stays in its order. What holds now is told by when it was
        told, where nobody dated it.
        """
        now = recall.question.where.moment
        relevant = hits if when.alone else self._relevant(hits, recall)  # where only a time is asked about, all of that time is
        if when.spans:  # "the latest in March" is none of April
            relevant = [hit for hit in relevant if inside(known[hit.id].t_valid, when.spans)]
        relevant = [hit for hit in relevant if known[hit.id].t_valid <= now] or relevant
        first = sorted(relevant, key=lambda hit: known[hit.id].t_valid, reverse=not when.earliest)
        if not when.current and not when.alone:
            if 2 * sum(known[hit.id].dated for hit in relevant) < len(relevant):
                first = sorted(relevant, key=lambda hit: known[hit.id].t_valid.date(), reverse=not when.earliest)
            else:
                first.sort(key=lambda hit: not known[hit.id].dated)
        ahead = {hit.id for hit in first}
        return in_place([*first, *(hit for hit in hits if hit.id not in ahead)]) if first else list(hits)

    def _relevant(self, hits: Sequence[Hit], recall: Recall) -> list[Hit]:
        """Return what is worth enough by the usual measure, and holds a telling word of the question or means nearly what the best does.

        Among a few memories the first alone says little: the best of them is made 1, and the others are seldom far from it.
        """
        from clew.recall.telling import telling  # noqa: PLC0415 - its word lists take 40 ms to load, which only a recall should pay

        least = self.share * max(hit.components[RELEVANCE].value for hit in hits)
        worthy = [hit for hit in hits if hit.components[RELEVANCE].value >= least]
        words = telling(recall.question.text)
        asked = {term for term, word in words.items() if not word.name} or words.keys()  # whom it is about is said by many
        cosines = {hit.id: hit.channels[DENSE].score for hit in worthy if DENSE in hit.channels}
        if not self.cosine or not (asked or cosines):
            return worthy
        near = self.cosine * max(cosines.values(), default=0.0)
        read = fetched(recall, [hit.id for hit in worthy], store=self.store).nodes if asked else {}
        holding = {hit.id for hit in worthy if hit.id in read and not asked.isdisjoint(_said(read[hit.id]))}
        return [hit for hit in worthy if hit.id in holding or cosines.get(hit.id, -1.0) >= near] or worthy


def _said(node: Node) -> list[str]:
    return terms(f"{node.title}\n{node.text}")
