"""What the adapters of embedding libraries share: finding the library and keeping the port's promises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from clew.errors import ModelError, ModelMissingError, clipped
from clew.models.home import OFFLINE_VARIABLE, offline
from clew.models.lazy import Lazy
from clew.models.text import cut
from clew.models.vectors import unit
from clew.ports import EmbedRole
from clew.types import Vectors


@dataclass(frozen=True, slots=True)
class Loaded:
    """A library's model, reduced to what the port asks."""

    dimension: int
    max_tokens: int
    embed: Callable[[list[str], EmbedRole], Any]


class LibraryEmbedder:
    """Embeds through a library that is imported, and a model that is loaded, on first use."""

    def __init__(self, library: str, name: str, load: Callable[[], Loaded]) -> None:
        """Take the spec's two halves and the function that loads the model."""
        self._id = f"{library}:{name}"
        self._model = Lazy(lambda: _translated(self._id, load))

    @property
    def id(self) -> str:
        """The name under which vectors are stored."""
        return self._id

    @property
    def dimension(self) -> int:
        """The length of every vector; loads the model."""
        return self._model().dimension

    @property
    def max_tokens(self) -> int:
        """Longer texts are cut to this many tokens; loads the model."""
        return self._model().max_tokens

    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> Vectors:
        """Return one unit vector per text, in order."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        model = self._model()
        try:
            vectors = np.asarray(model.embed([cut(text, max_tokens=model.max_tokens) for text in texts], role), dtype=np.float32)
        except Exception as error:  # whatever a foreign library raises
            raise ModelError(f"{self._id} could not embed: {clipped(str(error))}", model=self._id) from error
        if vectors.shape != (len(texts), model.dimension) or not np.isfinite(vectors).all():
            raise ModelError(
                f"{self._id} gave vectors of shape {vectors.shape} where {(len(texts), model.dimension)} finite ones were due."
            )
        return unit(vectors)


def library(module: str, *, extra: str) -> Any:
    """Import a library that is an extra of this package."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ModelMissingError(
            f"{extra} is not installed ({error}). Install it with: pip install 'clew[{extra}]'", library=extra
        ) from error


def _translated(id: str, load: Callable[[], Loaded]) -> Loaded:
    try:
        return load()
    except ModelError:
        raise
    except Exception as error:  # an unknown name, no network, a damaged cache: each library has its own types
        hint = (
            f"{OFFLINE_VARIABLE} is set, so it must be in the library's cache already." if offline() else "Check the name and the network."
        )
        raise ModelMissingError(f"{id} could not be loaded: {clipped(str(error))}. {hint}", model=id) from error
