"""What the adapters of libraries share: finding the library, translating its errors, keeping the port's promises."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, TypeVar

from clew.errors import ModelError, ModelMissingError, clipped
from clew.graph.entities.joining import Mention, joined, kept
from clew.graph.entities.value import Entity

Loaded = TypeVar("Loaded")


def library(module: str) -> Any:
    """Import a library that the user may or may not have."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ModelMissingError(f"{module} is not installed ({error}). Install it with: pip install {module}", library=module) from error


def loaded(name: str, load: Callable[[], Loaded], *, way_out: str) -> Loaded:
    """Load a model, whatever a foreign library raises translated into one error that says what to do."""
    try:
        return load()
    except ModelError:
        raise
    except Exception as error:
        raise ModelMissingError(f"{name} could not be loaded: {clipped(str(error))}. {way_out}", model=name) from error


def shaped(name: str, text: str, mentions: Iterable[Mention], *, limit: int, least: float) -> tuple[Entity, ...]:
    """Make entities of a library's spans as the port promises them; a span that is not in the text is the library's error."""
    spans = list(mentions)
    for span in spans:
        if not 0 <= span.start < span.end <= len(text):
            raise ModelError(f"{name} named a span from {span.start} to {span.end} in a text of {len(text)} characters.", model=name)
    return kept(joined(text, spans, least=least), limit=limit)
