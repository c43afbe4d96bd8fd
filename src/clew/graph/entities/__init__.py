"""What does a text name? Rules over one reading: marked terms, names, identifiers; joined by key (mission V8).

Names are loaded when they are first used: a question asks for keys and common words alone, not for the rules that read a text.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_HOMES = {
    "aliases": ("Aliases", "resolve"),
    "corpus": ("generic",),
    "extracting": ("LEAST_CONFIDENCE", "MAX_ENTITIES", "entities"),
    "key": ("entity_key", "title_keys"),
    "port": ("Extractor", "Rules"),
    "value": ("Entity", "EntityType"),
}


if not TYPE_CHECKING:  # a type checker knows the names, and no others

    def __getattr__(name: str) -> Any:
        """Load a public name from where it lives."""
        home = next((module for module, names in _HOMES.items() if name in names), None)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
