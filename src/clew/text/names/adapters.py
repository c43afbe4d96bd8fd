"""Extract entities with GLiNER or spaCy, which the user installs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from types import MappingProxyType
from typing import Any, TypeVar

from clew.errors import ModelError, ModelMissingError, clipped
from clew.text.names.extraction import (
    MAX_ENTITIES,
    MIN_CONFIDENCE,
    Mention,
    check_limits,
    merge_mentions,
    select_entities,
)
from clew.text.names.keys import Entity, EntityType

Loaded = TypeVar("Loaded")


def import_library(module: str) -> Any:
    """Import a library that the user may or may not have."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ModelMissingError(
            f"{module} is not installed ({error}). Install it with: pip install {module}",
            library=module,
        ) from error


def load_model(name: str, load: Callable[[], Loaded], *, way_out: str) -> Loaded:
    """Load a model; translate any error of the library into one that names the fix."""
    try:
        return load()
    except ModelError:
        raise
    except Exception as error:
        raise ModelMissingError(
            f"{name} could not be loaded: {clipped(str(error))}. {way_out}", model=name
        ) from error


def to_entities(
    name: str, text: str, mentions: Iterable[Mention], *, limit: int, least: float
) -> tuple[Entity, ...]:
    """Make entities of a library's spans as the port promises them.

    A span that is not in the text is the library's error.
    """
    spans = list(mentions)
    for span in spans:
        if not 0 <= span.start < span.end <= len(text):
            raise ModelError(
                f"{name} named a span from {span.start} to {span.end} in a text of "
                f"{len(text)} characters.",
                model=name,
            )
    return select_entities(merge_mentions(text, spans, least=least), limit=limit)


# Names by a GLiNER model, which is told in words what to look for; the user has installed the
# library.

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

    def __init__(
        self, model: str, *, limit: int = MAX_ENTITIES, least: float = MIN_CONFIDENCE
    ) -> None:
        """Take the model's name or folder, and what is kept of each text."""
        check_limits(limit=limit, least=least)
        self._model, self._limit, self._least = model, limit, least

    def extract(self, texts: Sequence[str]) -> Sequence[tuple[Entity, ...]]:
        """Return the entities of each text."""
        return [
            to_entities(
                f"gliner:{self._model}",
                text,
                self._mentions(text),
                limit=self._limit,
                least=self._least,
            )
            if text.strip()
            else ()
            for text in texts
        ]

    @cached_property
    def _loaded(self) -> Any:
        gliner = import_library("gliner")
        way_out = "Check the name, the network, or the folder that it should be in."
        return load_model(
            f"gliner:{self._model}",
            lambda: gliner.GLiNER.from_pretrained(self._model),
            way_out=way_out,
        )

    def _mentions(self, text: str) -> Iterator[Mention]:
        model = self._loaded
        try:
            found = model.predict_entities(text, list(LABELS), threshold=self._least)
        except Exception as error:  # whatever a foreign library raises
            raise ModelError(
                f"gliner:{self._model} could not read a text: {clipped(str(error))}",
                model=self._model,
            ) from error
        for span in found:
            if span["label"] in LABELS:
                yield Mention(
                    int(span["start"]),
                    int(span["end"]),
                    LABELS[span["label"]],
                    float(span["score"]),
                )


# Names by a pipeline of spaCy, which the user has installed.

# spaCy gives none; its pipelines reach about this precision on news (their model cards)
CONFIDENCE = 0.85
# Labels of the OntoNotes and WikiNER schemes. What is not here is a date, a number or a people, and
# no entity of ours.
TYPES: Mapping[str, EntityType] = MappingProxyType(
    {
        "PERSON": EntityType.PERSON, "PER": EntityType.PERSON, "ORG": EntityType.ORG, "GPE": EntityType.PLACE, "LOC": EntityType.PLACE,
        "FAC": EntityType.PLACE, "PRODUCT": EntityType.TOOL, "WORK_OF_ART": EntityType.CONCEPT, "EVENT": EntityType.CONCEPT,
        "LAW": EntityType.CONCEPT, "MISC": EntityType.CONCEPT,
    }
)  # fmt: skip


class SpacyExtractor:
    """Finds names through `spacy.load(model)`, which happens at the first text."""

    def __init__(
        self,
        model: str = "en_core_web_sm",
        *,
        limit: int = MAX_ENTITIES,
        least: float = MIN_CONFIDENCE,
    ) -> None:
        """Take the pipeline's name or folder, and what is kept of each text."""
        check_limits(limit=limit, least=least)
        self._model, self._limit, self._least = model, limit, least

    def extract(self, texts: Sequence[str]) -> Sequence[tuple[Entity, ...]]:
        """Return the entities of each text."""
        pipeline = self._pipeline
        try:
            read = list(pipeline.pipe(texts))
        except Exception as error:  # whatever a foreign library raises
            raise ModelError(
                f"spacy:{self._model} could not read the texts: {clipped(str(error))}",
                model=self._model,
            ) from error
        return [
            to_entities(
                f"spacy:{self._model}",
                text,
                _mentions(document),
                limit=self._limit,
                least=self._least,
            )
            for text, document in zip(texts, read, strict=True)
        ]

    @cached_property
    def _pipeline(self) -> Any:
        spacy = import_library("spacy")
        way_out = f"Fetch it with: python -m spacy download {self._model}"
        return load_model(f"spacy:{self._model}", lambda: spacy.load(self._model), way_out=way_out)


def _mentions(document: Any) -> Iterator[Mention]:
    for span in document.ents:
        if span.label_ in TYPES:
            yield Mention(span.start_char, span.end_char, TYPES[span.label_], CONFIDENCE)
