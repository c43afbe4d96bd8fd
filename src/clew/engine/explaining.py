"""Explain why a memory is in an answer or not, by rerunning the question stage by stage without counting accesses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from inspect import signature
from typing import TYPE_CHECKING, Any

from clew.engine.request import filter_of, question, with_kinds
from clew.engine.versions import head_of, owned, seen_under, successor
from clew.ids import new_id
from clew.memories.validation import one_of
from clew.search import why as hits
from clew.search import why_not as whynot
from clew.search.state import Question, Recall
from clew.search.why import Why
from clew.search.why_not import RecipeRun, WhyNot, run_recipe
from clew.store.filters import passes
from clew.times import iso
from clew.types import Node, NodeId

if TYPE_CHECKING:
    from clew.engine.clew import Clew

ENDED = ("invalid", "as_of")  # why a filter leaves out what is not true any more


def why(clew: Clew, query: str, id: NodeId, options: Mapping[str, Any]) -> Why:
    """Return the rank of a memory in the whole ranking and the reasons.

    For one outside the answer also why.
    """
    run = run_stages(clew, asked(clew, query, options))
    row = _seen(clew, id, run)
    if row is None:
        return hits.why(run, id, None, why_not_of(clew, run, id))
    found = hits.why(run, row.id, row, why_not_of(clew, run, id))
    hit = (
        next(iter(owned(clew.store, [found.hit], run.answer.question.where)), None)
        if found.hit is not None
        else None
    )
    return replace(found, id=head_of(clew.store, row).id, hit=hit)


def why_not(clew: Clew, query: str, id: NodeId, options: Mapping[str, Any]) -> WhyNot:
    """Return the stage, value and threshold that kept a memory out of the answer, or the rank it had."""
    return why_not_of(clew, run_stages(clew, asked(clew, query, options)), id)


def why_not_of(clew: Clew, run: RecipeRun, id: NodeId) -> WhyNot:
    """Return the same for a recall that was run already.

    For a superseded memory also its successor.
    """
    row = _seen(clew, id, run)
    if row is None:
        return whynot.unknown(id)
    found = whynot.why_not(run, row.id, row, store=clew.store, passes=passes)
    own = head_of(clew.store, row)
    later = (
        successor(clew.store, own)
        if found.reason in ENDED and row.t_invalid is not None and found.value == iso(row.t_invalid)
        else None
    )
    return whynot.with_sentence(replace(found, id=own.id, by=later or found.by))


def asked(clew: Clew, query: str, options: Mapping[str, Any]) -> Question:
    """Return the question that `recall` would ask with these options."""
    known = {
        name: each.default
        for name, each in signature(type(clew).recall).parameters.items()
        if name not in ("self", "query", "spaces")  # one space is asked why
    }
    for name in options:
        one_of("options", name, tuple(known))
    given = {**known, **options}
    given.pop("track")  # to ask why is no use of a memory
    now = clew.now()
    times = {name: given.pop(name) for name in ("as_of", "known_at")}
    where, kinds = given.pop("where"), given.pop("kinds")
    if kinds is not None:
        where = with_kinds(where, kinds)
    where = filter_of(where, settings=clew.settings, now=now, **times)
    return question(query, settings=clew.settings, now=now, where=where, **given)


def run_stages(clew: Clew, question: Question) -> RecipeRun:
    """Run the recall of a question and keep every intermediate state."""
    return run_recipe(
        clew.recipe(question.recipe), Recall(question=question, id=new_id(question.where.now))
    )


def _seen(clew: Clew, id: NodeId, run: RecipeRun) -> Node | None:
    """Return the version that the question is about of a memory of the asked space.

    One of another space is as unknown as none.

    The id may be the memory's own or that of any version: both mean the memory, as it was held to
    be at the time asked about.
    """
    node = clew.store.get([id]).get(id)
    where = run.answer.question.where
    return (
        seen_under(clew.store, node, where)
        if node is not None and node.space == where.space
        else None
    )
