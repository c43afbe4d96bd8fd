"""A store as lines of JSON, and back: everything that is truth, vectors included."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from clew.errors import InputError, NotFoundError
from clew.ingest.naming import mentions
from clew.ports import ModelInfo, Store
from clew.settings import EntitySettings
from clew.times import iso, parse_time
from clew.types import Edge, Embedding, Event, EventKind, Kind, Node, Quality, Role, Stability, Stub

FORMAT = "clew-export"
VERSION = 1
BATCH = 500
TIMES = ("t_valid", "t_invalid", "t_created", "t_expired")
TYPES = {
    **dict.fromkeys(("id", "text", "content_hash", "space", "title", "category", "trigger", "evidence", "context"), str),
    **dict.fromkeys(("node", "source", "target", "kind", "text_hash", "float16"), str),
    **dict.fromkeys(("parent", "root", "idempotency_key"), str | None),
    **dict.fromkeys(("position", "start", "end"), int | None),
    **dict.fromkeys(("importance", "weight", "confidence"), int | float),
    **dict.fromkeys(("metadata", "detail"), dict),
    "quality": dict | None,
    **dict.fromkeys(("keywords", "tags"), list),
    **dict.fromkeys(("protected", "archived"), bool),
    "accesses": int,
}
"""What a field of a record must be, whichever record it stands in."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a load brought in."""

    nodes: int
    skipped: int
    events: int
    edges: int
    vectors: int
    notes: tuple[str, ...] = ()


def export(store: Store, *, space: str | None = None, vectors: bool = True) -> Iterator[str]:
    """Yield the lines of an export: a header, then each node with its events, vectors and outgoing edges."""
    model = store.model()
    yield _line(
        {"format": FORMAT, "version": VERSION, "model": model.id if model else None, "dimension": model.dimension if model else None}
    )
    kept = set()
    for node in store.nodes(space):
        kept.add(node.id)
        yield _line({"node": node_as_dict(node)})
        yield from (_line({"event": _event(event)}) for event in store.events(node.id))
        if vectors and model:
            yield from (_line({"vector": _vector(embedding)}) for embedding in store.embeddings([node.id]))
    for id in sorted(kept):
        yield from (
            _line({"edge": {**asdict(edge), "t_created": iso(edge.t_created)}})
            for edge in store.edges([id])
            if edge.source == id and edge.target in kept
        )


def node_as_dict(node: Node) -> dict[str, Any]:
    """Return a node as JSON-ready data."""
    values = {field.name: getattr(node, field.name) for field in fields(node)}
    values.update({name: None if values[name] is None else iso(values[name]) for name in TIMES})
    quality = None if node.quality is None else node.quality._asdict()
    return {**values, "keywords": list(node.keywords), "tags": list(node.tags), "metadata": dict(node.metadata), "quality": quality}


def event_as_dict(event: Event) -> dict[str, Any]:
    """Return an event as JSON-ready data."""
    return {"kind": str(event.kind), "at": iso(event.at), "detail": dict(event.detail)}


def _event(event: Event) -> dict[str, Any]:
    return {"node": event.node, **event_as_dict(event)}


def _vector(embedding: Embedding) -> dict[str, Any]:
    raw = base64.b64encode(embedding.vector.astype("<f2").tobytes()).decode()
    return {"node": embedding.node, "role": str(embedding.role), "text_hash": embedding.text_hash, "float16": raw}


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def load(store: Store, lines: Iterable[str], *, entities: EntitySettings) -> Loaded:
    """Read an export into a store; nodes that are there already are left as they are, so it can run twice.

    What nodes name is not in an export: it is read from their texts again.
    """
    records = _records(lines)
    _, header = next(records, (1, {}))
    if header.get("format") != FORMAT or header.get("version") != VERSION:
        raise InputError("line 1", header, f"is not the header of a version {VERSION} export", "Export again with: clew export FILE")
    loader = _Loader(store, _model(header), entities)
    batch: list[tuple[int, dict[str, Any]]] = []
    for record in records:
        if len(batch) >= BATCH and "node" in record[1]:  # never between a node and what belongs to it
            loader.write(batch)
            batch = []
        batch.append(record)
    loader.write(batch)
    return loader.result()


def _model(header: Mapping[str, Any]) -> ModelInfo | None:
    name, dimension = header.get("model"), header.get("dimension")
    if name is None:
        return None
    if not isinstance(name, str) or not isinstance(dimension, int) or dimension < 1:
        raise InputError("line 1", header, "names no model with its dimension", "Load a file made by clew export.")
    return ModelInfo(name, dimension)


def _records(lines: Iterable[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise InputError(f"line {number}", line, f"is not JSON ({error})", "Load a file made by clew export.") from error
        if not isinstance(record, dict):
            raise InputError(f"line {number}", line, "is not a JSON object", "Load a file made by clew export.")
        if "format" not in record and record.keys().isdisjoint(READERS):
            raise InputError(f"line {number}", line, f"is none of {', '.join(READERS)}", "Load a file made by clew export.")
        yield number, record


class _Loader:
    """Writes batches of records, each batch in one transaction."""

    def __init__(self, store: Store, model: ModelInfo | None, entities: EntitySettings) -> None:
        self._store = store
        self._model = model
        self._entities = entities
        self._notes: list[str] = []
        self._counts = dict.fromkeys(("nodes", "skipped", "events", "edges", "vectors"), 0)
        current = store.model()
        if model is not None and current is None:
            store.activate(model)
        elif model is not None and current != model:
            self._notes.append(
                f"The export's vectors are of {model.id}, the store's of {current.id if current else None}: run clew reembed."
            )
            self._model = None

    def result(self) -> Loaded:
        return Loaded(**self._counts, notes=tuple(self._notes))

    def write(self, batch: list[tuple[int, dict[str, Any]]]) -> None:
        read = {kind: [_read(number, record, kind) for number, record in batch if kind in record] for kind in READERS}
        with _named(batch), self._store.transaction():
            present = self._store.get([node.id for node in read["node"]])
            fresh = {node.id: node for node in read["node"] if node.id not in present}
            self._store.insert(list(fresh.values()))
            self._store.mention([mention for said in mentions(list(fresh.values()), settings=self._entities) for mention in said])
            events = [event for event in read["event"] if event.node in fresh]
            self._store.append(events)
            vectors = [vector for vector in read["vector"] if vector.node in fresh and self._model]
            if vectors and self._model:
                self._store.put(vectors, self._model)
            edges = self._new_edges(read["edge"])
            self._store.link(edges)
        for kind, count in (
            ("nodes", len(fresh)),
            ("skipped", len(present)),
            ("events", len(events)),
            ("edges", len(edges)),
            ("vectors", len(vectors)),
        ):
            self._counts[kind] += count

    def _new_edges(self, edges: list[Edge]) -> list[Edge]:
        """Return the edges that the store does not have as they are."""
        there = {*self._store.edges(list(dict.fromkeys(edge.source for edge in edges)))} if edges else set()
        return [edge for edge in edges if edge not in there]


@contextmanager
def _named(batch: list[tuple[int, dict[str, Any]]]) -> Iterator[None]:
    """Say which lines the store refused: a vector of another length, an edge to nowhere."""
    try:
        yield
    except (InputError, NotFoundError) as error:
        lines = f"lines {batch[0][0]} to {batch[-1][0]}"
        raise InputError(lines, error.facts, f"cannot be loaded: {error.message}", "What stood before them was loaded.") from error


def _read(number: int, record: dict[str, Any], kind: str) -> Any:
    try:
        values = dict(record[kind])
        _checked(values)
        return READERS[kind](values)
    except (KeyError, TypeError, ValueError, OverflowError, InputError) as error:  # base64's error is a ValueError
        raise InputError(f"line {number}", record, f"is not a {kind} ({error})", "Load a file made by clew export.") from error


def _checked(values: Mapping[str, Any]) -> None:
    """Refuse what no store can keep: a value of another type, NaN, half a character."""
    json.dumps(values, ensure_ascii=False, allow_nan=False).encode()
    for name, wanted in TYPES.items():
        if name in values and not isinstance(values[name], wanted):
            raise TypeError(f"{name} is of another type")


def _read_node(values: dict[str, Any]) -> Node:
    values.update({name: parse_time(values[name], name) for name in TIMES if values.get(name) is not None})
    values.update(kind=Kind(values["kind"]), stability=Stability(values["stability"]))
    if values.get("quality") is not None:
        values["quality"] = Quality(**{**values["quality"], "stub": Stub(values["quality"]["stub"])})
    return Node(**{**values, "keywords": tuple(values["keywords"]), "tags": tuple(values["tags"])})


def _read_event(values: dict[str, Any]) -> Event:
    return Event(node=values["node"], kind=EventKind(values["kind"]), at=parse_time(values["at"], "at"), detail=values["detail"])


def _read_vector(values: dict[str, Any]) -> Embedding:
    vector = np.frombuffer(base64.b64decode(values["float16"], validate=True), "<f2").astype(np.float32)
    return Embedding(node=values["node"], role=Role(values["role"]), text_hash=values["text_hash"], vector=vector)


def _read_edge(values: dict[str, Any]) -> Edge:
    return Edge(**{**values, "t_created": parse_time(values["t_created"], "t_created")})


READERS = {"node": _read_node, "event": _read_event, "vector": _read_vector, "edge": _read_edge}
