"""From a dataset to a store that every system of an evaluation searches."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import clew
from clew.engine import Clew
from clew.evaluate.data import Dataset, Passage
from clew.ingest.draft import embedding_text
from clew.ports import Embedder, EmbedRole, ModelInfo, Progress
from clew.types import Embedding, Event, EventKind, Kind, Node, NodeId, Role
from clew.words import content_hash, keywords

BATCH = 1000
MAX_KEYWORDS = 10
TIMELESS = datetime(2026, 1, 1, tzinfo=UTC)  # for sets whose texts have no date; any fixed moment serves


@dataclass(frozen=True, slots=True)
class Index:
    """An open Clew over a dataset, with the way from its nodes back to the dataset's passages."""

    memory: Clew
    dataset: Dataset
    passages: dict[NodeId, Passage]


@contextmanager
def indexed(dataset: Dataset, embedder: Embedder | None, *, progress: Progress, **settings: Any) -> Iterator[Index]:
    """Put the passages into a fresh store and lend it; the clock stands a day after the latest passage."""
    latest = max((passage.time for passage in dataset.passages if passage.time), default=TIMELESS)
    with tempfile.TemporaryDirectory(prefix="clew-eval-") as folder:
        options = {**settings, "store.synchronous": "NORMAL", "access.track": False}
        if embedder is None:
            options["model.embedder"] = "none"
        with clew.open(Path(folder) / "eval.clew", embedder=embedder, clock=lambda: latest + timedelta(days=1), **options) as memory:
            passages = {f"{number:08d}": passage for number, passage in enumerate(dataset.passages)}
            _fill(memory, list(passages.items()), embedder, latest, progress)
            yield Index(memory, dataset, passages)


def _fill(memory: Clew, passages: Sequence[tuple[NodeId, Passage]], embedder: Embedder | None, now: datetime, progress: Progress) -> None:
    if embedder is not None and passages:
        memory.store.activate(ModelInfo(embedder.id, embedder.dimension))
    for at in range(0, len(passages), BATCH):
        nodes = [_node(id, passage, now) for id, passage in passages[at : at + BATCH]]
        memory.store.insert(nodes, _embeddings(nodes, embedder))
        memory.store.append([Event(node=node.id, kind=EventKind.ADD, at=now) for node in nodes])
        progress("indexing", at + len(nodes), len(passages))


def _node(id: NodeId, passage: Passage, now: datetime) -> Node:
    return Node(
        id=id,
        text=passage.text,
        title=passage.title,
        space=passage.space,
        kind=Kind.CHUNK if passage.document else Kind.MEMORY,
        t_created=now,
        t_valid=passage.time or now,
        content_hash=content_hash(passage.text),
        keywords=keywords(passage.text, limit=MAX_KEYWORDS),
        source=passage.document,
    )


def _embeddings(nodes: Sequence[Node], embedder: Embedder | None) -> list[Embedding]:
    if embedder is None:
        return []
    vectors = embedder.embed([embedding_text(node) for node in nodes], role=EmbedRole.PASSAGE)
    return [
        Embedding(node=node.id, role=Role.CONTENT, text_hash=node.content_hash, vector=vector)
        for node, vector in zip(nodes, vectors, strict=True)
    ]
