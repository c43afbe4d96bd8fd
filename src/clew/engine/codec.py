"""Questions as JSON-ready data and back, by the types that their fields declare: a field added later needs no line here."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from types import UnionType
from typing import Any, NoReturn, TypeVar, get_args, get_origin, get_type_hints

from clew.errors import InputError
from clew.times import iso, parse_time

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
        return None if value is None else _decoded(next(each for each in get_args(kind) if each is not type(None)), value, field)
    origin = get_origin(kind)
    if origin is tuple:
        return tuple(_decoded(get_args(kind)[0], each, f"{field}[{at}]") for at, each in enumerate(_of(list, value, field)))
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
    return kind(**{name: _decoded(hint, value[name], f"{field}.{name}") for name, hint in hints.items()})


def _scalar(kind: Any, value: object, field: str) -> Any:
    if kind is datetime:
        return parse_time(_of(str, value, field), field)
    if kind is float:
        try:
            number = math.nan if isinstance(value, bool) or not isinstance(value, int | float) else float(value)
        except OverflowError:  # a whole number beyond all floats
            number = math.inf
        return number if math.isfinite(number) else refuse(field, value, "is not a number")
    if issubclass(kind, StrEnum):
        return kind(value) if value in tuple(kind) else refuse(field, value, f"is none of {', '.join(kind)}")
    return _of(kind, value, field)


def _of(kind: type[T], value: object, field: str) -> T:
    if type(value) is not kind:  # a truth value is no number
        refuse(field, value, f"is not {NOUNS.get(kind.__name__, kind.__name__)}")
    return value


NOUNS = {"str": "text", "int": "a whole number", "bool": "true or false", "list": "a list", "dict": "an object"}


def refuse(field: str, value: object, problem: str) -> NoReturn:
    """Raise the error for a field that cannot be read."""
    raise InputError(field, value, problem, WAY_OUT)
