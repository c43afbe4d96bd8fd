"""What is asked of another library to stand beside Clew.

Index passages with our vectors, and search them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from clew.errors import RefusedError
from clew.types import Vectors


@dataclass(frozen=True, slots=True)
class Corpus:
    """What a peer gets: the same texts, in the same spaces, with the same vectors (None without a model)."""

    texts: Sequence[str]
    spaces: Sequence[str]
    vectors: Vectors | None

    def by_space(self) -> dict[str, list[int]]:
        """Return the places of the texts of each space."""
        places: dict[str, list[int]] = {}
        for place, space in enumerate(self.spaces):
            places.setdefault(space, []).append(place)
        return places


class Peer(Protocol):
    """Another library, as its manual says to use it."""

    name: str
    packages: tuple[str, ...]
    """What pip is asked for; the first is the one whose version is told."""
    needs_vectors: bool
    about: str
    """Which of its configurations is measured."""

    def open(self, corpus: Corpus, folder: Path) -> None:
        """Import the library and index the corpus in an empty folder."""

    def search(self, text: str, vector: Vectors | None, space: str, k: int) -> list[int]:
        """Return the places of the best k texts of a space, best first."""

    def close(self) -> None:
        """Release what was opened."""


def library(name: str, packages: Sequence[str]) -> Any:
    """Import a peer's library, or raise a RefusedError that says how to install it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise RefusedError(
            f"not installed: pip install {' '.join(packages)}", library=name
        ) from error
