"""What does a time in the question do to the order? The latest comes first where the latest is asked for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from clew.ports import Store
from clew.recall.period import PERIOD
from clew.recall.score import with_components
from clew.recall.state import Component, Hit, Recall
from clew.types import NodeId

if TYPE_CHECKING:
    from clew.recall.when import TimeSpan, When

RELEVANCE, TIME = "semantic", "time"
MARGIN = 0.01  # by which each step in time exceeds all else that a score is made of


def steps(times: Collection[datetime], *, latest: bool) -> dict[datetime, float]:
    """Return for each moment its step, from 1/n up to 1 for the one that is asked for.

    >>> may, june = datetime(2026, 5, 1), datetime(2026, 6, 1)
    >>> steps([may, june, may], latest=True) == {may: 0.5, june: 1.0}, steps([may, june], latest=False)[may]
    (True, 1.0)
    """
    moments = sorted(set(times), reverse=not latest)
    return {moment: place / len(moments) for place, moment in enumerate(moments, start=1)}


def step_weight(scores: Sequence[float], count: int) -> float:
    """Return the weight at which one step of 1/count outweighs every difference between scores.

    >>> step_weight([0.9, 0.4, 0.5], 2)
    1.02
    """
    return round(count * (max(scores) - min(scores) + MARGIN), 12)


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
        times = self._times(recall, hits)
        if lifted:
            hits = [with_components(hit, {PERIOD: Component(float(inside(times[hit.id], when.spans)), self.period_weight)}) for hit in hits]
        if wished:
            hits = self._in_order(hits, times, when, recall.question.where.moment)
        return replace(recall, hits=tuple(sorted(hits, key=lambda hit: (-hit.score, hit.id))))

    def _times(self, recall: Recall, hits: Sequence[Hit]) -> dict[NodeId, datetime]:
        known = recall.signals or {}
        missing = [hit.id for hit in hits if hit.id not in known]
        found = {**known, **(self.store.signals(missing) if missing else {})}
        # What was forgotten meanwhile has no time; it drops out when it is fetched.
        return {hit.id: found[hit.id].t_valid if hit.id in found else recall.question.where.now for hit in hits}

    def _in_order(self, hits: Sequence[Hit], times: Mapping[NodeId, datetime], when: When, now: datetime) -> list[Hit]:
        """Lift the relevant ones above all others, step by step in time; of equal times the better score stays ahead.

        What is not true yet is nobody's latest, unless nothing else is there.
        """
        # Where nothing but a time is asked about, all of that time is relevant.
        least = 0.0 if when.alone else self.share * max(hit.components[RELEVANCE].value for hit in hits)
        relevant = {hit.id for hit in hits if hit.components[RELEVANCE].value >= least}
        if when.spans:  # "the latest in March" is none of April
            relevant = {id for id in relevant if inside(times[id], when.spans)}
        relevant = {id for id in relevant if times[id] <= now} or relevant
        if not relevant:
            return list(hits)
        place = steps([times[id] for id in relevant], latest=not when.earliest)
        weight = step_weight([hit.score for hit in hits], len(place))
        values = {id: place[times[id]] for id in relevant}
        return [with_components(hit, {TIME: Component(values.get(hit.id, 0.0), weight)}) for hit in hits]
