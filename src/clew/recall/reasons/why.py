"""Why is a memory where it is? Its place, what its score is made of, and the reason without which it would stand elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from clew.recall.explain import explanation
from clew.recall.reasons.recipe_run import RecipeRun, rank_of
from clew.recall.reasons.whynot import WhyNot
from clew.recall.state import PATH, SECTION, Hit
from clew.types import Node, NodeId

SEMANTIC = "semantic"
CHANNEL, COMPONENT = "channel", "component"
ROUNDING = 1e-12  # what the channels may miss of the relevance by adding floats


class Reason(NamedTuple):
    """Something that a score is made of, with what it adds to the score."""

    kind: str
    name: str
    contribution: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """A hit's place in the whole ranking, beyond k too, and what put it there."""

    id: NodeId
    query: str
    k: int
    ranked: int
    """How many were ranked."""
    hit: Hit | None
    """The hit, with its memory; None where it was not ranked at all."""
    rank: int | None
    answer_rank: int | None
    """Its place among the hits that were returned; None beyond them."""
    reasons: tuple[Reason, ...] = ()
    main: tuple[Reason, ...] = ()
    """The largest reason; where its loss would not move the hit, the fewest of the largest whose loss together would."""
    rank_without: int | None = None
    """Where the hit would be without the main reason; None: it would not have been found."""
    missing: WhyNot | None = None
    """Where it is not in the answer: what kept it out."""

    @property
    def decisive(self) -> bool:
        """Whether the hit would stand elsewhere without its main reason."""
        return self.rank is not None and self.rank_without != self.rank


def reasons(hit: Hit) -> tuple[Reason, ...]:
    """Return what adds to a hit's score or takes from it, the largest first: channels in place of the relevance that they make up.

    >>> from clew.recall.state import Component, Place
    >>> hit = Hit("a", 0.5, {"dense": Place(1, 0.7, 0.5, 1.0)}, {"semantic": Component(0.5, 0.8), "recency": Component(1.0, 0.1)})
    >>> [(reason.name, round(reason.contribution, 9)) for reason in reasons(hit)]
    [('dense', 0.4), ('recency', 0.1)]
    """
    semantic = hit.components.get(SEMANTIC)
    weight = 1.0 if semantic is None else semantic.weight
    found = [Reason(CHANNEL, name, weight * place.contribution) for name, place in sorted(hit.channels.items())]
    found += [Reason(COMPONENT, name, part.contribution) for name, part in sorted(hit.components.items()) if name != SEMANTIC]
    if (
        semantic is not None
        and abs(rest := semantic.contribution - sum(each.contribution for each in found if each.kind == CHANNEL)) > ROUNDING
    ):
        found.append(Reason(COMPONENT, SEMANTIC, rest))
    return tuple(sorted((each for each in found if each.contribution), key=lambda each: (-each.contribution, each.kind, each.name)))


def rank_without(hit: Hit, lost: Sequence[Reason], ranking: Sequence[Hit]) -> int | None:
    """Return where a hit would be in its ranking if some of its reasons were nothing; None if nobody had proposed it."""
    gone = {reason.name for reason in lost if reason.kind == CHANNEL}
    if gone and not any(_proposes(hit, name) for name in hit.channels.keys() - gone):
        return None
    left = hit.score - sum(reason.contribution for reason in lost)
    return 1 + sum((-other.score, other.id) < (-left, hit.id) for other in ranking if other.id != hit.id)


def _proposes(hit: Hit, name: str) -> bool:
    """Tell whether a channel by itself makes a hit of a node; its section only lifts one that was found."""
    return name != SECTION and (hit.channels[name].rank is not None or name == PATH)


def main_reason(hit: Hit, ranking: Sequence[Hit]) -> tuple[Reason, ...]:
    """Return the largest reason; where its loss alone would not move the hit, the fewest of the largest that together would.

    The last one cannot fall, but without all of its channels it would not have been found. One that stays where it is
    whatever it loses has its largest reason.
    """
    found = tuple(each for each in reasons(hit) if each.contribution > 0)
    channels = tuple(each for each in found if each.kind == CHANNEL)
    rank = rank_of(hit.id, ranking)
    fewest = (pool[:size] for size in range(1, len(found) + 1) for pool in (found, channels))
    return next((taken for taken in fewest if rank_without(hit, taken, ranking) != rank), found[:1])


def why(run: RecipeRun, id: NodeId, node: Node | None, missing: WhyNot | None) -> Why:
    """Return what put a node where it is; `missing` says why it is not in the answer."""
    ranking = tuple(run.ranking)
    question = run.answer.question
    answer_rank, rank = rank_of(id, run.answer.hits), rank_of(id, ranking)
    if rank is None:
        return Why(
            id=id, query=question.text, k=question.k, ranked=len(ranking), hit=None, rank=None, answer_rank=answer_rank, missing=missing
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
