"""A recall as a document that can be kept, and asked again.

Everything that decided the ranking, and no text of a memory.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from types import UnionType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, get_args, get_origin, get_type_hints

from clew import __version__
from clew.errors import InputError, clipped
from clew.memories.validation import MAX_NAME_CHARACTERS, line
from clew.parsing import ParseError, parse_json
from clew.search.state import Component, Hit, Question, Recall
from clew.settings import Settings, as_dict
from clew.times import iso, parse_time
from clew.types import EventKind, NodeId

if TYPE_CHECKING:
    from clew.engine.clew import Clew

# Questions as JSON-ready data and back, by the types that their fields declare: a field added later
# needs no line here.

T = TypeVar("T")
WAY_OUT = "Save a trace anew with: clew recall QUERY --save-trace FILE"


def encoded(value: Any) -> Any:
    """Return a frozen value as JSON-ready data.

    >>> from clew.settings import Weights
    >>> encoded(Weights(0.8, 0.1, 0.1, 0.0))
    {'semantic': 0.8, 'recency': 0.1, 'importance': 0.1, 'access': 0.0}
    """
    if is_dataclass(value):
        return {each.name: encoded(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, datetime):
        return iso(value)
    if hasattr(value, "_asdict"):  # a tuple with names
        return {name: encoded(each) for name, each in value._asdict().items()}
    if isinstance(value, tuple | list):
        return [encoded(each) for each in value]
    if isinstance(value, Mapping):
        return {name: encoded(each) for name, each in value.items()}
    return str(value) if isinstance(value, StrEnum) else value


def decoded(kind: type[T], value: object, field: str) -> T:
    """Return the value of a declared type that the data stand for, or an InputError that names the field.

    >>> from clew.settings import Weights
    >>> decoded(Weights, {"semantic": 1, "recency": 0, "importance": 0, "access": 0}, "weights")
    Weights(semantic=1.0, recency=0.0, importance=0.0, access=0.0)
    """
    made: T = _decoded(kind, value, field)
    return made


def _decoded(kind: Any, value: object, field: str) -> Any:
    if kind is Any:
        return value
    if isinstance(kind, UnionType):
        return (
            None
            if value is None
            else _decoded(
                next(each for each in get_args(kind) if each is not type(None)), value, field
            )
        )
    origin = get_origin(kind)
    if origin is tuple:
        return tuple(
            _decoded(get_args(kind)[0], each, f"{field}[{at}]")
            for at, each in enumerate(_of(list, value, field))
        )
    if origin is not None:
        return dict(_of(dict, value, field))
    if is_dataclass(kind) or hasattr(kind, "_fields"):
        return _made(kind, _of(dict, value, field), field)
    return _scalar(kind, value, field)


def _made(kind: Any, value: Mapping[str, Any], field: str) -> Any:
    hints = get_type_hints(kind)
    if extra := next((name for name in value if name not in hints), None):
        refuse(f"{field}.{extra}", value[extra], "is not known")
    if missing := next((name for name in hints if name not in value), None):
        refuse(f"{field}.{missing}", None, "is missing")
    return kind(
        **{name: _decoded(hint, value[name], f"{field}.{name}") for name, hint in hints.items()}
    )


def _scalar(kind: Any, value: object, field: str) -> Any:
    if kind is datetime:
        return parse_time(_of(str, value, field), field)
    if kind is float:
        try:
            number = (
                math.nan
                if isinstance(value, bool) or not isinstance(value, int | float)
                else float(value)
            )
        except OverflowError:  # a whole number beyond all floats
            number = math.inf
        return number if math.isfinite(number) else refuse(field, value, "is not a number")
    if issubclass(kind, StrEnum):
        return (
            kind(value)
            if value in tuple(kind)
            else refuse(field, value, f"is none of {', '.join(kind)}")
        )
    return _of(kind, value, field)


def _of(kind: type[T], value: object, field: str) -> T:
    if type(value) is not kind:  # a truth value is no number
        refuse(field, value, f"is not {NOUNS.get(kind.__name__, kind.__name__)}")
    return value


NOUNS = {
    "str": "text",
    "int": "a whole number",
    "bool": "true or false",
    "list": "a list",
    "dict": "an object",
}


def refuse(field: str, value: object, problem: str) -> NoReturn:
    """Raise the error for a field that cannot be read."""
    raise InputError(field, value, problem, WAY_OUT)


FORMAT = "clew-trace"
VERSION = 1
MAX_CHARACTERS = 10_000_000  # a thousand hits with all their numbers take one
FIELDS = (
    "format",
    "version",
    "clew",
    "id",
    "now",
    "question",
    "recipe",
    "settings",
    "model",
    "store",
    "ranking",
)

# What these sections say is about writing, counting, listing and serving; the rest, later sections
# too, may change a ranking.
OTHER_SECTIONS = frozenset(
    # none tells of the machine
    "store memory duplicates substance imports access lists chunking decay serve mcp log telemetry".split()
)
# The question has these already, or they change nothing.
DECIDED = frozenset(
    {
        "model.auto_pull",
        "recall.k",
        "recall.recipe",
        "recall.preset",
        "recall.min_similarity",
        "recall.budget_tokens",
        "recall.max_query_characters",
    }
) | {"score.presets"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A hit as a trace keeps it."""

    id: NodeId
    score: float
    components: Mapping[str, Component]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A kept recall, read and checked."""

    id: str
    now: datetime
    question: Question
    recipe: tuple[str, ...]
    settings: Mapping[str, Any]
    model: str | None
    store: Mapping[str, Any]
    ranking: tuple[Placed, ...]


def trace_of(clew: Clew, answer: Recall) -> dict[str, Any]:
    """Return an answer as a document for `replay`.

    Question, clock, stages, settings, model, the state of the store, ranking.
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        "clew": __version__,
        "id": answer.id,
        "now": iso(answer.question.where.now),
        "question": encoded(answer.question),
        "recipe": stages(clew, answer.question.recipe),
        "settings": deciding(clew.settings),
        **state(clew, answer.question.where.space),
        "ranking": [_placed(hit, rank) for rank, hit in enumerate(answer.hits, start=1)],
        "notes": list(answer.notes),
    }


def stages(clew: Clew, recipe: str) -> list[str]:
    """Return the stages of a recipe as they print, with their options."""
    return [repr(stage) for stage in clew.recipe(recipe).stages]


def deciding(settings: Settings) -> dict[str, Any]:
    """Return the settings that may change a ranking, by dotted key.

    What the question says itself is not among them.
    """
    flat = {
        f"{section}.{key}": value
        for section, values in as_dict(settings).items()
        for key, value in values.items()
    }
    return {
        key: value
        for key, value in flat.items()
        if key.partition(".")[0] not in OTHER_SECTIONS and key not in DECIDED
    }


def state(clew: Clew, space: str) -> dict[str, Any]:
    """Return the model of a store's vectors, and how much a space holds and has lived through.

    Recalls count for nothing.
    """
    model = clew.store.model()
    told = clew.store.stats(space)  # each store tells what it counts
    counts = {
        name: told[name]
        for name in ("nodes", "live", "archived", "vectors", "edges")
        if name in told
    }
    happened = {
        str(kind): count
        for kind, count in told.get("by_event", {}).items()
        if kind != EventKind.ACCESS
    }
    return {
        "model": None if model is None else model.id,
        "store": {**counts, "events": sum(happened.values())},
    }


def _placed(hit: Hit, rank: int) -> dict[str, Any]:
    components = {name: part._asdict() for name, part in sorted(hit.components.items())}
    channels = {name: place._asdict() for name, place in sorted(hit.channels.items())}
    path = [hop._asdict() for hop in hit.path]
    return {
        "id": hit.id,
        "rank": rank,
        "score": hit.score,
        "method": hit.method,
        "components": components,
        "channels": channels,
        "path": path,
    }


def read_trace(given: str | bytes | Mapping[str, Any]) -> Trace:
    """Return a trace, or an InputError that names the field that is wrong.

    Whoever wrote it, it is only ever read as data.
    """
    document = _parsed(given if isinstance(given, str | bytes) else _written(given))
    _check_header(document)
    now = parse_time(_text("trace.now", document["now"]), "trace.now")
    question = decoded(Question, document["question"], "trace.question")
    if question.where.now != now:
        refuse("trace.now", document["now"], "is not the time of the question")
    return Trace(
        id=line("trace.id", document["id"], limit=MAX_NAME_CHARACTERS),
        now=now,
        question=question,
        recipe=tuple(
            _text(f"trace.recipe[{at}]", each)
            for at, each in enumerate(_list("trace.recipe", document["recipe"]))
        ),
        settings=_mapping("trace.settings", document["settings"]),
        model=None if document["model"] is None else _text("trace.model", document["model"]),
        store=_mapping("trace.store", document["store"]),
        ranking=_ranking(_list("trace.ranking", document["ranking"])),
    )


def _check_header(document: Mapping[str, Any]) -> None:
    if document.get("format") != FORMAT:
        refuse("trace.format", document.get("format"), f"is not {FORMAT!r}")
    if type(document.get("version")) is not int or document["version"] != VERSION:
        refuse(
            "trace.version",
            document.get("version"),
            f"is not {VERSION}, which this version of Clew reads",
        )
    if missing := next((name for name in FIELDS if name not in document), None):
        refuse(f"trace.{missing}", None, "is missing")


def _ranking(entries: list[Any]) -> tuple[Placed, ...]:
    found: dict[NodeId, Placed] = {}
    for at, entry in enumerate(entries):
        field = f"trace.ranking[{at}]"
        placed = _read(field, _mapping(field, entry))
        if placed.id in found:
            refuse(f"{field}.id", placed.id, "is there twice")
        found[placed.id] = placed
    return tuple(found.values())


def _read(field: str, entry: Mapping[str, Any]) -> Placed:
    for name in ("id", "score", "components"):
        if name not in entry:
            refuse(f"{field}.{name}", None, "is missing")
    parts = {}
    for name, part in _mapping(f"{field}.components", entry["components"]).items():
        of = _mapping(f"{field}.components.{name}", part)
        parts[name] = Component(
            *(
                _number(f"{field}.components.{name}.{each}", of.get(each))
                for each in ("value", "weight")
            )
        )
    id = line(f"{field}.id", entry["id"], limit=MAX_NAME_CHARACTERS)
    return Placed(id=id, score=_number(f"{field}.score", entry["score"]), components=parts)


def _written(given: object) -> str:
    try:
        return json.dumps(given)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError("trace", given, f"is not JSON ({clipped(str(error))})", WAY_OUT) from error


def _parsed(text: str | bytes) -> Mapping[str, Any]:
    if len(text) > MAX_CHARACTERS:
        refuse(
            "trace", f"{len(text):,} characters", f"is longer than {MAX_CHARACTERS:,} characters"
        )
    try:
        document = parse_json(text, parse_constant=_no_number)
        # half a character, which JSON can spell, is no text
        json.dumps(document, ensure_ascii=False).encode()
    except ValueError as error:
        problem = str(error) if isinstance(error, ParseError) else f"is not JSON ({error})"
        raise InputError("trace", text, problem, WAY_OUT) from error
    return _mapping("trace", document)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _mapping(field: str, value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else refuse(field, value, "is not an object")


def _list(field: str, value: object) -> list[Any]:
    return value if isinstance(value, list) else refuse(field, value, "is not a list")


def _text(field: str, value: object) -> str:
    return value if isinstance(value, str) else refuse(field, value, "is not text")


def _number(field: str, value: object) -> float:
    try:
        sound = (
            not isinstance(value, bool) and isinstance(value, int | float) and math.isfinite(value)
        )
    except OverflowError:  # a whole number beyond all floats
        sound = False
    if not sound or not isinstance(value, int | float):
        refuse(field, value, "is not a number")
    return float(value)
