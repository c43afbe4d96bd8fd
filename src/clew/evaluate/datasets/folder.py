"""What a loader is asked for, and how the files of a set are read."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml

from clew.errors import InputError, shown
from clew.evaluate.data import Dataset, Document, Happening, Passage, Query
from clew.evaluate.datasets.card import EVERYTHING, Card, matches
from clew.evaluate.datasets.record import Place, Record
from clew.files import read_file
from clew.parsing import ParseError, parse_yaml

LARGEST_FILE_BYTES = 4_000_000_000


class Folder:
    """Reads the files of one set.

    `data_hash` is the SHA-256 of all bytes read so far, in order of reading.
    """

    def __init__(self, card: Card, path: Path) -> None:
        """Take the set's card and its folder, which must exist."""
        if not path.is_dir():
            raise InputError(
                "path", str(path), f"is not a folder with {card.title}", self._get(card)
            )
        self.path = path
        self._card = card
        self._way_out = f"Correct the file, or get it again. {self._get(card)}"
        self._hash = hashlib.sha256()

    @property
    def data_hash(self) -> str:
        """The SHA-256 of all bytes read so far, as `cat files | sha256sum` would give it."""
        return self._hash.hexdigest()

    def all(self, pattern: str) -> tuple[Path, ...]:
        """Return what matches a pattern (alternatives between ` | `), in order of name.

        At least one file.
        """
        found = matches(self.path, pattern)
        if not found:
            raise InputError(
                str(self.path),
                pattern,
                f"holds no such file of {self._card.title}",
                self._get(self._card),
            )
        return found

    def one(self, pattern: str) -> Path:
        """Return the first file that matches a pattern."""
        return self.all(pattern)[0]

    def place(self, path: Path, line: int = 1) -> Place:
        """Return a place in a file, to complain about it."""
        return Place(self.name(path), line, self._way_out)

    def name(self, path: Path) -> str:
        """Return the path as it is shown: relative to the folder where it lies in it."""
        return (
            path.relative_to(self.path).as_posix() if path.is_relative_to(self.path) else str(path)
        )

    def content(self, path: Path) -> bytes:
        """Return the bytes of a file and take them into the hash."""
        try:
            return self.seen(read_file(path, limit_bytes=LARGEST_FILE_BYTES))
        except OSError as error:
            raise self.place(path).wrong(
                "", str(path), f"cannot be read: {error.strerror}"
            ) from error

    def seen(self, content: bytes) -> bytes:
        """Take bytes into the hash that came from somewhere inside a file, and return them."""
        self._hash.update(content)
        return content

    def text(self, path: Path) -> str:
        """Return a file as text, its line ends untouched so that offsets hold."""
        content = self.content(path)
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise self.place(path, line).wrong(
                "", content[error.start : error.end], "is not UTF-8"
            ) from error

    def records(self, path: Path) -> Iterator[Record]:
        """Yield the objects of a JSON list or of JSON lines, whichever the file holds."""
        text = self.text(path)
        values = _listed(text) if text.lstrip()[:1] == "[" else _lines(text)
        try:
            for line, value in values:
                yield Record.of(value, self.place(path, line))
        except json.JSONDecodeError as error:
            raise self.place(path, error.lineno).wrong(
                "", text[error.pos : error.pos + 40], f"is not JSON: {error.msg}"
            ) from error

    def whole(self, path: Path) -> Record:
        """Return a file that is one JSON object."""
        text = self.text(path)
        try:
            with _as_json_error(text, 0):
                return Record.of(json.loads(text), self.place(path))
        except json.JSONDecodeError as error:
            raise self.place(path, error.lineno).wrong(
                "", text[error.pos : error.pos + 40], f"is not JSON: {error.msg}"
            ) from error

    def mapping(self, path: Path) -> Iterator[tuple[str, Record]]:
        """Yield the objects of a YAML mapping by their names."""
        text, place = self.text(path), self.place(path)
        try:
            value = parse_yaml(text, _Distinct)
        except ParseError as error:
            raise self.place(path, error.line or 1).wrong(
                "", self.name(path), str(error)
            ) from error
        for name in Record.of(value, place).value:
            if not isinstance(name, str):
                raise place.wrong("", name, "is not a text; put it in quotes")
            yield name, Record.of(value[name], place, f"{name}.")

    def rows(self, path: Path, *, delimiter: str = ",") -> Iterator[Record]:
        """Yield the rows of a table by the names in its first line.

        A short row lacks its last fields.
        """
        # Judgements in columns by tabs are never quoted; a quotation mark there is part of a name.
        table = csv.DictReader(
            io.StringIO(self.text(path), newline=""),
            delimiter=delimiter,
            quoting=csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL,
        )
        try:
            for row in table:
                place = self.place(path, table.line_num)
                if any(beyond := row.pop(None, [])):  # where a row is longer than the first line
                    raise place.wrong("", beyond, "has no name in the first line")
                yield Record(
                    {name: value for name, value in row.items() if value is not None}, place
                )
        except csv.Error as error:
            raise self.place(path, table.line_num + 1).wrong(
                "", str(error), "is not a row of a table"
            ) from error

    @staticmethod
    def _get(card: Card) -> str:
        return f"How to get {card.title}: {card.source}"


class _Distinct(yaml.SafeLoader):
    """Reads YAML as ever, and refuses a key that comes twice: one of the two would be lost."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"the key {shown(key.value)} comes twice", problem_mark=key.start_mark
                )
            if isinstance(key, yaml.ScalarNode):
                seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


def _lines(text: str) -> Iterator[tuple[int, Any]]:
    at = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            with _as_json_error(text, at, moved=at):
                value = json.loads(line)
            yield number, value
        at += len(line) + 1


@contextmanager
def _as_json_error(text: str, at: int, *, moved: int = 0) -> Iterator[None]:
    """Turn what reading a value at a place raises into an error of the whole text.

    Also a number too long, or nesting too deep.
    """
    try:
        yield
    except json.JSONDecodeError as error:
        raise json.JSONDecodeError(error.msg, text, moved + error.pos) from error
    except (ValueError, RecursionError) as error:
        raise json.JSONDecodeError(str(error), text, at) from error


def _listed(text: str) -> Iterator[tuple[int, Any]]:
    """Yield the values of a JSON list, each with the line on which it begins."""
    decoder, line, counted = json.JSONDecoder(), 1, 0
    at = _next(text, text.index("[") + 1)
    more = text[at : at + 1] != "]"
    while more:
        line, counted = line + text.count("\n", counted, at), at
        with _as_json_error(text, at):
            value, end = decoder.raw_decode(text, at)
        yield line, value
        at = _next(text, end)
        if text[at : at + 1] not in {",", "]"}:
            raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
        more = text[at] == ","
        at = _next(text, at + 1) if more else at
    if (rest := _next(text, at + 1)) < len(text):
        raise json.JSONDecodeError("Extra data", text, rest)


def _next(text: str, at: int) -> int:
    """Return where the next sign stands that is no white space."""
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Asked:
    """One request to a loader: the set, its folder, the part, and how many questions at most."""

    card: Card
    folder: Folder
    part: str
    limit: int | None = None

    def split(self, items: Sequence[T], *, dev: int) -> Sequence[T]:
        """Return the asked part where dev is the first `dev` items and test the rest."""
        return {"dev": items[:dev], "test": items[dev:], EVERYTHING: items}[self.part]

    def first(self, items: Sequence[T]) -> Sequence[T]:
        """Return the first items, as many as were asked for."""
        return items if self.limit is None else items[: self.limit]

    def dataset(
        self,
        queries: Sequence[Query],
        *,
        passages: Iterable[Passage] = (),
        documents: Iterable[Document] = (),
        levels: tuple[str, ...] | None = None,
        notes: Iterable[str] = (),
        history: Iterable[Happening] = (),
    ) -> Dataset:
        """Put the answer together.

        The limit takes the first questions and leaves the texts whole.
        """
        return Dataset(
            name=self.card.name,
            part=self.part,
            queries=tuple(self.first(queries)),
            passages=tuple(passages),
            documents=tuple(documents),
            levels=self.card.levels if levels is None else levels,
            licence=self.card.licence,
            data_hash=self.folder.data_hash,
            notes=tuple(notes),
            history=tuple(history),
        )


def counted(number: int, what: str, examples: Iterable[str], *, shown: int = 5) -> tuple[str, ...]:
    """Return a note on odd things in the data, or none where there are none.

    >>> counted(2, "answers outside the corpus", ["q1", "q2"])
    ('2 answers outside the corpus: q1, q2',)
    >>> counted(0, "answers outside the corpus", [])
    ()
    """
    listed = list(examples)
    tail = ", …" if len(listed) > shown else ""
    return (f"{number} {what}: {', '.join(listed[:shown])}{tail}",) if number else ()
