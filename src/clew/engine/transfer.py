"""A store as lines of JSON, and back: everything that is truth, vectors included."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, NamedTuple

from clew.engine import records
from clew.errors import CorruptStoreError, InputError, clipped, shown
from clew.graph.mentions import mentions
from clew.memories.embedding import is_message
from clew.memories.firewall.screening import REFUSE, redaction_note, screen_fields, scrub
from clew.parsing import parse_json
from clew.ports import ModelInfo, OnDamage, Store
from clew.settings import Settings
from clew.text.words import content_hash
from clew.times import iso
from clew.types import Embedding, Event, Kind, Node, NodeId, Role

FORMAT = "clew-export"
VERSION = 1
BATCH = 500
TIMES = ("t_valid", "t_invalid", "t_created", "t_expired")
WAY_OUT = "Nothing was loaded. Correct the line, or load the others with --skip-invalid."


@dataclass(frozen=True, slots=True)
class Invalid:
    """A line of an export that was not loaded, and why."""

    line: int
    problem: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a load brought in."""

    nodes: int
    skipped: int
    events: int
    edges: int
    vectors: int
    forgotten: int = 0
    """How many were left out because their text was forgotten in this store."""
    notes: tuple[str, ...] = ()
    invalid: tuple[Invalid, ...] = ()


def export(
    store: Store,
    *,
    space: str | None = None,
    vectors: bool = True,
    on_damage: OnDamage | None = None,
) -> Iterator[str]:
    """Yield the lines of an export.

    A header, then each node with its events, vectors and outgoing edges.

    A damaged row is an error; where `on_damage` is told of it, the export goes on without it.
    """
    model = _readable_model(store, on_damage)
    yield _line(
        {
            "format": FORMAT,
            "version": VERSION,
            "model": model.id if model else None,
            "dimension": model.dimension if model else None,
        }
    )
    kept = set()
    for node in store.nodes(space, on_damage=on_damage):
        kept.add(node.id)
        yield _line({"node": node_as_dict(node)})
        yield from (
            _line({"event": _event(event)}) for event in store.events(node.id, on_damage=on_damage)
        )
        if vectors and model:
            yield from (
                _line({"vector": _vector(embedding)})
                for embedding in store.embeddings([node.id], on_damage=on_damage)
            )
    for id in sorted(kept):
        yield from (
            _line({"edge": {**asdict(edge), "t_created": iso(edge.t_created)}})
            for edge in store.edges([id], on_damage=on_damage)
            if edge.source == id and edge.target in kept
        )


def _readable_model(store: Store, on_damage: OnDamage | None) -> ModelInfo | None:
    try:
        return store.model()
    except CorruptStoreError as error:
        if on_damage is None:
            raise
        on_damage(error)  # vectors of a model that nobody knows are of no use
        return None


def node_as_dict(node: Node) -> dict[str, Any]:
    """Return a node as JSON-ready data."""
    values = {field.name: getattr(node, field.name) for field in fields(node)}
    values.update({name: None if values[name] is None else iso(values[name]) for name in TIMES})
    quality = None if node.quality is None else node.quality._asdict()
    return {
        **values,
        "keywords": list(node.keywords),
        "tags": list(node.tags),
        "metadata": dict(node.metadata),
        "quality": quality,
    }


def event_as_dict(event: Event) -> dict[str, Any]:
    """Return an event as JSON-ready data."""
    return {"kind": str(event.kind), "at": iso(event.at), "detail": dict(event.detail)}


def _event(event: Event) -> dict[str, Any]:
    return {"node": event.node, **event_as_dict(event)}


def _vector(embedding: Embedding) -> dict[str, Any]:
    raw = base64.b64encode(embedding.vector.astype("<f2").tobytes()).decode()
    codes = (
        {} if embedding.tokens is None else {"tokens": base64.b64encode(embedding.tokens).decode()}
    )
    return {
        "node": embedding.node,
        "role": str(embedding.role),
        "text_hash": embedding.text_hash,
        "float16": raw,
        **codes,
    }


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def load(
    store: Store,
    lines: Iterable[str],
    *,
    settings: Settings,
    skip_invalid: bool = False,
    force: bool = False,
) -> Loaded:
    """Read an export into a store in one transaction.

    Nodes that are there already are left as they are, so it can run twice.

    Every line is checked. The first bad one raises, and nothing is loaded; with `skip_invalid` bad
    lines are left out and named in the result. What nodes name is not in an export: it is read from
    their texts again. What was forgotten here stays so, unless by `force`.
    """
    numbered = (
        (number, line)
        for number, line in enumerate(lines, start=1)
        if not isinstance(line, str | bytes) or line.strip()
    )
    model = _model(next(numbered, (1, "{}")))
    loader = _Loader(store, model, settings, skip_invalid=skip_invalid, force=force)
    with store.transaction():
        loader.activate()
        for number, line in numbered:
            loader.take(number, line)
        return loader.finish()


def _model(first: tuple[int, str]) -> ModelInfo | None:
    number, line = first
    try:
        header = _parsed(line)
    except ValueError as error:
        raise InputError(
            f"line {number}", scrub(line), str(error), "Load a file made by clew export."
        ) from error
    if header.get("format") != FORMAT or header.get("version") != VERSION:
        raise InputError(
            f"line {number}",
            header,
            f"is not the header of a version {VERSION} export",
            "Export again with: clew export FILE",
        )
    name, dimension = header.get("model"), header.get("dimension")
    if name is None:
        return None
    if (
        not isinstance(name, str)
        or not name
        or type(dimension) is not int
        or not 0 < dimension <= records.MAX_DIMENSION
    ):
        raise InputError(
            f"line {number}",
            header,
            "names no model with its dimension",
            "Load a file made by clew export.",
        )
    return ModelInfo(name, dimension)


def _parsed(line: str) -> dict[str, Any]:
    """Return the record of a line; raise a ValueError that says what is wrong with it."""
    if not isinstance(line, str | bytes):
        raise ValueError("is not text")  # noqa: TRY004 - as below
    record = parse_json(line)
    if not isinstance(record, dict):
        # The line is wrong, not an argument
        raise ValueError("is not a JSON object")  # noqa: TRY004
    return record


def _kind(record: Mapping[str, Any]) -> tuple[str, Any]:
    """Return what a record is, and its values."""
    kind = next(iter(record), "")
    if len(record) != 1 or kind not in READERS:
        raise ValueError(f"is none of {', '.join(READERS)}")
    return kind, record[kind]


class _Numbered(NamedTuple):
    """A value read from a line."""

    line: int
    value: Any


class _Loader:
    """Checks and writes records, some nodes at a time, inside the caller's transaction."""

    def __init__(
        self,
        store: Store,
        model: ModelInfo | None,
        settings: Settings,
        *,
        skip_invalid: bool,
        force: bool,
    ) -> None:
        self._store = store
        self._force = force
        self._left_out: set[str] = set()
        self._shortened: set[NodeId] = set()  # sections of which a message was forgotten here
        self._model = model
        self._settings = settings
        self._skip_invalid = skip_invalid
        self._invalid: list[Invalid] = []
        self._notes: list[str] = []
        self._secrets: dict[str, None] = {}
        self._counts = dict.fromkeys(
            ("nodes", "skipped", "events", "edges", "vectors", "forgotten"), 0
        )
        # every node of the file, with its space if it was new and None if it was there
        self._seen: dict[NodeId, str | None] = {}
        self._keys: set[tuple[str, str]] = set()
        # what secrets were taken out of: their vectors tell of another text
        self._reworded: set[NodeId] = set()
        self._nodes: list[Node] = []
        self._events: list[Event] = []
        self._vectors: dict[tuple[NodeId, str], Embedding] = {}
        self._edges: list[_Numbered] = []
        self._number = 0

    def activate(self) -> None:
        """Give a store without vectors the export's model; leave vectors of another model out."""
        model, current = self._model, self._store.model()
        if model is not None and current is None:
            self._store.activate(model)
        elif model is not None and current is not None and current != model:
            self._notes.append(
                f"The export's vectors are of {model.id}, the store's of {current.id}: run clew reembed."
            )
            self._model = None

    def take(self, number: int, line: str) -> None:
        """Check one line, and write what has come together before a new node."""
        self._number = number
        try:
            kind, values = _kind(_parsed(line))
            if kind == "node" and len(self._nodes) >= BATCH:
                self._write()
            READERS[kind](self, values)
        except InputError as error:
            self._refuse(
                number, line, f"{error.field}: {error.problem} (got {shown(scrub(error.value))})"
            )
        except ValueError as error:
            self._refuse(number, line, clipped(str(error)))

    def _refuse(self, number: int, line: str, problem: str) -> None:
        if not self._skip_invalid:
            raise InputError(f"line {number}", scrub(line), problem, WAY_OUT)
        self._invalid.append(Invalid(number, problem))

    # --- one record ---

    def node(self, values: Any) -> None:
        """Take a node; one that is in the store already stays as it is there."""
        node = records.read_node(values, self._settings)
        if node.id in self._seen:
            raise ValueError(f"has the id {shown(node.id)} of an earlier line")
        if self._store.get([node.id]):
            self._seen[node.id] = None
            self._counts["skipped"] += 1
            return
        key = node.idempotency_key
        if key is not None and (
            (node.space, key) in self._keys or self._store.find_key(node.space, key) is not None
        ):
            raise ValueError(f"has the idempotency key {shown(key)} of another memory")
        node = self._screened(node)
        if self._is_forgotten(node):
            self._left_out.add(node.id)
            self._seen[node.id] = None
            self._counts["forgotten"] += 1
            return
        self._seen[node.id] = node.space
        if key is not None:
            self._keys.add((node.space, key))
        self._nodes.append(node)

    def _is_forgotten(self, node: Node) -> bool:
        """Tell whether the text of a node or of its document was forgotten here.

        An export has a document before its parts.
        """
        if node.root in self._left_out:
            return True
        whole = node.kind is Kind.MEMORY or node.root is None or is_message(node)
        if not whole or not self._store.find_tombstones(node.space, [node.content_hash]):
            return False
        if self._force:
            self._store.drop_tombstones(node.space, [node.content_hash])
        elif is_message(node):
            self._shortened.add(str(node.parent))
        return not self._force

    def _screened(self, node: Node) -> Node:
        """Return a node without secrets, as `remember` would keep it."""
        given = {
            "text": node.text,
            "title": node.title,
            "context": node.context,
            "tags": node.tags,
            "keywords": node.keywords,
        }
        further = {
            "metadata": node.metadata,
            "source": node.source,
            "space": node.space,
            "idempotency_key": node.idempotency_key,
        }
        kept, rules = screen_fields({**given, **further}, self._settings.firewall)
        if not rules:
            return node
        if self._settings.firewall.secrets == REFUSE:
            raise ValueError(f"holds a secret ({', '.join(rules)})")
        self._secrets |= dict.fromkeys(rules)
        if (kept["text"], kept["title"], kept["context"]) != (node.text, node.title, node.context):
            self._reworded.add(node.id)
        return replace(node, **kept, content_hash=content_hash(kept["text"]))

    def event(self, values: Any) -> None:
        """Take an event of a node that stands above it."""
        event = records.read_event(values)
        if self._owned(event.node):
            detail, rules = screen_fields({"detail": dict(event.detail)}, self._settings.firewall)
            self._secrets |= dict.fromkeys(rules)
            self._events.append(replace(event, detail=detail["detail"]))

    def vector(self, values: Any) -> None:
        """Take a vector of a node that stands above it."""
        dimension = None if self._model is None else self._model.dimension
        vector = records.read_vector(values, dimension)
        if (vector.node, str(vector.role)) in self._vectors:
            raise ValueError("is a second vector of the same memory and role")
        if (
            self._owned(vector.node)
            and self._model is not None
            and vector.node not in self._reworded
        ):
            kept = vector if self._settings.model.token_codes else replace(vector, tokens=None)
            self._vectors[vector.node, str(vector.role)] = kept

    def edge(self, values: Any) -> None:
        """Take an edge; its ends may stand below it."""
        edge = records.read_edge(values)
        self._edges.append(_Numbered(self._number, edge))

    def _owned(self, id: NodeId) -> bool:
        """Tell whether a node was new; raise if no line above has it."""
        if id not in self._seen:
            raise ValueError(f"belongs to {shown(id)}, which no valid line above it has")
        return self._seen[id] is not None

    # --- writing ---

    def _write(self) -> None:
        self._store.insert(self._nodes)
        self._store.mention(
            [
                mention
                for said in mentions(self._nodes, settings=self._settings.entities)
                for mention in said
            ]
        )
        self._store.append(self._events)
        if self._vectors and self._model is not None:
            self._store.put(list(self._vectors.values()), self._model)
        for kind, values in (
            ("nodes", self._nodes),
            ("events", self._events),
            ("vectors", self._vectors),
        ):
            self._counts[kind] += len(values)
        self._nodes, self._events, self._vectors = [], [], {}

    def finish(self) -> Loaded:
        """Write the rest, then the edges whose ends are there."""
        self._write()
        for section in sorted(self._shortened):
            self._shorten(section)
        for at in range(0, len(self._edges), BATCH):
            self._link(self._edges[at : at + BATCH])
        if self._secrets:
            self._notes.append(
                f"{redaction_note(tuple(self._secrets))} What was reworded has no vector yet: run clew reembed."
            )
        return Loaded(
            **self._counts,
            notes=tuple(self._notes),
            invalid=tuple(sorted(self._invalid, key=lambda each: each.line)),
        )

    def _shorten(self, id: NodeId) -> None:
        """Write a section that was just loaded anew without its forgotten messages, and none where no message is left."""
        # With the chunkers, which few loads need
        from clew.documents.conversations import rebuild_section  # noqa: PLC0415

        rows = self._store.get(self._store.family([id]))
        section = rows.pop(id, None)
        if section is None or self._seen.get(id) is None:
            return
        kept = sorted(rows.values(), key=lambda node: (node.position or 0, node.id))
        events = [event for node in (section, *kept) for event in self._store.events(node.id)]
        vectors = [each for each in self._store.embeddings(list(rows)) if each.role is Role.CONTENT]
        self._store.delete([id, *rows])
        if kept:
            section, kept = rebuild_section(section, kept)
            self._store.insert([section, *kept], vectors, events)
            self._store.mention(
                [
                    mention
                    for said in mentions(kept, settings=self._settings.entities)
                    for mention in said
                ]
            )
        else:
            self._left_out.add(id)
            self._counts["nodes"] -= 1
        self._counts["events"] -= 0 if kept else len(events)
        self._notes.append(
            "A conversation was loaded without its forgotten messages: run clew reembed."
        )

    def _link(self, edges: list[_Numbered]) -> None:
        spaces = {
            id: node.space
            for id, node in self._store.get(
                [id for _, edge in edges for id in (edge.source, edge.target)]
            ).items()
        }
        fit = []
        for number, edge in edges:
            if not self._left_out.isdisjoint((edge.source, edge.target)):
                continue
            if lost := next((id for id in (edge.source, edge.target) if id not in spaces), None):
                self._refuse(
                    number,
                    _line({"edge": [edge.source, edge.target]}),
                    f"ends at {shown(lost)}, which is not there",
                )
            elif spaces[edge.source] != spaces[edge.target]:
                self._refuse(
                    number,
                    _line({"edge": [edge.source, edge.target]}),
                    "connects memories of two spaces",
                )
            else:
                fit.append(edge)
        there = (
            {*self._store.edges(list(dict.fromkeys(edge.source for edge in fit)))} if fit else set()
        )
        fresh = [edge for edge in dict.fromkeys(fit) if edge not in there]
        self._store.link(fresh)
        self._counts["edges"] += len(fresh)


READERS = {
    "node": _Loader.node,
    "event": _Loader.event,
    "vector": _Loader.vector,
    "edge": _Loader.edge,
}
