"""Values to JSON and back, always to the same bytes.

Keys sorted, six digits, one spelling of every number.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from clew.errors import InputError
from clew.evaluate.significance import Interval
from clew.parsing import parse_json

DIGITS = 6  # finer than any interval, coarser than what the last bits of a sum can do to a mean

T = TypeVar("T")


def dumps(value: Any, *, indent: int | None = 2) -> str:
    """Write a value of the report model as JSON; equal values give equal text."""
    return json.dumps(
        plain(value), sort_keys=True, indent=indent, ensure_ascii=False, allow_nan=False
    )


def loads(kind: type[T], text: str, *, source: str = "report") -> T:
    """Read a value of the report model, or raise an InputError that names the source and the field."""
    value: T = read(kind, parse(text, source), source)
    return value


def parse(text: str, source: str) -> Any:
    """Read JSON, or raise an InputError that names the source."""
    try:
        return parse_json(text)
    except ValueError as error:
        raise InputError(
            source, text, str(error), "Write it again with `clew eval run`."
        ) from error


def plain(value: Any) -> Any:
    """Return dicts, lists, text and rounded numbers for a value of the report model."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return rounded(value) if isinstance(value, float) else value


def rounded(value: float) -> float:
    """Return a number as files hold it: six digits, and no minus in front of zero.

    >>> rounded(1 / 3), rounded(-1e-9)
    (0.333333, 0.0)
    """
    if not math.isfinite(value):
        raise InputError(
            "number",
            value,
            "JSON has no such number",
            "A missing answer scores zero; leave out what has no value.",
        )
    return round(float(value), DIGITS) + 0.0


def read(kind: Any, raw: Any, where: str) -> Any:
    """Turn JSON data into a value of a type of the model.

    `where` is the path that an error names.
    """
    if is_dataclass(kind):
        return _record(kind, raw, where)
    if kind is Interval:
        return Interval(*_items(raw, where, count=2))
    origin, parts = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return None if raw is None and NoneType in parts else read(parts[0], raw, where)
    if origin is tuple:
        return tuple(
            read(parts[0], item, f"{where}[{place}]")
            for place, item in enumerate(_list(raw, where))
        )
    if origin is not None:  # every other generic of the model is a mapping with text keys
        return {
            key: read(parts[1], item, f"{where}.{key}")
            for key, item in _mapping(raw, where).items()
        }
    return _scalar(kind, raw, where)


def _record(kind: Any, raw: Any, where: str) -> Any:
    given, hints = _mapping(raw, where), _hints(kind)
    needed = {
        field.name
        for field in fields(kind)
        if field.default is MISSING and field.default_factory is MISSING
    }
    for name in sorted(needed - given.keys()):
        raise _wrong(f"{where}.{name}", None, "is missing")
    for name in sorted(given.keys() - hints.keys()):
        raise _wrong(f"{where}.{name}", given[name], "is not a field of this version")
    return kind(
        **{name: read(hints[name], item, f"{where}.{name}") for name, item in given.items()}
    )


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _scalar(kind: Any, raw: Any, where: str) -> Any:
    fits = isinstance(raw, int | float) if kind is float else isinstance(raw, kind)
    if not fits or (isinstance(raw, bool) and kind is not bool):
        raise _wrong(where, raw, f"must be {kind.__name__}")
    return kind(raw)


def _items(raw: Any, where: str, *, count: int) -> tuple[float, ...]:
    items = _list(raw, where)
    if len(items) != count:
        raise _wrong(where, raw, f"must hold {count} numbers")
    return tuple(_scalar(float, item, where) for item in items)


def _list(raw: Any, where: str) -> list[Any]:
    if not isinstance(raw, list):
        raise _wrong(where, raw, "must be a list")
    return raw


def _mapping(raw: Any, where: str) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise _wrong(where, raw, "must be an object")
    return raw


def _wrong(where: str, raw: object, problem: str) -> InputError:
    return InputError(
        where,
        raw,
        problem,
        "The file is damaged or was written by another version; make it again with `clew eval "
        "run`.",
    )
