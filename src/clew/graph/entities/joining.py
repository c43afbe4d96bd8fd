"""From mentions to entities: what has one key is one thing, and the surest things are kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from clew.graph.entities.key import entity_key
from clew.graph.entities.value import Entity, EntityType
from clew.graph.entities.weighing import repeated


class Mention(NamedTuple):
    """One place where something is named."""

    start: int
    end: int
    type: EntityType
    confidence: float


def joined(text: str, mentions: Iterable[Mention], *, least: float) -> list[Entity]:
    """Make one entity of all mentions with one key, if it is sure enough: the surest of them tells name, type and place."""
    groups: dict[str, list[Mention]] = {}
    for mention in mentions:
        groups.setdefault(entity_key(text[mention.start : mention.end]), []).append(mention)
    surest = ((key, _surest(group), len(group)) for key, group in groups.items() if key)
    weighed = ((key, best, repeated(best.confidence, mentions)) for key, best, mentions in surest)
    return [Entity(text[best.start : best.end], key, best.type, sure, best.start, best.end) for key, best, sure in weighed if sure >= least]


def _surest(group: list[Mention]) -> Mention:
    return group[0] if len(group) == 1 else min(group, key=lambda mention: (-mention.confidence, mention.start))


def kept(found: list[Entity], *, limit: int) -> tuple[Entity, ...]:
    """Return the surest entities, best first, ties in reading order, then by key."""
    if not found:
        return ()
    return tuple(sorted(_without_parts(found), key=lambda entity: (-entity.confidence, entity.start, entity.key))[:limit])


def _without_parts(found: list[Entity]) -> list[Entity]:
    """Leave out a lone name that can only be one of the people named in full: "Curie" beside "Marie Curie"."""
    owners: dict[str, set[str]] = {}
    for entity in found:
        if entity.type is EntityType.PERSON and " " in entity.key:
            for part in entity.key.split():
                owners.setdefault(part, set()).add(entity.key)
    return [
        entity for entity in found if not (entity.type is EntityType.PERSON and len(owners.get(entity.key, ())) == 1) or " " in entity.key
    ]
