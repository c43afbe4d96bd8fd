"""Why a memory is in an answer, and why another is not: the question asked again, stage by stage, and counted by nobody."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any

from clew.engine.request import filter_of, one_of, question
from clew.ids import new_id
from clew.recall.reasons import why as hits
from clew.recall.reasons import whynot
from clew.recall.reasons.walk import Walk, walked
from clew.recall.reasons.why import Why
from clew.recall.reasons.whynot import WhyNot
from clew.recall.state import Question, Recall
from clew.store.filters import passes
from clew.types import Node, NodeId

if TYPE_CHECKING:
    from clew.engine.clew import Clew


def why(clew: Clew, query: str, id: NodeId, options: Mapping[str, Any]) -> Why:
    """Return a memory's place in the whole ranking and what put it there; of one outside the answer also what kept it out."""
    walk = walked_through(clew, asked(clew, query, options))
    return hits.why(walk, id, _seen(clew, id, walk), why_not_of(clew, walk, id))


def why_not(clew: Clew, query: str, id: NodeId, options: Mapping[str, Any]) -> WhyNot:
    """Return the stage, value and threshold that kept a memory out of the answer, or the rank it had."""
    return why_not_of(clew, walked_through(clew, asked(clew, query, options)), id)


def why_not_of(clew: Clew, walk: Walk, id: NodeId) -> WhyNot:
    """Return the same of a recall that was walked through already."""
    return whynot.why_not(walk, id, _seen(clew, id, walk), store=clew.store, passes=passes)


def asked(clew: Clew, query: str, options: Mapping[str, Any]) -> Question:
    """Return the question that `recall` would ask with these options."""
    known = {name: each.default for name, each in signature(type(clew).recall).parameters.items() if name not in ("self", "query")}
    for name in options:
        one_of("options", name, tuple(known))
    given = {**known, **options}
    given.pop("track")  # to ask why is no use of a memory
    now = clew.now()
    times = {name: given.pop(name) for name in ("as_of", "known_at")}
    where = filter_of(given.pop("where"), settings=clew.settings, now=now, **times)
    return question(query, settings=clew.settings, now=now, where=where, **given)


def walked_through(clew: Clew, question: Question) -> Walk:
    """Return the recall of a question with every state on its way."""
    return walked(clew.recipe(question.recipe), Recall(question=question, id=new_id(question.where.now)))


def _seen(clew: Clew, id: NodeId, walk: Walk) -> Node | None:
    """Return a node of the asked space; one of another space is as unknown as one that never was."""
    node = clew.store.get([id]).get(id)
    return node if node is not None and node.space == walk.answer.question.where.space else None
