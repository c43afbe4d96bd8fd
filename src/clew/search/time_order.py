"""Order hits by time where the question asks for it, and rank a fact that is not valid yet below the fact it replaces."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from clew.ports import Store
from clew.search.analyse import PERIOD, SMALL_TALK_SHARE
from clew.search.score import with_components
from clew.search.state import CATEGORY, Component, Hit, LazyHits, Recall
from clew.types import SUPERSEDES, NodeId, Signals

if TYPE_CHECKING:
    from clew.text.dates.values import TimeSpan, When

RELEVANCE, TIME, NOT_YET = "semantic", "time", "not_yet"
STEP = 1e-6  # smallest gap between two scores: enough to fix the order, too small to be visible
# Minimum relevance of a hit that is ordered by time, relative to the best. Unrelated texts have a
# relevance near 0, so half
# of the best excludes them in small stores too.
MIN_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class TimeOrder:
    """Reorder hits by the times in the question.

    Latest or earliest first, the named period up, future facts down.

    A question without a time is about now: then only facts that are not valid yet are moved.
    """

    period_weight: float
    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Add the components `period`, `time` and `not_yet` to the hits and sort them by score."""
        return self._future_facts(self._by_question(recall))

    def _by_question(self, recall: Recall) -> Recall:
        when = recall.when
        if when is None or not recall.hits:
            return recall
        ordered = when.latest != when.earliest or when.alone
        if not ordered and not (self.period_weight and when.spans):
            return recall
        hits = list(recall.hits)
        if any(RELEVANCE not in hit.components for hit in hits):
            return recall
        signals = self._signals(recall, hits)
        if self.period_weight and when.spans:
            weight = self.period_weight * recall.question.weights.semantic
            hits = [
                with_components(
                    hit,
                    {PERIOD: Component(float(inside(signals[hit.id].t_valid, when.spans)), weight)},
                )
                for hit in hits
            ]
        hits.sort(key=lambda hit: (-hit.score, hit.id))
        members = (
            frozenset(hit.id for hit in hits if CATEGORY in hit.components)
            if recall.category_alone
            else frozenset()
        )
        if ordered:
            hits = _in_time_order(hits, signals, when, recall.question.where.moment, members)
        elif members:  # nothing but category and period was asked for: what is both answers
            first = [
                hit
                for hit in hits
                if hit.id in members and inside(signals[hit.id].t_valid, when.spans)
            ]
            ahead = {hit.id for hit in first}
            hits = (
                reassign_scores([*first, *(hit for hit in hits if hit.id not in ahead)])
                if first
                else hits
            )
        return replace(recall, hits=tuple(hits))

    def _signals(self, recall: Recall, hits: Sequence[Hit]) -> dict[NodeId, Signals]:
        known = recall.signals or {}
        missing = [hit.id for hit in hits if hit.id not in known]
        found = {**known, **(self.store.signals(missing) if missing else {})}
        # A node deleted meanwhile has no signals; Pack drops it.
        return {
            hit.id: found.get(hit.id) or Signals(recall.question.where.now, 0.0, 0) for hit in hits
        }

    def _future_facts(self, recall: Recall) -> Recall:
        """Rank a fact that becomes valid later below the fact that it supersedes, unless the question names a time."""
        when, signals = recall.when, recall.signals
        if not signals or (
            when is not None and (when.ahead or when.spans or when.latest or when.earliest)
        ):
            return recall
        hits = LazyHits.of(recall.hits)
        scores, now = hits.scores(), recall.question.where.moment
        future = [id for id in scores if id in signals and signals[id].t_valid > now]
        if not future:
            return recall
        replaced = self._superseded_by(future)
        found = {hit.id: hit for hit in hits if hit.id in replaced}
        moved: dict[NodeId, Hit] = {}
        # In chronological order, so that the successor of a moved fact stays behind that fact too.
        for id in sorted(replaced, key=lambda id: (signals[id].t_valid, id)):
            olds = [old for old in replaced[id] if old in scores]
            least = min(
                (moved[old].score if old in moved else scores[old] for old in olds), default=None
            )
            if least is not None and found[id].score >= least:
                moved[id] = with_components(
                    found[id], {NOT_YET: Component(-1.0, found[id].score - least + STEP)}
                )
        return replace(recall, hits=hits.with_replaced(moved)) if moved else recall

    def _superseded_by(self, ids: list[NodeId]) -> Mapping[NodeId, list[NodeId]]:
        sources = set(ids)
        found: dict[NodeId, list[NodeId]] = {}
        for edge in self.store.edges(ids):
            if edge.kind == SUPERSEDES and edge.source in sources:
                found.setdefault(edge.source, []).append(edge.target)
        return found


def _in_time_order(
    hits: Sequence[Hit],
    signals: Mapping[NodeId, Signals],
    when: When,
    now: datetime,
    members: frozenset[NodeId],
) -> list[Hit]:
    """Put the relevant hits first, in chronological order; ties keep the order of their scores.

    A fact that is not valid yet is not the latest, unless nothing else is relevant. A hit without
    an explicit date comes after dated ones, because its recording date does not say when it
    happened. If fewer than half are dated, all are sorted by day, so that memories recorded on one
    day keep their order. Questions about the current state ("currently") use the recording date.
    `members` are relevant because of their category.
    """
    relevant = _telling(hits) if when.alone else _relevant(hits, members)
    if when.spans:  # "the latest in March" excludes April
        relevant = [hit for hit in relevant if inside(signals[hit.id].t_valid, when.spans)]
    relevant = [hit for hit in relevant if signals[hit.id].t_valid <= now] or relevant
    first = sorted(relevant, key=lambda hit: signals[hit.id].t_valid, reverse=not when.earliest)
    if not when.current and not when.alone:
        if 2 * sum(signals[hit.id].dated for hit in relevant) < len(relevant):
            first = sorted(
                relevant, key=lambda hit: signals[hit.id].t_valid.date(), reverse=not when.earliest
            )
        else:
            first.sort(key=lambda hit: not signals[hit.id].dated)
    ahead = {hit.id for hit in first}
    return (
        reassign_scores([*first, *(hit for hit in hits if hit.id not in ahead)])
        if first
        else list(hits)
    )


def _relevant(hits: Sequence[Hit], members: frozenset[NodeId]) -> list[Hit]:
    least = MIN_SHARE * max(hit.components[RELEVANCE].value for hit in hits)
    return [hit for hit in hits if hit.components[RELEVANCE].value >= least or hit.id in members]


def _telling(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits that are not small talk, or all if there are no others."""
    return [
        hit
        for hit in hits
        if PERIOD not in hit.channels or hit.channels[PERIOD].normalised > SMALL_TALK_SHARE
    ] or list(hits)


def reassign_scores(hits: Sequence[Hit]) -> list[Hit]:
    """Assign the sorted scores to hits in a new order.

    The component `time` is the difference to the old score.

    >>> old, new = (Hit(id, value, {}, {"semantic": Component(value, 1.0)}) for id, value in (("old", 0.75), ("new", 0.5)))
    >>> [(hit.id, hit.score, hit.components["time"].value) for hit in reassign_scores([new, old])]
    [('new', 0.75, 0.25), ('old', 0.5, -0.25)]
    """
    due = zip(hits, descending([hit.score for hit in hits]), strict=True)
    return [with_components(hit, {TIME: Component(score - hit.score, 1.0)}) for hit, score in due]


def descending(scores: Collection[float]) -> Iterator[float]:
    """Yield the scores in descending order, ties separated by STEP.

    >>> list(descending([0.4, 0.9, 0.9]))
    [0.9, 0.899999, 0.4]
    """
    last = float("inf")
    for score in sorted(scores, reverse=True):
        last = min(score, last - STEP)
        yield last


def inside(moment: datetime, spans: Sequence[TimeSpan]) -> bool:
    """Return whether a moment lies in any of the spans, ends included."""
    return any(
        (span.start is None or span.start <= moment) and (span.end is None or moment <= span.end)
        for span in spans
    )
