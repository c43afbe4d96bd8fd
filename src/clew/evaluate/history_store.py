"""Live through a history by the public API, with a clock that moves, and leave the store behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import clew
from clew.engine import Clew
from clew.errors import InputError
from clew.evaluate.data import Happening
from clew.ports import Embedder, Progress
from clew.types import NodeId, Outcome, OutcomeKind

DAY = timedelta(days=1)
MINUTES = 600  # of a day: what happens on one day happens in order


def live_through(
    path: Path,
    history: Sequence[Happening],
    embedder: Embedder | None,
    *,
    config: Path | None,
    settings: Mapping[str, Any],
    progress: Progress,
) -> dict[NodeId, str]:
    """Fill a store as its user would have, let it decay, and return the key of each memory.

    What is said again is remembered again, what was looked up is recalled, what was superseded is
    superseded. The store is closed in the end, so that all that was noted has been written.
    """
    now = [history[0].at]
    options = {**settings, "access.track": True}
    with clew.open(
        path, embedder=embedder, config=config, clock=lambda: now[0], **options
    ) as memory:
        ids = _live(memory, history, now, progress)
        now[0] = end_of(history)
        memory.decay(dry_run=False)
    return {id: key for key, id in ids.items()}


def end_of(history: Sequence[Happening]) -> datetime:
    """Return when the questions are asked: the day after the last thing happened."""
    return history[-1].at + DAY


def _live(
    memory: Clew, history: Sequence[Happening], now: list[datetime], progress: Progress
) -> dict[str, NodeId]:
    ids: dict[str, NodeId] = {}
    for number, each in enumerate(history):
        now[0] = each.at + timedelta(minutes=number % MINUTES)
        if each.kind == "used":
            memory.recall(each.text, k=1, where={"space": each.space}, track=True)
        elif each.kind == "again":
            _id(memory.remember(each.text, space=each.space), OutcomeKind.EXACT_DUPLICATE, each)
        else:
            ids[each.key] = _id(_told(memory, each, ids), OutcomeKind.INSERTED, each)
        if number % MINUTES == 0:
            progress("living through the history", number, len(history))
    for each in history:
        for other in each.related if each.kind == "told" else ():
            memory.link(ids[each.key], ids[other])
    return ids


def _told(memory: Clew, each: Happening, ids: Mapping[str, NodeId]) -> Outcome:
    if each.supersedes:
        return memory.supersede(ids[each.supersedes], each.text, stability=each.stability)
    # near: texts of one pattern, such as three places to park, are not one memory
    return memory.remember(each.text, space=each.space, stability=each.stability, near=False)


def _id(outcome: Outcome, kind: OutcomeKind, each: Happening) -> NodeId:
    id = outcome.id or outcome.canonical_id
    if outcome.outcome is not kind or id is None:
        problem = f"was {outcome.outcome} by {outcome.rule}, where {kind} was to happen"
        raise InputError("text", each.text, problem, f"Check the memory {each.key}.")
    return id
