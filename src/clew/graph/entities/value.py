"""What an entity is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class EntityType(StrEnum):
    """What kind of thing a name names (mission V8)."""

    PERSON = "PERSON"
    ORG = "ORG"
    SYSTEM = "SYSTEM"
    PROJECT = "PROJECT"
    PLACE = "PLACE"
    SKILL = "SKILL"
    TOOL = "TOOL"
    FILE = "FILE"
    CONCEPT = "CONCEPT"


@dataclass(frozen=True, slots=True)
class Entity:
    """Something that a text names: `text[start:end] == name` where the text itself does, `start == end == 0` where only its title does.

    `key` joins what is written in several ways; `aliases` are further keys under which a title may be looked for.
    """

    name: str
    key: str
    type: EntityType
    confidence: float
    start: int
    end: int
    aliases: tuple[str, ...] = ()
