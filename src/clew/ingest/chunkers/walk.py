"""From a syntax tree to a row of pieces: nodes that fit are pieces, others are taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from clew.ingest.chunkers.languages import CONTAINERS
from clew.ingest.chunkers.port import ChunkOptions, TokenCounter
from clew.ingest.chunkers.row import Level, Row
from clew.ingest.chunkers.scopes import Scope, definition_of, scope_of

CHARACTERS_A_TOKEN = 4  # what is longer is taken apart without being counted
DEEPEST = 64  # nodes; what is nested deeper is cut by its lines


class _Place(NamedTuple):
    """How strong the boundary before a node is, and what the node stands in."""

    level: Level = Level.BLOCK
    scopes: tuple[Scope, ...] = ()
    depth: int = 0


class Walk:
    """The row of a program, made node by node; pieces begin and end at lines, so that no offset needs conversion."""

    def __init__(self, text: str, source: bytes, root: Any, *, count: TokenCounter, options: ChunkOptions) -> None:
        self.row = Row(text, count=count, options=options)
        self._offsets = [0, *accumulate(map((1).__add__, map(len, text.split("\n"))))]  # of lines, as the parser counts them
        self._offsets[-1] = len(text)
        self._source = source
        self._countable = options.max_tokens * CHARACTERS_A_TOKEN
        self._scopes: list[tuple[Scope, ...]] = []
        self._enter(root, 0, len(self._offsets) - 1, _Place())

    def around(self, owners: Sequence[int]) -> tuple[Scope, ...]:
        """Return the scopes that all of the pieces with these owners stand in."""
        paths = [self._scopes[owner] for owner in dict.fromkeys(owners)]
        shared = next((at for at, each in enumerate(zip(*paths, strict=False)) if len(set(each)) > 1), min(map(len, paths)))
        return paths[0][:shared]

    def _enter(self, node: Any, first: int, last: int, place: _Place) -> None:
        """Put the lines from `first` up to and without `last` into the row, cut before the children that begin a line."""
        level, scopes, depth = place
        definition = definition_of(node) if depth else None
        scopes = self._inside(scopes, definition)
        starts = _starts(node, self._source, last) if depth < DEEPEST else []
        if not starts:
            self._lines(first, last, level, scopes)
            return
        self._part(None, first, starts[0][0], _Place(level, scopes, depth + 1))
        inner = _level_inside(node, definition, level)
        level = level if starts[0][0] == first else inner
        for (begin, child), end in zip(starts, [at for at, _ in starts[1:]] + [last], strict=True):
            self._part(child, begin, end, _Place(level, scopes, depth + 1))
            level = inner

    def _part(self, node: Any | None, first: int, last: int, place: _Place) -> None:
        """Put a node into the row, whole where it fits."""
        start, end = self._offsets[first], self._offsets[last]
        if self.row.is_blank(start, end):
            return
        parted = node is not None and node.child_count > 0
        size = None if parted and end - start > self._countable else self.row.whole(start, end)
        if size is not None and size <= self.row.largest(place.level):
            self.row.add(start, end, size, place.level, len(self._scopes))
            self._scopes.append(self._inside(place.scopes, definition_of(node) if node is not None else None))
        elif parted:
            self._enter(node, first, last, place)
        else:
            self._lines(first, last, place.level, place.scopes)

    def _lines(self, first: int, last: int, level: Level, scopes: tuple[Scope, ...]) -> None:
        self.row.add_lines(self._offsets[first], self._offsets[last], level, len(self._scopes), blank=Level.LINE)
        self._scopes.append(scopes)

    def _inside(self, scopes: tuple[Scope, ...], definition: Any | None) -> tuple[Scope, ...]:
        scope = scope_of(definition, self._source) if definition is not None else None
        return (*scopes, scope) if scope else scopes


def _starts(node: Any, source: bytes, last: int) -> list[tuple[int, Any]]:
    """Return the lines before `last` at which a child begins, with the child; a comment goes with what it stands above.

    Lines are told apart by the bytes between two nodes: asking each node for its place costs ten times as much.
    """
    found: list[tuple[int, Any]] = []
    root, above = node.parent is None, None
    free = -1 if root else node.start_byte  # up to here the line is taken
    for child in node.children if root else _below(node, _line_end(source, free)):
        begins_line = free < 0 or source.find(b"\n", free, child.start_byte) >= 0
        free = child.end_byte
        if not begins_line or (begin := child.start_point.row) >= last:
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


def _level_inside(node: Any, definition: Any | None, level: Level) -> Level:
    """Return how strong the boundaries between the children of a node are."""
    if node.parent is None:
        return Level.BLOCK
    return Level.ITEM if level <= Level.ITEM and (definition is None or definition.type in CONTAINERS) else Level.LINE
