"""One file per peer, each behind the same small protocol and in an environment of its own.

A peer's library is imported in `load`, never at the top: the driver reads the facts of every peer
without having any of them installed.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

from benchmarks.data import Batch, Data, Floats, Item

Hit: TypeAlias = tuple[int, str]
"""Id and text: every answer holds the text, as a user needs it."""

FUSION_DEPTH = 50  # candidates of each channel where we fuse or the peer lets us say


class Batches(Protocol):
    """The items to ingest, in batches of the size a peer likes; reading them is not timed."""

    def __call__(self, size: int) -> Iterator[Batch]:
        """Yield the batches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the table says about a peer."""

    environment: str
    """The virtual environment; empty for the one that runs the benchmark."""
    install: tuple[tuple[str, ...], ...]
    """What pip is asked for, step by step."""
    packages: tuple[str, ...]
    """Whose versions are reported."""
    about: str
    """Which of its configurations is measured, and why."""
    commit: str
    """What `add` waits for."""
    no_hybrid: str = ""
    """Why there is no hybrid search, if there is none."""
    store_of: str = ""
    """The peer whose store it asks, for another way to ask the same; empty for one that fills its
    own.
    """


class Peer(Protocol):
    """What is measured of each library."""

    facts: Facts

    def load(self) -> None:
        """Import the library."""

    def open(self, path: Path) -> None:
        """Open the store in this folder, creating it when there is none."""

    def ingest(self, batches: Batches) -> None:
        """Store everything and build whatever indexes the searches below want."""

    def add(self, item: Item) -> None:
        """Store one item, as durably as the library does it, and return when it is acknowledged."""

    def dense(self, vector: Floats, k: int, bucket: str | None) -> list[Hit]:
        """Return the nearest by cosine, of one bucket only if given."""

    def hybrid(self, vector: Floats, text: str, k: int, bucket: str | None) -> list[Hit]:
        """Return the best by vector and words together."""

    def close(self) -> None:
        """Close the store so that another process can open it."""


@runtime_checkable
class SupportsHurry(Protocol):
    """A peer whose bulk loading can outlast any patience."""

    def hurry(self) -> None:
        """Load the rest of the items by any means.

        The rate has been measured, the questions have not.
        """


@runtime_checkable
class SupportsScan(Protocol):
    """A peer that can compare its bare scan with the speed of memory: Clew."""

    def scan(self, data: Data) -> dict[str, Any]:
        """Return the figures of `floor.compare`."""


@runtime_checkable
class SupportsCheckedAdd(Protocol):
    """A peer that can look for duplicates as it writes: Clew, by default.

    `add` is without, as the others know no such thing.
    """

    def add_checked(self, item: Item) -> None:
        """Store one item unless it is known already."""


@runtime_checkable
class SupportsBareAdd(Protocol):
    """A peer that can tell what its own statements take without all that it does before them.

    Clew.
    """

    def bare_add(self) -> AbstractContextManager[Callable[[Item], None]]:
        """Lend what writes one more row like the newest."""


_PEERS = {
    "clew": "clew:Clew",
    "clew-fast": "clew:Fast",
    "clew-no-tokens": "clew:Untokened",
    "chromadb": "chromadb:Chroma",
    "lancedb": "lancedb:Flat",
    "lancedb-ivf": "lancedb:Inverted",
    "sqlite-vec": "sqlite_vec:SqliteVec",
    "qdrant": "qdrant:Qdrant",
    "txtai": "txtai:Txtai",
}
NAMES = tuple(_PEERS)


def peer(name: str) -> Peer:
    """Return a peer by its name in the table."""
    module, _, cls = _PEERS[name].partition(":")
    made: Peer = getattr(importlib.import_module(f"benchmarks.peers.{module}"), cls)()
    return made


def fuse(*rankings: list[int], k: int, constant: int = 60) -> list[int]:
    """Fuse rankings by reciprocal rank, for libraries whose manuals show how instead of doing it."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, id in enumerate(ranking, start=1):
            scores[id] = scores.get(id, 0.0) + 1.0 / (constant + rank)
    return sorted(scores, key=lambda found: (-scores[found], found))[:k]


def library(name: str) -> Any:
    """Import a peer's library; typed Any because it is not installed where types are checked."""
    return importlib.import_module(name)
