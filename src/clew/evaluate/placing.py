"""Passages as an import would place them: neighbours in sections, long ones cut, small ones with a context key."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from clew.engine.importing import chunk_options
from clew.evaluate.data import Passage
from clew.ingest.chunkers import chunker_for, estimate
from clew.ingest.context import context_keys
from clew.ingest.tree import ROOM
from clew.settings import Settings
from clew.types import Kind, Node, NodeId
from clew.words import content_hash


@dataclass(frozen=True, slots=True)
class Placed:
    """The nodes of a structured store, and which passage each is, or is a chunk of; sections are no passage."""

    nodes: tuple[Node, ...]
    passages: Mapping[NodeId, Passage]


def placed(nodes: Sequence[Node], passages: Sequence[Passage], *, settings: Settings) -> Placed:
    """Return the nodes in their sections; a passage too long for one chunk becomes a section with chunks of its own."""
    found: list[Node] = []
    of: dict[NodeId, Passage] = {}
    groups: dict[tuple[str, str], list[Node]] = defaultdict(list)
    for node, passage in zip(nodes, passages, strict=True):
        of[node.id] = passage
        if passage.section:
            groups[passage.space, passage.section].append(node)
            continue
        made = list(_cut(node, passage, settings))
        found += made
        of.update((each.id, replace(passage, text=each.text)) for each in made)  # whoever is shown a chunk has not read the whole
    for number, parts in enumerate(groups.values()):
        found += _together(f"section-{number:08d}", parts)
    return Placed(tuple(found), of)


def _cut(node: Node, passage: Passage, settings: Settings) -> Iterator[Node]:
    """Yield a node as it is, or as a section with its chunks."""
    options = chunk_options(settings, passage.format)
    if estimate(node.text) <= options.max_tokens:
        yield node
        return
    chunks = chunker_for(passage.format).chunk(node.text, format=passage.format, options=options)
    parts = [replace(node, id=f"{node.id}.{chunk.index:05d}", text=chunk.text, content_hash=content_hash(chunk.text)) for chunk in chunks]
    yield replace(node, kind=Kind.SECTION)
    yield from _children(parts, node.id)


def _together(id: NodeId, parts: Sequence[Node]) -> Iterator[Node]:
    text = "\n".join(part.text for part in parts)
    yield replace(parts[0], id=id, kind=Kind.SECTION, text=text, content_hash=content_hash(text), keywords=())
    yield from _children(parts, id)


def _children(parts: Sequence[Node], parent: NodeId) -> Iterator[Node]:
    keys = context_keys([part.text for part in parts], room=ROOM)
    for position, (part, key) in enumerate(zip(parts, keys, strict=True)):
        yield replace(part, kind=Kind.CHUNK, parent=parent, root=parent, position=position, context=key)
