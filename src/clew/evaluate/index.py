"""From a dataset to a store that every system of an evaluation searches, as a user would keep it."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import clew
from clew.documents.chunkers.port import estimate
from clew.documents.chunkers.structural import chunker_for
from clew.documents.tree import ROOM
from clew.engine import Clew
from clew.engine.importing import chunk_options
from clew.errors import InputError
from clew.evaluate.data import Dataset, Passage
from clew.evaluate.history_store import live_through
from clew.graph.mentions import mentions
from clew.memories.draft import embedding_text
from clew.memories.embedding import context_keys, embed_passages, wanted
from clew.memories.embedding import made as as_embeddings
from clew.memories.quality import assess
from clew.ports import Embedder, EmbedRole, ModelInfo, Progress
from clew.settings import Settings
from clew.text.words import content_hash, keywords
from clew.types import Embedding, Event, EventKind, Kind, Node, NodeId, Vectors


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
        of.update(
            (each.id, replace(passage, text=each.text)) for each in made
        )  # whoever is shown a chunk has not read the whole
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


BATCH = 1000
MAX_KEYWORDS = 10
TIMELESS = datetime(
    2026, 1, 1, tzinfo=UTC
)  # for sets whose texts have no date; any fixed moment serves


@dataclass(frozen=True, slots=True)
class Index:
    """Open Clews over a dataset, with the way from their nodes back to the dataset's passages."""

    memory: Clew
    """The passages alone, as the baselines search them."""
    structured: Clew
    """The same passages with their sections and context keys, as an import keeps them.

    The same Clew where there are no sections.
    """
    dataset: Dataset
    nodes: Mapping[NodeId, Passage]
    """By node id: which passage a node is, or is a chunk of."""
    passages: Mapping[str, Passage]
    """By the dataset's own id: what answers, measures and files speak of."""
    embedder: Embedder | None
    vectors: Vectors | None
    """One row for each passage, in the order of the dataset."""
    content: str
    """A hash of all that is searched."""
    split: bool = False
    """Whether some passage is several nodes of the structured Clew."""


@contextmanager
def indexed(
    dataset: Dataset,
    embedder: Embedder | None,
    *,
    progress: Progress,
    config: Path | None = None,
    **settings: Any,
) -> Iterator[Index]:
    """Put the passages into fresh stores and lend them.

    The clock stands a day after the latest passage.
    """
    latest = max((passage.time for passage in dataset.passages if passage.time), default=TIMELESS)
    if dataset.history:
        latest = max(latest, dataset.history[-1].at)
    nodes = {f"{number:08d}": passage for number, passage in enumerate(dataset.passages)}
    passages = _by_id(dataset)
    made = [_node(id, passage, latest) for id, passage in nodes.items()]
    options: dict[str, Any] = {**settings, "store.synchronous": "NORMAL", "access.track": False}
    if embedder is None:
        options["model.embedder"] = "none"
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="clew-eval-")))
        now = latest + timedelta(days=1)

        def opened(name: str, nodes: Sequence[Node], passages: Mapping[NodeId, Passage]) -> Clew:
            memory = stack.enter_context(
                clew.open(
                    folder / name, embedder=embedder, config=config, clock=lambda: now, **options
                )
            )
            if embedder is not None and nodes:
                memory.store.activate(ModelInfo(embedder.id, embedder.dimension))
            _fill(
                memory,
                [_assessed(node, passages.get(node.id)) for node in nodes],
                embedder,
                latest,
                progress,
            )
            return memory

        flat = opened("flat.clew", made, nodes)
        # After the store was filled: the run that gives token codes gives these too, and a cache
        # has them now.
        vectors = (
            embedder.embed([embedding_text(node) for node in made], role=EmbedRole.PASSAGE)
            if embedder is not None
            else None
        )
        if dataset.history:
            path = folder / "lived.clew"
            keys = live_through(
                path, dataset.history, embedder, config=config, settings=options, progress=progress
            )
            lived = stack.enter_context(
                clew.open(path, embedder=embedder, config=config, clock=lambda: now, **options)
            )
            nodes = {**nodes, **{id: passages[key] for id, key in keys.items()}}
            yield Index(flat, lived, dataset, nodes, passages, embedder, vectors, _content(dataset))
            return
        shaped = placed(made, dataset.passages, settings=flat.settings)
        talks = sum(bool(passage.messages) for passage in dataset.passages)
        structured = (
            opened("structured.clew", shaped.nodes, shaped.passages)
            if talks or len(shaped.nodes) > len(made)
            else flat
        )
        said = remember_sessions(structured, dataset.passages, progress=progress) if talks else {}
        split = len(shaped.passages) > len(made) or len(said) > talks
        nodes = {**shaped.passages, **said}
        yield Index(
            flat, structured, dataset, nodes, passages, embedder, vectors, _content(dataset), split
        )


def _by_id(dataset: Dataset) -> dict[str, Passage]:
    passages = {passage.id: passage for passage in dataset.passages}
    if len(passages) < len(dataset.passages):
        doubled = len(dataset.passages) - len(passages)
        raise InputError(
            "passages",
            doubled,
            f"of {dataset.name} have the id of another passage",
            "A loader must give each its own.",
        )
    return passages


def _fill(
    memory: Clew,
    nodes: Sequence[Node],
    embedder: Embedder | None,
    now: datetime,
    progress: Progress,
) -> None:
    for at in range(0, len(nodes), BATCH):
        part = nodes[at : at + BATCH]
        memory.store.insert(
            part, _embeddings(part, embedder, token_codes=memory.settings.model.token_codes)
        )
        memory.store.append([Event(node=node.id, kind=EventKind.ADD, at=now) for node in part])
        memory.store.mention(
            [
                mention
                for said in mentions(part, settings=memory.settings.entities)
                for mention in said
            ]
        )
        progress("indexing", at + len(part), len(nodes))


def _node(id: NodeId, passage: Passage, now: datetime) -> Node:
    return Node(
        id=id,
        text=passage.text,
        title=passage.title,
        space=passage.space,
        kind=Kind.CHUNK if passage.document else Kind.MEMORY,
        t_created=passage.time or now,  # told when it was said, and no sooner than it was true
        t_valid=passage.time or now,
        content_hash=content_hash(passage.text),
        keywords=keywords(passage.text, limit=MAX_KEYWORDS),
        source=passage.document,
    )


def _assessed(node: Node, passage: Passage | None) -> Node:
    """Return a node with its quality, as an import would note it.

    The gate of some recipes asks for it.
    """
    return replace(
        node,
        quality=assess(node.text, title=node.title, format=passage.format if passage else "text"),
    )


def _embeddings(
    nodes: Sequence[Node], embedder: Embedder | None, *, token_codes: bool
) -> list[Embedding]:
    if embedder is None:
        return []
    needed = list(wanted(nodes))
    return as_embeddings(
        needed,
        embed_passages(embedder, [each.source for each in needed], token_codes=token_codes).rows(),
    )


def _content(dataset: Dataset) -> str:
    """Hash what is searched, in order; judgements and questions have no part in it."""
    digest = hashlib.sha256()
    for passage in dataset.passages:
        fields = (
            passage.id,
            passage.text,
            passage.title,
            passage.space,
            passage.document,
            passage.start,
            str(passage.time),
            passage.section,
            *((each.speaker, each.role, each.text, str(each.time)) for each in passage.messages),
        )
        digest.update(json.dumps(fields).encode() + b"\n")
    for happening in dataset.history:
        digest.update(repr(happening).encode() + b"\n")
    return digest.hexdigest()
