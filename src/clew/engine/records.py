"""The records of an export, checked as closely as what a caller gives to `remember`.

A value is kept exactly as it stands or refused: nothing is put in order on the way, so that a
loaded export exports the same lines.
"""

from __future__ import annotations

import base64
import json
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from enum import StrEnum
from typing import Any

import numpy as np

from clew.errors import InputError
from clew.memories.validation import MAX_METADATA_DEPTH, MAX_NAME_CHARACTERS, plain_metadata, share
from clew.parsing import check_depth
from clew.settings import Settings
from clew.store.vectors import as_codes, as_unit
from clew.text.words import content_hash
from clew.times import parse_time
from clew.types import Edge, Embedding, Event, EventKind, Kind, Node, Quality, Role, Stability, Stub

MAX_DIMENSION = 1 << 16
# of a title, a source, a trigger, evidence: headings and addresses, however long
MAX_LONG_CHARACTERS = 20_000
MAX_COUNT = 1 << 53  # whole numbers that JSON readers agree on
WAY_OUT = "Load a file made by clew export."

Read = Callable[[str, Any], Any]


def _wrong(field: str, value: Any, problem: str) -> InputError:
    return InputError(field, value, problem, WAY_OUT)


def _text(field: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _wrong(field, value, "must be text")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise _wrong(field, value, "holds half a character") from error
    return value


def _line(field: str, value: Any, *, limit: int = MAX_NAME_CHARACTERS, empty: bool = False) -> str:
    text = _text(field, value)
    if len(text) > limit:
        raise _wrong(field, value, f"is longer than {limit} characters")
    if not text and not empty:
        raise _wrong(field, value, "is empty")
    if any(unicodedata.category(each) == "Cc" and not each.isspace() for each in text):
        raise _wrong(field, value, "holds a control character")
    return text


def _long(field: str, value: Any) -> str:
    return _line(field, value, limit=MAX_LONG_CHARACTERS, empty=True)


def _lines(field: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise _wrong(field, value, "must be a list of texts")
    return tuple(_line(field, each, limit=MAX_LONG_CHARACTERS) for each in value)


def _flag(field: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise _wrong(field, value, "must be true or false")
    return value


def _count(field: str, value: Any) -> int:
    if type(value) is not int or not 0 <= value <= MAX_COUNT:
        raise _wrong(field, value, "must be a whole number, 0 or more")
    return value


def _known(kind: type[StrEnum]) -> Read:
    def read(field: str, value: Any) -> Any:
        try:
            return kind(_text(field, value))
        except ValueError as error:
            raise _wrong(field, value, f"is none of {', '.join(kind)}") from error

    return read


def _time(field: str, value: Any) -> Any:
    return parse_time(_text(field, value), field)


def _object(field: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(field, value, "must be an object")
    check_depth(value, MAX_METADATA_DEPTH)
    # a ValueError for NaN and for half a character
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    return value


def _quality(field: str, value: Any) -> Quality:
    if not isinstance(value, dict) or value.keys() != set(Quality._fields):
        raise _wrong(field, value, "is not an assessment of quality")
    shares = {name: share(name, value[name]) for name in Quality._fields[:5]}
    return Quality(
        **shares,
        stub=_known(Stub)("stub", value["stub"]),
        words=_count("words", value["words"]),
        version=_count("version", value["version"]),
    )


def _optional(read: Read) -> Read:
    return lambda field, value: None if value is None else read(field, value)


NODE: dict[str, Read] = {
    **dict.fromkeys(("id", "space", "category"), _line),
    **dict.fromkeys(("title", "trigger", "source"), _long),
    **dict.fromkeys(("text", "content_hash", "context"), _text),
    **dict.fromkeys(("t_created", "t_valid"), _time),
    **dict.fromkeys(("t_invalid", "t_expired"), _optional(_time)),
    **dict.fromkeys(("parent", "root", "idempotency_key"), _optional(_line)),
    **dict.fromkeys(("position", "start", "end"), _optional(_count)),
    **dict.fromkeys(("keywords", "tags"), _lines),
    **dict.fromkeys(("protected", "archived"), _flag),
    "kind": _known(Kind),
    "stability": _known(Stability),
    "importance": share,
    "accesses": _count,
    "quality": _optional(_quality),
    "metadata": _object,
}
EVENT: dict[str, Read] = {"node": _line, "kind": _known(EventKind), "at": _time, "detail": _object}
VECTOR: dict[str, Read] = {
    "node": _line,
    "role": _known(Role),
    "text_hash": _line,
    "float16": _text,
    "tokens": _text,
}
EDGE: dict[str, Read] = {
    **dict.fromkeys(("source", "target", "kind"), _line),
    **dict.fromkeys(("weight", "confidence"), share),
    "evidence": _long,
    "t_created": _time,
}
_REQUIRED = {
    field.name
    for field in fields(Node)
    if field.default is MISSING and field.default_factory is MISSING
}


def _values(values: Any, readers: Mapping[str, Read], required: set[str]) -> dict[str, Any]:
    """Return the fields of a record, each as its reader gives it."""
    if not isinstance(values, dict):
        raise _wrong("record", values, "must be an object")
    for name in values:
        if name not in readers:
            raise _wrong("field", name, "is not known")
    if missing := sorted(required - values.keys()):
        raise _wrong(missing[0], None, "is missing")
    return {name: readers[name](name, value) for name, value in values.items()}


def read_node(values: Any, settings: Settings) -> Node:
    """Return the node of a record."""
    node = Node(**_values(values, NODE, _REQUIRED))
    if node.kind is Kind.MEMORY and node.metadata:  # what an import adds is not the caller's
        plain_metadata(node.metadata, limit_bytes=settings.memory.max_metadata_bytes)
    if node.kind is Kind.MEMORY and not node.text.strip():
        raise _wrong("text", node.text, "is empty")
    if node.content_hash != content_hash(node.text):
        raise _wrong("content_hash", node.content_hash, "is not that of the text")
    if node.t_invalid is not None and node.t_invalid < node.t_valid:
        raise _wrong("t_invalid", values["t_invalid"], "is before t_valid")
    if node.start is not None and node.end is not None and node.end < node.start:
        raise _wrong("end", node.end, "is before start")
    return node


def read_event(values: Any) -> Event:
    """Return the event of a record."""
    return Event(**_values(values, EVENT, set(EVENT)))


def read_vector(values: Any, dimension: int | None) -> Embedding:
    """Return the vector of a record, which must have as many numbers as the export's model gives, with its token codes if it has any."""
    found = _values(values, VECTOR, set(VECTOR) - {"tokens"})
    raw = base64.b64decode(found["float16"], validate=True)  # its error is a ValueError
    if dimension is not None and len(raw) != 2 * dimension:
        raise _wrong("float16", f"{len(raw)} bytes", f"is not a vector of {dimension} numbers")
    vector = np.frombuffer(raw, "<f2").astype(np.float32)
    tokens = base64.b64decode(found["tokens"], validate=True) if "tokens" in found else None
    if dimension is not None:
        as_unit(vector, dimension)
        as_codes(tokens, dimension)
    return Embedding(
        node=found["node"],
        role=found["role"],
        text_hash=found["text_hash"],
        vector=vector,
        tokens=tokens,
    )


def read_edge(values: Any) -> Edge:
    """Return the edge of a record."""
    return Edge(**_values(values, EDGE, {"source", "target", "kind", "t_created"}))
