"""Answers about a space as a whole, and about the caller, as JSON-ready data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clew.engine.auth import Right, may
from clew.surface import payload
from clew.times import iso

if TYPE_CHECKING:
    from clew.engine.authorised import Guarded
    from clew.engine.neighbourhood import Neighbourhood
    from clew.engine.overview import Differences, Timeline
    from clew.store.overview import Assessed

LABEL_CHARACTERS = 200


def caller(clew: Guarded) -> dict[str, Any]:
    """Return who is asking, what they may do and where, and what they may choose from."""
    from clew import __version__  # noqa: PLC0415 - the package imports the surfaces
    from clew.search.recipes import NAMES  # noqa: PLC0415 - as above

    grant, settings = clew.grant, clew.clew.settings
    only = grant.spaces or frozenset()
    return {
        "name": grant.name,
        "rights": sorted(grant.rights),
        "spaces": None if grant.spaces is None else sorted(grant.spaces),
        "whole_store": may(grant, Right.ADMIN, None),
        "space": next(iter(only)) if len(only) == 1 else settings.store.space,
        "version": __version__,
        "categories": list(settings.memory.categories),
        "presets": {name: weights._asdict() for name, weights in settings.score.presets.items()},
        "preset": settings.recall.preset,
        "recipes": list(NAMES),
        "recipe": settings.recall.recipe,
        "k": settings.recall.k,
        "now": iso(clew.clew.now()),
    }


def timeline(found: Timeline) -> dict[str, Any]:
    """Return densities by bucket; `before` and `after` count what lies outside of the axis."""
    names = ("began", "ended", "recorded")
    rows = list(zip(*found.densities, strict=True))
    counts = [dict(zip(names, row, strict=True)) for row in rows]
    return {
        "space": found.space,
        "from": iso(found.span.start),
        "to": iso(found.span.end),
        "bucket_seconds": found.span.width.total_seconds(),
        "before": counts[0],
        "buckets": [
            {"from": iso(found.span.start + place * found.span.width), **count}
            for place, count in enumerate(counts[1:-1])
        ],
        "after": counts[-1],
    }


def differences(found: Differences) -> dict[str, Any]:
    """Return what a later moment sees and an earlier one does not, and the other way round."""
    return {
        "added": [payload.memory(node) for node in found.added],
        "removed": [payload.memory(node) for node in found.removed],
        "changed": [
            {"before": payload.memory(before), "after": payload.memory(after)}
            for before, after in found.changed
        ],
        "only_after": found.only_after,
        "only_before": found.only_before,
    }


def quality(found: Assessed) -> dict[str, Any]:
    """Return how many texts have which quality, and the poorest of them."""
    width = 1 / len(found.bins)
    return {
        "nodes": found.nodes,
        "assessed": sum(found.bins),
        "bins": [
            {"from": round(place * width, 6), "to": round((place + 1) * width, 6), "count": count}
            for place, count in enumerate(found.bins)
        ],
        "stubs": dict(found.stubs),
        "lowest": [payload.memory(node) for node in found.lowest],
    }


def neighbourhood(found: Neighbourhood) -> dict[str, Any]:
    """Return the nodes and edges around a memory."""
    return {
        "id": found.id,
        "nodes": [
            {
                "id": node.id,
                "hops": hops,
                "kind": str(node.kind),
                "title": node.title,
                "text": node.text[:LABEL_CHARACTERS],
                "category": node.category,
                "importance": node.importance,
            }
            for node, hops in found.nodes
        ],
        "edges": [
            {
                "from": tie.source,
                "to": tie.target,
                "edge": tie.kind,
                "weight": tie.weight,
                "name": tie.name,
            }
            for tie in found.ties
        ],
        "cut": found.cut,
    }
