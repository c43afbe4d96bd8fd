"""Explain the rank of a memory.

The parts of its score, and the part without which its rank would differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from clew.search.pack import explanation
from clew.search.state import PATH, SECTION, Hit
from clew.search.why_not import RecipeRun, WhyNot, rank_of
from clew.types import Node, NodeId

SEMANTIC = "semantic"
CHANNEL, COMPONENT = "channel", "component"
ROUNDING = 1e-12  # floating-point tolerance of the sum of channels


class Reason(NamedTuple):
    """A channel or component with its contribution to the score."""

    kind: str
    name: str
    contribution: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """The rank of a hit in the whole ranking, also beyond k, and the reasons for it."""

    id: NodeId
    query: str
    k: int
    ranked: int
    """The number of ranked hits."""
    hit: Hit | None
    """The hit with its node; None if it was not ranked."""
    rank: int | None
    answer_rank: int | None
    """Its rank among the returned hits; None beyond them."""
    reasons: tuple[Reason, ...] = ()
    main: tuple[Reason, ...] = ()
    """The largest reason or, if removing it does not change the rank, the fewest largest reasons
    that together do.
    """
    rank_without: int | None = None
    """The rank without the main reason; None if it would not have been found."""
    missing: WhyNot | None = None
    """Why it is not in the answer; None if it is."""

    @property
    def decisive(self) -> bool:
        """Whether the rank would differ without the main reason."""
        return self.rank is not None and self.rank_without != self.rank


def reasons(hit: Hit) -> tuple[Reason, ...]:
    """Return the contributions to a hit's score, largest first.

    The relevance is split into its channels.

    >>> from clew.search.state import Component, Place
    >>> hit = Hit("a", 0.5, {"dense": Place(1, 0.7, 0.5, 1.0)}, {"semantic": Component(0.5, 0.8), "recency": Component(1.0, 0.1)})
    >>> [(reason.name, round(reason.contribution, 9)) for reason in reasons(hit)]
    [('dense', 0.4), ('recency', 0.1)]
    """
    semantic = hit.components.get(SEMANTIC)
    weight = 1.0 if semantic is None else semantic.weight
    found = [
        Reason(CHANNEL, name, weight * place.contribution)
        for name, place in sorted(hit.channels.items())
    ]
    found += [
        Reason(COMPONENT, name, part.contribution)
        for name, part in sorted(hit.components.items())
        if name != SEMANTIC
    ]
    if (
        semantic is not None
        and abs(
            rest := semantic.contribution
            - sum(each.contribution for each in found if each.kind == CHANNEL)
        )
        > ROUNDING
    ):
        found.append(Reason(COMPONENT, SEMANTIC, rest))
    return tuple(
        sorted(
            (each for each in found if each.contribution),
            key=lambda each: (-each.contribution, each.kind, each.name),
        )
    )


def rank_without(hit: Hit, lost: Sequence[Reason], ranking: Sequence[Hit]) -> int | None:
    """Return the rank of a hit if some reasons contributed 0.

    None if no other channel proposed it.
    """
    gone = {reason.name for reason in lost if reason.kind == CHANNEL}
    if gone and not any(_proposes(hit, name) for name in hit.channels.keys() - gone):
        return None
    left = hit.score - sum(reason.contribution for reason in lost)
    return 1 + sum(
        (-other.score, other.id) < (-left, hit.id) for other in ranking if other.id != hit.id
    )


def _proposes(hit: Hit, name: str) -> bool:
    """Return whether a channel alone can add a hit.

    A section only promotes hits that were found.
    """
    return name != SECTION and (hit.channels[name].rank is not None or name == PATH)


def main_reason(hit: Hit, ranking: Sequence[Hit]) -> tuple[Reason, ...]:
    """Return the largest reason or, if removing it does not change the rank, the fewest largest reasons that together do.

    The last hit cannot fall, but without its channels it would not have been found. If nothing
    changes the rank, return the largest reason.
    """
    found = tuple(each for each in reasons(hit) if each.contribution > 0)
    channels = tuple(each for each in found if each.kind == CHANNEL)
    rank = rank_of(hit.id, ranking)
    fewest = (pool[:size] for size in range(1, len(found) + 1) for pool in (found, channels))
    return next((taken for taken in fewest if rank_without(hit, taken, ranking) != rank), found[:1])


def why(run: RecipeRun, id: NodeId, node: Node | None, missing: WhyNot | None) -> Why:
    """Explain the rank of a node; `missing` says why it is not in the answer."""
    ranking = tuple(run.ranking)
    question = run.answer.question
    answer_rank, rank = rank_of(id, run.answer.hits), rank_of(id, ranking)
    if rank is None:
        return Why(
            id=id,
            query=question.text,
            k=question.k,
            ranked=len(ranking),
            hit=None,
            rank=None,
            answer_rank=answer_rank,
            missing=missing,
        )
    scored = ranking[rank - 1]
    if answer_rank is not None:
        hit = run.answer.hits[answer_rank - 1]
    else:
        hit = scored._replace(node=node, explanation=explanation(scored))
        hit = hit._replace(confidence=run.confidence(hit))
    main = main_reason(scored, ranking)
    return Why(
        id=id,
        query=question.text,
        k=question.k,
        ranked=len(ranking),
        hit=hit,
        rank=rank,
        answer_rank=answer_rank,
        reasons=reasons(scored),
        main=main,
        rank_without=rank_without(scored, main, ranking),
        missing=None if answer_rank is not None else missing,
    )
