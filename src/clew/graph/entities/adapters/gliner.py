"""Names by a GLiNER model, which is told in words what to look for; the user has installed the library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

from clew.errors import ModelError, clipped
from clew.graph.entities.adapters.libraries import library, loaded, shaped
from clew.graph.entities.extracting import LEAST_CONFIDENCE, MAX_ENTITIES, check_limits
from clew.graph.entities.joining import Mention
from clew.graph.entities.value import Entity, EntityType

# What the model is asked to look for.
LABELS: Mapping[str, EntityType] = MappingProxyType(
    {
        "person": EntityType.PERSON, "organization": EntityType.ORG, "computer system": EntityType.SYSTEM, "project": EntityType.PROJECT,
        "location": EntityType.PLACE, "skill": EntityType.SKILL, "software tool": EntityType.TOOL, "file": EntityType.FILE,
        "creative work": EntityType.CONCEPT, "event": EntityType.CONCEPT, "concept": EntityType.CONCEPT,
    }
)  # fmt: skip


class GlinerExtractor:
    """Finds names through `GLiNER.from_pretrained(model)`, which happens at the first text."""

    def __init__(self, model: str, *, limit: int = MAX_ENTITIES, least: float = LEAST_CONFIDENCE) -> None:
        """Take the model's name or folder, and what is kept of each text."""
        check_limits(limit=limit, least=least)
        self._model, self._limit, self._least = model, limit, least

    def extract(self, texts: Sequence[str]) -> Sequence[tuple[Entity, ...]]:
        """Return the entities of each text."""
        return [
            shaped(f"gliner:{self._model}", text, self._mentions(text), limit=self._limit, least=self._least) if text.strip() else ()
            for text in texts
        ]

    @cached_property
    def _loaded(self) -> Any:
        gliner = library("gliner")
        way_out = "Check the name, the network, or the folder that it should be in."
        return loaded(f"gliner:{self._model}", lambda: gliner.GLiNER.from_pretrained(self._model), way_out=way_out)

    def _mentions(self, text: str) -> Iterator[Mention]:
        model = self._loaded
        try:
            found = model.predict_entities(text, list(LABELS), threshold=self._least)
        except Exception as error:  # whatever a foreign library raises
            raise ModelError(f"gliner:{self._model} could not read a text: {clipped(str(error))}", model=self._model) from error
        for span in found:
            if span["label"] in LABELS:
                yield Mention(int(span["start"]), int(span["end"]), LABELS[span["label"]], float(span["score"]))
