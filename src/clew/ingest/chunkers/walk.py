"""From a syntax tree to a row of pieces: nodes that fit are pieces, others are taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from clew.ingest.chunkers.languages import CONTAINERS
from clew.ingest.chunkers.port import ChunkOptions, TokenCounter
from clew.ingest.chunkers.row import Level, Row
from clew.ingest.chunkers.scopes import Scope, definition_of, scope_of

CHARACTERS_A_TOKEN = 4  # what is longer is taken apart without being counted
DEEPEST = 64  # nodes; what is nested deeper is cut by its lines


class _Place(NamedTuple):
    """How strong the boundary before a node is, the definitions that the node stands in, and how deep it is."""

    level: Level = Level.BLOCK
    inside: tuple[Any, ...] = ()
    depth: int = 0


class Walk:
    """The row of a program, made node by node; pieces begin and end at lines, so that no offset needs conversion."""

    def __init__(self, text: str, source: bytes, root: Any, *, count: TokenCounter, options: ChunkOptions) -> None:
        self.row = Row(text, count=count, options=options)
        self._offsets = line_offsets(text, source)
        self._source = source
        self._countable = options.max_tokens * CHARACTERS_A_TOKEN
        self._inside: list[tuple[Any, ...]] = []  # the definitions around each piece, by its owner
        self._scopes: dict[int, Scope | None] = {}
        self._enter(root, 0, len(self._offsets) - 1, _Place())

    def around(self, owners: Sequence[int]) -> tuple[Scope, ...]:
        """Return the scopes that all of the pieces with these owners stand in."""
        paths = [self._inside[owner] for owner in dict.fromkeys(owners)]
        first = paths[0]
        shared = next((at for at, (one, *others) in enumerate(zip(*paths, strict=False)) if any(each is not one for each in others)), None)
        common = first[: min(map(len, paths)) if shared is None else shared]
        return tuple(filter(None, map(self._scope, common)))

    def _scope(self, definition: Any) -> Scope | None:
        """Return the scope that a definition opens; few are asked for, those of small neighbours in one chunk never."""
        if definition.id not in self._scopes:
            self._scopes[definition.id] = scope_of(definition, self._source)
        return self._scopes[definition.id]

    def _enter(self, node: Any, first: int, last: int, place: _Place) -> None:
        """Put the lines from `first` up to and without `last` into the row, cut before the children that begin a line."""
        level, inside, depth = place
        definition = definition_of(node) if depth else None
        if definition is not None:
            inside = (*inside, definition)
        starts = _starts(node, self._source, last) if depth < DEEPEST else []
        if not starts:
            self._lines(first, last, level, inside)
            return
        begin, _ = starts[0]
        inner = _Place(_level_inside(definition, level) if depth else Level.BLOCK, inside, depth + 1)
        outer = inner._replace(level=level)
        if first < begin:
            self._head(first, begin, outer)
        here = outer if begin == first else inner
        for (begin, child), (end, _) in zip(starts, [*starts[1:], (last, None)], strict=True):
            self._part(child, begin, end, here)
            here = inner

    def _head(self, first: int, last: int, place: _Place) -> None:
        """Put the lines before the children of a node into the row, whole where they fit."""
        start, end = self._offsets[first], self._offsets[last]
        if self.row.is_blank(start, end):
            return
        size = self.row.whole(start, end)
        if size <= self.row.largest(place.level):
            self._add(start, end, size, place.level, place.inside)
        else:
            self._lines(first, last, place.level, place.inside)

    def _part(self, node: Any, first: int, last: int, place: _Place) -> None:
        """Put a node into the row, whole where it fits."""
        start, end = self._offsets[first], self._offsets[last]
        level, inside, _ = place
        parted = end - start > self._countable and node.child_count
        size = None if parted else self.row.whole(start, end)
        if size is not None and size <= self.row.largest(level):
            definition = definition_of(node)
            self._add(start, end, size, level, inside if definition is None else (*inside, definition))
        elif parted or node.child_count:
            self._enter(node, first, last, place)
        else:
            self._lines(first, last, level, inside)

    def _add(self, start: int, end: int, size: int, level: Level, inside: tuple[Any, ...]) -> None:
        self.row.add(start, end, size, level, len(self._inside))
        self._inside.append(inside)

    def _lines(self, first: int, last: int, level: Level, inside: tuple[Any, ...]) -> None:
        self.row.add_lines(self._offsets[first], self._offsets[last], level, len(self._inside), blank=Level.LINE)
        self._inside.append(inside)


def line_offsets(text: str, source: bytes) -> list[int]:
    r"""Return where each line of a text begins, as the parser counts them, and where the text ends.

    >>> line_offsets("é\nb\n", "é\nb\n".encode())
    [0, 2, 4, 4]
    """
    if len(source) == len(text):
        begins: list[int] = (np.flatnonzero(np.frombuffer(source, np.uint8) == ord("\n")) + 1).tolist()
    else:
        begins = list(accumulate(map((1).__add__, map(len, text.split("\n")[:-1]))))
    return [0, *begins, len(text)]


def _starts(node: Any, source: bytes, last: int) -> list[tuple[int, Any]]:
    """Return the lines before `last` at which a child begins, with the child; a comment goes with what it stands above.

    Lines are counted in the bytes between two nodes: asking each node for its place costs ten times as much.
    """
    found: list[tuple[int, Any]] = []
    root, above = node.parent is None, None
    free, line = (0, 0) if root else (node.start_byte, node.start_point.row)  # up to here
    taken = not root  # something stands before it on the line
    for child in node.children if root else _below(node, _line_end(source, free)):
        start, end = child.start_byte, child.end_byte
        begin = line + source.count(b"\n", free, start)
        begins_line = begin > line or not taken
        free, line, taken = end, begin + source.count(b"\n", start, end), True
        if not begins_line or begin >= last:
            continue
        if "comment" in child.type:
            above = begin if above is None else above
        elif child.is_named:  # a closing bracket goes with what it closes
            found.append((begin if above is None else above, child))
            above = None
    return found


def _line_end(source: bytes, at: int) -> int:
    end = source.find(b"\n", at)
    return end if end >= 0 else len(source)


def _below(node: Any, header: int, depth: int = 0) -> list[Any]:
    """Return the children of a node; a body that opens on the header's line, which ends at `header`, is looked into."""
    children: list[Any] = node.children
    for at, child in enumerate(children if depth < DEEPEST else ()):
        if child.start_byte > header:
            break
        if child.end_byte > header:
            return [*children[:at], *_below(child, header, depth + 1), *children[at + 1 :]]
    return children


def _level_inside(definition: Any | None, level: Level) -> Level:
    """Return how strong the boundaries between the children of a node are, if it is a definition and else of another."""
    return Level.ITEM if level <= Level.ITEM and (definition is None or definition.type in CONTAINERS) else Level.LINE
