"""A JSON object that knows where it stands, so that every complaint names file, line and field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from clew.errors import InputError

T = TypeVar("T")
KINDS = {str: "a text", int: "a whole number", bool: "true or false", list: "a list", dict: "an object"}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value was read, and what to do when it cannot be used."""

    file: str
    line: int
    way_out: str

    def wrong(self, field: str, value: object, problem: str) -> InputError:
        """Return the error that names file, line and field."""
        return InputError(f"{self.file}:{self.line} {field}".rstrip(), value, problem, self.way_out)


@dataclass(frozen=True, slots=True)
class Record:
    """One object of a file; `path` leads from the line's own value to this one."""

    value: Mapping[str, Any]
    place: Place
    path: str = ""

    @classmethod
    def of(cls, value: object, place: Place, path: str = "") -> Record:
        """Return a value as a record, or complain that it is no object."""
        if not isinstance(value, dict):
            raise place.wrong(path.rstrip("."), value, "is not an object")
        return cls(value, place, path)

    def __contains__(self, field: str) -> bool:
        """Tell whether the field is there and says something."""
        return self.value.get(field) is not None

    def text(self, field: str) -> str:
        """Return a text."""
        return self._a(str, field)

    def number(self, field: str) -> int:
        """Return a whole number."""
        return self._a(int, field)

    def texts(self, field: str) -> tuple[str, ...]:
        """Return a list of texts."""
        return self._each(str, field)

    def numbers(self, field: str) -> tuple[int, ...]:
        """Return a list of whole numbers."""
        return self._each(int, field)

    def values(self, field: str) -> tuple[Any, ...]:
        """Return a list of whatever it holds."""
        return tuple(self._a(list, field))

    def record(self, field: str) -> Record:
        """Return an object."""
        return Record(self._a(dict, field), self.place, f"{self.path}{field}.")

    def records(self, field: str) -> tuple[Record, ...]:
        """Return a list of objects."""
        return tuple(Record.of(value, self.place, f"{self.path}{field}[{n}].") for n, value in enumerate(self.values(field)))

    def wrong(self, field: str, problem: str) -> InputError:
        """Return the error that names file, line and field."""
        return self.place.wrong(f"{self.path}{field}", self.value.get(field), problem)

    def _a(self, kind: type[T], field: str) -> T:
        if field not in self.value:
            raise self.place.wrong(f"{self.path}{field}", sorted(self.value), "is missing")
        value = self.value[field]
        if not _is(kind, value):
            raise self.wrong(field, f"is not {KINDS[kind]}")
        return value  # type: ignore[no-any-return]  # what _is has just made sure of

    def _each(self, kind: type[T], field: str) -> tuple[T, ...]:
        for n, value in enumerate(self.values(field)):
            if not _is(kind, value):
                raise self.wrong(f"{field}[{n}]", f"is not {KINDS[kind]}")
        return self.values(field)


def _is(kind: type, value: object) -> bool:
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))  # True is no number here
