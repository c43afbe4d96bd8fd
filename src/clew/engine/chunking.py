"""Choose the chunker of a format.

By the strategy in the settings, or a simpler one with a note where that cannot be had.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from clew.documents.chunkers.code import Code
from clew.documents.chunkers.port import Chunker, TokenCounter
from clew.documents.chunkers.recursive import Fixed, Recursive
from clew.documents.chunkers.semantic import Semantic
from clew.documents.chunkers.structural import chunker_for
from clew.documents.importing import ChunkerFor
from clew.engine.models import Vectoriser
from clew.errors import ModelMissingError
from clew.graph.code.languages import GRAMMARS, has_grammar
from clew.types import Vectors

DEFAULT = "default"
UNITS_AT_ONCE = 256
"""Units whose vectors are computed by one call."""


def chunkers(
    vectors: Vectoriser, strategies: Mapping[str, str], *, count: TokenCounter
) -> ChunkerFor:
    """Return the function that gives the chunker of each format, and notes for the report."""
    probed: list[tuple[str, ...] | None] = []

    def missing_model() -> tuple[str, ...] | None:
        """Return why no unit can be embedded, or None.

        The model is asked once, before the first text is cut.
        """
        if not probed:
            found = vectors.passages(["probe"])
            probed.append(None if found.vectors is not None else found.notes)
        return probed[0]

    def chunker(format: str) -> tuple[Chunker, tuple[str, ...]]:
        strategy = strategies.get(format) or strategies.get(DEFAULT, "structural")
        if strategy == "semantic" and format not in GRAMMARS:
            notes = missing_model()
            if notes is None:
                return Semantic(_embedding(vectors), count), ()
            return chunker_for(format, count=count), (
                "Cut by structure instead of by meaning: there is no model.",
                *notes,
            )
        if strategy in ("recursive", "fixed"):
            return (Recursive if strategy == "recursive" else Fixed)(count), ()
        return _structural(format, count)

    return chunker


def _embedding(vectors: Vectoriser) -> Callable[[list[str]], Vectors]:
    def embed(units: list[str]) -> Vectors:
        rows = []
        for at in range(0, len(units), UNITS_AT_ONCE):
            found = vectors.passages(units[at : at + UNITS_AT_ONCE])
            if found.vectors is None:
                raise ModelMissingError(
                    "The model stopped while a text was cut: " + " ".join(found.notes)
                )
            rows.append(found.vectors)
        return np.concatenate(rows)

    return embed


def _structural(format: str, count: TokenCounter) -> tuple[Chunker, tuple[str, ...]]:
    """Return the chunker of a format.

    Code without its grammar is cut as plain text, and the note says so.
    """
    chosen = chunker_for(format, count=count)
    if not isinstance(chosen, Code) or has_grammar(format):
        return chosen, ()
    note = f"{format.capitalize()} was cut as plain text: its grammar is not installed. Install it with: pip install 'clew[code]'"
    return Recursive(count), (note,)
