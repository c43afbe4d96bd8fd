"""Conversations in a store, as an import leaves them."""

from __future__ import annotations

from collections.abc import Mapping

from clew.ports import Store
from clew.testing import node
from clew.types import Kind


def store_talk(
    store: Store,
    section: str,
    turns: Mapping[str, str],
    *,
    keyed: bool = True,
    position: int | None = None,
) -> None:
    """Store a section and its turns, by their ids.

    With `keyed` each has a context key, by which it is found amid its neighbours.
    """
    store.insert(
        [
            node(
                section,
                " ".join(turns.values()),
                kind=Kind.SECTION,
                root=section,
                position=position,
            )
        ]
    )
    store.insert(
        [
            node(
                id,
                text,
                kind=Kind.CHUNK,
                parent=section,
                root=section,
                position=at,
                context=f"{text} …" if keyed else "",
            )
            for at, (id, text) in enumerate(turns.items())
        ]
    )
