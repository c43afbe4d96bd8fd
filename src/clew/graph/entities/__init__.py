"""What does a text name? Rules over one reading: marked terms, names, identifiers; joined by key (mission V8)."""

from clew.graph.entities.aliases import Aliases, resolve
from clew.graph.entities.corpus import generic
from clew.graph.entities.extracting import LEAST_CONFIDENCE, MAX_ENTITIES, entities
from clew.graph.entities.key import entity_key, title_keys
from clew.graph.entities.port import Extractor, Rules
from clew.graph.entities.value import Entity, EntityType

__all__ = [
    "LEAST_CONFIDENCE",
    "MAX_ENTITIES",
    "Aliases",
    "Entity",
    "EntityType",
    "Extractor",
    "Rules",
    "entities",
    "entity_key",
    "generic",
    "resolve",
    "title_keys",
]
