"""Builders for tests: values that are complete, the same in every run, and differ only in what a test names."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any

import numpy as np

from clew.ports import ModelInfo, Store
from clew.text.words import content_hash
from clew.token_codes import pack
from clew.types import Embedding, Event, EventKind, Filter, Node, Role, Vectors

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
DIMENSION = 16
MODEL = ModelInfo("test-model", DIMENSION)


class FixedClock:
    """A clock that stands still until it is told to move.

    >>> clock = FixedClock()
    >>> clock.advance(days=1) == clock() == later(1)
    True
    """

    def __init__(self, now: datetime = NOW) -> None:
        """Start at a given moment."""
        self.now = now

    def __call__(self) -> datetime:
        """Return the moment the clock stands at."""
        return self.now

    def advance(self, **amount: float) -> datetime:
        """Move on by what `timedelta` understands and return the new moment."""
        self.now += timedelta(**amount)
        return self.now


def later(days: float) -> datetime:
    """Return the moment that many days after NOW; before it when negative."""
    return NOW + timedelta(days=days)


def node(id: str, text: str = "the quick brown fox", **fields: Any) -> Node:
    """Return a memory created and valid since NOW, with the hash of its text.

    >>> node("a", "hello", space="work").space
    'work'
    """
    times = {"t_created": NOW, "t_valid": NOW}
    return Node(id=id, text=text, **{**times, "content_hash": content_hash(text), **fields})


def unit(seed: str, dimension: int = DIMENSION) -> Vectors:
    """Return a unit vector that depends on the seed alone.

    >>> bool(abs((unit("a") ** 2).sum() - 1) < 1e-5), bool((unit("a") == unit("a")).all())
    (True, True)
    """
    digest = hashlib.sha256(seed.encode()).digest()
    drawn = np.random.default_rng(np.frombuffer(digest, np.uint32)).standard_normal(dimension)
    return np.asarray(drawn / np.linalg.norm(drawn), np.float32)


def codes(seed: str, tokens: int = 3, *, dimension: int = DIMENSION) -> bytes:
    """Return token codes that depend on the seed alone.

    >>> len(codes("a")), codes("a") == codes("a"), codes("a") == codes("b")
    (6, True, False)
    """
    return (
        pack(np.stack([unit(f"{seed} {number}", dimension) for number in range(tokens)]))
        if tokens
        else b""
    )


def embedding(
    of: Node,
    vector: Vectors | None = None,
    *,
    role: Role = Role.CONTENT,
    text_hash: str | None = None,
    tokens: bytes | None = None,
) -> Embedding:
    """Return an embedding of a node; without a vector, the one its text stands for."""
    return Embedding(
        node=of.id,
        role=role,
        text_hash=of.content_hash if text_hash is None else text_hash,
        vector=unit(of.text) if vector is None else vector,
        tokens=tokens,
    )


def where(**fields: Any) -> Filter:
    """Return a filter as of NOW.

    >>> where(tags=("a",)).now == NOW
    True
    """
    return Filter(**{"now": NOW, **fields})


def added(store: Store, nodes: Sequence[Node], vector: Vectors | None = None) -> None:
    """Write nodes as the engine does: each with a vector and its ADD event, in one go."""
    events = [Event(node=each.id, kind=EventKind.ADD, at=each.t_created) for each in nodes]
    store.insert(nodes, [embedding(each, vector) for each in nodes], events)


def filled(store: Store, nodes: Sequence[Node]) -> Store:
    """Make MODEL the store's model, write nodes as the engine does, and return the store."""
    store.activate(MODEL)
    added(store, nodes)
    return store


class raises:  # noqa: N801 - reads as a sentence where it is used, like pytest's
    """Expect one of the errors; `pytest.raises` without needing pytest."""

    def __init__(self, *errors: type[Exception]) -> None:
        """Name the errors, one of which must come."""
        self.errors = errors

    def __enter__(self) -> None:
        """Begin to watch."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        """Swallow an expected error; complain when there was none."""
        if error is None:
            raise AssertionError(
                f"{' or '.join(expected.__name__ for expected in self.errors)} was not raised"
            )
        return isinstance(error, self.errors)
