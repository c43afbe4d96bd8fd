"""From a syntax tree to a row of pieces: nodes that fit are pieces, others are taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, repeat
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from clew.ingest.chunkers.languages import CONTAINERS, Kinds
from clew.ingest.chunkers.row import Level, Row
from clew.ingest.chunkers.scopes import Scope, definition_of, scope_of
from clew.ingest.chunkers.starts import DEEPEST, starts_in

CHARACTERS_A_TOKEN = 4  # what is longer is taken apart without being counted
_UNCOUNTED = 1 << 62  # the size of what is longer
_FIRST_BYTE = -0x40  # as a signed byte: below it are those that go on with a character


class _Place(NamedTuple):
    """How strong the boundary before a node is, the definitions that the node stands in, and how deep it is."""

    level: Level = Level.BLOCK
    inside: tuple[Any, ...] = ()
    depth: int = 0


_Owner: TypeAlias = tuple[tuple[Any, ...], Any]
"""What pieces belong to: the definitions that they stand in, and the node that a piece is, or None."""


class Walk:
    """The row of a program, made node by node; places are those of bytes, as the parser counts them, until they are in the row."""

    def __init__(self, row: Row, source: bytes, root: Any, *, kinds: Kinds) -> None:
        """Take an empty row, and the tree of its text as bytes."""
        self.row = row
        self._offsets = character_offsets(row.text, source)
        self._source = source
        self._kinds = kinds
        self._countable = row.options.max_tokens * CHARACTERS_A_TOKEN
        self._owners: list[_Owner] = []
        self._scopes: dict[int, Scope | None] = {}
        self._enter(root, 0, len(source), _Place())

    def around(self, owners: Sequence[int]) -> tuple[Scope, ...]:
        """Return the scopes that all of the pieces with these owners stand in."""
        common, node = self._owners[owners[0]]
        if owners[0] != owners[-1]:
            common = _shared(common, self._owners[owners[-1]][0])  # what both stand in holds all that is between them
        elif node is not None and (definition := definition_of(node)) is not None:
            common = (*common, definition)  # several pieces never stand in what one of them is
        return tuple(filter(None, map(self._scope, common))) if common else ()

    def _scope(self, definition: Any) -> Scope | None:
        """Return the scope that a definition opens; few are asked for, those of small neighbours in one chunk never."""
        if definition.id not in self._scopes:
            self._scopes[definition.id] = scope_of(definition, self._source)
        return self._scopes[definition.id]

    def _enter(self, node: Any, first: int, last: int, place: _Place) -> None:
        """Put what stands from `first` to `last` into the row, cut before the lines that begin with a child."""
        level, inside, depth = place
        definition = definition_of(node) if depth else None
        if definition is not None:
            inside = (*inside, definition)
        places, nodes = starts_in(node, self._source, last, kinds=self._kinds, is_root=not depth) if depth < DEEPEST else ([], [])
        if not places:
            self._lines(first, last, level, inside)
            return
        inner = _Place(_level_inside(definition, level) if depth else Level.BLOCK, inside, depth + 1)
        outer = inner._replace(level=level)
        if first < places[0]:
            self._head(first, places[0], outer)
        else:
            self._parts(nodes[:1], [*places[:2], last][:2], outer)
            del nodes[0], places[0]
        self._parts(nodes, [*places, last], inner)

    def _head(self, first: int, last: int, place: _Place) -> None:
        """Put the lines before the children of a node into the row, whole where they fit."""
        start, end = self._offsets[first], self._offsets[last]
        if self.row.is_blank(start, end):
            return
        size = self.row.whole(start, end)
        if size <= self.row.largest(place.level):
            self.row.add(start, end, size, place.level, len(self._owners))
            self._owners.append((place.inside, None))
        else:
            self._lines(first, last, place.level, place.inside)

    def _parts(self, nodes: Sequence[Any], begins: Sequence[int], place: _Place) -> None:
        """Put nodes whose lines begin at these places, up to the last of them, into the row: whole where they fit, as most do."""
        whole, long, largest = self.row.whole, self._countable, self.row.largest(place.level)
        places = list(map(self._offsets.__getitem__, begins))
        sizes = [whole(start, end) if end - start <= long else _UNCOUNTED for start, end in pairwise(places)]
        done = 0
        for at in [at for at, size in enumerate(sizes) if size > largest]:
            self._add(nodes[done:at], places[done : at + 1], sizes[done:at], place)
            self._large(nodes[at], begins[at], begins[at + 1], place)
            done = at + 1
        self._add(nodes[done:], places[done:], sizes[done:], place)

    def _add(self, nodes: Sequence[Any], places: Sequence[int], sizes: Sequence[int], place: _Place) -> None:
        if nodes:
            known = len(self._owners)
            self.row.add_all(places, sizes, place.level, range(known, known + len(nodes)))
            self._owners.extend(zip(repeat(place.inside), nodes, strict=False))

    def _large(self, node: Any, first: int, last: int, place: _Place) -> None:
        """Put a node into the row that is too large, or so long that it was not counted: by its children, or by its lines."""
        if node.child_count:
            self._enter(node, first, last, place)
            return
        start, end = self._offsets[first], self._offsets[last]
        size = self.row.whole(start, end)
        if size <= self.row.largest(place.level):
            self._add([node], [start, end], [size], place)
        else:
            self._lines(first, last, place.level, place.inside)

    def _lines(self, first: int, last: int, level: Level, inside: tuple[Any, ...]) -> None:
        self.row.add_lines(self._offsets[first], self._offsets[last], level, len(self._owners), blank=Level.LINE)
        self._owners.append((inside, None))


def _shared(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the definitions that both paths begin with."""
    if one is other:
        return one
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] is other[shared]:
        shared += 1
    return one[:shared]


def character_offsets(text: str, source: bytes) -> Sequence[int]:
    r"""Return how many characters of a text begin before each byte of its source, and how many there are.

    >>> list(character_offsets("é\nb", "é\nb".encode())), character_offsets("ab", b"ab")
    ([0, 1, 1, 2, 3], range(0, 3))
    """
    if len(source) == len(text):
        return range(len(text) + 1)
    offsets = np.zeros(len(source) + 1, np.int32)
    np.cumsum(np.frombuffer(source, np.int8) >= _FIRST_BYTE, out=offsets[1:])
    return offsets.data


def _level_inside(definition: Any | None, level: Level) -> Level:
    """Return how strong the boundaries between the children of a node are, if it is a definition and else of another."""
    return Level.ITEM if level <= Level.ITEM and (definition is None or definition.type in CONTAINERS) else Level.LINE
