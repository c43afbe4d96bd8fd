"""A document at three resolutions: the whole, its sections, its chunks.

A document that fits into one chunk is one node. A longer one is a document node that keeps the
whole text, section nodes and chunk nodes that know their place in it: `document.text[start:end] ==
text`. Children name their parent and root; edges say the same to the graph.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import groupby, pairwise
from typing import Any

from clew.documents.chunkers.port import Chunk
from clew.documents.code_places import Places, is_source
from clew.documents.readers.document import Document, Message
from clew.graph.code.languages import GRAMMARS
from clew.memories.embedding import context_keys
from clew.memories.quality import assess
from clew.memories.validation import message_metadata
from clew.text.words import content_hash, keywords
from clew.types import Edge, Kind, Node, NodeId

# Group the chunks of a document into sections: by its headings or scopes, and by size where it has
# none.

Times = Callable[[Chunk], datetime | None]
# as many chunks of the usual size as a reader takes in as one subject: about 4,000 tokens
SECTION_CHUNKS = 8


@dataclass(frozen=True, slots=True)
class Section:
    """Neighbouring chunks under one heading, in one scope or of one sitting."""

    path: tuple[str, ...]
    chunks: tuple[Chunk, ...]

    @property
    def start(self) -> int:
        """Where it begins in the document."""
        return self.chunks[0].start

    @property
    def end(self) -> int:
        """Where it ends in the document."""
        return max(chunk.end for chunk in self.chunks)


def sections(
    chunks: Sequence[Chunk], *, size: int, largest: int = SECTION_CHUNKS
) -> tuple[Section, ...]:
    """Return the chunks in sections of at most about `largest` chunks' worth of `size` characters each."""
    return tuple(
        Section(_shared(part), tuple(part)) for part in _parts(list(chunks), 0, size * largest)
    )


def sittings(
    chunks: Sequence[Chunk],
    *,
    time: Times,
    gap: timedelta,
    size: int,
    largest: int = SECTION_CHUNKS,
) -> tuple[Section, ...]:
    """Return the chunks of a conversation in sittings.

    A longer silence ends one, and so does its size.
    """
    found: list[list[Chunk]] = [[]]
    for before, chunk in pairwise([None, *chunks]):
        if before is not None and chunk is not None and _silence(before, chunk, time) > gap:
            found.append([])
        if chunk is not None:
            found[-1].append(chunk)
    return tuple(
        section for part in found if part for section in sections(part, size=size, largest=largest)
    )


def _silence(before: Chunk, after: Chunk, time: Times) -> timedelta:
    earlier, later = time(before), time(after)
    return later - earlier if earlier is not None and later is not None else timedelta(0)


def _parts(chunks: list[Chunk], depth: int, room: int) -> Iterator[list[Chunk]]:
    """Yield a stretch per heading of the first level that differs, and per deeper heading while a stretch is too large."""
    if not chunks:
        return
    deepest = max(len(chunk.path) for chunk in chunks)
    while depth < deepest:
        groups = [
            list(group) for _, group in groupby(chunks, key=lambda chunk: chunk.path[: depth + 1])
        ]
        depth += 1
        if len(groups) > 1:
            parts = (
                part
                for group in groups
                for part in (_parts(group, depth, room) if _size(group) > room else [group])
            )
            yield from _joined(parts, room // SECTION_CHUNKS)
            return
    yield from _even(chunks, max(1, -(-sum(len(chunk.text) for chunk in chunks) // room)))


def _joined(parts: Iterator[list[Chunk]], room: int) -> Iterator[list[Chunk]]:
    """Put neighbours that fit into one chunk together under their common heading.

    A section of one line tells a reader nothing.
    """
    pending: list[Chunk] = []
    for part in parts:
        if pending and _size(pending) + _size(part) <= room and _shared([*pending, *part]):
            pending = [*pending, *part]
            continue
        if pending:
            yield pending
        pending = part
    if pending:
        yield pending


def _even(chunks: list[Chunk], count: int) -> Iterator[list[Chunk]]:
    share = -(-len(chunks) // max(1, count))
    return (chunks[at : at + share] for at in range(0, len(chunks), share))


def _size(chunks: Sequence[Chunk]) -> int:
    return sum(len(chunk.text) for chunk in chunks)


def _shared(chunks: Sequence[Chunk]) -> tuple[str, ...]:
    """Return the headings that all chunks stand under."""
    first, *others = (chunk.path for chunk in chunks)
    kept = 0
    while kept < len(first) and all(
        len(path) > kept and path[kept] == first[kept] for path in others
    ):
        kept += 1
    return first[:kept]


PART_OF = "PART_OF"
FOLLOWS = "FOLLOWS"
MAX_TITLE = 300  # characters: a path, a class and a signature
ROOM = 1200  # characters of a context key: about half of what the default model reads
SILENCE = timedelta(hours=4)  # after which a conversation has begun anew
CHUNK_CHARACTERS = 2048  # of a chunk of the usual 512 tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What all nodes of a document share.

    Where they come from, and what their importer said of them.
    """

    space: str
    source: str
    category: str
    importance: float
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    root_metadata: Mapping[str, Any] = field(default_factory=dict)
    """Kept with the outermost node alone: which file it is, and in which state it was read."""
    time: datetime | None = None
    max_keywords: int = 10
    context_room: int = ROOM


@dataclass(frozen=True, slots=True)
class Tree:
    """The nodes of one document, the outermost first, and the edges between them."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    @property
    def root(self) -> Node:
        """The outermost node."""
        return self.nodes[0]


def planted(
    document: Document,
    chunks: Sequence[Chunk],
    *,
    origin: Origin,
    now: datetime,
    new_id: Callable[[datetime], NodeId],
) -> Tree:
    """Return the nodes of a document that was cut into these chunks; at least one."""
    return _Planter(document, origin, now, new_id).tree(chunks)


class _Planter:
    """Makes the nodes of one document."""

    def __init__(
        self,
        document: Document,
        origin: Origin,
        now: datetime,
        new_id: Callable[[datetime], NodeId],
    ) -> None:
        self._document = document
        self._origin = origin
        self._now = now
        self._new_id = new_id
        self._places: Places | None = None
        self._message_starts = [message.start for message in document.messages]

    def tree(self, chunks: Sequence[Chunk]) -> Tree:
        if len(chunks) == 1:
            return Tree((self._single(chunks[0]),), ())
        root = self._whole()
        parts = self._sections(chunks)
        nodes = [root]
        leaves: list[Node] = []
        for position, section in enumerate(parts):
            nodes.append(self._section(section, root, position))
            leaves += self._leaves(section.chunks, nodes[-1], root)
        return Tree(
            (*nodes, *leaves),
            (*_structure((*nodes[1:], *leaves), self._now), *_sequence(leaves, self._now)),
        )

    def _sections(self, chunks: Sequence[Chunk]) -> tuple[Section, ...]:
        if self._document.messages:
            return sittings(
                chunks,
                time=lambda chunk: self._time_at(chunk.start),
                gap=SILENCE,
                size=CHUNK_CHARACTERS,
            )
        return sections(chunks, size=CHUNK_CHARACTERS)

    def _single(self, chunk: Chunk) -> Node:
        node = self._node(
            Kind.CHUNK,
            chunk.text,
            start=chunk.start,
            end=chunk.end,
            path=self._heading(chunk),
            position=0,
        )
        return self._outermost(self._located(node, chunk))

    def _whole(self) -> Node:
        text = self._document.text
        node = self._node(Kind.DOCUMENT, text, start=0, end=len(text), position=0)
        return self._outermost(node)

    def _outermost(self, node: Node) -> Node:
        return replace(node, metadata={**node.metadata, **self._origin.root_metadata})

    def _section(self, section: Section, root: Node, position: int) -> Node:
        text = self._document.text[section.start : section.end]
        made = self._node(
            Kind.SECTION,
            text,
            start=section.start,
            end=section.end,
            path=section.path,
            position=position,
        )
        return replace(made, parent=root.id, root=root.id)

    def _leaves(self, chunks: Sequence[Chunk], parent: Node, root: Node) -> Iterator[Node]:
        keys = context_keys([chunk.text for chunk in chunks], room=self._origin.context_room)
        for chunk, key in zip(chunks, keys, strict=True):
            made = self._node(
                Kind.CHUNK,
                chunk.text,
                start=chunk.start,
                end=chunk.end,
                path=self._heading(chunk),
                position=chunk.index,
            )
            yield replace(
                self._located(self._said(made), chunk), parent=parent.id, root=root.id, context=key
            )

    def _said(self, node: Node) -> Node:
        """Return a message with who says it.

        The title of its conversation, which all of them share, would blur its vector.
        """
        message = self._message_at(node.start or 0)
        if message is None:
            return node
        return replace(
            node,
            title="",
            metadata={**node.metadata, **message_metadata(message.speaker, message.role)},
        )

    def _located(self, node: Node, chunk: Chunk) -> Node:
        """Return a chunk of source code with its path, lines and symbol in its metadata."""
        if not is_source(self._document.title):
            return node
        if self._places is None:
            self._places = Places(self._document.text)
        return replace(
            node, metadata={**self._places.of(chunk, self._document.title), **node.metadata}
        )

    def _heading(self, chunk: Chunk) -> Sequence[str]:
        """Return what stands above a chunk.

        Headings, or of code its scopes with their signatures and the imports it uses.
        """
        return (
            (chunk.context,) if chunk.context and self._document.format in GRAMMARS else chunk.path
        )

    def _node(
        self,
        kind: Kind,
        text: str,
        *,
        start: int,
        end: int,
        position: int,
        path: Sequence[str] = (),
    ) -> Node:
        origin = self._origin
        title = titled(self._document.title, path)
        return Node(
            id=self._new_id(self._now),
            kind=kind,
            text=text,
            title=title,
            space=origin.space,
            category=origin.category,
            importance=origin.importance,
            source=origin.source,
            tags=origin.tags,
            metadata=dict(origin.metadata),
            t_created=self._now,
            t_valid=self._time_at(start) or origin.time or self._now,
            content_hash=content_hash(text),
            keywords=keywords(text, limit=origin.max_keywords),
            position=position,
            start=start,
            end=end,
            quality=assess(text, title=title, format=self._document.format),
        )

    def _time_at(self, start: int) -> datetime | None:
        """Return when what stands at an offset was said, as far as the document knows."""
        message = self._message_at(start)
        return (message.time if message else None) or self._document.time

    def _message_at(self, start: int) -> Message | None:
        at = bisect_right(self._message_starts, start) - 1
        return self._document.messages[at] if at >= 0 else None


def titled(title: str, path: Sequence[str]) -> str:
    """Return a title with the headings below it, each said once, outermost first.

    >>> titled("Guide", ["Guide", "Install", "Linux"])
    'Guide > Install > Linux'
    """
    parts = list(dict.fromkeys(part for part in (title, *path) if part))
    return " > ".join(parts)[:MAX_TITLE]


def _structure(nodes: Sequence[Node], now: datetime) -> Iterator[Edge]:
    return (
        Edge(source=node.id, target=node.parent, kind=PART_OF, t_created=now)
        for node in nodes
        if node.parent
    )


def _sequence(leaves: Sequence[Node], now: datetime) -> Iterator[Edge]:
    return (
        Edge(source=later.id, target=earlier.id, kind=FOLLOWS, t_created=now)
        for earlier, later in pairwise(leaves)
    )
