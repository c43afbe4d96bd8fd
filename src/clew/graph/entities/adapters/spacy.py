"""Names by a pipeline of spaCy, which the user has installed."""

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

CONFIDENCE = 0.85  # spaCy gives none; its pipelines reach about this precision on news (their model cards)
# Labels of the OntoNotes and WikiNER schemes. What is not here is a date, a number or a people, and no entity of ours.
TYPES: Mapping[str, EntityType] = MappingProxyType(
    {
        "PERSON": EntityType.PERSON, "PER": EntityType.PERSON, "ORG": EntityType.ORG, "GPE": EntityType.PLACE, "LOC": EntityType.PLACE,
        "FAC": EntityType.PLACE, "PRODUCT": EntityType.TOOL, "WORK_OF_ART": EntityType.CONCEPT, "EVENT": EntityType.CONCEPT,
        "LAW": EntityType.CONCEPT, "MISC": EntityType.CONCEPT,
    }
)  # fmt: skip


class SpacyExtractor:
    """Finds names through `spacy.load(model)`, which happens at the first text."""

    def __init__(self, model: str = "en_core_web_sm", *, limit: int = MAX_ENTITIES, least: float = LEAST_CONFIDENCE) -> None:
        """Take the pipeline's name or folder, and what is kept of each text."""
        check_limits(limit=limit, least=least)
        self._model, self._limit, self._least = model, limit, least

    def extract(self, texts: Sequence[str]) -> Sequence[tuple[Entity, ...]]:
        """Return the entities of each text."""
        pipeline = self._pipeline
        try:
            read = list(pipeline.pipe(texts))
        except Exception as error:  # whatever a foreign library raises
            raise ModelError(f"spacy:{self._model} could not read the texts: {clipped(str(error))}", model=self._model) from error
        return [
            shaped(f"spacy:{self._model}", text, _mentions(document), limit=self._limit, least=self._least)
            for text, document in zip(texts, read, strict=True)
        ]

    @cached_property
    def _pipeline(self) -> Any:
        spacy = library("spacy")
        way_out = f"Fetch it with: python -m spacy download {self._model}"
        return loaded(f"spacy:{self._model}", lambda: spacy.load(self._model), way_out=way_out)


def _mentions(document: Any) -> Iterator[Mention]:
    for span in document.ents:
        if span.label_ in TYPES:
            yield Mention(span.start_char, span.end_char, TYPES[span.label_], CONFIDENCE)
