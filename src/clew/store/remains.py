"""What a store keeps beside its nodes and what no other method lists.

Needed only to move a whole store into another.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from clew.types import Event, NodeId


@dataclass(frozen=True, slots=True)
class Remains:
    """Tombstones with their key, further idempotency keys, last words on forgotten nodes, records, rejections."""

    tombstone_key: bytes | None = None
    tombstones: frozenset[bytes] = frozenset()
    claims: frozenset[tuple[str, str, NodeId]] = frozenset()
    """Space, key and node."""
    last_words: tuple[Event, ...] = ()
    """The events of nodes that are gone, in the order of the log."""
    records: dict[tuple[str, str], str] = field(default_factory=dict)
    """JSON by kind and id."""
    rejections: dict[str, int] = field(default_factory=dict)


@runtime_checkable
class SupportsMoving(Protocol):
    """A store that a whole store can be moved out of and into."""

    def remains(self) -> Remains:
        """Return what stands beside the nodes."""

    def adopt(self, found: Remains) -> None:
        """Take over what stands beside the nodes of another store; what is there already stays."""
