"""Passages as Clew keeps them.

Conversations by `remember_conversation`, other passages in sections and chunks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from clew.documents.chunkers.port import estimate
from clew.documents.chunkers.structural import chunker_for
from clew.documents.tree import ROOM
from clew.engine import Clew
from clew.engine.importing import chunk_options
from clew.evaluate.data import Passage
from clew.memories.embedding import context_keys
from clew.ports import Progress
from clew.settings import Settings
from clew.text.words import content_hash
from clew.types import Kind, Node, NodeId


@dataclass(frozen=True, slots=True)
class Placed:
    """The nodes of a structured store, and which passage each is, or is a chunk of.

    Sections are no passage.
    """

    nodes: tuple[Node, ...]
    passages: Mapping[NodeId, Passage]


def remember_sessions(
    memory: Clew, passages: Sequence[Passage], *, progress: Progress
) -> dict[NodeId, Passage]:
    """Keep the conversations among the passages as a user would, and return which passage each message belongs to."""
    sessions: dict[tuple[str, str], list[Passage]] = defaultdict(list)
    for passage in passages:
        if passage.messages:
            sessions[passage.space, passage.session].append(passage)
    of: dict[NodeId, Passage] = {}
    for number, ((space, session), parts) in enumerate(sessions.items(), start=1):
        said = [(message, part) for part in parts for message in part.messages]
        done = memory.remember_conversation(
            [message for message, _ in said], session=session, space=space
        )
        first = {
            str(outcome.id): part
            for outcome, (_, part) in zip(done.outcomes, said, strict=True)
            if outcome.id
        }
        of.update(_message_passages(memory, done.sections, first))
        progress("remembering sessions", number, len(sessions))
    return of


def _message_passages(
    memory: Clew, sections: Sequence[NodeId], first: Mapping[NodeId, Passage]
) -> Iterator[tuple[NodeId, Passage]]:
    """Yield the nodes of a session with their passages.

    What follows the first node of a long message is a part of it.
    """
    order = {id: number for number, id in enumerate(sections)}
    nodes = [
        node
        for node in memory.store.get(memory.store.family(sections)).values()
        if node.parent in order
    ]
    passage: Passage | None = None
    for node in sorted(nodes, key=lambda node: (order[str(node.parent)], node.position or 0)):
        passage = first.get(node.id, passage)
        if passage is not None:
            yield node.id, replace(passage, text=node.text)


def placed(nodes: Sequence[Node], passages: Sequence[Passage], *, settings: Settings) -> Placed:
    """Return the nodes in their sections.

    A passage too long for one chunk becomes a section with chunks of its own.
    """
    found: list[Node] = []
    of: dict[NodeId, Passage] = {}
    groups: dict[tuple[str, str], list[Node]] = defaultdict(list)
    for node, passage in zip(nodes, passages, strict=True):
        of[node.id] = passage
        if passage.messages:
            continue
        if passage.section:
            groups[passage.space, passage.section].append(node)
            continue
        made = list(_cut(node, passage, settings))
        found += made
        # whoever is shown a chunk has not read the whole
        of.update((each.id, replace(passage, text=each.text)) for each in made)
    for number, parts in enumerate(groups.values()):
        found += _together(f"section-{number:08d}", parts)
    return Placed(tuple(found), of)


def _cut(node: Node, passage: Passage, settings: Settings) -> Iterator[Node]:
    """Yield a node as it is, or as a section with its chunks."""
    options = chunk_options(settings)
    if estimate(node.text) <= options.max_tokens:
        yield node
        return
    chunks = chunker_for(passage.format).chunk(node.text, format=passage.format, options=options)
    parts = [
        replace(
            node,
            id=f"{node.id}.{chunk.index:05d}",
            text=chunk.text,
            content_hash=content_hash(chunk.text),
        )
        for chunk in chunks
    ]
    yield replace(node, kind=Kind.SECTION)
    yield from _children(parts, node.id)


def _together(id: NodeId, parts: Sequence[Node]) -> Iterator[Node]:
    text = "\n".join(part.text for part in parts)
    yield replace(
        parts[0], id=id, kind=Kind.SECTION, text=text, content_hash=content_hash(text), keywords=()
    )
    yield from _children(parts, id)


def _children(parts: Sequence[Node], parent: NodeId) -> Iterator[Node]:
    keys = context_keys([part.text for part in parts], room=ROOM)
    for position, (part, key) in enumerate(zip(parts, keys, strict=True)):
        yield replace(
            part, kind=Kind.CHUNK, parent=parent, root=parent, position=position, context=key
        )
