"""What Clew asks of an extractor, and the default that answers: the rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from clew.graph.entities.extracting import LEAST_CONFIDENCE, MAX_ENTITIES, check_limits, entities
from clew.graph.entities.value import Entity


@runtime_checkable
class Extractor(Protocol):
    """Finds what texts name: for each text, in order, its entities, best first, with offsets into that text."""

    def extract(self, texts: Sequence[str]) -> Sequence[tuple[Entity, ...]]:
        """Return the entities of each text."""
        ...


@dataclass(frozen=True, slots=True)
class Rules:
    """The extractor that needs no model.

    >>> [[entity.name for entity in found] for found in Rules().extract(["Matt left.", "nothing"])]
    [['Matt'], []]
    """

    limit: int = MAX_ENTITIES
    least: float = LEAST_CONFIDENCE
    format: str = "text"

    def __post_init__(self) -> None:
        """Refuse limits that cannot be meant when they are given, not at the first text."""
        check_limits(limit=self.limit, least=self.least)

    def extract(self, texts: Sequence[str]) -> Sequence[tuple[Entity, ...]]:
        """Return the entities of each text."""
        return [entities(text, format=self.format, limit=self.limit, least=self.least) for text in texts]
