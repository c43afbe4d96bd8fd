"""A JSON object that knows where it stands, so that every complaint names file, line and field."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, TypeVar

from clew.errors import InputError

T = TypeVar("T")
_HALF = re.compile("[\ud800-\udfff]")
_NO_NAME = ("\\", ":", "\0")  # another system's separators, and what no path can hold
KINDS = {
    str: "a text",
    int: "a whole number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}


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
        """Return a text that can be stored.

        Half a pair of surrogates, which JSON can spell, becomes a replacement sign.
        """
        return storable(self._a(str, field))

    def new(self, field: str, seen: set[str]) -> str:
        """Return a text that no earlier record had, and add it to `seen`.

        An id that comes twice would hide one of the two.
        """
        text = self.text(field)
        if text in seen:
            raise self.wrong(field, "stands in an earlier record too")
        seen.add(text)
        return text

    def below(self, field: str) -> str:
        """Return a text that names something below a folder: not nothing, no root, no step up."""
        text = self.text(field)
        parts = PurePosixPath(text).parts
        if not parts or parts[0] == "/" or ".." in parts or any(sign in text for sign in _NO_NAME):
            raise self.wrong(field, "does not name something below a folder")
        return text

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
        return tuple(
            Record.of(value, self.place, f"{self.path}{field}[{n}].")
            for n, value in enumerate(self.values(field))
        )

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
                raise self.place.wrong(f"{self.path}{field}[{n}]", value, f"is not {KINDS[kind]}")
        return self.values(field)


def distinct(records: Iterable[Record], field: str) -> None:
    """Refuse records of which two have the same text in a field."""
    seen: set[str] = set()
    for record in records:
        record.new(field, seen)


def storable(text: str) -> str:
    """Return a text that UTF-8 can hold, sign for sign, so that offsets hold.

    >>> storable("half of a pair: " + chr(0xD83D)) == "half of a pair: " + chr(0xFFFD)
    True
    """
    return text if text.isascii() else _HALF.sub("\N{REPLACEMENT CHARACTER}", text)


def _is(kind: type, value: object) -> bool:
    return isinstance(value, kind) and (
        kind is bool or not isinstance(value, bool)
    )  # True is no number here
