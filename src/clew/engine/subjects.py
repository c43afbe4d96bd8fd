"""Which memories are about the same? Those that go out of date, with the same title and category, however it is written."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from clew.ports import Store
from clew.types import Filter, Kind, Node, Stability
from clew.words import folded, terms, words

LOOKED_AT = 50  # memories looked at for the same subject; one with the same title holds all its words and stands among the first


def same_subject(store: Store, new: Node, now: datetime) -> list[Node]:
    """Return the dynamic memories of the same title and category that are true when the new one begins, or later."""
    if new.stability is not Stability.DYNAMIC or not (subject := subject_of(new.title)):
        return []
    where = Filter(space=new.space, kinds=(Kind.MEMORY,), categories=(new.category,), now=new.t_valid)  # what had not ended by then
    found = store.sparse(terms(new.title), where, limit=LOOKED_AT)
    nodes = store.get([match.id for match in found if match.id != new.id]).values()
    same = [node for node in nodes if node.stability is Stability.DYNAMIC and subject_of(node.title) == subject]
    # What the clock has not come to yet is left alone, and what begins where it ends was never true.
    return [node for node in same if node.t_created <= now and node.t_valid != node.t_invalid]


def subject_of(title: str) -> Sequence[str]:
    """Return the words of a title, however they are written.

    >>> subject_of("Redis  TTL") == subject_of("redis-ttl"), subject_of(" … ")
    (True, [])
    """
    return [folded(word) for word in words(title)]
