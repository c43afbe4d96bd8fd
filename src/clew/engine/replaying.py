"""A kept recall asked again by its own clock.

The same ranking on an unchanged store, else what changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from clew.engine.explaining import run_stages, why_not_of
from clew.engine.request import question
from clew.engine.tracing import Placed, Trace, deciding, read_trace, stages, state
from clew.engine.versions import owned
from clew.memories.validation import MAX_NAME_CHARACTERS, line, names, plain_metadata
from clew.search.state import Hit, Question
from clew.search.why_not import RecipeRun, rank_of
from clew.types import NodeId

if TYPE_CHECKING:
    from clew.engine.clew import Clew

# scores that differ by less are the same: another machine may add floats in another order
EXACT = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What became of one hit.

    Ranks and scores then and now, and what its score is made of where that changed.
    """

    id: NodeId
    change: str
    """gone, new, rescored, or moved by others alone."""
    rank_before: int | None
    rank: int | None
    score_before: float | None
    score: float | None
    components: Mapping[str, tuple[float | None, float | None]]
    """The contributions that differ, then and now."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """How a recall compares with its trace."""

    trace_id: str
    query: str
    now: datetime
    ranking: tuple[Hit, ...]
    hits: tuple[Change, ...]
    settings: Mapping[str, tuple[Any, Any]]
    model: tuple[str | None, str | None]
    store: Mapping[str, tuple[Any, Any]]
    recipe: tuple[tuple[str, ...], tuple[str, ...]]
    notes: tuple[str, ...]

    @property
    def identical(self) -> bool:
        """Whether the same memories came in the same order with the same scores."""
        return not self.hits

    @property
    def sentences(self) -> tuple[str, ...]:
        """What changed, for people; a single sentence where nothing did."""
        return tuple(_sentences(self)) or ("Nothing changed: the same ranking, the same scores.",)


def replay(clew: Clew, given: str | bytes | Mapping[str, Any]) -> Replay:
    """Ask a kept recall again and compare; no access is counted."""
    trace = read_trace(given)
    asked = checked(clew, trace.question)
    run = run_stages(clew, asked)
    hits = owned(clew.store, run.answer.hits, asked.where)
    now = state(clew, asked.where.space)
    return Replay(
        trace_id=trace.id,
        query=asked.text,
        now=trace.now,
        ranking=hits,
        hits=tuple(_changes(clew, trace, run, hits)),
        settings=_differing(trace.settings, deciding(clew.settings)),
        model=(trace.model, now["model"]),
        store=_differing(trace.store, now["store"]),
        recipe=(trace.recipe, tuple(stages(clew, asked.recipe))),
        notes=run.answer.notes,
    )


def checked(clew: Clew, told: Question) -> Question:
    """Return a question from a trace after every check that a caller's goes through."""
    memory = clew.settings.memory
    where = replace(
        told.where,
        space=line("trace.question.where.space", told.where.space, limit=MAX_NAME_CHARACTERS),
        categories=names("categories", told.where.categories, limit=len(told.where.categories)),
        tags=names("tags", told.where.tags, limit=memory.max_tags),
        metadata=plain_metadata(told.where.metadata, limit_bytes=memory.max_metadata_bytes),
    )
    options: dict[str, Any] = {
        "k": told.k,
        "min_similarity": told.min_similarity,
        "budget_tokens": told.budget_tokens,
        "seed": told.seed,
    }
    weights = told.weights._asdict()
    found = question(
        told.text,
        settings=clew.settings,
        now=where.now,
        recipe=told.recipe,
        preset=None,
        weights=weights,
        where=where,
        **options,
    )
    return replace(
        told,
        where=where,
        preset=line("trace.question.preset", told.preset, limit=MAX_NAME_CHARACTERS),
        weights=found.weights,
    )


def _changes(clew: Clew, trace: Trace, run: RecipeRun, found: Sequence[Hit]) -> Iterator[Change]:
    """Yield what became of every hit that is not as it was, those of the trace first."""
    hits = {hit.id: hit for hit in found}
    for rank, placed in enumerate(trace.ranking, start=1):
        hit = hits.pop(placed.id, None)
        change = (
            _gone(clew, run, placed, rank) if hit is None else _changed(found, placed, rank, hit)
        )
        if change is not None:
            yield change
    for hit in hits.values():
        later = hit.node is not None and hit.node.t_created > trace.now
        yield Change(
            id=hit.id,
            change="new",
            rank_before=None,
            rank=rank_of(hit.id, found),
            score_before=None,
            score=hit.score,
            components={},
            reason="It was added after the trace."
            if later
            else "It was there before and did not come so far.",
        )


def _gone(clew: Clew, run: RecipeRun, placed: Placed, rank: int) -> Change:
    reason = why_not_of(clew, run, placed.id).sentence
    return Change(
        id=placed.id,
        change="gone",
        rank_before=rank,
        rank=None,
        score_before=placed.score,
        score=None,
        components={},
        reason=reason,
    )


def _changed(found: Sequence[Hit], placed: Placed, rank: int, hit: Hit) -> Change | None:
    now = rank_of(hit.id, found)
    before = {name: part.contribution for name, part in placed.components.items()}
    after = {name: part.contribution for name, part in hit.components.items()}
    parts = {
        name: (before.get(name), after.get(name))
        for name in sorted(before.keys() | after.keys())
        if abs((after.get(name) or 0.0) - (before.get(name) or 0.0)) > EXACT
    }
    rescored = bool(parts) or abs(hit.score - placed.score) > EXACT
    if not rescored and now == rank:
        return None
    told = ", ".join(
        f"{name} {_amount(old)} → {_amount(new)}" for name, (old, new) in parts.items()
    )
    return Change(
        id=hit.id,
        change="rescored" if rescored else "moved",
        rank_before=rank,
        rank=now,
        score_before=placed.score,
        score=hit.score,
        components=parts,
        reason=(f"Its score changed: {told}." if told else "Its score changed.")
        if rescored
        else "Others came or went.",
    )


def _amount(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.4f}"


def _differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    keys = sorted({*before, *after})
    return {
        key: (before.get(key), after.get(key)) for key in keys if before.get(key) != after.get(key)
    }


def _sentences(found: Replay) -> Iterator[str]:
    if found.model[0] != found.model[1]:
        yield f"The store's vectors were of {found.model[0] or 'no model'} and are of {found.model[1] or 'no model'}."
    for key, (before, after) in found.settings.items():
        yield f"The setting {key} was {before!r} and is {after!r}."
    if found.recipe[0] != found.recipe[1] and not found.settings:
        yield "The stages of the recipe are not what they were."
    if found.store:
        yield f"The store changed: {', '.join(f'{name} {before} → {after}' for name, (before, after) in found.store.items())}."
    for each in found.hits:
        moved = f"rank {each.rank_before or '–'} → {each.rank or '–'}"
        yield f"{each.id} is {each.change} ({moved}). {each.reason}"
    if found.identical and (found.settings or found.store or found.model[0] != found.model[1]):
        yield "The ranking is the same nonetheless."
