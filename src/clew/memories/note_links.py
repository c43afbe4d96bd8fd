"""Turn the wikilinks of imported notes into stored edges between their outermost nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import PurePath

from clew.memories.sync import FILE, outermost
from clew.ports import Store
from clew.types import Edge, Node, NodeId

LINKS = "LINKS"
WEIGHT = 0.8


def link_notes(store: Store, *, space: str, now: datetime) -> int:
    """Link every note of a space to the notes that it names, by file name or alias, and return how many edges were new."""
    notes = [node for node in outermost(store, space, now) if FILE in node.metadata]
    known: dict[str, NodeId] = {}
    for node in sorted(notes, key=lambda node: node.id):
        for name in _names(node):
            known.setdefault(name, node.id)
    linking = [node for node in notes if node.metadata.get("links")]
    wanted = {edge for node in linking for edge in _targets(node, known)}
    there = {
        (edge.source, edge.target)
        for edge in store.edges([node.id for node in linking])
        if edge.kind == LINKS
    }
    fresh = sorted(wanted - there)
    store.link(
        [
            Edge(source=source, target=target, kind=LINKS, weight=WEIGHT, t_created=now)
            for source, target in fresh
        ]
    )
    return len(fresh)


def _names(node: Node) -> Iterator[str]:
    yield PurePath(str(node.metadata[FILE])).stem.casefold()
    aliases = node.metadata.get("aliases")
    for alias in aliases if isinstance(aliases, Sequence) and not isinstance(aliases, str) else ():
        if isinstance(alias, str):
            yield alias.casefold()


def _targets(node: Node, known: dict[str, NodeId]) -> Iterator[tuple[NodeId, NodeId]]:
    links = node.metadata["links"]
    for name in links if isinstance(links, Sequence) and not isinstance(links, str) else ():
        target = known.get(name.casefold()) if isinstance(name, str) else None
        if target is not None and target != node.id:
            yield node.id, target
