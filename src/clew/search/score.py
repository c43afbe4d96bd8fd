"""Score hits by a weighted sum of relevance, recency, importance and access count."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import count
from typing import Any

from clew.graph.tracerank import LIFE_DAYS, Switches, bound, factors, is_relevant
from clew.ports import Store
from clew.search.state import CATEGORY, Component, Hit, LazyHits, Recall, with_nodes
from clew.settings import Weights
from clew.text.words import fold, words
from clew.types import Filter, Node, NodeId, Signals

SECONDS_PER_DAY = 86_400.0
SPEAKER = "speaker"
HINTED = 100  # hits whose category is read where the question's words point to one, whatever k is
SPOKEN = 30  # hits whose speaker is read where the question speaks of its asker or of who is asked
_ASKER = frozenset("i im ive id my me mine myself".split())
_ASKED = frozenset("you your yours yourself youve".split())
_INSTRUCTION = "instruction"
_ORDERS = (
    "always ",
    "never ",
    "from now on",
    "do not ",
    "don't ",
    "please always ",
    "please never ",
)


def recency(age_days: float, *, rate_per_day: float, ahead: bool = False) -> float:
    """Return e^(−rate·|age|): 1 for now, less for both past and future times.

    If the question is about the future (`ahead`), a future time counts as now.

    >>> round(recency(10, rate_per_day=0.1), 4), round(recency(-10, rate_per_day=0.1), 4), recency(-10, rate_per_day=0.1, ahead=True)
    (0.3679, 0.3679, 1.0)
    """
    return 1.0 if ahead and age_days < 0 else math.exp(-rate_per_day * abs(age_days))


def fresh_since(signals: Signals, *, now: datetime) -> datetime:
    """Return the start of recency.

    The later of valid time and recording time, ignoring a recording after `now`.

    >>> june, today = datetime(2026, 6, 1), datetime(2026, 11, 17)
    >>> lives = Signals(june, 0.5, 0, recorded=today)
    >>> fresh_since(lives, now=today) == today, fresh_since(lives, now=datetime(2026, 7, 1)) == june
    (True, True)
    """
    return signals.recorded if signals.t_valid < signals.recorded <= now else signals.t_valid


def access(count: int, *, divisor: float) -> float:
    """Return min(1, ln(1 + n)/divisor): the first accesses count most.

    >>> access(0, divisor=5), round(access(5, divisor=5), 4), access(1000, divisor=5)
    (0.0, 0.3584, 1.0)
    """
    return min(1.0, math.log1p(count) / divisor)


def total(components: Mapping[str, Component]) -> float:
    """Return the sum of the contributions of all components, in a fixed order.

    >>> total({"semantic": Component(0.5, 0.8), "recency": Component(1.0, 0.1)})
    0.5
    """
    return sum(components[name].contribution for name in sorted(components))


def with_components(hit: Hit, added: Mapping[str, Component]) -> Hit:
    """Return a hit with further components and the new total as its score.

    >>> hit = Hit("a", 0.4, {}, {"semantic": Component(0.5, 0.8)})
    >>> with_components(hit, {"period": Component(1.0, 0.2)}).score
    0.6000000000000001
    """
    components = {**hit.components, **added}
    return hit._replace(score=total(components), components=components)


def components(
    relevance: float,
    signals: Signals,
    *,
    weights: Weights,
    now: datetime,
    recency_rate_per_day: float,
    access_divisor: float,
    recorded: bool = True,
    ahead: bool = False,
) -> dict[str, Component]:
    """Return the four components of a score.

    With `recorded`, recency starts at the recording time if that is later.
    """
    since = fresh_since(signals, now=now) if recorded else signals.t_valid
    age_days = (now - since).total_seconds() / SECONDS_PER_DAY
    return {
        "semantic": Component(relevance, weights.semantic),
        "recency": Component(
            recency(age_days, rate_per_day=recency_rate_per_day, ahead=ahead), weights.recency
        ),
        "importance": Component(signals.importance, weights.importance),
        "access": Component(access(signals.accesses, divisor=access_divisor), weights.access),
    }


def scores(
    relevances: Mapping[NodeId, float],
    known: Mapping[NodeId, Signals],
    *,
    weights: Weights,
    now: datetime,
    recency_rate_per_day: float,
    access_divisor: float,
    recorded: bool = True,
    ahead: bool = False,
) -> dict[NodeId, float]:
    """Return `total` of `components` for each node, bit for bit, without building them.

    Most candidates are only sorted.

    Nodes without signals are left out.
    """
    found: dict[NodeId, float] = {}
    semantic, recent, important, often = weights
    for id, relevance in relevances.items():
        if id in known:
            t_valid, importance, accesses, _, _, learned = known[id]
            # as `fresh_since`
            since = learned if recorded and t_valid < learned <= now else t_valid
            age_days = (now - since).total_seconds() / SECONDS_PER_DAY
            # as `recency`
            fresh = (
                1.0 if ahead and age_days < 0 else math.exp(-recency_rate_per_day * abs(age_days))
            )
            # most were never accessed
            used = access(accesses, divisor=access_divisor) if accesses else 0.0
            found[id] = (
                often * used + important * importance + recent * fresh + semantic * relevance
            )  # the same order of summation as in `total`
    return found


@dataclass(frozen=True, slots=True)
class Score:
    """Score the hits and sort them; a hit deleted meanwhile is dropped."""

    recency_rate_per_day: float
    access_divisor: float
    store: Store = field(repr=False, compare=False)
    recorded: bool = True
    """Whether recency starts at the recording time if that is later than the valid time."""
    category_weight: float = 0.0
    """The bonus of a memory whose category the question's words point to."""
    speaker_weight: float = 0.0
    """The bonus of the asker's own words where the question says "I" or "my", and of the
    assistant's where it says "you".
    """
    history: Callable[[Recall], Recall] | None = None
    """Multiplies the relevance of hits by a factor from their history (TraceRank)."""

    def __call__(self, recall: Recall) -> Recall:
        """Set components and scores, and cache the signals of the hits."""
        hits = LazyHits.of(recall.hits)
        relevances = hits.scores()
        known = (
            recall.signals if recall.signals is not None else self.store.signals(list(relevances))
        )
        terms: dict[str, Any] = {
            "weights": recall.question.weights,
            "now": recall.question.where.moment,
            "recency_rate_per_day": self.recency_rate_per_day,
            "recorded": self.recorded,
            "ahead": recall.when is not None and recall.when.beyond(recall.question.where.moment),
            "access_divisor": self.access_divisor,
        }
        found, places = (
            scores(relevances, known, **terms),
            dict(zip(relevances, count(), strict=False)),
        )

        def made(each: tuple[float, NodeId]) -> Hit:
            negated, id = each
            return hits[places[id]]._replace(
                score=-negated, components=components(relevances[id], known[id], **terms)
            )

        scored = replace(
            recall,
            hits=LazyHits(sorted((-score, id) for id, score in found.items()), made),
            signals=known,
        )
        hinted = self._by_category(scored) if recall.categories and self.category_weight else scored
        hinted = self._by_speaker(hinted) if self.speaker_weight else hinted
        return hinted if self.history is None else self.history(hinted)

    def _by_category(self, recall: Recall) -> Recall:
        """Add the component `category` to the best hits of a category that the question's words point to."""
        hits = LazyHits.of(recall.hits)
        recall = with_nodes(recall, hits.ids(HINTED), store=self.store)
        weight = self.category_weight * recall.question.weights.semantic
        asked = {
            id
            for id in hits.ids(HINTED)
            if id in recall.nodes and hinted(recall.nodes[id], recall.categories)
        }
        moved = {
            hit.id: with_components(hit, {CATEGORY: Component(1.0, weight)})
            for hit in hits.select(asked)
        }
        return replace(recall, hits=hits.with_replaced(moved)) if moved else recall

    def _by_speaker(self, recall: Recall) -> Recall:
        """Add the component `speaker` to the messages of whom the question speaks of.

        Only messages have a role.
        """
        role = asked_role(recall.question.text)
        hits = LazyHits.of(recall.hits)
        known = recall.signals or {}
        messages = (
            [id for id in hits.ids(SPOKEN) if id in known and known[id].keyed] if role else []
        )
        if not messages:
            return recall
        recall = with_nodes(recall, messages, store=self.store)
        weight = self.speaker_weight * recall.question.weights.semantic
        own = {
            id
            for id in messages
            if id in recall.nodes and recall.nodes[id].metadata.get("role") == role
        }
        moved = {
            hit.id: with_components(hit, {SPEAKER: Component(1.0, weight)})
            for hit in hits.select(own)
        }
        return replace(recall, hits=hits.with_replaced(moved)) if moved else recall


def asked_role(text: str) -> str:
    """Return whose words a question asks for.

    `user` for "I" and "my", `assistant` for "you", neither for both.

    >>> asked_role("What is my favourite tea?"), asked_role("Which tea did you recommend?"), asked_role("Can you find my tea?")
    ('user', 'assistant', '')
    """
    said = {fold(word) for word in words(text)}
    own, other = not said.isdisjoint(_ASKER), not said.isdisjoint(_ASKED)
    return "" if own == other else "user" if own else "assistant"


def hinted(node: Node, hints: Collection[str]) -> bool:
    """Return whether a memory is of a category or trigger that the question hints at.

    An order counts as an instruction.

    >>> from clew.testing import node
    >>> hinted(node("a", "Never book a flight before nine."), ["instruction"]), hinted(node("b", "A flight at nine."), ["instruction"])
    (True, False)
    """
    if node.category in hints or node.trigger in hints:
        return True
    return _INSTRUCTION in hints and said_by(node).casefold().startswith(_ORDERS)


def said_by(node: Node) -> str:
    """Return the text of a memory without the label of its speaker."""
    labels = {str(node.metadata.get(name, "")) for name in ("speaker", "role")} - {""}
    label, _, said = node.text.partition(": ")
    return said if label in labels else node.text


# Multiply the relevance of hits by a factor from their history: repetition, age, related memories
# (TraceRank).

SEMANTIC = "semantic"
TRACERANK = "tracerank"
DEPTH = 50  # hits whose history is read, whatever k is


def multiply_relevance(hit: Hit, multiplier: float) -> Hit:
    """Multiply the relevance of a hit in its score.

    The difference is a separate component, (multiplier − 1) × the contribution of the relevance, so
    that the components still add up to the score.

    >>> hit = Hit("a", 0.5, {}, {"semantic": Component(0.5, 0.8), "recency": Component(1.0, 0.1)})
    >>> raised = multiply_relevance(hit, 1.25)
    >>> raised.components["tracerank"], round(raised.score, 9) == round(0.5 * 0.8 * 1.25 + 0.1, 9)
    (Component(value=0.25, weight=0.4), True)
    """
    return with_components(
        hit, {TRACERANK: Component(multiplier - 1.0, hit.components[SEMANTIC].contribution)}
    )


@dataclass(frozen=True, slots=True)
class TraceRank:
    """Multiply the relevance of the most relevant hits by a bounded history factor.

    The others keep their scores.
    """

    switches: Switches
    least: float
    most: float
    min_relevance_share: float
    store: Store = field(repr=False, compare=False)

    def __call__(self, recall: Recall) -> Recall:
        """Update and sort the scores; requires the components that `Score` sets."""
        hits = LazyHits.of(recall.hits)
        moved = self._multipliers(hits.ids(DEPTH), recall.question.where)
        if not moved:  # most memories have no history; no hit was built to find out
            return recall
        scored = [hit for hit in hits[:DEPTH] if SEMANTIC in hit.components]
        best = max((hit.components[SEMANTIC].value for hit in scored), default=0.0)
        changed = {
            hit.id: multiply_relevance(hit, moved[hit.id])
            for hit in scored
            if hit.id in moved and self._reaches(hit, best)
        }
        return replace(recall, hits=hits.with_replaced(changed)) if changed else recall

    def _reaches(self, hit: Hit, best: float) -> bool:
        return is_relevant(
            hit.components[SEMANTIC].value, best=best, share=self.min_relevance_share
        )

    def _multipliers(self, ids: list[NodeId], where: Filter) -> dict[NodeId, float]:
        """Return the factors that differ from 1."""
        now, at = where.known_at or where.now, where.moment
        known = self.store.evidence(ids) if ids else {}
        relevant = {
            id: each
            for id, each in known.items()
            if each.reinforced or each.related or each.stability in LIFE_DAYS
        }
        made = {
            id: factors(each, now=now, at=at, switches=self.switches).product
            for id, each in relevant.items()
        }
        found = {id: bound(factor, least=self.least, most=self.most) for id, factor in made.items()}
        return {id: factor for id, factor in found.items() if factor != 1.0}
